/** Which runs are compared, and their scores. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "experiment/compare/runs.h"
#include "experiment/sweep/plan.h"
#include "record/run.h"

/** What is read of each run. */
typedef struct Choice {
  FovSplit split;
  int rollouts;
} Choice;

static void outcomes_path(char path[FOV_PATH_SIZE], const FovComparedRun *run, Choice choice) {
  char name[FOV_OUTCOMES_NAME];
  snprintf(path, FOV_PATH_SIZE, "%.2048s/%s", run->source,
           fov_outcomes_name(name, choice.split, choice.rollouts));
}

/** The result in a CSV file; NaN: none. */
static double csv_result(const FovComparedRun *run, FovSplit split) {
  if (isfinite(run->plain)) return run->plain;
  return split == FOV_SPLIT_TEST ? run->test : run->valid;
}

static bool has_result(const FovComparedRun *run, Choice choice) {
  char path[FOV_PATH_SIZE];
  if (!run->folder) return isfinite(csv_result(run, choice.split));
  outcomes_path(path, run, choice);
  return fov_file_exists(path);
}

/* ---- the split ---- */

/** The first run with a result of one of the splits, but none of `split`; NULL: there is none. */
static const FovComparedRun *find_lacking(const FovRuns *runs, Choice choice) {
  FovSplit other = choice.split == FOV_SPLIT_TEST ? FOV_SPLIT_VALID : FOV_SPLIT_TEST;
  for (int i = 0; i < runs->count; i++) {
    const FovComparedRun *run = &runs->list[i];
    if (!has_result(run, choice) && has_result(run, (Choice){other, choice.rollouts})) return run;
  }
  return NULL;
}

static FovStatus choose_split(FovCompareSplit *split, const FovRuns *runs) {
  if (*split != FOV_COMPARE_AUTO) return FOV_OK;
  const FovComparedRun *untested = find_lacking(runs, (Choice){FOV_SPLIT_TEST, runs->rollouts});
  const FovComparedRun *unvalidated = find_lacking(runs, (Choice){FOV_SPLIT_VALID, runs->rollouts});
  *split = untested ? FOV_COMPARE_VALID : FOV_COMPARE_TEST;
  if (!untested || !unvalidated) return FOV_OK;
  return fov_fail(FOV_ERR_USAGE,
                  "%s has no test result and %s no validation result; write them with fovea eval "
                  "RUN --split SPLIT --save, or leave runs out with --split",
                  untested->source, unvalidated->source);
}

/* ---- reading ---- */

/** Fails if the outcomes are of other weights than those that the run would be tested with. */
static FovStatus check_weights(const FovComparedRun *run, const char *path) {
  char best[FOV_PATH_SIZE], quoted[FOV_PATH_SIZE];
  bool differ;
  snprintf(best, sizeof best, "%.2048s/" FOV_RUN_BEST, run->source);
  FOV_TRY(fov_outcomes_differ(&differ, &run->outcomes, best));
  if (!differ) return FOV_OK;
  return fov_fail(FOV_ERR_USAGE,
                  "%s: outcomes of other weights than " FOV_RUN_BEST
                  "; evaluate again: fovea eval %s --split %s --rollouts %d --save",
                  path, fov_text_word(quoted, sizeof quoted, run->source),
                  fov_split_names[run->outcomes.split], run->outcomes.rollouts);
}

static FovStatus read_outcomes(FovComparedRun *run, Choice choice) {
  char path[FOV_PATH_SIZE];
  outcomes_path(path, run, choice);
  FOV_TRY(fov_outcomes_read(&run->outcomes, path));
  if (run->outcomes.split != choice.split || run->outcomes.rollouts != choice.rollouts)
    return fov_fail(FOV_ERR_FORMAT, "%s: expected %s cases and %d rollouts, found %s and %d", path,
                    fov_split_names[choice.split], choice.rollouts,
                    fov_split_names[run->outcomes.split], run->outcomes.rollouts);
  run->score = 1 - fov_outcomes_error(&run->outcomes);
  return check_weights(run, path);
}

static void free_run(FovComparedRun *run) {
  free(run->source);
  fov_outcomes_finish(&run->outcomes);
}

static FovStatus read_result(FovComparedRun *run, Choice choice, bool scores) {
  if (run->folder) {
    FOV_TRY(read_outcomes(run, choice));
    fov_runs_read_costs(run);
    return FOV_OK;
  }
  double result = csv_result(run, choice.split);
  run->score = scores ? result : 1 - result;
  return FOV_OK;
}

/** Runs that were left out. */
typedef struct Dropped {
  char first[FOV_COMPARE_NOTE / 2]; // by name
  bool folder;                      // the first is a directory, not a line of a CSV file
  int count;
} Dropped;

static void drop(Dropped *dropped, FovComparedRun *run) {
  if (dropped->count++ == 0 || strcmp(run->source, dropped->first) < 0) {
    snprintf(dropped->first, sizeof dropped->first, "%s", run->source);
    dropped->folder = run->folder;
  }
  free_run(run);
}

