/** fovea compare through the library: which runs are compared, and every number of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/stats.h"
#include "experiment/compare/compare.h"
#include "record/safetensors.h"
#include "tests/folder.h"

enum { CASES = 40, MAX_SOURCES = 8 };

static FovCompared compared;

static int make(void **state) {
  (void)state;
  compared = (FovCompared){.recipe_count = 0};
  return make_folder("table.csv");
}

static int finish(void **state) {
  fov_compared_finish(&compared);
  return remove_tree(state);
}

/** Compares sources up to a NULL, with changes to the usual request. */
static FovStatus compare_as(const FovCompareRequest *changes, const char *const *sources) {
  FovCompareRequest request = {.sources = sources,
                               .split = changes->split,
                               .rollouts = changes->rollouts > 0 ? changes->rollouts : 1,
                               .rows = changes->rows,
                               .against = changes->against,
                               .draws = changes->draws > 0 ? changes->draws : 2000,
                               .threads = changes->threads > 0 ? changes->threads : 1,
                               .profiles = changes->profiles};
  while (sources[request.source_count]) request.source_count++;
  fov_compared_finish(&compared);
  return fov_compare(&compared, &request);
}

static FovStatus compare(const char *const *sources) {
  return compare_as(&(FovCompareRequest){.draws = 0}, sources);
}

#define SOURCES(...) ((const char *const[MAX_SOURCES]){__VA_ARGS__, NULL})

static FovStatus compare_csv(const char *text) {
  assert_int_equal(fov_file_write(path, text, strlen(text)), FOV_OK);
  return compare(SOURCES(path));
}

static void assert_refused(const char *part, const char *csv) {
  assert_true(compare_csv(csv) != FOV_OK);
  assert_message(part);
}

static const FovComparedRecipe *recipe(const char *name) {
  for (int r = 0; r < compared.recipe_count; r++)
    if (strcmp(compared.recipes[r].name, name) == 0) return &compared.recipes[r];
  fail_msg("no recipe '%s'; the first is '%s'", name, compared.recipes[0].name);
  return NULL;
}

static void assert_noted(const char *part) {
  for (int i = 0; i < compared.runs.note_count; i++)
    if (strstr(compared.runs.notes[i], part)) return;
  fail_msg("no note has '%s'", part);
}

/* ---- runs made by hand ---- */

/** What a run is made of. */
typedef struct Made {
  const char *name, *config;
  int wrong;    // the first so many cases are wrong
  int also;     // one more case is wrong if > 0: this one
  int64_t seed; // of the cases
  FovSplit split;
} Made;

static const char *in_folder(char text[600], const char *name) {
  snprintf(text, 600, "%s/%.200s", folder, name);
  return text;
}

static void write_in(const char *run, const char *name, const char *text) {
  char file[900], dir[600];
  assert_int_equal(fov_make_folders(in_folder(dir, run)), FOV_OK);
  snprintf(file, sizeof file, "%s/%s", dir, name);
  assert_int_equal(fov_file_write(file, text, strlen(text)), FOV_OK);
}

/** Makes a run directory that was tested on so many cases; returns its path. */
static const char *make_run_of(int cases, char dir[600], Made made) {
  char file[900], name[FOV_OUTCOMES_NAME];
  uint8_t wrong[CASES];
  for (int i = 0; i < CASES; i++) wrong[i] = i < made.wrong || (made.also > 0 && i == made.also);
  FovOutcomes outcomes = {.wrong = wrong,
                          .cases = cases,
                          .seed = made.seed,
                          .rollouts = 1,
                          .split = made.split,
                          .weights = "0123456789abcdef",
                          .data = "fedcba9876543210"};
  write_in(made.name, "config.ini", made.config);
  snprintf(file, sizeof file, "%.600s/%s", in_folder(dir, made.name),
           fov_outcomes_name(name, made.split, 1));
  assert_int_equal(fov_outcomes_write(&outcomes, file), FOV_OK);
  return dir;
}

static const char *make_run(char dir[600], Made made) {
  return make_run_of(CASES, dir, made);
}

/** Makes runs of two recipes on one task and on another, with so many wrong cases of so many. */
static void make_tasks(char runs[4][600], const int wrong[4], const int cases[4]) {
  static const char *const configs[] = {
      "core = rnn\nenv = cluttered\n", "core = gru\nenv = cluttered\n",
      "core = rnn\nenv = translated\n", "core = gru\nenv = translated\n"};
  for (int i = 0; i < 4; i++) {
    char name[12];
    snprintf(name, sizeof name, "%d", i);
    make_run_of(cases[i], runs[i], (Made){name, configs[i], wrong[i], 0, 7, FOV_SPLIT_TEST});
  }
}

/* ---- statistics ---- */

static void statistics_are_those_of_the_definitions(void **state) {
  (void)state;
  assert_int_equal(compare_csv("recipe,seed,error\n"
                               "a,0,0.1\na,1,0.2\na,2,0.3\n"
                               "b,0,0.2\nb,1,0.4\nb,2,0.6\n"
                               "c,0,0.1\nc,1,0.9\nc,2,0.3\nc,3,0.2\n"
                               "d,0,0.1\nd,1,0.3\n"),
                   FOV_OK);
  assert_true(compared.errors);
  assert_null(compared.split);
  assert_int_equal(compared.recipe_count, 4);
  const FovComparedRecipe *a = recipe("a"), *b = recipe("b"), *c = recipe("c"), *d = recipe("d");
  assert_int_equal(a->runs, 3);
  assert_close(a->mean.value, 0.2, 1e-12);
  assert_close(a->half_width, 4.302652729911275 * 0.1 / sqrt(3), 1e-9);
  assert_close(a->mean.low, 0.2 - a->half_width, 1e-12);
  assert_close(a->gap, 0.2, 1e-12);
  assert_close(b->iqm.value, 0.4, 1e-12);
  assert_close(c->mean.value, 0.375, 1e-12);
  assert_close(c->median, 0.25, 1e-12);
  assert_close(c->iqm.value, 0.25, 1e-12);
  // A resample of two is (.1, .1), (.1, .3), (.3, .1) or (.3, .3).
  assert_close(d->iqm.low, 0.1, 1e-12);
  assert_close(d->iqm.high, 0.3, 1e-12);
}

