#include "experiment/plot/curves.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "experiment/plot/sources.h"
#include "record/run.h"

/* ---- the request ---- */

/** Reads the names of columns, with commas between them. */
static FovStatus read_columns(FovCurves *curves, const char *list) {
  for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
    size_t length = strcspn(at, ",");
    if (length == 0 || length >= FOV_FIGURE_NAME)
      return fov_fail(FOV_ERR_USAGE,
                      "--y %.80s: expected columns with commas between them, found '%.*s'", list,
                      length < 40 ? (int)length : 40, at);
    if (curves->columns == FOV_CURVES_COLUMNS)
      return fov_fail(FOV_ERR_USAGE, "--y %.80s: expected at most %d columns", list,
                      FOV_CURVES_COLUMNS);
    char *name = curves->y[curves->columns++];
    snprintf(name, FOV_FIGURE_NAME, "%.*s", (int)length, at);
    for (int c = 0; c < curves->columns - 1; c++)
      if (strcmp(curves->y[c], name) == 0)
        return fov_fail(FOV_ERR_USAGE, "--y %.80s: '%s' is named twice", list, name);
  }
  return FOV_OK;
}

static FovStatus read_request(FovCurves *curves, const FovCurvesRequest *request) {
  const char *x = request->x ? request->x : "episodes";
  const char *y = request->y ? request->y : "valid_error,valid_reward";
  if (request->source_count == 0)
    return fov_fail(FOV_ERR_USAGE, "no runs to plot: name one or more");
  if (strlen(x) >= FOV_FIGURE_NAME)
    return fov_fail(FOV_ERR_USAGE, "--x %.40s...: expected a column", x);
  snprintf(curves->x, sizeof curves->x, "%s", x);
  curves->centre = request->centre;
  return read_columns(curves, y);
}

/* ---- experiments ---- */

/** Bytes of a path without what names a run rather than an experiment: "/progress.csv" or ".csv",
 * then "-s<seed>". */
static size_t stem_length(const char *path) {
  static const char *const endings[] = {"/" FOV_RUN_PROGRESS, ".csv"};
  size_t length = strlen(path);
  for (size_t i = 0, size; i < sizeof endings / sizeof *endings; i++)
    if ((size = strlen(endings[i])) < length && strcmp(path + length - size, endings[i]) == 0) {
      length -= size;
      break;
    }
  return fov_run_stem(path, length);
}

/** Where the part of a path begins that ends at `end`. */
static size_t part_start(const char *path, size_t end) {
  while (end > 0 && path[end - 1] != '/') end--;
  return end;
}

/** Writes a part of a path as a name, in ASCII. */
static void write_name(char name[FOV_CURVES_NAME], const char *part, size_t length) {
  if (length >= FOV_CURVES_NAME) length = FOV_CURVES_NAME - 1;
  memcpy(name, part, length);
  name[length] = '\0';
  fov_text_ascii(name);
}

/** The configuration of a sweep, or the last part of the path; a sweep in which nothing varies has
 * the name of its folder. */
static void name_experiment(FovCurvesExperiment *experiment, const FovCurvesRun *run,
                            const FovSource *source) {
  size_t end = run->stem, start = part_start(run->path, end), parent = start > 0 ? start - 1 : 0;
  size_t folder = part_start(run->path, parent);
  write_name(experiment->folder, run->path + folder, parent - folder);
  if (*source->name)
    write_name(experiment->name, source->name, strlen(source->name));
  else if (source->in_sweep)
    write_name(experiment->name, experiment->folder, strlen(experiment->folder));
  else
    write_name(experiment->name, run->path + start, end - start);
}

static bool is_shared(const FovCurves *curves, int e) {
  bool shared = false;
  for (int i = 0; i < curves->experiment_count; i++)
    shared |= i != e && strcmp(curves->experiments[i].name, curves->experiments[e].name) == 0;
  return shared;
}

