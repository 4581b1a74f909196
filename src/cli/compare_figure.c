/** A comparison as a figure. */
#include <math.h>
#include <stdlib.h>

#include "cli/compare_print.h"
#include "draw.h"

/** Errors are drawn in per cent. */
static FovDrawEstimate scaled(const FovEstimate *e, double unit) {
  return (FovDrawEstimate){unit * e->value, unit * e->low, unit * e->high};
}

/** Copies what is drawn of a recipe. results: room for those of its runs; profile:
 * [FOV_COMPARE_THRESHOLDS] */
static void copy_recipe(FovDrawRecipe *to, const FovComparedRecipe *recipe, double unit,
                        double *results, FovDrawEstimate *profile) {
  for (int i = 0; i < recipe->runs; i++) results[i] = unit * recipe->results[i];
  for (int i = 0; i < FOV_COMPARE_THRESHOLDS; i++) profile[i] = scaled(&recipe->profile[i], 100);
  *to = (FovDrawRecipe){.name = recipe->name,
                        .results = results,
                        .count = recipe->runs,
                        .mean = scaled(&recipe->mean, unit),
                        .iqm = scaled(&recipe->iqm, unit),
                        .profile = profile};
}

FovStatus fov_compare_figure(const char *path, const FovCompared *compared) {
  const FovCompared *c = compared;
  double unit = c->errors ? 100 : 1, thresholds[FOV_COMPARE_THRESHOLDS];
  char label[64];
  size_t n = (size_t)c->recipe_count;
  FovDrawRecipe *recipes = calloc(n, sizeof *recipes);
  double *results = calloc((size_t)c->runs.count, sizeof *results), *next = results;
  FovDrawEstimate *profiles = calloc(n * FOV_COMPARE_THRESHOLDS, sizeof *profiles);
  FovStatus status = FOV_OK;
  if (!recipes || !results || !profiles)
    status = fov_fail(FOV_ERR_MEMORY, "%s: no memory for the figure", path);
  for (size_t r = 0; r < n && status == FOV_OK; next += c->recipes[r++].runs)
    copy_recipe(&recipes[r], &c->recipes[r], unit, next, profiles + r * FOV_COMPARE_THRESHOLDS);
  for (int i = 0; i < FOV_COMPARE_THRESHOLDS; i++) thresholds[i] = unit * c->thresholds[i];
  snprintf(label, sizeof label, "%s%s%s", c->split ? c->split : "", c->split ? " " : "",
           c->errors ? "error (%)" : "score");
  FovDrawComparison figure = {.recipes = recipes,
                              .count = c->recipe_count,
                              .thresholds = thresholds,
                              .threshold_count = FOV_COMPARE_THRESHOLDS,
                              .label = label,
                              .lower_is_better = c->errors};
  if (status == FOV_OK) status = fov_draw_comparison(path, &figure);
  free(recipes);
  free(results);
  free(profiles);
  return status;
}
