/** McNemar's tests of runs that were tested on the same cases. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"
#include "experiment/compare/parts.h"

/** Whether case i is the same case for both. */
static bool same_cases(const FovOutcomes *x, const FovOutcomes *y) {
  return x->cases == y->cases && x->seed == y->seed && strcmp(x->data, y->data) == 0;
}

const char *fov_compare_cases(const FovComparedRecipe *x, const FovComparedRecipe *y) {
  for (int i = 0; i < x->runs + y->runs; i++) {
    const FovComparedRun *run = i < x->runs ? &x->list[i] : &y->list[i - x->runs];
    if (!run->outcomes.wrong) return "a source has no outcome per case";
    for (int j = 0; j < x->runs; j++)
      if (x->list[j].task == run->task && !same_cases(&x->list[j].outcomes, &run->outcomes))
        return "the runs were tested on different cases";
  }
  return NULL;
}

static FovStatus add_test(FovCompared *result, const FovRunTest *test) {
  // A power of 2 is full.
  if ((result->test_count & (result->test_count - 1)) == 0) {
    size_t room = result->test_count > 0 ? 2 * (size_t)result->test_count : 1;
    FovRunTest *tests = realloc(result->tests, room * sizeof *tests);
    if (!tests) return fov_fail(FOV_ERR_MEMORY, "no memory for the tests of runs");
    result->tests = tests;
  }
  result->tests[result->test_count++] = *test;
  return FOV_OK;
}

static FovRunTest test_runs(const FovComparedRun *x, const FovComparedRun *y) {
  FovRunTest test = {.task = x->task, .seed = x->seed == y->seed ? x->seed : -1};
  for (int64_t i = 0; i < x->outcomes.cases; i++) {
    test.first += y->outcomes.wrong[i] > x->outcomes.wrong[i];
    test.second += x->outcomes.wrong[i] > y->outcomes.wrong[i];
  }
  test.p = fov_stats_mcnemar(test.first, test.second);
  return test;
}

FovStatus fov_compare_runs(double *p, FovCompared *result, int pair) {
  const FovComparedPair *the = &result->pairs[pair];
  const FovComparedRecipe *x = &result->recipes[the->first], *y = &result->recipes[the->second];
  int64_t first = 0, second = 0;
  *p = 0;
  for (int i = 0; i < x->runs; i++)
    for (int j = 0; j < y->runs; j++) {
      const FovComparedRun *a = &x->list[i], *b = &y->list[j];
      if (a->task != b->task || !(the->single || (a->seed >= 0 && a->seed == b->seed))) continue;
      FovRunTest test = test_runs(a, b);
      test.pair = pair;
      FOV_TRY(add_test(result, &test));
      first += test.first;
      second += test.second;
    }
  if (the->single) *p = first > second ? fov_stats_mcnemar(first, second) : 1;
  return FOV_OK;
}

FovStatus fov_compare_adjust_runs(FovCompared *result) {
  size_t n = (size_t)result->test_count;
  double *p = calloc(2 * n + 1, sizeof *p);
  if (!p) return fov_fail(FOV_ERR_MEMORY, "no memory for the tests of runs");
  for (size_t i = 0; i < n; i++) p[i] = result->tests[i].p;
  fov_stats_holm(p + n, p, (int)n);
  for (size_t i = 0; i < n; i++) result->tests[i].adjusted = p[n + i];
  free(p);
  return FOV_OK;
}
