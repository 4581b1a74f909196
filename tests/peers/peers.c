/** fovea's statistics for other programs: reads commands from stdin and prints a line of numbers
 * for each. tests/peers compares these with the results of libraries that are widely used.
 *
 *     aggregates TASKS RUNS SCORES…              mean, median, IQM, optimality gap
 *     improvement TASKS RUNS_X RUNS_Y SCORES…    P(X > Y); the scores of x, then those of y
 *     profile TASKS RUNS SCORES… N TAUS…         the share of runs above each of N thresholds
 *     quantiles DRAWS SEED N QUANTILES… COMMAND  of the bootstrap distribution of each number that
 *                                                `aggregates` or `improvement` gives
 *     mcnemar FIRST SECOND                       the p-value
 *     holm N P…                                  N adjusted p-values
 *     wilson HITS TRIALS                         the ends of the interval
 *     student FREEDOM                            the quantile
 *     scanpaths HEIGHT N PLACES… M PLACES…       MultiMatch's vector, direction, length, position;
 *                                                ScanMatch; DTW; of N and M places x y
 *
 * Scores are listed task by task; a task has RUNS of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bootstrap.h"
#include "base/stats.h"
#include "experiment/scanpath/measures.h"

enum { MOST = 10000000 }; // numbers of one list

static void stop(const char *why) {
  fprintf(stderr, "fovea_peers: %s\n", why);
  exit(2);
}

static void require(FovStatus status) {
  if (status != FOV_OK) stop(fov_error_message());
}

/* ---- input ---- */

static double read_number(void) {
  double number;
  if (scanf("%lf", &number) != 1) stop("expected a number");
  return number;
}

static int read_count(void) {
  double number = read_number();
  if (!(number >= 1 && number <= MOST)) stop("expected a count from 1 to 10,000,000");
  return (int)number;
}

static double *allocate(int count) {
  double *numbers = malloc((size_t)count * sizeof *numbers);
  if (!numbers) stop("no memory");
  return numbers;
}

static double *read_list(int count) {
  double *numbers = allocate(count);
  for (int i = 0; i < count; i++) numbers[i] = read_number();
  return numbers;
}

static FovScores read_scores(int tasks, int runs) {
  if ((double)tasks * runs > MOST) stop("more than 10,000,000 scores");
  FovScores scores;
  double *values = read_list(tasks * runs);
  int *counts = malloc((size_t)tasks * sizeof *counts);
  if (!counts) stop("no memory");
  for (int t = 0; t < tasks; t++) counts[t] = runs;
  require(fov_scores_init(&scores, values, counts, tasks));
  free(counts);
  free(values);
  return scores;
}

static void print_list(const double *numbers, int count) {
  for (int i = 0; i < count; i++) printf("%s%.17g", i > 0 ? " " : "", numbers[i]);
}

/* ---- scores ---- */

/** The bootstrap that `quantiles` asks for; NULL: none, point estimates. */
typedef struct Bootstrap {
  FovDraws draws;
  double *quantiles; // [count]
  int count;
} Bootstrap;

static void print_quantiles(const Bootstrap *bootstrap) {
  for (int i = 0; i < bootstrap->count; i++)
    printf("%.17g ", fov_stats_quantile(bootstrap->draws.values, bootstrap->draws.count,
                                        bootstrap->quantiles[i]));
}

static void aggregates(const Bootstrap *bootstrap) {
  static FovAggregate *const list[] = {fov_scores_mean, fov_scores_median, fov_scores_iqm,
                                       fov_scores_gap};
  int tasks = read_count(), runs = read_count();
  FovScores scores = read_scores(tasks, runs);
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
    if (bootstrap) {
      require(fov_bootstrap(&bootstrap->draws, &scores, list[i]));
      print_quantiles(bootstrap);
    } else
      printf("%.17g ", list[i](&scores));
  }
  fov_scores_finish(&scores);
}

