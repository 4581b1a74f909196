#include "experiment/plot/series.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "config/names.h"

static const double vast = 1e100; // larger than any measured value, and its square is finite

/* ---- columns ---- */

/** The glimpses of every episode; NaN if validation episodes differ in them, or are not known. */
static double glimpses_of_episode(const FovProgress *rows, size_t count) {
  double glimpses = rows[0].table ? NAN : rows[0].valid_glimpses;
  for (size_t i = 0; i < count; i++)
    if (rows[i].valid_glimpses != glimpses) return NAN;
  return glimpses == floor(glimpses) ? glimpses : NAN; // a mean of a half is not one number
}

static bool is_derived(const FovProgress *row, const char *column) {
  double value;
  return strcmp(column, FOV_SERIES_GLIMPSES) == 0 && !row->table &&
         !fov_progress_find(&value, row, column);
}

FovStatus fov_series_check(const FovProgress *rows, size_t count, const char *column,
                           const char *path) {
  const char *names[FOV_PROGRESS_COLUMNS + 1];
  double value;
  if (fov_progress_find(&value, &rows[0], column)) return FOV_OK;
  bool fixed = !isnan(glimpses_of_episode(rows, count));
  if (is_derived(&rows[0], column)) {
    if (fixed) return FOV_OK;
    return fov_fail(FOV_ERR_USAGE,
                    "%s: its episodes take different numbers of glimpses, which are not counted in "
                    "training: plot it against another column than '%s'",
                    path, column);
  }
  size_t known = (size_t)fov_progress_names(names, &rows[0]);
  if (fixed) names[known++] = FOV_SERIES_GLIMPSES;
  char subject[FOV_PHRASE_SIZE];
  snprintf(subject, sizeof subject, "%.800s: no column '%.40s'", path, column);
  return fov_name_refuse(subject, column, names, known);
}

/** The value of a column in a row; a derived column is the number of episodes times `scale`. */
static double cell(const FovProgress *row, const char *column, double scale) {
  double value;
  if (is_derived(row, column)) return (double)row->episodes * scale;
  FOV_CHECK(fov_progress_find(&value, row, column), "no column '%s'", column);
  return fabs(value) < vast ? value : NAN;
}

/* ---- rows ---- */

/** Adds a row; one with the x of the last replaces it. */
static void add(FovSeries *series, double x, double y) {
  if (series->count > 0 && series->x[series->count - 1] == x) series->count--;
  series->x[series->count] = x;
  series->y[series->count++] = y;
}

FovStatus fov_series_init(FovSeries *series, const FovProgress *rows, size_t count, const char *x,
                          const char *y, const char *path) {
  *series = (FovSeries){.x = malloc(count * sizeof(double)), .y = malloc(count * sizeof(double))};
  if (!series->x || !series->y)
    return fov_fail(FOV_ERR_MEMORY, "%s: no memory for %zu rows", path, count);
  double glimpses = glimpses_of_episode(rows, count), last = -INFINITY;
  for (size_t i = 0; i < count; i++) {
    double place = cell(&rows[i], x, glimpses), value = cell(&rows[i], y, glimpses);
    if (place < last)
      return fov_fail(FOV_ERR_FORMAT,
                      "%s:%zu: %s decreases from %g to %g: expected a horizontal axis that does "
                      "not, such as episodes",
                      path, i + 2, x, last, place);
    if (!isnan(place)) last = place;
    if (!isnan(place) && !isnan(value)) add(series, place, value);
  }
  return FOV_OK;
}

void fov_series_finish(FovSeries *series) {
  free(series->x);
  free(series->y);
  *series = (FovSeries){.count = 0};
}

double fov_series_at(const FovSeries *series, double x, bool interpolate) {
  size_t low = 0, high = series->count; // x[low − 1] < x <= x[high]
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (series->x[middle] < x)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == series->count) return NAN;
  if (series->x[low] == x) return series->y[low];
  if (!interpolate || low == 0) return NAN;
  double before = series->x[low - 1], share = (x - before) / (series->x[low] - before);
  return series->y[low - 1] + share * (series->y[low] - series->y[low - 1]);
}