static void the_probability_of_improvement_is_over_the_best_other_recipe(void **state) {
  (void)state;
  assert_int_equal(compare_csv("recipe,seed,error\na,0,0.1\na,1,0.2\na,2,0.3\n"
                               "b,0,0.2\nb,1,0.4\nb,2,0.6\nc,0,0.9\nc,1,0.95\n"),
                   FOV_OK);
  // Of 9 pairs of runs, a has the lower error in 7, and one is equal.
  assert_string_equal(compared.recipes[0].name, "a");
  assert_int_equal(compared.recipes[0].against, 1);
  assert_close(compared.recipes[0].improvement.value, 7.5 / 9, 1e-12);
  assert_close(recipe("b")->improvement.value, 1.5 / 9, 1e-12);
  assert_int_equal(recipe("c")->against, 0);
  assert_close(recipe("c")->improvement.value, 0, 1e-12);
  assert_true(recipe("b")->improvement.low <= 1.5 / 9 && recipe("b")->improvement.high > 1.5 / 9);
}

static void tasks_count_equally(void **state) {
  (void)state;
  assert_int_equal(compare_csv("recipe,task,seed,score\n"
                               "a,x,0,0.1\na,x,1,0.3\na,y,0,0.5\na,y,1,0.7\n"
                               "b,x,0,1\nb,x,1,1\nb,x,2,4\nb,y,0,5\n"),
                   FOV_OK);
  assert_false(compared.errors);
  assert_string_equal(compared.recipes[0].name, "b");
  assert_close(recipe("b")->mean.value, 3.5, 1e-12);
  assert_true(isnan(recipe("b")->half_width)); // one run of y
  assert_true(isnan(recipe("b")->iqm.low));
  assert_close(recipe("b")->gap, 0, 1e-12); // a score above 1 counts as 1
  const FovComparedRecipe *a = recipe("a");
  assert_close(a->mean.value, 0.4, 1e-12);
  assert_close(a->median, 0.4, 1e-12);
  // Two tasks of variance 0.01 each, of a quarter of the weight: 0.005 with 2 degrees of freedom.
  assert_close(a->half_width, 4.302652729911275 * sqrt(0.005), 1e-9);
  assert_close(a->gap, 0.6, 1e-12);
}

static void a_profile_is_the_share_of_runs_beyond_each_threshold(void **state) {
  (void)state;
  const char text[] = "recipe,seed,error\na,0,0.2\na,1,0.4\nb,0,0.6\nb,1,0.8\n";
  assert_int_equal(fov_file_write(path, text, strlen(text)), FOV_OK);
  assert_int_equal(compare_as(&(FovCompareRequest){.profiles = true}, SOURCES(path)), FOV_OK);
  assert_close(compared.thresholds[0], 0.83, 1e-9);
  assert_close(compared.thresholds[FOV_COMPARE_THRESHOLDS - 1], 0.17, 1e-9);
  for (int i = 0; i < FOV_COMPARE_THRESHOLDS; i++) {
    double tau = compared.thresholds[i];
    const FovEstimate *share = &recipe("a")->profile[i];
    assert_close(share->value, ((0.2 < tau) + (0.4 < tau)) / 2., 1e-12);
    assert_true(share->low <= share->value && share->value <= share->high);
  }
}

/* ---- differences ---- */

static void few_runs_are_judged_by_welch(void **state) {
  (void)state;
  assert_int_equal(
      compare_csv("recipe,seed,error\na,0,0.1\na,1,0.2\na,2,0.3\nb,0,0.2\nb,1,0.4\nb,2,0.6\n"),
      FOV_OK);
  assert_int_equal(compared.pair_count, 1);
  const FovComparedPair *pair = &compared.pairs[0];
  double v = 0.01 / 3, w = 0.04 / 3, error = sqrt(v + w);
  double freedom = (v + w) * (v + w) / ((v * v + w * w) / 2);
  double half = fov_stats_student_quantile(0.05, freedom) * error;
  assert_close(pair->difference.value, 0.2, 1e-12);
  assert_close(pair->corrected.low, 0.2 - half, 1e-9);
  assert_close(pair->corrected.high, 0.2 + half, 1e-9);
  assert_close(pair->p, fov_stats_student_p(0.2 / error, freedom), 1e-9);
  assert_int_equal(pair->verdict, FOV_VERDICT_UNDECIDED);
  assert_false(pair->cases);
  assert_noted("too narrow");
}

static void runs_that_do_not_overlap_do_not_decide_by_themselves(void **state) {
  (void)state;
  assert_int_equal(compare_csv("recipe,seed,error\na,0,0.10\na,1,0.19\nb,0,0.20\nb,1,0.29\n"),
                   FOV_OK);
  assert_true(compared.pairs[0].difference.low > 0); // the bootstrap's
  assert_int_equal(compared.pairs[0].verdict, FOV_VERDICT_UNDECIDED);
  assert_int_equal(compare_csv("recipe,seed,error\na,0,0.10\na,1,0.11\nb,0,0.20\nb,1,0.21\n"),
                   FOV_OK);
  assert_int_equal(compared.pairs[0].verdict, FOV_VERDICT_BETTER);
  assert_string_equal(compared.recipes[compared.pairs[0].first].name, "a");
}

/** Two recipes whose errors have one distribution, with three seeds each. */
static FovStatus compare_equal(uint64_t experiment) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs("recipe,seed,error\n", file);
  FovRng rng = fov_rng_stream(0, FOV_STREAM_DATA, experiment);
  for (int i = 0; i < 6; i++)
    fprintf(file, "%c,%d,%.6f\n", "ab"[i % 2], i / 2, 0.5 + 0.05 * (double)fov_rng_normal(&rng));
  fclose(file);
  return compare_as(&(FovCompareRequest){.draws = 400}, SOURCES(path));
}