static void note_dropped(FovRuns *runs, const Dropped *dropped) {
  if (dropped->count == 1) fov_runs_note(runs, "left out, without a result: %s", dropped->first);
  if (dropped->count > 1)
    fov_runs_note(runs, "left out, without a result: %d runs, such as %s", dropped->count,
                  dropped->first);
  int64_t waiting = 0;
  for (int i = 0; i < runs->waiting_count; i++) waiting += runs->waiting[i].runs;
  if (waiting > 0)
    fov_runs_note(runs, "%lld run%s of the sweep ha%s not started, or failed", (long long)waiting,
                  fov_plural(waiting), waiting == 1 ? "s" : "ve");
}

/** Reads runs with a result and drops the others. */
static FovStatus read_results(FovRuns *runs, Choice choice) {
  Dropped dropped = {.count = 0};
  FovStatus status = FOV_OK;
  int kept = 0;
  for (int i = 0; i < runs->count; i++) {
    FovComparedRun *run = &runs->list[i];
    if (status == FOV_OK && !has_result(run, choice)) {
      drop(&dropped, run);
      continue;
    }
    if (status == FOV_OK) status = read_result(run, choice, runs->scores > 0);
    runs->list[kept++] = *run; // after a failure, so that it is freed
  }
  runs->count = kept;
  if (status == FOV_OK) note_dropped(runs, &dropped);
  if (status != FOV_OK || kept > 0) return status;
  const char *split = fov_split_names[choice.split];
  if (!dropped.folder)
    return fov_fail(FOV_ERR_USAGE,
                    "%s: has no %s result of %d rollout%s: no such column, an empty cell, or a run "
                    "that has not finished",
                    dropped.first, split, choice.rollouts, fov_plural(choice.rollouts));
  return fov_fail(FOV_ERR_USAGE,
                  "%s: has no %s result of %d rollout%s; write one with fovea eval RUN --split %s "
                  "--rollouts %d --save",
                  dropped.first, split, choice.rollouts, fov_plural(choice.rollouts), split,
                  choice.rollouts);
}

/* ---- rows ---- */

/** Copies the name of a recipe's row; "": it has none. */
static void read_row(char name[FOV_SWEEP_ROW_NAME], const FovVariant *recipe) {
  static const char key[] = "\n" FOV_SWEEP_ROW " = ";
  size_t size = sizeof key - 1;
  const char *line = recipe->settings, *found = strstr(line, key);
  if (strncmp(line, key + 1, size - 1) == 0)
    line += size - 1;
  else
    line = found ? found + size : "";
  snprintf(name, FOV_SWEEP_ROW_NAME, "%.*s", (int)strcspn(line, "\n"), line);
}

/** Drops the runs of recipes, and the waiting runs of rows, that are not chosen: [recipes] and then
 * [rows]. */
static void keep_rows(FovRuns *runs, const bool *chosen) {
  int kept = 0;
  for (int i = 0; i < runs->count; i++) {
    if (chosen[runs->list[i].recipe])
      runs->list[kept++] = runs->list[i];
    else
      free_run(&runs->list[i]);
  }
  runs->count = kept;
  for (int i = 0; i < runs->waiting_count; i++)
    if (!chosen[runs->recipes.count + i]) runs->waiting[i].runs = 0;
}

FovStatus fov_runs_choose_rows(FovRuns *runs, const char *list) {
  char rows[FOV_COMPARE_VARIANTS][FOV_SWEEP_ROW_NAME];
  int recipes = runs->recipes.count, count = recipes + runs->waiting_count;
  bool found = false;
  if (!list) return FOV_OK;
  const char **names = calloc((size_t)count + 1, sizeof *names);
  bool *chosen = calloc((size_t)count + 1, sizeof *chosen);
  FovStatus status =
      names && chosen ? FOV_OK : fov_fail(FOV_ERR_MEMORY, "no memory for %d rows", count);
  for (int i = 0; i < count && status == FOV_OK; i++) {
    if (i < recipes) read_row(rows[i], &runs->recipes.list[i]);
    names[i] = i < recipes ? rows[i] : runs->waiting[i - recipes].row;
    found = found || *names[i];
  }
  if (status == FOV_OK) status = fov_sweep_rows_choose(chosen, names, found ? count : 0, list);
  for (int i = 0; i < count && status == FOV_OK; i++) chosen[i] = chosen[i] || !*names[i];
  if (status == FOV_OK) keep_rows(runs, chosen);
  if (status == FOV_OK && runs->count == 0)
    status = fov_fail(FOV_ERR_USAGE, "--rows %.80s: no run of these rows has started", list);
  free(names);
  free(chosen);
  return status;
}

/* ---- order ---- */

static int compare_settings(const void *a, const void *b) {
  return strcmp(((const FovVariant *)a)->settings, ((const FovVariant *)b)->settings);
}

