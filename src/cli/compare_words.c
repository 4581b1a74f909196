/** A comparison in words and cells, for the formats that people read. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/compare_print.h"

/** A number of the measure for people: an error in per cent with two decimals, a score with four
 * digits. text: [FOV_COMPARE_CELL]; returns it. */
static const char *print_number(char *text, const FovCompared *compared, double value) {
  if (compared->errors)
    snprintf(text, FOV_COMPARE_CELL, "%.2f", 100 * value);
  else
    snprintf(text, FOV_COMPARE_CELL, "%.4g", value);
  return text;
}

/* ---- cells ---- */

/** "1.69 ± 0.31" */
static void print_mean(char *cell, const FovCompared *c, const FovComparedRecipe *recipe) {
  char mean[FOV_COMPARE_CELL], half[FOV_COMPARE_CELL];
  print_number(mean, c, recipe->mean.value);
  print_number(half, c, recipe->half_width);
  if (isnan(recipe->half_width))
    snprintf(cell, FOV_COMPARE_CELL, "%.30s", mean);
  else
    snprintf(cell, FOV_COMPARE_CELL, "%.28s ± %.28s", mean, half);
}

/** "1.69 [1.55, 1.83]" */
static void print_iqm(char *cell, const FovCompared *c, const FovEstimate *iqm) {
  char value[FOV_COMPARE_CELL], low[FOV_COMPARE_CELL], high[FOV_COMPARE_CELL];
  print_number(value, c, iqm->value);
  print_number(low, c, iqm->low);
  print_number(high, c, iqm->high);
  if (isnan(iqm->low))
    snprintf(cell, FOV_COMPARE_CELL, "%.18s", value);
  else
    snprintf(cell, FOV_COMPARE_CELL, "%.18s [%.18s, %.18s]", value, low, high);
}

static void print_probability(char *cell, const FovEstimate *probability) {
  const FovEstimate *p = probability;
  if (isnan(p->value))
    snprintf(cell, FOV_COMPARE_CELL, "–");
  else if (isnan(p->low))
    snprintf(cell, FOV_COMPARE_CELL, "%.2f", p->value);
  else
    snprintf(cell, FOV_COMPARE_CELL, "%.2f [%.2f, %.2f]", p->value, p->low, p->high);
}

/** How a cost is printed. */
static const struct {
  const char *header, *format;
  double unit;
} costs[] = {[FOV_COST_SECONDS] = {"minutes", "%.1f", 60},
             [FOV_COST_PARAMETERS] = {"k parameters", "%.0f", 1e3},
             [FOV_COST_MFLOP] = {"MFLOP", "%.2f", 1},
             [FOV_COST_PIXELS] = {"pixels", "%.0f", 1}};

static void print_cost(char *cell, const FovComparedRecipe *recipe, FovCost cost) {
  if (isfinite(recipe->costs[cost]))
    snprintf(cell, FOV_COMPARE_CELL, costs[cost].format, recipe->costs[cost] / costs[cost].unit);
  else
    snprintf(cell, FOV_COMPARE_CELL, "–");
}

/** The optimality gap is a column for scores only: of errors it is the mean. */
FovStatus fov_compare_table(FovCompareTable *table, const FovCompared *compared) {
  const char *const headers[] = {"n", "mean", "median", "IQM", "P(improvement)"};
  *table = (FovCompareTable){.columns = 0};
  for (int i = 0; i < 5; i++) {
    if (i == 4 && !compared->errors) table->headers[table->columns++] = "gap";
    table->headers[table->columns++] = headers[i];
  }
  for (FovCost cost = 0; cost < FOV_COSTS && compared->costs; cost++)
    table->headers[table->columns++] = costs[cost].header;
  table->headers[table->columns++] = "recipe";
  table->cells =
      calloc((size_t)compared->recipe_count * (size_t)table->columns, sizeof *table->cells);
  if (!table->cells) return fov_fail(FOV_ERR_MEMORY, "no memory for the table");
  for (int r = 0; r < compared->recipe_count; r++) {
    const FovComparedRecipe *recipe = &compared->recipes[r];
    char(*cell)[FOV_COMPARE_CELL] = &table->cells[r * table->columns];
    snprintf(*cell++, FOV_COMPARE_CELL, "%d", recipe->runs);
    print_mean(*cell++, compared, recipe);
    print_number(*cell++, compared, recipe->median);
    print_iqm(*cell++, compared, &recipe->iqm);
    if (!compared->errors) print_number(*cell++, compared, recipe->gap);
    print_probability(*cell++, &recipe->improvement);
    for (FovCost cost = 0; cost < FOV_COSTS && compared->costs; cost++)
      print_cost(*cell++, recipe, cost);
  }
  return FOV_OK;
}