static void equal_recipes_are_seldom_called_different(void **state) {
  (void)state;
  enum { EXPERIMENTS = 400 };
  int better = 0, bootstrap = 0;
  for (int e = 0; e < EXPERIMENTS; e++) {
    assert_int_equal(compare_equal((uint64_t)e), FOV_OK);
    better += compared.pairs[0].verdict == FOV_VERDICT_BETTER;
    bootstrap += compared.pairs[0].difference.low > 0;
  }
  printf("# called different: %d of %d, by the bootstrap alone %d\n", better, EXPERIMENTS,
         bootstrap);
  assert_true(better > 0 && better <= 0.06 * EXPERIMENTS);
  assert_true(bootstrap > 0.12 * EXPERIMENTS);
}

static void one_run_decides_nothing(void **state) {
  (void)state;
  assert_int_equal(compare_csv("recipe,error\na,0.1\nb,0.9\n"), FOV_OK);
  assert_true(compared.pairs[0].single);
  assert_true(compared.pairs[0].verdict != FOV_VERDICT_BETTER);
  assert_int_equal(compare_csv("recipe,error\na,0.1\nb,0.9\nb,0.91\nb,0.92\n"), FOV_OK);
  assert_int_equal(compared.pairs[0].verdict, FOV_VERDICT_FEW_RUNS);
}

/** The best of seven is compared as one of 21 pairs, whose smallest corrected p-value is 42 / 101.
 */
static void too_few_draws_decide_nothing(void **state) {
  (void)state;
  char text[1024] = "recipe,error\n";
  for (int i = 0; i < 35; i++) {
    size_t used = strlen(text);
    snprintf(text + used, sizeof text - used, "r%d,0.%d0%d\n", i % 7, i % 7 + 1, i / 7);
  }
  assert_int_equal(compare_csv(text), FOV_OK);
  assert_int_equal(compared.pairs[0].verdict, FOV_VERDICT_BETTER);
  assert_int_equal(compare_as(&(FovCompareRequest){.draws = 100}, SOURCES(path)), FOV_OK);
  assert_int_equal(compared.pairs[0].verdict, FOV_VERDICT_FEW_DRAWS);
}

static void scores_of_any_size_are_compared(void **state) {
  (void)state;
  assert_int_equal(compare_csv("recipe,score\na,1e100\na,0\na,-1e100\nb,1e100\nb,-1e100\n"),
                   FOV_OK);
  assert_int_equal(compared.pairs[0].verdict, FOV_VERDICT_UNDECIDED);
  assert_int_equal(compare_csv("recipe,score\na,1e-100\na,2e-100\nb,3e-100\nb,5e-100\n"), FOV_OK);
  assert_int_equal(compared.pairs[0].verdict, FOV_VERDICT_UNDECIDED);
  assert_int_equal(compare_csv("recipe,score\na,1e-200\na,2e-200\nb,3e-200\nb,5e-200\n"), FOV_OK);
  assert_int_equal(compare_csv("recipe,score\na,1\na,1\nb,2\nb,2\nb,2\n"), FOV_OK);
  assert_close(recipe("b")->half_width, 0, 1e-12);
}

/** n recipes r0 … of errors 0.1, 0.2, …, each with five runs that differ by 0.001. */
static FovStatus compare_many(int n, const char *against) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs("recipe,seed,score\n", file);
  for (int r = 0; r < n; r++)
    for (int s = 0; s < 5; s++) fprintf(file, "r%d,%d,%g\n", r, s, -0.1 * r - 0.001 * s);
  fclose(file);
  return compare_as(&(FovCompareRequest){.against = against, .draws = 10000}, SOURCES(path));
}

static void many_recipes_are_compared_with_the_best(void **state) {
  (void)state;
  assert_int_equal(compare_many(6, NULL), FOV_OK);
  assert_int_equal(compared.pair_count, 15);
  assert_int_equal(compared.corrected_for, 15);
  assert_int_equal(compare_many(7, NULL), FOV_OK);
  assert_int_equal(compared.pair_count, 6);
  assert_int_equal(compared.corrected_for, 21); // the best was chosen among all pairs
  for (int i = 0; i < 6; i++) {
    assert_int_equal(compared.pairs[i].first, 0);
    assert_int_equal(compared.pairs[i].verdict, FOV_VERDICT_BETTER);
    assert_true(compared.pairs[i].adjusted > 15 * compared.pairs[i].p);
  }
  assert_noted("--against");
}

static void a_recipe_that_is_named_is_compared_with_all_others(void **state) {
  (void)state;
  assert_int_equal(compare_many(7, "r3"), FOV_OK);
  assert_int_equal(compared.pair_count, 6);
  assert_int_equal(compared.corrected_for, 6);
  for (int i = 0; i < 6; i++)
    assert_true(compared.pairs[i].first == 3 || compared.pairs[i].second == 3);
  assert_int_equal(recipe("r3")->against, -1);
  assert_int_equal(compare_many(7, "r"), FOV_ERR_USAGE);
  assert_message("found several");
  assert_int_equal(compare_many(7, "gru"), FOV_ERR_USAGE);
  assert_message("found none");
}

static void corrected_intervals_agree_with_the_decisions(void **state) {
  (void)state;
  assert_int_equal(compare_csv("recipe,seed,error\na,0,.10\na,1,.12\na,2,.11\na,3,.13\na,4,.12\n"
                               "b,0,.13\nb,1,.14\nb,2,.12\nb,3,.15\nb,4,.13\n"
                               "c,0,.12\nc,1,.15\nc,2,.11\nc,3,.14\nc,4,.12\n"),
                   FOV_OK);
  assert_int_equal(compared.pair_count, 3);
  for (int i = 0; i < 3; i++) {
    const FovComparedPair *pair = &compared.pairs[i];
    bool excludes = pair->corrected.low > 0;
    assert_int_equal(excludes, pair->adjusted <= 0.05);
    assert_int_equal(pair->verdict, excludes ? FOV_VERDICT_BETTER : FOV_VERDICT_UNDECIDED);
    assert_true(pair->corrected.low <= pair->difference.low);
    assert_true(pair->level >= 0.95);
  }
}

