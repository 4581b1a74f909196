#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/explain.h"
#include "cli/print.h"
#include "explain/curves.h"
#include "record/csv.h"

enum { DELETION = FOV_CURVE_DELETION, INSERTION = FOV_CURVE_INSERTION, KINDS = FOV_CURVE_KINDS };

/** Areas of a method: of the episodes of one run, or the means of several runs. */
typedef struct Row {
  const FovMethod *method;
  double *areas[KINDS]; // [n], owned
  double p[KINDS];      // of the hypothesis that random maps have the same areas; adjusted
  bool faithful;        // better than random maps in both ways
} Row;

typedef struct Table {
  Row rows[FOV_MOST_METHODS];
  int count;
  int n; // runs, or the episodes of one
  FILE *csv;
} Table;

/* ---- measuring ---- */

/** The methods to compare; random is always one, the last. */
static FovStatus list_methods(Table *table, const FovExplainSubject *subject,
                              const FovExplainCommand *command) {
  const FovMethod *methods[FOV_MOST_METHODS];
  int count;
  FOV_TRY(fov_explain_methods(methods, &count, subject, command));
  for (int i = 0; i < count; i++)
    if (methods[i] != &fov_method_random) table->rows[table->count++].method = methods[i];
  table->rows[table->count++].method = &fov_method_random;
  for (int i = 0; i < table->count; i++)
    for (int kind = 0; kind < KINDS; kind++) {
      table->rows[i].areas[kind] = calloc((size_t)table->n, sizeof(double));
      if (!table->rows[i].areas[kind]) return fov_fail(FOV_ERR_MEMORY, "no memory for areas");
    }
  return FOV_OK;
}

static void print_curves(FILE *csv, const char *run, const FovMethod *method,
                         const FovFaithfulness *f) {
  for (int k = 0; k < FOV_CURVE_POINTS; k++) {
    fov_csv_print(csv, run);
    fprintf(csv, ",%s,%g,%.6g,%.6g\n", method->plugin.name, k / (double)(FOV_CURVE_POINTS - 1),
            f->mean[DELETION][k], f->mean[INSERTION][k]);
  }
}

/** Measures all methods on a run, the `index`-th. */
static FovStatus measure_run(Table *table, const FovExplainSubject *subject, int runs, int index,
                             const FovExplainCommand *command, const FovMethodOptions *options) {
  for (int i = 0; i < table->count; i++) {
    Row *row = &table->rows[i];
    FovFaithfulness f;
    FovStatus status =
        fov_faithfulness_measure(&f, &subject->request, row->method,
                                 fov_method_options_of(options, row->method), command->blank);
    for (int kind = 0; kind < KINDS && status == FOV_OK; kind++)
      if (runs > 1)
        row->areas[kind][index] = fov_stats_mean(f.areas[kind], (int)subject->request.count);
      else
        memcpy(row->areas[kind], f.areas[kind], (size_t)table->n * sizeof(double));
    if (status == FOV_OK) print_curves(table->csv, subject->trained.path, row->method, &f);
    fov_faithfulness_finish(&f);
    FOV_TRY(status);
  }
  return FOV_OK;
}

static FovStatus measure(Table *table, const FovExplainCommand *command,
                         const FovArguments *arguments, int runs, const FovMethodOptions *options) {
  fputs("run,method,share,deletion,insertion\n", table->csv);
  for (int r = 0; r < runs; r++) {
    FovExplainSubject subject;
    FovStatus status = fov_explain_load(&subject, arguments->words[r], command,
                                        arguments->words + runs, arguments->count - runs);
    if (status == FOV_OK && r == 0) {
      table->n = runs > 1 ? runs : (int)subject.request.count;
      status = list_methods(table, &subject, command);
    }
    if (status == FOV_OK) status = measure_run(table, &subject, runs, r, command, options);
    if (status == FOV_OK)
      fov_print(stdout, "%s: %lld episode%s\n", subject.trained.path,
                (long long)subject.request.count, fov_plural(subject.request.count));
    fov_print_flush();
    fov_explain_finish(&subject);
    FOV_TRY(status);
  }
  return FOV_OK;
}

/* ---- deciding ---- */

/** The p-value of the mean of x [n] being 0, and that mean. */
static double test_mean(double *mean, const double *x, int n) {
  *mean = fov_stats_mean(x, n);
  double half_width = fov_stats_half_width(x, n);
  if (n < 2) return NAN;
  if (half_width == 0) return *mean == 0 ? 1 : 0;
  return fov_stats_student_p(*mean / half_width * fov_stats_student_quantile(0.05, n - 1), n - 1);
}