/* ---- sentences ---- */

/** Formats a line of any length and prints it. */
__attribute__((format(printf, 3, 4))) static void print_words(FILE *stream, FovCompareLine *print,
                                                              const char *format, ...) {
  char *line;
  va_list arguments;
  va_start(arguments, format);
  int length = vasprintf(&line, format, arguments);
  va_end(arguments);
  if (length < 0) return; // no memory for a line
  print(stream, line);
  free(line);
}

/** ", 10000 cases", as much as is known. */
static void describe_cases(char text[64], const FovCompared *c) {
  int length = c->cases > 0 ? snprintf(text, 64, ", %lld cases", (long long)c->cases) : 0;
  if (c->split && c->rollouts > 1)
    snprintf(text + length, 64 - (size_t)length, ", %d rollouts", c->rollouts);
}

void fov_compare_caption(FILE *stream, const FovCompared *compared, FovCompareLine *print) {
  const FovCompared *c = compared;
  const FovVariants *tasks = &c->runs.tasks;
  char cases[64] = "", task[32];
  describe_cases(cases, c);
  snprintf(task, sizeof task, "%d tasks", tasks->count);
  const char *on = tasks->count > 1 ? task : tasks->list[0].name;
  print_words(stream, print, "%s%s%s; %d run%s, %d recipe%s%s%s%s", c->split ? c->split : "",
              c->split ? " " : "",
              c->errors ? "error (%), lower is better" : "score, higher is better", c->runs.count,
              fov_plural(c->runs.count), c->recipe_count, fov_plural(c->recipe_count),
              *on ? "; " : "", on, cases);
}

static int count_paired(const FovCompared *compared) {
  int count = 0;
  for (int i = 0; i < compared->pair_count; i++) count += compared->pairs[i].cases;
  return count;
}

void fov_compare_method(FILE *stream, const FovCompared *compared, FovCompareLine *print) {
  const FovCompared *c = compared;
  int paired = count_paired(c);
  print_words(stream, print,
              "95 %% intervals: ± Student's, [ ] stratified bootstrap of %d draws, seed %llu",
              c->draws, (unsigned long long)c->seed);
  if (c->costs)
    print_words(stream, print,
                "costs: medians of the runs; minutes of training; MFLOP and pixels of a rollout");
  if (c->pair_count == 0) return;
  print_words(stream, print, "P(improvement): probability that a run is better than a run of %s",
              c->against >= 0 ? c->recipes[c->against].name : "the best other recipe");
  char correction[64] = "";
  if (c->corrected_for > 1)
    snprintf(correction, sizeof correction, "; Holm's correction for %d pairs", c->corrected_for);
  print_words(stream, print, "differences: %s, or Welch's interval where it is wider%s",
              paired == c->pair_count ? "paired bootstrap over cases and seeds"
              : paired == 0           ? "bootstrap over seeds"
                                      : "bootstrap over seeds and, where possible, cases",
              correction);
}

/** A signed number with the sign of a text rather than a hyphen. */
static void print_signed(char text[FOV_COMPARE_CELL], const FovCompared *c, double value) {
  char number[FOV_COMPARE_CELL];
  print_number(number, c, fabs(value));
  snprintf(text, FOV_COMPARE_CELL, "%s%.50s", value < 0 ? "−" : "", number);
}