/* ---- cases ---- */

static void two_runs_are_compared_case_by_case(void **state) {
  (void)state;
  char a[600], b[600];
  // a is wrong in 20 cases; b in 12 of these and, or not, in case 30.
  make_run(a, (Made){"a-s0", "seed = 0\ncore = rnn\n", 20, 0, 7, FOV_SPLIT_TEST});
  make_run(b, (Made){"b-s0", "seed = 0\ncore = gru\n", 8, 0, 7, FOV_SPLIT_TEST});
  assert_int_equal(compare(SOURCES(a, b)), FOV_OK);
  assert_string_equal(compared.split, "test");
  assert_int_equal(compared.cases, CASES);
  assert_string_equal(compared.recipes[0].name, "core=gru");
  assert_close(compared.recipes[0].mean.value, 8. / CASES, 1e-12);
  assert_int_equal(compared.test_count, 1);
  assert_int_equal(compared.tests[0].first, 12);
  assert_int_equal(compared.tests[0].second, 0);
  assert_close(compared.tests[0].p, 2. / 4096, 1e-12);
  assert_true(compared.pairs[0].cases && compared.pairs[0].single);
  assert_close(compared.pairs[0].difference.value, 12. / CASES, 1e-12);
  assert_int_equal(compared.pairs[0].verdict, FOV_VERDICT_BETTER);
  make_run(b, (Made){"b-s0", "seed = 0\ncore = gru\n", 15, 30, 7, FOV_SPLIT_TEST});
  assert_int_equal(compare(SOURCES(a, b)), FOV_OK);
  assert_int_equal(compared.tests[0].second, 1);
  assert_close(compared.tests[0].p, 14. / 64, 1e-12); // 2 (1 + 6) / 2^6
  assert_int_equal(compared.pairs[0].verdict, FOV_VERDICT_UNDECIDED);
}

/** Five cases that only one run has wrong: the bootstrap excludes 0, the exact test does not. */
static void two_runs_need_the_exact_test_too(void **state) {
  (void)state;
  char a[600], b[600];
  make_run(a, (Made){"a", "core = rnn\n", 5, 0, 7, FOV_SPLIT_TEST});
  make_run(b, (Made){"b", "core = gru\n", 0, 0, 7, FOV_SPLIT_TEST});
  assert_int_equal(compare(SOURCES(a, b)), FOV_OK);
  assert_true(compared.pairs[0].corrected.low > 0);
  assert_close(compared.pairs[0].p, 2. / 32, 1e-12);
  assert_int_equal(compared.pairs[0].verdict, FOV_VERDICT_FEW_RUNS);
}

/** Tasks weigh the same in the mean, cases in the exact test: it is no support if it speaks for the
 * other run. */
static void an_exact_test_for_the_other_run_decides_nothing(void **state) {
  (void)state;
  char runs[4][600];
  make_tasks(runs, (const int[]){24, 0, 0, 9}, (const int[]){40, 40, 10, 10});
  assert_int_equal(compare(SOURCES(runs[0], runs[1], runs[2], runs[3])), FOV_OK);
  assert_string_equal(compared.recipes[0].name, "core=rnn");
  assert_true(compared.pairs[0].cases && compared.pairs[0].single);
  assert_close(compared.pairs[0].p, 1, 0);
  assert_int_equal(compared.pairs[0].verdict, FOV_VERDICT_FEW_RUNS);
}

static void runs_of_equal_seeds_are_tested_in_pairs(void **state) {
  (void)state;
  char runs[5][600];
  const char *const names[] = {"a-s0", "a-s1", "b-s0", "b-s1", "b-s2"};
  for (int i = 0; i < 5; i++) {
    char config[64];
    snprintf(config, sizeof config, "seed = %c\ncore = %s\n", names[i][3],
             *names[i] == 'a' ? "rnn" : "gru");
    make_run(runs[i],
             (Made){names[i], config, *names[i] == 'a' ? 20 + i : 5, 0, 7, FOV_SPLIT_VALID});
  }
  assert_int_equal(compare(SOURCES(runs[0], runs[1], runs[2], runs[3], runs[4])), FOV_OK);
  assert_string_equal(compared.split, "valid");
  assert_int_equal(compared.test_count, 2);
  for (int i = 0; i < 2; i++) {
    assert_int_equal(compared.tests[i].seed, i);
    assert_int_equal(compared.tests[i].first, 15 + i);
    assert_close(compared.tests[i].p, 2 * pow(0.5, 15 + i), 1e-12);
    assert_close(compared.tests[i].adjusted, pow(0.5, 14), 1e-12); // Holm: 2 · 2^-15 and 1 · 2^-14
  }
  assert_true(compared.pairs[0].cases && !compared.pairs[0].single);
}

static void other_cases_are_not_paired(void **state) {
  (void)state;
  char a[600], b[600];
  make_run(a, (Made){"a", "core = rnn\n", 20, 0, 7, FOV_SPLIT_TEST});
  make_run(b, (Made){"b", "core = gru\n", 8, 0, 8, FOV_SPLIT_TEST});
  assert_int_equal(compare(SOURCES(a, b)), FOV_OK);
  assert_false(compared.pairs[0].cases);
  assert_string_equal(compared.pairs[0].no_cases, "the runs were tested on different cases");
  assert_int_equal(compared.test_count, 0);
  assert_noted("no paired tests of cases: the runs were tested on different cases");
  assert_true(compared.pairs[0].verdict != FOV_VERDICT_BETTER);
}

/** Draws of tasks are independent: with two tasks of the same outcomes the interval is narrower
 * than with one, by √2. */
