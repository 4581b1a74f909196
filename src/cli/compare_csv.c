/** A comparison as a CSV table with a row for each number. */
#include <inttypes.h>
#include <math.h>

#include "cli/compare_print.h"
#include "record/csv.h"

/** A row; texts that are NULL and numbers that are NaN are empty cells. */
typedef struct Row {
  const char *statistic, *recipe, *against, *task;
  int64_t seed; // −1: none
  double threshold;
  FovEstimate estimate;
} Row;

static void print_row(FILE *stream, const Row *row) {
  const char *const texts[] = {row->statistic, row->recipe, row->against, row->task};
  for (int i = 0; i < 4; i++) {
    if (texts[i]) fov_csv_print(stream, texts[i]);
    putc(',', stream);
  }
  if (row->seed >= 0) fprintf(stream, "%" PRId64, row->seed);
  fov_csv_number(stream, "%.9g", row->threshold);
  fov_csv_number(stream, "%.9g", row->estimate.value);
  fov_csv_number(stream, "%.9g", row->estimate.low);
  fov_csv_number(stream, "%.9g", row->estimate.high);
  putc('\n', stream);
}

/** A number of a recipe, or of a recipe and another. */
static void print_estimate(FILE *stream, const char *statistic, const char *recipe,
                           const char *against, FovEstimate estimate) {
  print_row(stream, &(Row){.statistic = statistic,
                           .recipe = recipe,
                           .against = against,
                           .seed = -1,
                           .threshold = NAN,
                           .estimate = estimate});
}

static FovEstimate only(double value) {
  return (FovEstimate){value, NAN, NAN};
}

static void print_recipe(FILE *stream, const FovCompared *c, const FovComparedRecipe *recipe) {
  const char *name = recipe->name;
  print_estimate(stream, "runs", name, NULL, only(recipe->runs));
  print_estimate(stream, "mean", name, NULL, recipe->mean);
  print_estimate(stream, "median", name, NULL, only(recipe->median));
  print_estimate(stream, "iqm", name, NULL, recipe->iqm);
  print_estimate(stream, "optimality_gap", name, NULL, only(recipe->gap));
  for (int cost = 0; cost < FOV_COSTS; cost++)
    print_estimate(stream, fov_cost_columns[cost], name, NULL, only(recipe->costs[cost]));
  if (recipe->against >= 0)
    print_estimate(stream, "improvement", name, c->recipes[recipe->against].name,
                   recipe->improvement);
  for (int i = 0; i < recipe->runs; i++)
    print_row(stream, &(Row){.statistic = c->errors ? "error" : "score",
                             .recipe = name,
                             .task = c->runs.tasks.list[recipe->list[i].task].name,
                             .seed = recipe->list[i].seed,
                             .threshold = NAN,
                             .estimate = only(recipe->results[i])});
  for (int i = 0; i < FOV_COMPARE_THRESHOLDS && recipe->profile; i++)
    print_row(stream, &(Row){.statistic = "profile",
                             .recipe = name,
                             .seed = -1,
                             .threshold = c->thresholds[i],
                             .estimate = recipe->profile[i]});
}

static void print_pair(FILE *stream, const FovCompared *c, const FovComparedPair *pair) {
  const char *first = c->recipes[pair->first].name, *second = c->recipes[pair->second].name;
  print_estimate(stream, "difference", first, second, pair->difference);
  print_estimate(stream, "difference_corrected", first, second, pair->corrected);
  print_estimate(stream, "p", first, second, only(pair->p));
  print_estimate(stream, "p_corrected", first, second, only(pair->adjusted));
  print_estimate(stream, "pair_improvement", first, second, pair->improvement);
}

static void print_test(FILE *stream, const FovCompared *c, const FovRunTest *test) {
  const FovComparedPair *pair = &c->pairs[test->pair];
  Row row = {.recipe = c->recipes[pair->first].name,
             .against = c->recipes[pair->second].name,
             .task = c->runs.tasks.list[test->task].name,
             .seed = test->seed,
             .threshold = NAN};
  const char *const names[] = {"only_recipe_right", "only_against_right", "mcnemar_p",
                               "mcnemar_p_corrected"};
  const double values[] = {(double)test->first, (double)test->second, test->p, test->adjusted};
  for (int i = 0; i < 4; i++) {
    row.statistic = names[i];
    row.estimate = only(values[i]);
    print_row(stream, &row);
  }
}

FovStatus fov_compare_csv(FILE *stream, const FovCompared *compared) {
  fputs("statistic,recipe,against,task,seed,threshold,value,low,high\n", stream);
  for (int r = 0; r < compared->recipe_count; r++)
    print_recipe(stream, compared, &compared->recipes[r]);
  for (int i = 0; i < compared->pair_count; i++) print_pair(stream, compared, &compared->pairs[i]);
  for (int i = 0; i < compared->test_count; i++) print_test(stream, compared, &compared->tests[i]);
  return FOV_OK;
}
