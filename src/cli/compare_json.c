/** A comparison as JSON. */
#include <jansson.h>
#include <stdlib.h>

#include "cli/compare_print.h"
#include "record/json_text.h"

static json_t *estimate(const FovEstimate *e) {
  return json_pack("{s:o, s:[o,o]}", "value", fov_json_number(e->value), "interval",
                   fov_json_number(e->low), fov_json_number(e->high));
}

static json_t *seed(int64_t value) {
  return value < 0 ? json_null() : json_integer(value);
}

static json_t *name(const FovCompared *c, int recipe) {
  return recipe < 0 ? json_null() : json_string(c->recipes[recipe].name);
}

static json_t *runs_json(const FovCompared *c, const FovComparedRecipe *recipe) {
  json_t *list = json_array();
  for (int i = 0; i < recipe->runs; i++) {
    const FovComparedRun *run = &recipe->list[i];
    json_array_append_new(list, json_pack("{s:s, s:s, s:o, s:f}", "source", run->source, "task",
                                          c->runs.tasks.list[run->task].name, "seed",
                                          seed(run->seed), "result", recipe->results[i]));
  }
  return list;
}

static json_t *profile_json(const FovComparedRecipe *recipe) {
  json_t *list = json_array();
  for (int i = 0; i < FOV_COMPARE_THRESHOLDS && recipe->profile; i++) {
    const FovEstimate *share = &recipe->profile[i];
    json_array_append_new(list, json_pack("[f,o,o]", share->value, fov_json_number(share->low),
                                          fov_json_number(share->high)));
  }
  return list;
}

static json_t *costs_json(const FovComparedRecipe *recipe) {
  json_t *costs = json_object();
  for (int cost = 0; cost < FOV_COSTS; cost++)
    json_object_set_new(costs, fov_cost_columns[cost], fov_json_number(recipe->costs[cost]));
  return costs;
}

static json_t *recipe_json(const FovCompared *c, const FovComparedRecipe *recipe) {
  return json_pack("{s:s, s:i, s:o, s:o, s:o, s:f, s:o, s:o, s:o, s:o, s:o}", "recipe",
                   recipe->name, "n", recipe->runs, "mean", estimate(&recipe->mean), "median",
                   fov_json_number(recipe->median), "iqm", estimate(&recipe->iqm), "optimality_gap",
                   recipe->gap, "against", name(c, recipe->against), "improvement",
                   estimate(&recipe->improvement), "runs", runs_json(c, recipe), "profile",
                   profile_json(recipe), "costs", costs_json(recipe));
}

static json_t *pair_json(const FovCompared *c, const FovComparedPair *pair) {
  static const char *const verdicts[] = {[FOV_VERDICT_BETTER] = "better",
                                         [FOV_VERDICT_UNDECIDED] = "undecided",
                                         [FOV_VERDICT_FEW_RUNS] = "too few runs",
                                         [FOV_VERDICT_FEW_DRAWS] = "too few draws"};
  return json_pack("{s:o, s:o, s:s, s:o, s:[o,o], s:f, s:f, s:f, s:o, s:s}", "first",
                   name(c, pair->first), "second", name(c, pair->second), "resampled",
                   pair->cases ? "cases and seeds" : "seeds", "difference",
                   estimate(&pair->difference), "corrected_interval",
                   fov_json_number(pair->corrected.low), fov_json_number(pair->corrected.high),
                   "corrected_level", pair->level, "p", pair->p, "p_corrected", pair->adjusted,
                   "improvement", estimate(&pair->improvement), "verdict", verdicts[pair->verdict]);
}

static json_t *test_json(const FovCompared *c, const FovRunTest *test) {
  const FovComparedPair *pair = &c->pairs[test->pair];
  return json_pack("{s:o, s:o, s:s, s:o, s:I, s:I, s:f, s:f}", "first", name(c, pair->first),
                   "second", name(c, pair->second), "task", c->runs.tasks.list[test->task].name,
                   "seed", seed(test->seed), "only_first_right", (json_int_t)test->first,
                   "only_second_right", (json_int_t)test->second, "p", test->p, "p_corrected",
                   test->adjusted);
}

static json_t *text_json(const char *text) {
  return text ? json_string(text) : json_null();
}

/** The lists of the root: an element that cannot be made is missing, which the caller counts. */
static void add_lists(json_t *root, const FovCompared *c) {
  json_t *tasks = json_array(), *recipes = json_array(), *pairs = json_array();
  json_t *tests = json_array(), *thresholds = json_array(), *notes = json_array();
  for (int i = 0; i < c->runs.tasks.count; i++)
    json_array_append_new(tasks, json_string(c->runs.tasks.list[i].name));
  for (int i = 0; i < c->recipe_count; i++)
    json_array_append_new(recipes, recipe_json(c, &c->recipes[i]));
  for (int i = 0; i < c->pair_count; i++) json_array_append_new(pairs, pair_json(c, &c->pairs[i]));
  for (int i = 0; i < c->test_count; i++) json_array_append_new(tests, test_json(c, &c->tests[i]));
  for (int i = 0; i < FOV_COMPARE_THRESHOLDS; i++)
    json_array_append_new(thresholds, json_real(c->thresholds[i]));
  for (int i = 0; i < c->runs.note_count; i++)
    json_array_append_new(notes, json_string(c->runs.notes[i]));
  json_object_set_new(root, "tasks", tasks);
  json_object_set_new(root, "recipes", recipes);
  json_object_set_new(root, "pairs", pairs);
  json_object_set_new(root, "mcnemar", tests);
  json_object_set_new(root, "thresholds", thresholds);
  json_object_set_new(root, "notes", notes);
}

/** Whether every element was made: jansson refuses texts that are no UTF-8. */
static bool is_complete(const json_t *root, const FovCompared *c) {
  const json_t *recipes = json_object_get(root, "recipes");
  for (int i = 0; i < c->recipe_count; i++) {
    const json_t *runs = json_object_get(json_array_get(recipes, (size_t)i), "runs");
    if (json_array_size(runs) != (size_t)c->recipes[i].runs) return false;
  }
  return json_array_size(json_object_get(root, "tasks")) == (size_t)c->runs.tasks.count &&
         json_array_size(recipes) == (size_t)c->recipe_count &&
         json_array_size(json_object_get(root, "pairs")) == (size_t)c->pair_count &&
         json_array_size(json_object_get(root, "mcnemar")) == (size_t)c->test_count &&
         json_array_size(json_object_get(root, "notes")) == (size_t)c->runs.note_count;
}

FovStatus fov_compare_json(FILE *stream, const FovCompared *compared) {
  const FovCompared *c = compared;
  json_t *root = json_pack("{s:s, s:o, s:o, s:o, s:i, s:I, s:i}", "measure",
                           c->errors ? "error" : "score", "split", text_json(c->split), "rollouts",
                           c->split ? json_integer(c->rollouts) : json_null(), "cases",
                           c->cases > 0 ? json_integer(c->cases) : json_null(), "draws", c->draws,
                           "seed", (json_int_t)c->seed, "corrected_for", c->corrected_for);
  if (root) add_lists(root, c);
  char *text =
      root && is_complete(root, c)
          ? fov_json_text(root, JSON_INDENT(2) | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(9))
          : NULL;
  json_decref(root);
  if (!text)
    return fov_fail(FOV_ERR_FORMAT,
                    "--json: expected names of files, runs and rows in UTF-8, found other bytes");
  fprintf(stream, "%s\n", text);
  free(text);
  return FOV_OK;
}
