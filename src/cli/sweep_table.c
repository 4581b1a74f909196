#include "cli/sweep_table.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/profile.h"
#include "base/stats.h"
#include "cli/print.h"

enum { MAX_RUNNING = 12, MAX_LISTED = 10, BAR = 20, LABEL = 256 };

static const double INTERVAL = 0.5; // seconds between two drawings

/* ---- words ---- */

/** What a configuration sets: "core=gru policy.sigma=4". */
static const char *describe(char label[LABEL], const FovSweepPlan *plan, int configuration) {
  fov_sweep_describe(label, LABEL, plan, configuration);
  return label;
}

/** Runs that are to be worked on. */
static int count_wanted(const FovSweepReport *report) {
  int count = 0;
  for (int i = 0; i < report->count; i++) count += !report->runs[i].left_out;
  return count;
}

static int count_state(const FovSweepReport *report, FovSweepState state) {
  int count = 0;
  for (int i = 0; i < report->count; i++)
    count += report->runs[i].state == state && !report->runs[i].left_out;
  return count;
}

static double work_done(const FovSweepReport *report) {
  double done = 0;
  for (int i = 0; i < report->count; i++) {
    const FovSweepRun *run = &report->runs[i];
    if (run->left_out) continue;
    bool ended = run->state == FOV_SWEEP_FINISHED || run->state == FOV_SWEEP_DIVERGED ||
                 run->state == FOV_SWEEP_FAILED;
    done += ended ? 1 : run->progress;
  }
  return done;
}

/** Seconds left, at the pace since this process began; negative: not known yet. */
static double seconds_left(FovSweepTable *table, const FovSweepReport *report) {
  double done = work_done(report);
  if (table->done_before < 0) table->done_before = done;
  double mine = done - table->done_before;
  return mine > 0.01 ? report->seconds / mine * (count_wanted(report) - done) : -1;
}

/* ---- the table ---- */

void fov_sweep_table_clear(FovSweepTable *table) {
  if (table->lines) printf("\r\033[%dA\033[J", table->lines);
  table->lines = 0;
}