/** Puts the folder, or what fits of it, before names that several experiments share: "old/x",
 * "new/x". */
static void distinguish(FovCurves *curves) {
  bool shared[FOV_CURVES_EXPERIMENTS];
  for (int e = 0; e < curves->experiment_count; e++) shared[e] = is_shared(curves, e);
  for (int e = 0; e < curves->experiment_count; e++) {
    FovCurvesExperiment *experiment = &curves->experiments[e];
    char name[2 * FOV_CURVES_NAME];
    int room = FOV_CURVES_NAME - 2 - (int)strlen(experiment->name);
    snprintf(name, sizeof name, "%.*s/%s", room > 0 ? room : 0, experiment->folder,
             experiment->name);
    if (shared[e]) write_name(experiment->name, name, strlen(name));
  }
}

/** Assigns a run to its experiment, a new one if no earlier run differs in its seed only. */
static FovStatus join_experiment(FovCurves *curves, FovCurvesRun *run, const FovSource *source) {
  int e = 0;
  for (const FovCurvesRun *other = curves->runs; other < run; other++)
    if (strcmp(other->path, run->path) == 0)
      return fov_fail(FOV_ERR_USAGE, "%s: named twice: a run counts as one seed", run->path);
  for (; e < curves->experiment_count; e++) {
    const FovCurvesRun *first = &curves->runs[curves->experiments[e].first];
    if (first->stem == run->stem && strncmp(first->path, run->path, run->stem) == 0) break;
  }
  if (e == FOV_CURVES_EXPERIMENTS)
    return fov_fail(FOV_ERR_USAGE,
                    "more than %d experiments: too many lines to distinguish; name fewer runs",
                    FOV_CURVES_EXPERIMENTS);
  if (e == curves->experiment_count) {
    FovCurvesExperiment *experiment = &curves->experiments[curves->experiment_count++];
    *experiment = (FovCurvesExperiment){.first = (int)(run - curves->runs)};
    name_experiment(experiment, run, source);
  }
  curves->experiments[e].seeds++;
  run->experiment = e;
  return FOV_OK;
}

/* ---- runs ---- */

/** path: as it was typed, for messages. */
static FovStatus take_columns(FovCurvesRun *run, const FovCurves *curves, const FovProgress *rows,
                              size_t count, const char *path) {
  FOV_TRY(fov_series_check(rows, count, curves->x, path));
  for (int c = 0; c < curves->columns; c++) {
    FOV_TRY(fov_series_check(rows, count, curves->y[c], path));
    FOV_TRY(fov_series_init(&run->series[c], rows, count, curves->x, curves->y[c], path));
  }
  return FOV_OK;
}

/** Reads a run into the next place. A run of a sweep that has no row is left out. */
static FovStatus load_run(FovCurves *curves, const FovSource *source) {
  FovCurvesRun *run = &curves->runs[curves->run_count];
  FovProgress *rows = NULL;
  size_t count;
  FOV_TRY(fov_progress_read_table(&rows, &count, source->path));
  if (count == 0) {
    free(rows);
    if (source->in_sweep) return FOV_OK;
    return fov_fail(FOV_ERR_FORMAT, "%s: no rows yet: plot it after an evaluation", source->path);
  }
  curves->run_count++; // finish frees this one, too
  run->path = realpath(source->path, NULL);
  FovStatus status =
      run->path ? FOV_OK : fov_fail(FOV_ERR_IO, "%s: cannot resolve its path", source->path);
  if (run->path) {
    run->stem = stem_length(run->path);
    status = join_experiment(curves, run, source);
  }
  if (status == FOV_OK) status = take_columns(run, curves, rows, count, source->path);
  free(rows);
  return status;
}

