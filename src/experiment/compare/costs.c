/** What runs cost. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/stats.h"
#include "experiment/compare/parts.h"
#include "record/progress.h"
#include "record/run.h"

const char *const fov_cost_columns[] = {[FOV_COST_SECONDS] = "seconds",
                                        [FOV_COST_PARAMETERS] = "parameters",
                                        [FOV_COST_MFLOP] = "mflop",
                                        [FOV_COST_PIXELS] = "input_pixels"};

/** NaN without a progress.csv that can be read. */
static double seconds_of(const char *dir) {
  char path[FOV_PATH_SIZE];
  FovProgress *rows = NULL;
  size_t count = 0;
  double seconds = NAN;
  snprintf(path, sizeof path, "%.2048s/" FOV_RUN_PROGRESS, dir);
  if (fov_file_exists(path) && fov_progress_read(&rows, &count, path) == FOV_OK && count > 0)
    seconds = rows[count - 1].seconds;
  free(rows);
  return seconds;
}

void fov_runs_read_costs(FovComparedRun *run) {
  run->costs[FOV_COST_SECONDS] = seconds_of(run->source);
  run->costs[FOV_COST_PARAMETERS] = (double)run->outcomes.parameters;
  run->costs[FOV_COST_MFLOP] = run->outcomes.mflop;
  run->costs[FOV_COST_PIXELS] = run->outcomes.input_pixels;
}

FovStatus fov_compare_costs(FovComparedRecipe *recipe) {
  double *sorted = malloc((size_t)recipe->runs * sizeof *sorted);
  if (!sorted) return fov_fail(FOV_ERR_MEMORY, "no memory for %d costs", recipe->runs);
  for (int cost = 0; cost < FOV_COSTS; cost++) {
    int known = 0;
    for (int i = 0; i < recipe->runs; i++)
      if (isfinite(recipe->list[i].costs[cost])) sorted[known++] = recipe->list[i].costs[cost];
    fov_stats_sort(sorted, known);
    recipe->costs[cost] = known == recipe->runs ? fov_stats_median(sorted, known) : NAN;
  }
  free(sorted);
  return FOV_OK;
}