static void tasks_are_resampled_independently(void **state) {
  (void)state;
  char runs[4][600];
  make_tasks(runs, (const int[]){24, 10, 24, 10}, (const int[]){CASES, CASES, CASES, CASES});
  assert_int_equal(compare(SOURCES(runs[0], runs[1])), FOV_OK);
  const FovEstimate *d = &compared.pairs[0].difference;
  double one = d->high - d->low;
  assert_int_equal(compare(SOURCES(runs[0], runs[1], runs[2], runs[3])), FOV_OK);
  d = &compared.pairs[0].difference;
  assert_close(d->value, 14. / CASES, 1e-12);
  assert_close((d->high - d->low) / one, sqrt(0.5), 0.08);
}

static void other_data_are_other_cases(void **state) {
  (void)state;
  char a[600], b[600], file[900];
  uint8_t wrong[CASES] = {0};
  make_run(a, (Made){"a", "core = rnn\n", 20, 0, 7, FOV_SPLIT_TEST});
  make_run(b, (Made){"b", "core = gru\n", 8, 0, 7, FOV_SPLIT_TEST});
  FovOutcomes outcomes = {.wrong = wrong,
                          .cases = CASES,
                          .seed = 7,
                          .rollouts = 1,
                          .split = FOV_SPLIT_TEST,
                          .weights = "0123456789abcdef",
                          .data = "fedcba9876543211"};
  snprintf(file, sizeof file, "%.600s/test.safetensors", b);
  assert_int_equal(fov_outcomes_write(&outcomes, file), FOV_OK);
  assert_int_equal(compare(SOURCES(a, b)), FOV_OK);
  assert_false(compared.pairs[0].cases);
}

/* ---- which runs ---- */

static void recipes_are_named_by_what_distinguishes_them(void **state) {
  (void)state;
  char a[600], b[600], c[600], d[600];
  const char gru[] = "core = gru\npolicy.sigma = 2\n", two[] = "core = rnn\npolicy.sigma = 2\n";
  make_run(a, (Made){"a", "core = rnn\n", 20, 0, 7, FOV_SPLIT_TEST});
  make_run(b, (Made){"b", gru, 8, 0, 7, FOV_SPLIT_TEST});
  make_run(c, (Made){"c", two, 9, 0, 7, FOV_SPLIT_TEST});
  // rnn and gru also differ in core.init, which only rnn has.
  assert_int_equal(compare(SOURCES(a, b)), FOV_OK);
  recipe("core=gru");
  recipe("core=rnn");
  assert_int_equal(compare(SOURCES(a, b, c)), FOV_OK);
  recipe("core=gru policy.sigma=2");
  recipe("core=rnn policy.sigma=2");
  assert_string_equal(compared.runs.tasks.list[0].name, "cluttered");
  make_run(d, (Made){"d", "core = lstm\n", 20, 0, 7, FOV_SPLIT_TEST});
  assert_int_equal(compare(SOURCES(a, b, d)), FOV_OK);
  recipe("core=lstm");
  recipe("core=rnn");
  assert_int_equal(compare(SOURCES(a)), FOV_OK);
  recipe("a"); // the folder
  assert_int_equal(compared.pair_count, 0);
}

static void environments_are_tasks(void **state) {
  (void)state;
  char runs[4][600];
  static const char *const configs[] = {
      "core = rnn\nenv = cluttered\n", "core = rnn\nenv = translated\n",
      "core = gru\nenv = cluttered\n", "core = gru\nenv = translated\n"};
  for (int i = 0; i < 4; i++) {
    char name[12];
    snprintf(name, sizeof name, "%d", i);
    make_run(runs[i], (Made){name, configs[i], 4 + 4 * i, 0, 7, FOV_SPLIT_TEST});
  }
  assert_int_equal(compare(SOURCES(runs[0], runs[1], runs[2], runs[3])), FOV_OK);
  assert_int_equal(compared.recipe_count, 2);
  assert_int_equal(compared.runs.tasks.count, 2);
  assert_close(recipe("core=rnn")->mean.value, 6. / CASES, 1e-12);
  assert_close(recipe("core=gru")->mean.value, 14. / CASES, 1e-12);
  assert_true(compared.pairs[0].single);
  // Without one of them, only the other task is common.
  assert_int_equal(compare(SOURCES(runs[0], runs[1], runs[3])), FOV_OK);
  assert_int_equal(compared.runs.tasks.count, 1);
  assert_int_equal(compared.runs.count, 2);
  assert_noted("compared on 1 of 2 tasks: 'core=gru' has no run of 'cluttered'");
  assert_int_equal(compare(SOURCES(runs[0], runs[3])), FOV_ERR_USAGE);
  assert_message("no task has runs of every recipe");
}

static void a_configuration_of_an_older_version_is_the_same_recipe(void **state) {
  (void)state;
  char a[600], b[600];
  make_run(a, (Made){"a-s0", "seed = 0\ncore = gru\n", 20, 0, 7, FOV_SPLIT_TEST});
  make_run(b, (Made){"a-s1", "seed = 1\ncore = gru\ntrain.shard = 64\nestimator = reinforce\n", 8,
                     0, 7, FOV_SPLIT_TEST});
  assert_int_equal(compare(SOURCES(a, b)), FOV_OK);
  assert_int_equal(compared.recipe_count, 1);
  recipe("a");
}

static void a_folder_and_its_runs_are_the_same_source(void **state) {
  (void)state;
  char dir[600], a[600], b[600];
  make_run(a, (Made){"runs/a-s0", "seed = 0\ncore = gru\n", 20, 0, 7, FOV_SPLIT_TEST});
  make_run(b, (Made){"runs/b-s0", "seed = 0\ncore = rnn\n", 8, 0, 7, FOV_SPLIT_TEST});
  assert_int_equal(compare(SOURCES(in_folder(dir, "runs"))), FOV_OK);
  assert_int_equal(compared.runs.count, 2);
  double low = compared.pairs[0].difference.low;
  assert_int_equal(compare(SOURCES(b, a)), FOV_OK);
  assert_true(compared.pairs[0].difference.low == low);
  assert_int_equal(compare(SOURCES(dir, b)), FOV_ERR_USAGE);
  assert_message("/b-s0 and ");
  assert_message("the same recipe and task, both with seed 0");
}