static void improvement(const Bootstrap *bootstrap) {
  int tasks = read_count(), runs_x = read_count(), runs_y = read_count();
  FovScores x = read_scores(tasks, runs_x), y = read_scores(tasks, runs_y);
  if (bootstrap) {
    require(fov_bootstrap_comparison(&bootstrap->draws, &x, &y, fov_scores_improvement));
    print_quantiles(bootstrap);
  } else
    printf("%.17g", fov_scores_improvement(&x, &y));
  fov_scores_finish(&x);
  fov_scores_finish(&y);
}

static void profile(void) {
  int tasks = read_count(), runs = read_count();
  FovScores scores = read_scores(tasks, runs);
  int count = read_count();
  double *taus = read_list(count), *shares = allocate(count), *above = allocate(scores.count);
  for (int k = 0; k < count; k++) {
    FovScores matrix;
    for (int i = 0; i < scores.count; i++) above[i] = scores.values[i] > taus[k];
    require(fov_scores_init(&matrix, above, scores.runs, scores.tasks));
    shares[k] = fov_scores_mean(&matrix);
    fov_scores_finish(&matrix);
  }
  free(above);
  print_list(shares, count);
  free(shares);
  free(taus);
  fov_scores_finish(&scores);
}

/* ---- tests and intervals ---- */

static void mcnemar(void) {
  int64_t first = (int64_t)read_number(), second = (int64_t)read_number();
  printf("%.17g", fov_stats_mcnemar(first, second));
}

static void holm(void) {
  int count = read_count();
  double *p = read_list(count), *adjusted = allocate(count);
  fov_stats_holm(adjusted, p, count);
  print_list(adjusted, count);
  free(adjusted);
  free(p);
}

static void wilson(void) {
  double ends[2];
  int64_t hits = (int64_t)read_number(), trials = (int64_t)read_number();
  fov_stats_wilson(&ends[0], &ends[1], hits, trials);
  print_list(ends, 2);
}

static void student(void) {
  printf("%.17g", fov_stats_student_quantile(0.05, read_number()));
}

/* ---- scanpaths ---- */

static FovScanpath read_path(void) {
  int count = read_count();
  return (FovScanpath){read_list(2 * count), count};
}

static void scanpaths(void) {
  double height = read_number(), measures[6];
  FovScanpath a = read_path(), b = read_path();
  double *room = allocate(a.count * b.count);
  fov_multimatch(measures, &a, &b, height, room);
  measures[4] = fov_scanmatch(&a, &b, height, room);
  measures[5] = fov_dynamic_warping(&a, &b, room);
  print_list(measures, 6);
  free(room);
  free(a.places);
  free(b.places);
}

/* ---- commands ---- */

static void quantiles(void) {
  char word[32] = "";
  Bootstrap bootstrap = {.draws = {.count = read_count(), .threads = 1}};
  bootstrap.draws.values = allocate(bootstrap.draws.count);
  bootstrap.draws.seed = (uint64_t)read_number();
  bootstrap.count = read_count();
  bootstrap.quantiles = read_list(bootstrap.count);
  if (scanf("%31s", word) != 1) stop("expected a command after quantiles");
  if (strcmp(word, "aggregates") == 0)
    aggregates(&bootstrap);
  else if (strcmp(word, "improvement") == 0)
    improvement(&bootstrap);
  else
    stop("expected aggregates or improvement after quantiles");
  free(bootstrap.quantiles);
  free(bootstrap.draws.values);
}

static void estimate_aggregates(void) {
  aggregates(NULL);
}

static void estimate_improvement(void) {
  improvement(NULL);
}

static const struct {
  const char *word;
  void (*run)(void);
} commands[] = {
    {"aggregates", estimate_aggregates},
    {"improvement", estimate_improvement},
    {"profile", profile},
    {"quantiles", quantiles},
    {"mcnemar", mcnemar},
    {"holm", holm},
    {"wilson", wilson},
    {"student", student},
    {"scanpaths", scanpaths},
};

int main(void) {
  char word[32];
  while (scanf("%31s", word) == 1) {
    size_t c = 0, count = sizeof commands / sizeof *commands;
    while (c < count && strcmp(commands[c].word, word) != 0) c++;
    if (c == count) stop("unknown command");
    commands[c].run();
    putchar('\n');
  }
  return 0;
}