static FovStatus load(FovCurves *curves, const FovSources *sources) {
  curves->runs = calloc((size_t)sources->count + 1, sizeof *curves->runs);
  if (!curves->runs) return fov_fail(FOV_ERR_MEMORY, "no memory for %d runs", sources->count);
  for (int i = 0; i < sources->count; i++) FOV_TRY(load_run(curves, &sources->list[i]));
  distinguish(curves);
  if (curves->run_count > 0) return FOV_OK;
  return fov_fail(FOV_ERR_FORMAT, "%s: no rows yet: plot it after an evaluation",
                  sources->list[0].path);
}

/* ---- bands ---- */

/** Counts are equal in all seeds or not comparable; anything else has values in between. */
static bool is_interpolated(const char *x) {
  return strcmp(x, "episodes") != 0 && strcmp(x, "update") != 0 && strcmp(x, "epoch") != 0;
}

static FovStatus refuse_empty(const FovCurves *curves, const FovCurvesExperiment *experiment) {
  const char *path = curves->runs[experiment->first].path;
  if (experiment->seeds == 1)
    return fov_fail(FOV_ERR_FORMAT, "%s: no row has a value of %s to plot", path, curves->y[0]);
  return fov_fail(FOV_ERR_FORMAT,
                  "%s: its %d seeds have a value of %s at no common %s: evaluate all at the same "
                  "interval or plot them apart",
                  path, experiment->seeds, curves->y[0], curves->x);
}

/** seeds: [run_count], scratch. */
static FovStatus build_experiment(FovCurves *curves, int e, const FovSeries **seeds) {
  FovCurvesExperiment *experiment = &curves->experiments[e];
  size_t points = 0;
  for (int c = 0; c < curves->columns; c++) {
    int count = 0;
    for (int r = 0; r < curves->run_count; r++)
      if (curves->runs[r].experiment == e) seeds[count++] = &curves->runs[r].series[c];
    FOV_TRY(fov_band_init(&experiment->bands[c], seeds, count, curves->centre,
                          is_interpolated(curves->x)));
    points += experiment->bands[c].count;
  }
  return points > 0 ? FOV_OK : refuse_empty(curves, experiment);
}

/** Fails if a panel would be empty. */
static FovStatus check_columns(const FovCurves *curves) {
  for (int c = 0; c < curves->columns; c++) {
    size_t points = 0;
    for (int e = 0; e < curves->experiment_count; e++)
      points += curves->experiments[e].bands[c].count;
    if (points == 0)
      return fov_fail(FOV_ERR_FORMAT, "--y %s: no run has a value in this column", curves->y[c]);
  }
  return FOV_OK;
}

static FovStatus build(FovCurves *curves) {
  const FovSeries **seeds = malloc((size_t)curves->run_count * sizeof *seeds);
  if (!seeds) return fov_fail(FOV_ERR_MEMORY, "no memory for %d runs", curves->run_count);
  FovStatus status = FOV_OK;
  for (int e = 0; e < curves->experiment_count && status == FOV_OK; e++)
    status = build_experiment(curves, e, seeds);
  free(seeds);
  return status == FOV_OK ? check_columns(curves) : status;
}

FovStatus fov_curves_read(FovCurves *curves, const FovCurvesRequest *request) {
  *curves = (FovCurves){.columns = 0};
  FOV_TRY(read_request(curves, request));
  FovSources sources;
  FovStatus status = fov_sources_init(&sources, request->sources, request->source_count);
  if (status == FOV_OK) status = load(curves, &sources);
  if (status == FOV_OK) status = build(curves);
  fov_sources_finish(&sources);
  return status;
}

void fov_curves_finish(FovCurves *curves) {
  for (int c = 0; c < FOV_CURVES_COLUMNS; c++) {
    for (int r = 0; r < curves->run_count; r++) fov_series_finish(&curves->runs[r].series[c]);
    for (int e = 0; e < curves->experiment_count; e++)
      fov_band_finish(&curves->experiments[e].bands[c]);
  }
  for (int r = 0; r < curves->run_count; r++) free(curves->runs[r].path);
  free(curves->runs);
  *curves = (FovCurves){.columns = 0};
}