static void threads_do_not_change_a_bit(void **state) {
  (void)state;
  char runs[4][600];
  for (int i = 0; i < 4; i++) {
    char name[12], config[64];
    snprintf(name, sizeof name, "%d", i);
    snprintf(config, sizeof config, "seed = %d\ncore = %s\n", i / 2, i % 2 ? "rnn" : "gru");
    make_run(runs[i], (Made){name, config, 4 + 5 * i, 0, 7, FOV_SPLIT_TEST});
  }
  FovCompareRequest request = {.threads = 1};
  assert_int_equal(compare_as(&request, SOURCES(runs[0], runs[1], runs[2], runs[3])), FOV_OK);
  FovComparedPair one = compared.pairs[0];
  FovEstimate iqm = compared.recipes[1].iqm;
  request.threads = 3;
  assert_int_equal(compare_as(&request, SOURCES(runs[3], runs[2], runs[0], runs[1])), FOV_OK);
  assert_memory_equal(&one.difference, &compared.pairs[0].difference, sizeof one.difference);
  assert_memory_equal(&one.corrected, &compared.pairs[0].corrected, sizeof one.corrected);
  assert_memory_equal(&iqm, &compared.recipes[1].iqm, sizeof iqm);
}

static void runs_without_a_result_are_left_out(void **state) {
  (void)state;
  char dir[600], a[600];
  make_run(a, (Made){"runs/a", "core = gru\n", 20, 0, 7, FOV_SPLIT_VALID});
  write_in("runs/b", "config.ini", "core = rnn\n");
  assert_int_equal(compare(SOURCES(in_folder(dir, "runs"))), FOV_OK);
  assert_int_equal(compared.runs.count, 1);
  assert_noted("left out, without a result: ");
  FovCompareRequest tested = {.split = FOV_COMPARE_TEST};
  assert_int_equal(compare_as(&tested, SOURCES(dir)), FOV_ERR_USAGE);
  assert_message("/runs/a: has no test result of 1 rollout; write one with fovea eval");
  assert_int_equal(compare_csv("recipe,seed,state,valid_error\na,0,finished,0.1\na,1,stopped,0.2\n"
                               "a,2,diverged,\n"),
                   FOV_OK);
  assert_int_equal(compared.runs.count, 1);
  assert_string_equal(compared.split, "valid");
}

static void splits_are_not_mixed(void **state) {
  (void)state;
  char a[600], b[600];
  make_run(a, (Made){"a", "core = gru\n", 20, 0, 7, FOV_SPLIT_VALID});
  make_run(b, (Made){"b", "core = rnn\n", 20, 0, 7, FOV_SPLIT_TEST});
  assert_int_equal(compare(SOURCES(a, b)), FOV_ERR_USAGE);
  assert_message("/a has no test result and ");
  assert_message("/b no validation result");
  make_run(b, (Made){"b", "core = rnn\n", 10, 0, 7, FOV_SPLIT_VALID});
  assert_int_equal(compare(SOURCES(a, b)), FOV_OK);
  assert_string_equal(compared.split, "valid");
}

static void outcomes_of_other_weights_are_refused(void **state) {
  (void)state;
  char a[600], best[900];
  make_run(a, (Made){"a", "core = gru\n", 20, 0, 7, FOV_SPLIT_TEST});
  snprintf(best, sizeof best, "%s/best.safetensors", a);
  FovText weights = {"weights", "0123456789abcdef"};
  assert_int_equal(fov_safetensors_write(best, NULL, 0, &weights, 1), FOV_OK);
  assert_int_equal(compare(SOURCES(a)), FOV_OK);
  weights.value = "0123456789abcdee";
  assert_int_equal(fov_safetensors_write(best, NULL, 0, &weights, 1), FOV_OK);
  assert_int_equal(compare(SOURCES(a)), FOV_ERR_USAGE);
  assert_message("outcomes of other weights than best.safetensors; evaluate again");
}

static void a_sweep_is_named_by_what_varies(void **state) {
  (void)state;
  char dir[600], run[600];
  static const char experiment[] = "env = translated\ntrain.episodes = 640\n";
  write_in("sweep", "experiment.ini", experiment);
  write_in("sweep", "sweep.ini",
           "core = rnn,gru\npolicy.sigma = 2,4\nsweep.experiment = experiment.ini\n"
           "sweep.seeds = 0:1\n");
  for (int i = 0; i < 2; i++) { // the two that share no value
    char name[32], config[128];
    snprintf(name, sizeof name, "sweep/c%d-s0", 3 * i);
    snprintf(config, sizeof config, "%score = %s\npolicy.sigma = %d\n", experiment,
             i ? "gru" : "rnn", i ? 4 : 2);
    make_run(run, (Made){name, config, 8 + i, 0, 7, FOV_SPLIT_VALID});
  }
  assert_int_equal(compare(SOURCES(in_folder(dir, "sweep"))), FOV_OK);
  recipe("core=rnn policy.sigma=2");
  recipe("core=gru policy.sigma=4");
  assert_noted("6 runs of the sweep have not started");
  // Of rows: those that are chosen.
  write_in("rows", "experiment.ini", experiment);
  write_in("rows", "sweep.ini",
           "[sweep]\nexperiment = experiment.ini\nseeds = 0:2\n[row one]\ncore = rnn\n[row two]\n"
           "core = gru\n");
  make_run(run, (Made){"rows/c0-s1", "core = rnn\n", 8, 0, 7, FOV_SPLIT_VALID});
  FovCompareRequest request = {.rollouts = 1, .rows = "one"};
  assert_int_equal(compare_as(&request, SOURCES(in_folder(dir, "rows"))), FOV_OK);
  assert_noted("2 runs of the sweep have not started");
  // A run of no row is kept.
  make_run(run, (Made){"alone", "core = lstm\n", 9, 0, 7, FOV_SPLIT_VALID});
  assert_int_equal(compare_as(&request, SOURCES(dir, run)), FOV_OK);
  assert_int_equal(compared.recipe_count, 2);
  request.rows = "two";
  assert_int_equal(compare_as(&request, SOURCES(dir)), FOV_ERR_USAGE);
  assert_message("--rows two: no run of these rows has started");
  request.rows = "three";
  assert_int_equal(compare_as(&request, SOURCES(dir)), FOV_ERR_USAGE);
  assert_message("'three': expected one of one, two");
  char empty[600];
  write_in("empty", "experiment.ini", experiment);
  write_in("empty", "sweep.ini", "core = rnn,gru\nsweep.experiment = experiment.ini\n");
  assert_int_equal(compare(SOURCES(in_folder(empty, "empty"))), FOV_ERR_USAGE);
  assert_message("no run of the sweep has started");
}