/** Prints one line of the table, cut at the terminal's edge. */
__attribute__((format(printf, 2, 3))) static void print_line(FovSweepTable *table,
                                                             const char *format, ...) {
  char line[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  fov_print(stdout, "%.*s\n", fov_print_columns(), line);
  table->lines++;
}

static void print_running(FovSweepTable *table, const FovSweepRun *run) {
  char bar[BAR + 1];
  for (int i = 0; i < BAR; i++) bar[i] = i < (int)(run->progress * BAR) ? '#' : '-';
  bar[BAR] = '\0';
  if (isfinite(run->valid_error))
    print_line(table, "  %-12s [%s] %3.0f %%  valid error %6.2f %%", run->name, bar,
               100 * run->progress, 100 * run->valid_error);
  else
    print_line(table, "  %-12s [%s] %3.0f %%", run->name, bar, 100 * run->progress);
}

static void draw(FovSweepTable *table, const FovSweepReport *report) {
  char left[32], label[LABEL];
  int done = count_state(report, FOV_SWEEP_FINISHED), shown = 0;
  int failed = count_state(report, FOV_SWEEP_FAILED) + count_state(report, FOV_SWEEP_DIVERGED);
  fov_sweep_table_clear(table);
  int running = count_state(report, FOV_SWEEP_RUNNING);
  if (report->testing)
    print_line(table, "testing: %d running", running);
  else
    print_line(table, "%d of %d runs done, %d running, %d failed  %s left", done,
               count_wanted(report), running, failed,
               fov_duration(left, seconds_left(table, report)));
  if (report->chosen >= 0 && !report->testing)
    print_line(table, "best: valid error %.2f %%  %s", 100 * report->chosen_error,
               describe(label, report->plan, report->chosen));
  for (int i = 0; i < report->count && shown < MAX_RUNNING; i++)
    if (report->runs[i].state == FOV_SWEEP_RUNNING) print_running(table, &report->runs[i]), shown++;
}

static void print_ended(const FovSweepReport *report) {
  const FovSweepRun *run = report->ended;
  char label[LABEL];
  describe(label, report->plan, run->configuration);
  if (run->state == FOV_SWEEP_FINISHED && *run->reason)
    fov_print(stdout, "%-10s test failed: %s\n", run->name, run->reason);
  else if (isfinite(run->rollouts_error))
    fov_print(stdout, "%-10s test error %6.2f %%, with %d rollouts %.2f %%  %s\n", run->name,
              100 * run->test_error, report->plan->options.rollouts, 100 * run->rollouts_error,
              label);
  else if (isfinite(run->test_error))
    fov_print(stdout, "%-10s test error %6.2f %%  %s\n", run->name, 100 * run->test_error, label);
  else if (run->state == FOV_SWEEP_FINISHED)
    fov_print(stdout, "%-10s valid error %6.2f %%  %s\n", run->name, 100 * run->valid_error, label);
  else if (run->state == FOV_SWEEP_PAUSED)
    fov_print(stdout, "%-10s valid error %6.2f %% after %.0f %%  %s\n", run->name,
              100 * run->valid_error, 100 * run->progress, label);
  else
    fov_print(stdout, "%-10s %s: %s\n", run->name,
              run->state == FOV_SWEEP_DIVERGED ? "diverged" : "failed", run->reason);
}

void fov_sweep_table_report(void *context, const FovSweepReport *report) {
  FovSweepTable *table = context;
  bool terminal = isatty(STDOUT_FILENO);
  if (report->ended) {
    fov_sweep_table_clear(table);
    print_ended(report);
    table->drawn_at = 0;
  }
  if (terminal && fov_now() - table->drawn_at >= INTERVAL) {
    table->drawn_at = fov_now();
    draw(table, report);
  }
  fov_print_flush();
}

/* ---- the summary ---- */

typedef struct Line {
  int configuration, seeds;                  // finished
  double valid, valid_half, test, test_half; // per cent; NaN: not known
  double rollouts, rollouts_half;            // of the test with the plan's rollouts, likewise
} Line;

/** Mean and half of Student's 95 % interval, which one value does not have. */
static void summarise(double *mean, double *half, const double *values, int count) {
  *mean = count > 0 ? fov_stats_mean(values, count) : NAN;
  *half = count > 1 ? fov_stats_half_width(values, count) : NAN;
}

static Line line_of(const FovSweepReport *report, int configuration, double *values) {
  const FovSweepRun *runs = &report->runs[configuration * report->plan->seeds];
  Line line = {.configuration = configuration};
  int tested = 0, repeated = 0;
  for (int s = 0; s < report->plan->seeds; s++)
    if (runs[s].state == FOV_SWEEP_FINISHED) values[line.seeds++] = 100 * runs[s].valid_error;
  summarise(&line.valid, &line.valid_half, values, line.seeds);
  for (int s = 0; s < report->plan->seeds; s++)
    if (isfinite(runs[s].test_error)) values[tested++] = 100 * runs[s].test_error;
  summarise(&line.test, &line.test_half, values, tested);
  for (int s = 0; s < report->plan->seeds; s++)
    if (isfinite(runs[s].rollouts_error)) values[repeated++] = 100 * runs[s].rollouts_error;
  summarise(&line.rollouts, &line.rollouts_half, values, repeated);
  return line;
}

static int compare(const void *a, const void *b) {
  const Line *x = a, *y = b;
  return (x->valid > y->valid) - (x->valid < y->valid);
}

static const char *interval(char text[32], double mean, double half) {
  snprintf(text, 32, isnan(half) ? "%.2f" : "%.2f ± %.2f", mean, half);
  return text;
}

/** The name of a configuration, as the names of its runs begin. */
static int name_length(const FovSweepRun *run) {
  return (int)strcspn(run->name, "-");
}

/** Prints the test errors of a configuration, if it has any. */
static void print_tests(const FovSweepReport *report, const Line *line) {
  const FovSweepRun *run = &report->runs[line->configuration * report->plan->seeds];
  char text[32];
  if (!isnan(line->test))
    fov_print(stdout, "test error of %.*s: %s %%\n", name_length(run), run->name,
              interval(text, line->test, line->test_half));
  if (!isnan(line->rollouts))
    fov_print(stdout, "test error of %.*s, %d rollouts: %s %%\n", name_length(run), run->name,
              report->plan->options.rollouts, interval(text, line->rollouts, line->rollouts_half));
}

/** Prints the configurations that have finished runs, up to MAX_LISTED. */
static void print_lines(const FovSweepReport *report, const Line *lines, int count) {
  char label[LABEL], text[32];
  if (count > 0) printf("valid error %%    seeds  configuration\n");
  for (int i = 0; i < count && i < MAX_LISTED; i++) {
    const FovSweepRun *run = &report->runs[lines[i].configuration * report->plan->seeds];
    interval(text, lines[i].valid, lines[i].valid_half);
    // "±" is two bytes and one column.
    int width = 15 + (strstr(text, "±") ? 1 : 0);
    fov_print(stdout, "%-*s  %5d  %.*s %s\n", width, text, lines[i].seeds, name_length(run),
              run->name, describe(label, report->plan, lines[i].configuration));
  }
  if (count > MAX_LISTED) printf("... and %d more\n", count - MAX_LISTED);
  for (int i = 0; i < count; i++) print_tests(report, &lines[i]);
}

void fov_sweep_print_summary(const FovSweepReport *report) {
  int configurations = report->plan->configurations;
  Line *lines = calloc((size_t)configurations, sizeof *lines);
  double *values = calloc((size_t)report->plan->seeds, sizeof *values);
  if (lines && values) {
    int finished = 0;
    for (int i = 0; i < configurations; i++) {
      lines[finished] = line_of(report, i, values);
      finished += lines[finished].seeds > 0;
    }
    qsort(lines, (size_t)finished, sizeof *lines, compare);
    print_lines(report, lines, finished);
  }
  free(lines);
  free(values);
}
