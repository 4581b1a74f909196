#include "experiment/scanpath/fixations.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "record/csv.h"

/** A row of the file. */
typedef struct Fixation {
  int row, episode;
  const char *observer; // "": there is one
  double x, y;
} Fixation;

/** Reads a number from least to most; fails naming the cell. */
static FovStatus read_number(double *number, const FovCsv *csv, const char *path, int row,
                             const char *name, double least, double most) {
  const char *text = csv->cells[row * csv->columns + fov_csv_find(csv, name)];
  char *end;
  *number = strtod(text, &end);
  if (end != text && !*end && *number >= least && *number <= most) return FOV_OK;
  return fov_fail(FOV_ERR_FORMAT, "%s:%d: %s = '%.40s': expected a number from %g to %g", path,
                  csv->lines[row], name, text, least, most);
}

static FovStatus read_row(Fixation *fixation, const FovCsv *csv, const char *path, int row,
                          const FovTrace *trace) {
  double episode;
  int observer = fov_csv_find(csv, "observer");
  fixation->row = row;
  fixation->observer = observer < 0 ? "" : csv->cells[row * csv->columns + observer];
  FOV_TRY(read_number(&episode, csv, path, row, "episode", 0, trace->episodes - 1));
  if (episode != floor(episode))
    return fov_fail(FOV_ERR_FORMAT, "%s:%d: episode = %g: expected a whole number", path,
                    csv->lines[row], episode);
  fixation->episode = (int)episode;
  FOV_TRY(read_number(&fixation->x, csv, path, row, "x", 0, trace->width));
  return read_number(&fixation->y, csv, path, row, "y", 0, trace->height);
}

static int compare(const void *a, const void *b) {
  const Fixation *x = a, *y = b;
  if (x->episode != y->episode) return x->episode < y->episode ? -1 : 1;
  int observers = strcmp(x->observer, y->observer);
  return observers ? observers : x->row - y->row;
}

/** Cuts the sorted rows into paths, whose places are in image widths. */
static FovStatus cut(FovFixations *all, const Fixation *rows, int count, const char *path,
                     const FovTrace *trace) {
  for (int i = 0; i < count; i++) {
    bool same = i > 0 && rows[i].episode == rows[i - 1].episode &&
                strcmp(rows[i].observer, rows[i - 1].observer) == 0;
    if (!same) {
      all->paths[all->count] = (FovScanpath){all->places + 2 * i, 0};
      all->episodes[all->count++] = rows[i].episode;
    }
    FovScanpath *last = &all->paths[all->count - 1];
    all->places[2 * i] = rows[i].x / trace->width;
    all->places[2 * i + 1] = rows[i].y / trace->width;
    if (++last->count > FOV_SCANPATH_LONGEST)
      return fov_fail(FOV_ERR_FORMAT, "%s: episode %d has a scanpath of more than %d fixations",
                      path, rows[i].episode, FOV_SCANPATH_LONGEST);
  }
  return FOV_OK;
}

static FovStatus read_rows(FovFixations *all, Fixation *rows, const FovCsv *csv, const char *path,
                           const FovTrace *trace) {
  size_t count = (size_t)csv->rows;
  for (int i = 0; i < csv->rows; i++) FOV_TRY(read_row(&rows[i], csv, path, i, trace));
  qsort(rows, count, sizeof *rows, compare);
  all->places = malloc(2 * count * sizeof *all->places);
  all->paths = malloc(count * sizeof *all->paths);
  all->episodes = malloc(count * sizeof *all->episodes);
  if (!all->places || !all->paths || !all->episodes)
    return fov_fail(FOV_ERR_MEMORY, "%s: no memory for its fixations", path);
  return cut(all, rows, csv->rows, path, trace);
}

static FovStatus read_csv(FovFixations *all, const FovCsv *csv, const char *path,
                          const FovTrace *trace) {
  static const char *const needed[] = {"episode", "x", "y"};
  for (int i = 0; i < 3; i++)
    if (fov_csv_find(csv, needed[i]) < 0)
      return fov_fail(FOV_ERR_FORMAT,
                      "%s: no column '%s': expected episode, x, y and, if several "
                      "people looked, observer",
                      path, needed[i]);
  if (csv->rows == 0) return fov_fail(FOV_ERR_FORMAT, "%s: no fixations", path);
  Fixation *rows = malloc((size_t)csv->rows * sizeof *rows);
  if (!rows) return fov_fail(FOV_ERR_MEMORY, "%s: no memory for its fixations", path);
  FovStatus status = read_rows(all, rows, csv, path, trace);
  free(rows);
  return status;
}

FovStatus fov_fixations_read(FovFixations *fixations, const char *path, const FovTrace *trace) {
  FovCsv csv;
  *fixations = (FovFixations){0};
  FovStatus status = fov_csv_read(&csv, path);
  if (status == FOV_OK) status = read_csv(fixations, &csv, path, trace);
  fov_csv_finish(&csv);
  if (status != FOV_OK) fov_fixations_finish(fixations);
  return status;
}

void fov_fixations_finish(FovFixations *fixations) {
  free(fixations->paths);
  free(fixations->episodes);
  free(fixations->places);
  *fixations = (FovFixations){0};
}