/* ---- CSV files ---- */

/** Only some states of a sweep say that a run has no result. */
static void a_run_in_another_state_has_a_result(void **state) {
  (void)state;
  assert_int_equal(compare_csv("model,state,seed,score\na,idle,0,1\na,idle,1,2\nb,busy,0,3\n"),
                   FOV_OK);
  assert_int_equal(compared.recipe_count, 2);
}

/** The columns of a sweep's results.csv. */
static void measurements_of_a_sweep_are_not_the_recipe(void **state) {
  (void)state;
  assert_int_equal(
      compare_csv("run,configuration,core,seed,state,valid_error,test_error,episodes,seconds,"
                  "parameters,mflop,input_numbers,input_pixels,reason\n"
                  "c0-s0,0,rnn,0,finished,0.1,,64,1.5,10,2.5,30,41.5,\n"
                  "c0-s1,0,rnn,1,finished,0.2,,65,1.6,11,2.6,31,42.5,why\n"),
      FOV_OK);
  assert_int_equal(compared.recipe_count, 1);
  assert_int_equal(recipe("core=rnn")->runs, 2);
}

static void costs_are_medians_of_the_runs(void **state) {
  (void)state;
  assert_int_equal(compare_csv("recipe,seed,error,seconds,parameters,mflop,input_pixels\n"
                               "a,0,0.1,64,10,2.5,40\na,1,0.2,60,10,,40\na,2,0.2,90,10,2.5,52\n"
                               "b,0,0.3,1,20,0,7\n"),
                   FOV_OK);
  const double *costs = recipe("a")->costs;
  assert_close(costs[FOV_COST_SECONDS], 64, 0);
  assert_close(costs[FOV_COST_PARAMETERS], 10, 0);
  assert_true(isnan(costs[FOV_COST_MFLOP])); // that of one run is not known
  assert_close(costs[FOV_COST_PIXELS], 40, 0);
  assert_close(recipe("b")->costs[FOV_COST_MFLOP], 0, 0);
  assert_int_equal(compare_csv("recipe,error,seconds,mflop,parameters\na,0.1,5 s,nan,-1\n"),
                   FOV_OK);
  for (int cost = 0; cost < FOV_COSTS; cost++) assert_true(isnan(recipe("a")->costs[cost]));
}

static void assert_errors(const FovCompareRequest *request, double rnn, double gru) {
  assert_int_equal(compare_as(request, SOURCES(path)), FOV_OK);
  assert_int_equal(compared.recipe_count, 2);
  assert_close(recipe("core=rnn")->mean.value, rnn, 1e-12);
  assert_close(recipe("core=gru")->mean.value, gru, 1e-12);
}

/** A sweep's results.csv after --rollouts 10, with a validation of five rollouts. */
static void errors_are_chosen_by_their_rollouts(void **state) {
  (void)state;
  const char *table = "core,seed,state,valid_error,valid_error_5,test_error,test_error_10,seconds\n"
                      "rnn,0,finished,0.1,0.2,0.3,0.4,5\nrnn,1,stopped,0.1,0.2,0.3,0.4,5\n"
                      "gru,0,finished,0.15,0.25,0.35,0.45,6\n";
  assert_int_equal(compare_csv(table), FOV_OK);
  assert_errors(&(FovCompareRequest){.rollouts = 1}, 0.3, 0.35);
  assert_errors(&(FovCompareRequest){.rollouts = 1, .split = FOV_COMPARE_VALID}, 0.1, 0.15);
  assert_errors(&(FovCompareRequest){.rollouts = 10}, 0.4, 0.45);
  assert_errors(&(FovCompareRequest){.rollouts = 5}, 0.2, 0.25);
  assert_int_equal(compare_as(&(FovCompareRequest){.rollouts = 2}, SOURCES(path)), FOV_ERR_USAGE);
  assert_message("table.csv:2: has no test result of 2 rollouts");
  // Names that only begin like them are settings.
  assert_int_equal(compare_csv("test_error_of,test_error_,test_error_1x,test_error\n"
                               "a,b,c,0.5\na,b,d,0.5\na,e,c,0.5\nf,b,c,0.5\n"),
                   FOV_OK);
  assert_int_equal(compared.recipe_count, 4);
}

static void columns_that_are_no_results_are_the_recipe(void **state) {
  (void)state;
  assert_int_equal(compare_csv("run,core,policy.sigma,seed,state,valid_error,test_error,seconds\n"
                               "c0-s0,\"r,n\"\"n\",2,0,finished,0.3,0.1,5\n"
                               "c0-s1,\"r,n\"\"n\",2,1,finished,0.3,0.2,6\n"
                               "c1-s0,gru,2,0,finished,0.3,0.3,7\n"),
                   FOV_OK);
  assert_string_equal(compared.split, "test");
  assert_int_equal(compared.recipe_count, 2);
  assert_close(recipe("core=r,n\"n")->mean.value, 0.15, 1e-12);
  assert_int_equal(recipe("core=gru")->runs, 1);
}

