#include "cli/progress_line.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/profile.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/print.h"
#include "record/run.h"

enum { MAX_PARTS = 8, PART_SIZE = 64, GAP = 2, MIN_CELLS = 5 };

static const double INTERVAL = 0.2; // seconds between two drawings

/* ---- a line of parts that fits ---- */

/** One line, left to right. Where it does not fit, parts of the highest rank are left out first;
 * those of rank 0 stay. */
typedef struct Line {
  char parts[MAX_PARTS][PART_SIZE];
  int ranks[MAX_PARTS], count;
} Line;

__attribute__((format(printf, 3, 4))) static void add(Line *line, int rank, const char *format,
                                                      ...) {
  FOV_CHECK(line->count < MAX_PARTS, "more than %d parts", MAX_PARTS);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line->parts[line->count], PART_SIZE, format, arguments);
  va_end(arguments);
  line->ranks[line->count++] = rank;
}

/** Columns of the parts up to a rank, with a gap before each but the first. */
static int width_of(const Line *line, int rank) {
  int width = -GAP;
  for (int i = 0; i < line->count; i++)
    if (line->ranks[i] <= rank) width += GAP + (int)strlen(line->parts[i]);
  return width;
}

/** The highest rank whose parts fit in `columns`; 0 if nothing fits. */
static int fitting_rank(const Line *line, int columns) {
  int rank = MAX_PARTS;
  while (rank > 0 && width_of(line, rank) > columns) rank--;
  return rank;
}

static void print_parts(const Line *line, int rank, int columns) {
  char text[MAX_PARTS * (PART_SIZE + GAP)] = "";
  size_t length = 0;
  for (int i = 0; i < line->count; i++)
    if (line->ranks[i] <= rank)
      length += (size_t)snprintf(text + length, sizeof text - length, "%*s%s", length ? GAP : 0, "",
                                 line->parts[i]);
  printf("%.*s", columns, text);
}

/* ---- what it shows ---- */

/** "950", "6.4k", "1.2M": four digits at most. */
static const char *short_count(char text[32], double count) {
  static const char units[] = "kMGT";
  int unit = -1;
  for (; count >= 999.95 && unit + 1 < (int)strlen(units); unit++) count /= 1000;
  if (unit < 0)
    snprintf(text, 32, "%.0f", count);
  else
    snprintf(text, 32, "%.1f%c", count, units[unit]);
  return text;
}

/** "[####------]" of so many cells. */
static void print_bar(double share, int cells) {
  int filled = (int)(cells * share);
  putchar('[');
  for (int i = 0; i < cells; i++) putchar(i < filled ? '#' : '-');
  printf("]%*s", GAP, "");
}

static void draw(const FovReport *report) {
  char done[32], all[32], left[32];
  double episodes = (double)report->sums->episodes, planned = (double)report->updates;
  Line line = {.count = 0};
  add(&line, 0, "%s/%s episodes", short_count(done, (double)report->episodes),
      short_count(all, planned * report->experiment->train.batch));
  add(&line, 3, "epoch %.1f", report->epoch);
  if (episodes > 0) {
    add(&line, 2, "train error %.1f %%", 100 * (double)report->sums->wrong / episodes);
    add(&line, 4, "reward %.2f", report->sums->reward / episodes);
  }
  add(&line, 5, "%.0f glimpses/s", report->glimpses_per_second);
  add(&line, 1, "%s left", fov_duration(left, report->seconds_left));
  int columns = fov_print_columns(), bar = MIN_CELLS + 2 + GAP;
  int rank = fitting_rank(&line, columns - bar), width = width_of(&line, rank);
  fputs("\r\033[K", stdout);
  if (width + bar <= columns)
    print_bar((double)report->update / planned, columns - width - 2 - GAP);
  print_parts(&line, rank, columns);
}