/** Compares all rows with the last one, which is of random maps. */
static FovStatus decide(Table *table) {
  int others = table->count - 1, tests = KINDS * others;
  double p[KINDS * FOV_MOST_METHODS], adjusted[KINDS * FOV_MOST_METHODS];
  bool better[KINDS * FOV_MOST_METHODS];
  double *difference = calloc((size_t)table->n, sizeof *difference);
  if (!difference) return fov_fail(FOV_ERR_MEMORY, "no memory for differences");
  for (int i = 0; i < tests; i++) {
    int kind = i % KINDS;
    const double *areas = table->rows[i / KINDS].areas[kind];
    const double *random = table->rows[others].areas[kind];
    double mean;
    for (int k = 0; k < table->n; k++) difference[k] = areas[k] - random[k];
    p[i] = test_mean(&mean, difference, table->n);
    better[i] = kind == DELETION ? mean < 0 : mean > 0;
  }
  if (table->n > 1 && tests > 0) fov_stats_holm(adjusted, p, tests);
  for (int i = 0; i < tests; i++) {
    Row *row = &table->rows[i / KINDS];
    row->p[i % KINDS] = table->n > 1 ? adjusted[i] : NAN;
    row->faithful = (i % KINDS == 0 || row->faithful) && better[i] && row->p[i % KINDS] < 0.05;
  }
  free(difference);
  return FOV_OK;
}

/** Insertion less deletion. */
static double gain(const Row *row, int n) {
  return fov_stats_mean(row->areas[INSERTION], n) - fov_stats_mean(row->areas[DELETION], n);
}

/* ---- printing ---- */

static void print_estimate(const double *x, int n) {
  double half_width = fov_stats_half_width(x, n);
  if (isfinite(half_width))
    printf("  %7.4f ± %.4f", fov_stats_mean(x, n), half_width);
  else
    printf("  %7.4f         ", fov_stats_mean(x, n));
}

static void print_p(double p) {
  if (isnan(p))
    printf(" %8s", "-");
  else
    printf(" %8.1g", p);
}

static void print_row(const Table *table, int i) {
  const Row *row = &table->rows[i];
  bool random = i == table->count - 1;
  printf("%-22s", row->method->plugin.name);
  for (int kind = 0; kind < KINDS; kind++) print_estimate(row->areas[kind], table->n);
  printf("  %7.4f", gain(row, table->n));
  for (int kind = 0; kind < KINDS; kind++) print_p(random ? NAN : row->p[kind]);
  printf("  %s\n", random ? "" : row->faithful ? "yes" : "no");
}

/** Prints the rows, the largest gain first, and the conclusion. */
static void print_table(const Table *table, int runs) {
  bool printed[FOV_MOST_METHODS] = {false};
  const Row *first = NULL;
  printf("\n%-22s %17s %18s %8s %8s %8s  %s\n", "", "deletion", "insertion", "gain", "p (del.)",
         "p (ins.)", "faithful");
  for (int rank = 0; rank < table->count; rank++) {
    int best = -1;
    for (int i = 0; i < table->count; i++)
      if (!printed[i] &&
          (best < 0 || gain(&table->rows[i], table->n) > gain(&table->rows[best], table->n)))
        best = i;
    printed[best] = true;
    print_row(table, best);
    if (!first && table->rows[best].faithful) first = &table->rows[best];
  }
  printf("\nmeans of %d %s%s; ±: 95 %% interval; gain: insertion less deletion; p: of "
         "deletion\nand of insertion against random, corrected by Holm's method\n",
         table->n, runs > 1 ? "run" : "episode", fov_plural(table->n));
  if (first)
    printf("largest gain of the faithful methods: %s\n", first->method->plugin.name);
  else
    puts("no method is significantly more faithful than a random map");
}

/* ---- the check ---- */

static FovStatus check(Table *table, const FovExplainCommand *command,
                       const FovArguments *arguments, const FovMethodOptions *options) {
  int runs = 1; // whose name may have a '='
  while (runs < arguments->count && !fov_cli_is_setting(arguments->words[runs])) runs++;
  if (runs > 1)
    FOV_TRY(fov_explain_check_runs(arguments->words, runs, command, arguments->words + runs,
                                   arguments->count - runs));
  FOV_TRY(measure(table, command, arguments, runs, options));
  FOV_TRY(decide(table));
  print_table(table, runs);
  return FOV_OK;
}

FovStatus fov_explain_curves(const FovExplainCommand *command, const FovArguments *arguments,
                             const FovMethodOptions *options) {
  Table table = {.count = 0};
  FovExplainText csv;
  FOV_TRY(fov_explain_text_begin(&csv));
  table.csv = csv.stream;
  FovStatus status = check(&table, command, arguments, options);
  for (int i = 0; i < table.count; i++)
    for (int kind = 0; kind < KINDS; kind++) free(table.rows[i].areas[kind]);
  return fov_explain_text_finish(&csv, status, command, "curves.csv");
}