static void a_file_without_settings_is_one_recipe(void **state) {
  (void)state;
  char other[600];
  assert_int_equal(fov_file_write(in_folder(other, "other.csv"), "score\n5\n6\n", 10), FOV_OK);
  assert_int_equal(fov_file_write(path, "score\r\n1\r\n\r\n2\r\n", 13), FOV_OK);
  assert_int_equal(compare(SOURCES(path, other)), FOV_OK);
  assert_close(recipe("other.csv")->mean.value, 5.5, 1e-12);
  assert_close(recipe("table.csv")->mean.value, 1.5, 1e-12);
}

static void bad_tables_are_refused(void **state) {
  (void)state;
  assert_refused("found an empty file", "");
  assert_refused("a row for each run, found none", "recipe,error\n");
  assert_refused("found neither", "recipe,seed\na,0\n");
  assert_refused("found both", "recipe,error,score\na,0,0\n");
  assert_refused("table.csv:2: error 'nan': expected a number", "recipe,error\na,nan\n");
  assert_refused("table.csv:3: error '2': expected an error from 0 to 1, not per cent",
                 "recipe,error\na,0.5\na,2\n");
  assert_refused("score 'inf': expected a number", "recipe,score\na,inf\n");
  assert_refused("at most 1e100", "recipe,score\na,1e101\n");
  assert_refused("seed 'x': expected a whole number", "recipe,seed,error\na,x,0.5\n");
  assert_refused("expected 2 cells, found 1", "recipe,error\na\n");
  assert_refused("more than 2 cells", "recipe,error\na,0.5,1\n");
  assert_refused("closing quote", "recipe,error\n\"a,0.5\n");
  assert_refused("text follows a closing quote", "recipe,error\n\"a\"b,0.5\n");
  assert_refused("text follows a closing quote", "recipe,error\n\"a\"\r\"b\"\r\"c\"\r");
  assert_refused("expected a name that no other column has, found 'error'", "error,error\n1,1\n");
  assert_refused("table.csv:2: has no test result of 1 rollout: no such column, an empty cell",
                 "recipe,error\na,\n");
  assert_refused("table.csv:2: the same recipe and task, both with seed 0",
                 "recipe,seed,error\na,0,0.1\na,0,0.2\n");
}

static void a_table_of_10000_columns_is_refused(void **state) {
  (void)state;
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  for (int i = 0; i < 10000; i++) fprintf(file, "c%d,", i);
  fputs("error\n", file);
  fclose(file);
  assert_int_equal(compare(SOURCES(path)), FOV_ERR_FORMAT);
  assert_message("expected at most 1024 columns");
}

static void bad_sources_are_refused(void **state) {
  (void)state;
  char dir[600], a[600], file[900];
  assert_int_equal(compare(SOURCES(in_folder(dir, "absent"))), FOV_ERR_IO);
  assert_message("absent: cannot read");
  assert_int_equal(compare(SOURCES(folder)), FOV_ERR_USAGE);
  assert_message("expected a sweep, a run, a folder of runs or a CSV file");
  make_run(a, (Made){"a", "core = gru\n", 20, 0, 7, FOV_SPLIT_TEST});
  snprintf(file, sizeof file, "%s/test.safetensors", a);
  assert_int_equal(truncate(file, 100), 0);
  assert_int_equal(compare(SOURCES(a)), FOV_ERR_FORMAT);
  assert_message("test.safetensors");
  write_in("a", "config.ini", "core = grj\n");
  assert_int_equal(compare(SOURCES(a)), FOV_ERR_USAGE);
  assert_message("config.ini:1");
  make_run(a, (Made){"a", "core = gru\n", 20, 0, 7, FOV_SPLIT_TEST});
  assert_int_equal(fov_file_write(path, "score\n1\n", 8), FOV_OK);
  assert_int_equal(compare(SOURCES(a, path)), FOV_ERR_USAGE);
  assert_message("expected either errors or scores");
}

int main(void) {
#define TEST(test) cmocka_unit_test_setup_teardown(test, make, finish)
  const struct CMUnitTest tests[] = {
      TEST(statistics_are_those_of_the_definitions),
      TEST(the_probability_of_improvement_is_over_the_best_other_recipe),
      TEST(tasks_count_equally),
      TEST(a_profile_is_the_share_of_runs_beyond_each_threshold),
      TEST(few_runs_are_judged_by_welch),
      TEST(runs_that_do_not_overlap_do_not_decide_by_themselves),
      TEST(equal_recipes_are_seldom_called_different),
      TEST(one_run_decides_nothing),
      TEST(too_few_draws_decide_nothing),
      TEST(scores_of_any_size_are_compared),
      TEST(many_recipes_are_compared_with_the_best),
      TEST(a_recipe_that_is_named_is_compared_with_all_others),
      TEST(corrected_intervals_agree_with_the_decisions),
      TEST(two_runs_are_compared_case_by_case),
      TEST(two_runs_need_the_exact_test_too),
      TEST(an_exact_test_for_the_other_run_decides_nothing),
      TEST(runs_of_equal_seeds_are_tested_in_pairs),
      TEST(other_cases_are_not_paired),
      TEST(tasks_are_resampled_independently),
      TEST(other_data_are_other_cases),
      TEST(recipes_are_named_by_what_distinguishes_them),
      TEST(environments_are_tasks),
      TEST(a_configuration_of_an_older_version_is_the_same_recipe),
      TEST(a_folder_and_its_runs_are_the_same_source),
      TEST(threads_do_not_change_a_bit),
      TEST(runs_without_a_result_are_left_out),
      TEST(splits_are_not_mixed),
      TEST(outcomes_of_other_weights_are_refused),
      TEST(a_sweep_is_named_by_what_varies),
      TEST(costs_are_medians_of_the_runs),
      TEST(a_run_in_another_state_has_a_result),
      TEST(measurements_of_a_sweep_are_not_the_recipe),
      TEST(errors_are_chosen_by_their_rollouts),
      TEST(columns_that_are_no_results_are_the_recipe),
      TEST(a_file_without_settings_is_one_recipe),
      TEST(bad_tables_are_refused),
      TEST(a_table_of_10000_columns_is_refused),
      TEST(bad_sources_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
