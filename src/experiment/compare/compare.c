#include "experiment/compare/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/compare/parts.h"

/* ---- recipes in their order ---- */

static FovStatus init_scores(FovScores *scores, const FovComparedRecipe *recipe, int tasks) {
  int runs[FOV_COMPARE_VARIANTS] = {0};
  double *values = malloc((size_t)recipe->runs * sizeof *values);
  if (!values) return fov_fail(FOV_ERR_MEMORY, "no memory for %d scores", recipe->runs);
  for (int i = 0; i < recipe->runs; i++) {
    values[i] = recipe->list[i].score;
    runs[recipe->list[i].task]++;
  }
  FovStatus status = fov_scores_init(scores, values, runs, tasks);
  free(values);
  return status;
}

static int compare_recipes(const void *a, const void *b) {
  const FovComparedRecipe *x = a, *y = b;
  if (x->mean.value != y->mean.value) return x->mean.value > y->mean.value ? -1 : 1;
  return strcmp(x->name, y->name);
}

/** Finds the runs of each recipe, which are side by side, and sorts recipes by their mean score. */
static FovStatus order_recipes(FovCompared *result) {
  const FovRuns *runs = &result->runs;
  int tasks = runs->tasks.count;
  for (int i = 0; i < runs->count; i++) {
    FovComparedRecipe *recipe = &result->recipes[runs->list[i].recipe];
    if (recipe->runs++ == 0) recipe->list = &runs->list[i];
    recipe->results = &result->results[recipe->list - runs->list];
    double score = runs->list[i].score;
    result->results[i] = result->errors ? 1 - score : score;
  }
  for (int r = 0; r < result->recipe_count; r++) {
    FovScores scores;
    result->recipes[r].name = runs->recipes.list[r].name;
    FOV_TRY(init_scores(&scores, &result->recipes[r], tasks));
    result->recipes[r].mean.value = fov_scores_mean(&scores);
    fov_scores_finish(&scores);
  }
  qsort(result->recipes, (size_t)result->recipe_count, sizeof *result->recipes, compare_recipes);
  return FOV_OK;
}

/** Finds a recipe by its name or by a part of it that no other has. */
static FovStatus find_recipe(int *index, const FovCompared *result, const char *name) {
  int found = 0;
  *index = -1;
  if (!name) return FOV_OK;
  for (int r = 0; r < result->recipe_count; r++) {
    if (strcmp(result->recipes[r].name, name) == 0) return *index = r, FOV_OK;
    if (!strstr(result->recipes[r].name, name)) continue;
    *index = r;
    found++;
  }
  if (found == 1) return FOV_OK;
  return fov_fail(FOV_ERR_USAGE,
                  "--against '%.100s': expected one recipe, found %s; one of them "
                  "is '%.200s'",
                  name, found ? "several" : "none", result->recipes[0].name);
}

/* ---- notes ---- */

/** The fewest runs that a recipe has of a task. */
static int fewest_runs(const FovComparing *comparing) {
  int fewest = comparing->result->runs.count;
  for (int r = 0; r < comparing->result->recipe_count; r++)
    for (int t = 0; t < comparing->scores[r].tasks; t++)
      if (comparing->scores[r].runs[t] < fewest) fewest = comparing->scores[r].runs[t];
  return fewest;
}

static void note_few_runs(FovCompared *result, int fewest, int tasks) {
  enum { ENOUGH = 6 }; // of one task; their range misses the median in 3 % of experiments
  if (fewest == 1)
    fov_runs_note(&result->runs, "a recipe with one run of a task has no interval over seeds");
  else if (fewest < ENOUGH && tasks == 1)
    fov_runs_note(
        &result->runs,
        "bootstrap intervals of few runs are too narrow: with %d runs, the interval of the "
        "IQM contains the true median in at most %.0f %% of experiments",
        fewest, 100 * (1 - pow(2, 1 - fewest)));
}

static void note_pairs(FovCompared *result) {
  const char *reason = NULL;
  int unpaired = 0;
  for (int i = 0; i < result->pair_count; i++) {
    if (result->pairs[i].cases) continue;
    reason = result->pairs[i].no_cases;
    unpaired++;
  }
  if (unpaired == result->pair_count && reason)
    fov_runs_note(&result->runs, "no paired tests of cases: %s", reason);
  else if (reason)
    fov_runs_note(&result->runs, "no paired tests of cases for %d of %d pairs: %s", unpaired,
                  result->pair_count, reason);
  if (result->corrected_for > result->pair_count)
    fov_runs_note(&result->runs,
                  "the best recipe was chosen by these results, so the correction counts all %d "
                  "pairs; --against names one beforehand",
                  result->corrected_for);
  if (2.0 * result->corrected_for / (1 + result->draws) > 0.05)
    fov_runs_note(&result->runs, "%d draws are too few to decide %d pairs; see --draws",
                  result->draws, result->corrected_for);
}