/** "0.40 to 0.90 points" */
static const char *describe_range(char text[160], const FovCompared *c, const FovEstimate *e) {
  char low[FOV_COMPARE_CELL], high[FOV_COMPARE_CELL];
  print_signed(low, c, e->low);
  print_signed(high, c, e->high);
  snprintf(text, 160, "%s to %s%s", low, high, c->errors ? " points" : "");
  return text;
}

/** One run each. */
static void conclude_single(FILE *stream, const FovCompared *c, const FovComparedPair *pair,
                            FovCompareLine *print) {
  const char *first = c->recipes[pair->first].name, *second = c->recipes[pair->second].name;
  char range[160];
  describe_range(range, c, &pair->corrected);
  if (!pair->cases)
    print_words(stream, print, "one run each cannot decide between %s and %s: train more seeds",
                first, second);
  else if (pair->verdict == FOV_VERDICT_BETTER)
    print_words(stream, print,
                "the run of %s is better than that of %s by %s (corrected 95 %% interval over "
                "cases; McNemar's test and bootstrap, p = %.2g); one seed each does not compare "
                "the recipes",
                first, second, range, pair->adjusted);
  else
    print_words(stream, print,
                "the data do not decide between the run of %s and that of %s: the difference is "
                "%s (corrected 95 %% interval over cases; McNemar's test and bootstrap, p = %.2g)",
                first, second, range, pair->adjusted);
}

/** What McNemar's tests decide about the runs of a pair that have the same seed. */
static void print_run_tests(FILE *stream, const FovCompared *c, int pair, FovCompareLine *print) {
  int count = 0, better = 0, worse = 0;
  for (int i = 0; i < c->test_count; i++) {
    const FovRunTest *test = &c->tests[i];
    if (test->pair != pair) continue;
    count++;
    if (test->adjusted > 0.05) continue;
    better += test->first > test->second;
    worse += test->second > test->first;
  }
  if (count == 0) return;
  print_words(stream, print,
              "McNemar's test of runs with equal seeds: %d better, %d worse, %d "
              "undecided: %s against %s",
              better, worse, count - better - worse, c->recipes[c->pairs[pair].first].name,
              c->recipes[c->pairs[pair].second].name);
}

static void conclude(FILE *stream, const FovCompared *c, const FovComparedPair *pair,
                     FovCompareLine *print) {
  const FovComparedRecipe *first = &c->recipes[pair->first], *second = &c->recipes[pair->second];
  char range[160], probability[FOV_COMPARE_CELL];
  describe_range(range, c, &pair->corrected);
  print_probability(probability, &pair->improvement);
  if (pair->verdict == FOV_VERDICT_BETTER)
    print_words(stream, print,
                "%s is better than %s by %s (corrected 95 %% interval); P(improvement) %s",
                first->name, second->name, range, probability);
  else if (pair->verdict == FOV_VERDICT_UNDECIDED)
    print_words(stream, print,
                "the data do not decide between %s and %s: the difference is %s (corrected 95 %% "
                "interval); P(improvement) %s",
                first->name, second->name, range, probability);
  else if (pair->verdict == FOV_VERDICT_FEW_DRAWS)
    print_words(stream, print, "too few draws to decide between %s and %s; see --draws",
                first->name, second->name);
  else
    print_words(stream, print,
                "%s has one run of a task, too few to decide between it and %s: train more seeds",
                isnan(first->half_width) ? first->name : second->name,
                isnan(first->half_width) ? second->name : first->name);
}

void fov_compare_conclusions(FILE *stream, const FovCompared *compared, FovCompareLine *print) {
  for (int i = 0; i < compared->pair_count; i++) {
    const FovComparedPair *pair = &compared->pairs[i];
    if (pair->single)
      conclude_single(stream, compared, pair, print);
    else
      conclude(stream, compared, pair, print);
  }
  for (int i = 0; i < compared->pair_count; i++)
    if (!compared->pairs[i].single) print_run_tests(stream, compared, i, print);
}

void fov_compare_notes(FILE *stream, const FovCompared *compared, FovCompareLine *print) {
  for (int i = 0; i < compared->runs.note_count; i++)
    print_words(stream, print, "note: %s", compared->runs.notes[i]);
}