static void print_row(const FovReport *report) {
  const FovProgress *row = report->row;
  char left[32];
  Line line = {.count = 0};
  add(&line, 0, "epoch %5.1f", row->epoch);
  add(&line, 0, "valid error %5.2f %%", 100 * row->valid_error);
  add(&line, 1, "train error %5.2f %%", 100 * row->train_error);
  add(&line, 3, "reward %6.3f", row->train_reward);
  add(&line, 4, "%6.0f glimpses/s", row->glimpses_per_second);
  add(&line, 2, "%s left", fov_duration(left, report->seconds_left));
  int columns = fov_print_columns();
  print_parts(&line, fitting_rank(&line, columns), columns);
  putchar('\n');
}

/** Prints how many pictures or lines of text each split has, or how many cases if there are
 * neither. */
static void print_cases(const FovReport *report) {
  const int64_t *division = report->train->division;
  bool text = report->train->observation.kind == FOV_OBSERVATION_TOKENS;
  const char *lead = text ? "lines: " : "pictures: ";
  for (int split = 0; split < 3; split++) {
    if (division[split] == 0) continue;
    printf("%s%lld %s", lead, (long long)division[split], fov_split_names[split]);
    lead = ", ";
  }
  if (*lead != ',')
    printf("cases: %lld train, %lld valid", (long long)report->train->cases,
           (long long)report->valid->cases);
  putchar('\n');
}

static void print_start(const FovReport *report) {
  const FovExperiment *e = report->experiment;
  const FovObservation *shown = &report->train->observation;
  fov_print(stdout, "%s: %s, ", report->dir, e->slots[FOV_SLOT_ENV].plugin->name);
  fov_cli_print_input(report->glimpses, shown, &e->agent.glimpse);
  if (shown->kind != FOV_OBSERVATION_TOKENS)
    printf(", encoder %s", e->slots[FOV_SLOT_ENCODER].plugin->name);
  printf(", core %s, %zu parameters, %d thread%s", e->slots[FOV_SLOT_CORE].plugin->name,
         fov_params_learned(&e->agent.params), report->ranks * report->threads,
         fov_plural(report->ranks * report->threads));
  if (report->ranks > 1) printf(" on %d ranks", report->ranks);
  putchar('\n');
  print_cases(report);
  if (report->kind != FOV_REPORT_RESUMED) return;
  printf("resumed at update %lld\n", (long long)report->update);
  if (report->update == report->updates)
    puts("it is the last one; train.episodes=N makes the training longer");
}

static void print_finish(const FovReport *report) {
  if (report->update < report->updates)
    printf("stopped after %d evaluations without a better one (train.patience)\n",
           report->experiment->start.patience);
  char dir[FOV_PATH_SIZE];
  fov_print(stdout,
            "best validation error %.2f %% at update %lld; test it once with: fovea eval %s\n",
            100 * report->best->error, (long long)report->best->update,
            fov_text_word(dir, sizeof dir, report->dir));
}

void fov_progress_line_clear(FovProgressLine *line) {
  if (line->drawn) fputs("\r\033[K", stdout);
  line->drawn = false;
}

static void update(FovProgressLine *line, const FovReport *report) {
  // mpirun gives a rank a terminal, wherever its output goes.
  if (report->ranks > 1 || !isatty(STDOUT_FILENO)) return;
  if (fov_now() - line->drawn_at < INTERVAL) return;
  line->drawn_at = fov_now();
  draw(report);
  line->drawn = true;
  fov_print_flush();
}

void fov_progress_line_report(void *context, const FovReport *report) {
  FovProgressLine *line = context;
  if (report->kind == FOV_REPORT_UPDATED) {
    update(line, report);
    return;
  }
  fov_progress_line_clear(line);
  switch (report->kind) {
  case FOV_REPORT_NOTE:
    fov_print(stderr, "fovea: %s\n", report->note);
    break;
  case FOV_REPORT_STARTED:
  case FOV_REPORT_RESUMED:
    print_start(report);
    break;
  case FOV_REPORT_EVALUATED:
    print_row(report);
    break;
  case FOV_REPORT_FINISHED:
    print_finish(report);
    break;
  case FOV_REPORT_UPDATED:
    break;
  }
  fov_print_flush();
}