/** Drops variants that have no run, and sorts the others; index[i] becomes the new place of i. */
static void arrange_variants(int *index, FovVariants *variants, const bool *used) {
  FovVariant old[FOV_COMPARE_VARIANTS];
  int count = variants->count, kept = 0;
  memcpy(old, variants->list, sizeof old);
  for (int i = 0; i < count; i++) {
    if (used[i])
      variants->list[kept++] = old[i];
    else
      free(old[i].settings), free(old[i].label), free(old[i].name);
  }
  variants->count = kept;
  qsort(variants->list, (size_t)kept, sizeof *variants->list, compare_settings);
  for (int i = 0; i < count; i++)
    for (int j = 0; j < kept && used[i]; j++)
      if (variants->list[j].settings == old[i].settings) index[i] = j;
}

static int compare_numbers(double x, double y) {
  return (x > y) - (x < y);
}

static int compare_runs(const void *a, const void *b) {
  const FovComparedRun *x = a, *y = b;
  if (x->recipe != y->recipe) return x->recipe - y->recipe;
  if (x->task != y->task) return x->task - y->task;
  if (x->seed != y->seed) return x->seed < y->seed ? -1 : 1;
  if (x->score != y->score) return compare_numbers(x->score, y->score);
  return strcmp(x->source, y->source);
}

static void arrange(FovRuns *runs) {
  bool recipes[FOV_COMPARE_VARIANTS] = {false}, tasks[FOV_COMPARE_VARIANTS] = {false};
  int recipe_index[FOV_COMPARE_VARIANTS], task_index[FOV_COMPARE_VARIANTS];
  for (int i = 0; i < runs->count; i++)
    recipes[runs->list[i].recipe] = tasks[runs->list[i].task] = true;
  arrange_variants(recipe_index, &runs->recipes, recipes);
  arrange_variants(task_index, &runs->tasks, tasks);
  for (int i = 0; i < runs->count; i++) {
    runs->list[i].recipe = recipe_index[runs->list[i].recipe];
    runs->list[i].task = task_index[runs->list[i].task];
  }
  qsort(runs->list, (size_t)runs->count, sizeof *runs->list, compare_runs);
}

static FovStatus refuse_duplicates(const FovRuns *runs) {
  for (int i = 1; i < runs->count; i++) {
    const FovComparedRun *a = &runs->list[i - 1], *b = &runs->list[i];
    if (a->recipe == b->recipe && a->task == b->task && a->seed == b->seed && a->seed >= 0)
      return fov_fail(FOV_ERR_USAGE,
                      "%s and %s: the same recipe and task, both with seed %lld; name one of them",
                      a->source, b->source, (long long)a->seed);
  }
  return FOV_OK;
}

FovStatus fov_runs_select(FovRuns *runs, FovCompareSplit *split) {
  if (runs->errors > 0 && runs->scores > 0)
    return fov_fail(FOV_ERR_USAGE,
                    "expected either errors or scores, found %d runs with errors "
                    "and %d with scores",
                    runs->errors, runs->scores);
  if (runs->count == 0) return fov_fail(FOV_ERR_USAGE, "no run of the sweep has started");
  FOV_TRY(choose_split(split, runs));
  FovSplit chosen = *split == FOV_COMPARE_TEST ? FOV_SPLIT_TEST : FOV_SPLIT_VALID;
  FOV_TRY(read_results(runs, (Choice){chosen, runs->rollouts}));
  arrange(runs);
  return refuse_duplicates(runs);
}

/* ---- tasks ---- */

/** The first recipe without a run of the task; −1: all have one. */
static int find_missing(const FovRuns *runs, int task) {
  bool found[FOV_COMPARE_VARIANTS] = {false};
  for (int i = 0; i < runs->count; i++)
    if (runs->list[i].task == task) found[runs->list[i].recipe] = true;
  for (int r = 0; r < runs->recipes.count; r++)
    if (!found[r]) return r;
  return -1;
}

FovStatus fov_runs_complete(FovRuns *runs) {
  bool dropped[FOV_COMPARE_VARIANTS] = {false};
  int kept = 0, left = 0, task = -1, recipe = -1;
  for (int t = 0; t < runs->tasks.count; t++) {
    int missing = find_missing(runs, t);
    dropped[t] = missing >= 0;
    left += !dropped[t];
    if (dropped[t]) task = t, recipe = missing;
  }
  if (task < 0) return FOV_OK;
  const char *task_name = runs->tasks.list[task].name;
  const char *recipe_name = runs->recipes.list[recipe].name;
  if (left == 0)
    return fov_fail(FOV_ERR_USAGE,
                    "no task has runs of every recipe: '%.200s' has no run of "
                    "'%.200s'; name recipes that were trained on the same tasks, rows of a sweep "
                    "with --rows",
                    recipe_name, task_name);
  fov_runs_note(runs, "compared on %d of %d tasks: '%.100s' has no run of '%.100s'", left,
                runs->tasks.count, recipe_name, task_name);
  for (int i = 0; i < runs->count; i++) {
    if (dropped[runs->list[i].task])
      free_run(&runs->list[i]);
    else
      runs->list[kept++] = runs->list[i];
  }
  runs->count = kept;
  arrange(runs);
  return FOV_OK;
}