static void add_notes(const FovComparing *comparing) {
  FovCompared *result = comparing->result;
  note_few_runs(result, fewest_runs(comparing), comparing->scores[0].tasks);
  note_pairs(result);
}

/* ---- all of it ---- */

/** The number of cases, if all runs have as many. */
static int64_t common_cases(const FovRuns *runs) {
  for (int i = 1; i < runs->count; i++)
    if (runs->list[i].outcomes.cases != runs->list[0].outcomes.cases) return 0;
  return runs->list[0].outcomes.cases;
}

/** The split, unless all results are of files that do not name one. */
static const char *name_split(const FovRuns *runs, FovCompareSplit split) {
  for (int i = 0; i < runs->count; i++)
    if (!isfinite(runs->list[i].plain))
      return fov_split_names[split == FOV_COMPARE_TEST ? FOV_SPLIT_TEST : FOV_SPLIT_VALID];
  return NULL;
}

/** Columns 'error' and 'score' do not say which split and how many rollouts they are of. */
static FovStatus check_choice(const FovCompared *result, const FovCompareRequest *request) {
  if (result->split || (request->split == FOV_COMPARE_AUTO && request->rollouts == 1))
    return FOV_OK;
  return fov_fail(FOV_ERR_USAGE,
                  "--split or --rollouts: expected results of a known split, found a column '%s'; "
                  "leave out the option or the column",
                  result->errors ? "error" : "score");
}

static FovStatus gather(FovCompared *result, const FovCompareRequest *request) {
  FovCompareSplit split = request->split;
  FovRuns *runs = &result->runs;
  runs->rollouts = request->rollouts;
  for (int i = 0; i < request->source_count; i++) FOV_TRY(fov_runs_read(runs, request->sources[i]));
  FOV_TRY(fov_runs_choose_rows(runs, request->rows));
  FOV_TRY(fov_runs_select(runs, &split));
  FOV_TRY(fov_runs_name(runs));
  FOV_TRY(fov_runs_complete(runs));
  result->errors = runs->errors > 0;
  result->split = name_split(runs, split);
  FOV_TRY(check_choice(result, request));
  result->cases = common_cases(runs);
  result->recipe_count = runs->recipes.count;
  result->recipes = calloc((size_t)result->recipe_count, sizeof *result->recipes);
  result->results = calloc((size_t)runs->count, sizeof *result->results);
  if (!result->recipes || !result->results)
    return fov_fail(FOV_ERR_MEMORY, "no memory for %d runs", runs->count);
  FOV_TRY(order_recipes(result));
  return find_recipe(&result->against, result, request->against);
}

static FovStatus analyse(const FovComparing *comparing) {
  const FovCompared *result = comparing->result;
  if (!comparing->scores || !comparing->draws)
    return fov_fail(FOV_ERR_MEMORY, "no memory for %d draws", result->draws);
  for (int r = 0; r < result->recipe_count; r++)
    FOV_TRY(init_scores(&comparing->scores[r], &result->recipes[r], result->runs.tasks.count));
  FOV_TRY(fov_compare_recipes(comparing));
  FOV_TRY(fov_compare_pairs(comparing));
  add_notes(comparing);
  return FOV_OK;
}

FovStatus fov_compare(FovCompared *compared, const FovCompareRequest *request) {
  *compared = (FovCompared){.rollouts = request->rollouts,
                            .draws = request->draws,
                            .seed = request->seed,
                            .costs = request->costs,
                            .against = -1};
  FOV_TRY(gather(compared, request));
  size_t recipes = (size_t)compared->recipe_count, draws = (size_t)request->draws;
  FovComparing comparing = {.request = request,
                            .result = compared,
                            .scores = calloc(recipes, sizeof *comparing.scores),
                            .draws = malloc(draws * sizeof *comparing.draws)};
  FovStatus status = analyse(&comparing);
  for (size_t r = 0; r < recipes && comparing.scores; r++) fov_scores_finish(&comparing.scores[r]);
  free(comparing.scores);
  free(comparing.draws);
  return status;
}

void fov_compared_finish(FovCompared *compared) {
  for (int r = 0; r < compared->recipe_count && compared->recipes; r++)
    free(compared->recipes[r].profile);
  free(compared->recipes);
  free(compared->results);
  free(compared->pairs);
  free(compared->tests);
  fov_runs_finish(&compared->runs);
  *compared = (FovCompared){.recipe_count = 0};
}
