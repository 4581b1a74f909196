#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"
#include "draw.h"
#include "record/progress.h"
#include "viz/scene/style.h"

enum { WIDTH = 1000, HEIGHT = 420, MARGIN = 24, DENSITY = 2 }; // units of DENSITY pixels
enum { EXPERIMENTS = 14, NAME = 48 };                          // 7 colours × 2 rounds of dashes

typedef enum Metric { VALID_ERROR, VALID_REWARD, METRICS } Metric;

static const char *const metric_titles[METRICS] = {"Validation error (%)", "Validation reward"};

typedef struct Run {
  char *path; // resolved
  FovProgress *rows;
  size_t count;
  size_t experiment;
} Run;

/** The mean over the seeds of one experiment at one number of episodes. */
typedef struct Point {
  double episodes, mean, lo, hi; // lo to hi: the 95 % band, no width for one seed
} Point;

typedef struct Curve {
  Point *points;
  size_t count;
} Curve;

typedef struct Experiment {
  const char *path; // of its first run
  size_t stem;      // bytes of path without the seed
  size_t seeds;
  Curve curves[METRICS];
} Experiment;

typedef struct Figure {
  Run *runs;
  size_t run_count;
  Experiment experiments[EXPERIMENTS];
  size_t experiment_count;
} Figure;

static const double vast = 1e100; // larger than any measured value, and its square is finite

/** NaN if there is no value, or none that can be drawn. */
static double metric_value(const FovProgress *row, Metric metric) {
  double value = metric == VALID_ERROR ? 100 * row->valid_error : row->valid_reward;
  return fabs(value) < vast ? value : NAN;
}

/** Bytes of a path without a final `-s<seed>`. */
static size_t stem_length(const char *path) {
  size_t length = strlen(path), end = length;
  while (end > 0 && path[end - 1] >= '0' && path[end - 1] <= '9') end--;
  bool seeded = end < length && end > 2 && path[end - 1] == 's' && path[end - 2] == '-';
  return seeded ? end - 2 : length;
}

static FovStatus load_run(Run *run, const char *folder) {
  run->path = realpath(folder, NULL);
  if (!run->path)
    return fov_fail(FOV_ERR_IO, "%s: no such run: expected the folder of a training run", folder);
  char path[PATH_MAX + sizeof "/progress.csv"];
  snprintf(path, sizeof path, "%s/progress.csv", run->path);
  FovStatus status =
      fov_file_exists(path)
          ? fov_progress_read(&run->rows, &run->count, path)
          : fov_fail(FOV_ERR_IO, "%s: not a run: expected progress.csv in it, found none", folder);
  if (status == FOV_OK && run->count == 0)
    return fov_fail(FOV_ERR_FORMAT, "%s/progress.csv: no rows yet: plot it after an evaluation",
                    folder);
  return status;
}

/** Assigns a run to its experiment, a new one if no earlier run differs in its seed only. */
static FovStatus join_experiment(Figure *figure, Run *run) {
  for (const Run *other = figure->runs; other < run; other++)
    if (strcmp(other->path, run->path) == 0)
      return fov_fail(FOV_ERR_USAGE, "%s: named twice: a run counts as one seed", run->path);
  size_t stem = stem_length(run->path), e = 0;
  for (; e < figure->experiment_count; e++) {
    const Experiment *known = &figure->experiments[e];
    if (known->stem == stem && strncmp(known->path, run->path, stem) == 0) break;
  }
  if (e == EXPERIMENTS)
    return fov_fail(FOV_ERR_USAGE, "more than %d experiments: too many lines to distinguish",
                    EXPERIMENTS);
  if (e == figure->experiment_count)
    figure->experiments[figure->experiment_count++] = (Experiment){.path = run->path, .stem = stem};
  figure->experiments[e].seeds++;
  run->experiment = e;
  return FOV_OK;
}

static int compare_episodes(const void *a, const void *b) {
  int64_t x = ((const FovProgress *)a)->episodes, y = ((const FovProgress *)b)->episodes;
  return (x > y) - (x < y);
}

/** False if a seed has no value at this row's number of episodes: nothing is interpolated. */
static bool summarise(Point *point, const Figure *figure, const FovProgress *row, size_t experiment,
                      Metric metric) {
  double sum = 0, squares = 0, first = metric_value(row, metric); // shifted: no cancellation
  size_t n = figure->experiments[experiment].seeds;
  for (size_t i = 0; i < figure->run_count; i++) {
    const Run *run = &figure->runs[i];
    if (run->experiment != experiment) continue;
    const FovProgress *same = bsearch(row, run->rows, run->count, sizeof *row, compare_episodes);
    if (!same || isnan(metric_value(same, metric))) return false;
    double shifted = metric_value(same, metric) - first;
    sum += shifted;
    squares += shifted * shifted;
  }
  double mean = first + sum / n, half = 0;
  if (n > 1)
    half = fov_stats_student((int64_t)n - 1) * sqrt(fmax(0, squares - sum * sum / n) / (n - 1) / n);
  *point = (Point){.episodes = row->episodes, .mean = mean, .lo = mean - half, .hi = mean + half};
  // An error is a proportion: its interval ends at 0 and at 100 %.
  if (metric == VALID_ERROR && mean >= 0) point->lo = fmax(point->lo, 0);
  if (metric == VALID_ERROR && mean <= 100) point->hi = fmin(point->hi, 100);
  return true;
}

static FovStatus build_curve(Curve *curve, const Figure *figure, size_t experiment, Metric metric) {
  const Run *run = figure->runs;
  while (run->experiment != experiment) run++;
  curve->points = malloc(run->count * sizeof *curve->points);
  if (!curve->points)
    return fov_fail(FOV_ERR_MEMORY, "%s: no memory for %zu rows", run->path, run->count);
  for (size_t i = 0; i < run->count; i++) {
    Point *point = &curve->points[curve->count];
    curve->count += summarise(point, figure, &run->rows[i], experiment, metric);
  }
  return FOV_OK;
}

static FovStatus build_experiment(Figure *figure, size_t e) {
  Experiment *experiment = &figure->experiments[e];
  size_t points = 0;
  for (Metric metric = 0; metric < METRICS; metric++) {
    FOV_TRY(build_curve(&experiment->curves[metric], figure, e, metric));
    points += experiment->curves[metric].count;
  }
  if (points > 0) return FOV_OK;
  if (experiment->seeds == 1)
    return fov_fail(FOV_ERR_FORMAT, "%s: no evaluation has a validation result", experiment->path);
  return fov_fail(FOV_ERR_FORMAT,
                  "%s: no number of episodes has a validation result in each of its %zu runs: "
                  "evaluate all seeds at the same interval or plot them apart",
                  experiment->path, experiment->seeds);
}

static FovStatus load(Figure *figure, const char *const *runs, size_t count) {
  figure->runs = calloc(count, sizeof *figure->runs);
  if (!figure->runs) return fov_fail(FOV_ERR_MEMORY, "no memory for %zu runs", count);
  for (; figure->run_count < count; figure->run_count++) {
    Run *run = &figure->runs[figure->run_count];
    FovStatus status = load_run(run, runs[figure->run_count]);
    if (status == FOV_OK) status = join_experiment(figure, run);
    if (status != FOV_OK) {
      figure->run_count++; // finish frees this one, too
      return status;
    }
  }
  for (size_t e = 0; e < figure->experiment_count; e++) FOV_TRY(build_experiment(figure, e));
  return FOV_OK;
}

static void finish(Figure *figure) {
  for (size_t i = 0; i < figure->run_count; i++) {
    free(figure->runs[i].path);
    free(figure->runs[i].rows);
  }
  for (size_t e = 0; e < figure->experiment_count; e++)
    for (Metric metric = 0; metric < METRICS; metric++)
      free(figure->experiments[e].curves[metric].points);
  free(figure->runs);
}

/** Colour and dash of an experiment: neighbours differ in both, so grey print keeps them apart. */
static void set_pen(cairo_t *cr, size_t experiment, double alpha) {
  static const double dashes[][4] = {{0}, {7, 3}, {2, 2.5}, {9, 3, 2, 3}};
  static const int lengths[] = {0, 2, 2, 4};
  // In the second round of colours the dash is shifted by one, so that no pair occurs twice.
  size_t dash = (experiment + experiment / FOV_SERIES * 2) % 4;
  fov_set_colour(cr, fov_theme_light.series[experiment % FOV_SERIES], alpha);
  cairo_set_dash(cr, dashes[dash], lengths[dash], 0);
  cairo_set_line_width(cr, 2);
}

/** The folder's name without the seed, as ASCII, which any font can show. */
static void experiment_name(char name[NAME], const Experiment *experiment) {
  size_t start = experiment->stem;
  while (start > 0 && experiment->path[start - 1] != '/') start--;
  snprintf(name, NAME, "%.*s", (int)(experiment->stem - start), experiment->path + start);
  for (char *c = name; *c; c++)
    if (*c < ' ' || *c > '~') *c = '?';
}

static bool has_bands(const Figure *figure) {
  return figure->run_count > figure->experiment_count;
}

/** Draws the legend's rows from `top`; returns where they end. */
static double draw_legend(cairo_t *cr, const Figure *figure, double top) {
  enum { ROW = 24, SAMPLE = 30, GAP = 28 };
  double x = MARGIN, y = top + 10;
  fov_set_font(cr, 13, false);
  for (size_t e = 0; e < figure->experiment_count; e++) {
    char name[NAME], seeds[32];
    experiment_name(name, &figure->experiments[e]);
    size_t n = figure->experiments[e].seeds;
    snprintf(seeds, sizeof seeds, "%zu seed%s", n, n == 1 ? "" : "s");
    double width = SAMPLE + 8 + fov_text_width(cr, name) + 8 + fov_text_width(cr, seeds);
    if (x > MARGIN && x + width > WIDTH - MARGIN) {
      x = MARGIN;
      y += ROW;
    }
    set_pen(cr, e, 1);
    fov_line(cr, x, y - 4.5, x + SAMPLE, y - 4.5);
    fov_set_colour(cr, fov_theme_light.ink, 1);
    double end = x + SAMPLE + 8;
    end += fov_text(cr, end, y, FOV_ALIGN_LEFT, "%s", name);
    fov_set_colour(cr, fov_theme_light.quiet, 1);
    fov_text(cr, end + 8, y, FOV_ALIGN_LEFT, "%s", seeds);
    x += width + GAP;
  }
  cairo_set_dash(cr, NULL, 0, 0);
  return y + 10;
}

typedef struct Range {
  double lo, hi;
} Range;

static void include(Range *range, double value) {
  range->lo = fmin(range->lo, value);
  range->hi = fmax(range->hi, value);
}

/** The range of a metric's means and of its bands, over all experiments; lo > hi: no values. */
static void find_ranges(Range *means, Range *bands, const Figure *figure, Metric metric) {
  *means = *bands = (Range){INFINITY, -INFINITY};
  for (size_t e = 0; e < figure->experiment_count; e++) {
    const Curve *curve = &figure->experiments[e].curves[metric];
    for (size_t i = 0; i < curve->count; i++) {
      const Point *point = &curve->points[i];
      include(means, point->mean);
      include(bands, point->lo);
      include(bands, point->hi);
    }
  }
}

/** A logarithmic axis over all bands, but at most a decade below the lowest mean: bands may reach
 * 0. */
static void set_log_range(FovAxis *axis, Range means, Range bands) {
  axis->log = true;
  axis->lo = fmax(bands.lo, means.lo / 10);
  double pad = pow(bands.hi / axis->lo, 0.04);
  axis->lo /= pad;
  axis->hi = bands.hi * pad;
}

/** Shows every mean and band. Errors over more than a decade get a logarithmic axis. */
static FovAxis value_axis(const Figure *figure, Metric metric, FovBox box) {
  enum { MOST = 1000000 }; // ratio of the means that a logarithmic axis shows
  FovAxis axis = {.lo = 0, .hi = 1, .from = box.y + box.h, .to = box.y};
  Range means, bands;
  find_ranges(&means, &bands, figure, metric);
  if (means.lo > means.hi) return axis;
  bool decades = means.lo > 0 && means.hi > 10 * means.lo && means.hi < MOST * means.lo;
  if (metric == VALID_ERROR && decades) {
    set_log_range(&axis, means, bands);
    return axis;
  }
  double span = bands.hi - bands.lo, size = fmax(fabs(bands.lo), fabs(bands.hi));
  if (span < 1e-9 * fmax(1, size)) span = fmax(1, size); // a flat line
  axis.lo = bands.lo - 0.06 * span;
  axis.hi = bands.hi + 0.06 * span;
  if (metric == VALID_ERROR && bands.lo >= 0) axis.lo = fmax(axis.lo, 0);
  return axis;
}

static FovAxis episode_axis(const Figure *figure, FovBox box) {
  double most = 1;
  for (size_t i = 0; i < figure->run_count; i++)
    most = fmax(most, figure->runs[i].rows[figure->runs[i].count - 1].episodes);
  return (FovAxis){.lo = 0, .hi = most, .from = box.x, .to = box.x + box.w};
}

static void draw_episode_ticks(cairo_t *cr, const FovAxis *axis, FovBox box) {
  bool millions = axis->hi >= 1e6, thousands = axis->hi >= 1e3;
  double unit = millions ? 1e6 : thousands ? 1e3 : 1, ticks[FOV_TICKS], y = box.y + box.h + 0.5;
  int count = fov_axis_ticks(ticks, axis, 6);
  fov_set_colour(cr, fov_theme_light.quiet, 1);
  cairo_set_line_width(cr, 1);
  fov_line(cr, box.x, y, box.x + box.w, y);
  for (int i = 0; i < count; i++) {
    double x = round(fov_axis_at(axis, ticks[i])) + 0.5;
    fov_line(cr, x, y, x, y + 5);
    fov_text(cr, x, y + 20, FOV_ALIGN_CENTRE, "%g", ticks[i] / unit);
  }
  fov_set_colour(cr, fov_theme_light.ink, 1);
  fov_text(cr, box.x + box.w / 2, y + 44, FOV_ALIGN_CENTRE, "Training episodes%s",
           millions    ? " (millions)"
           : thousands ? " (thousands)"
                       : "");
}

static void draw_band(cairo_t *cr, const Curve *curve, const FovAxis *x, const FovAxis *y) {
  for (size_t i = 0; i < curve->count; i++) {
    const Point *point = &curve->points[i];
    cairo_line_to(cr, fov_axis_at(x, point->episodes), fov_axis_at(y, point->hi));
  }
  for (size_t i = curve->count; i-- > 0;) {
    const Point *point = &curve->points[i];
    cairo_line_to(cr, fov_axis_at(x, point->episodes), fov_axis_at(y, point->lo));
  }
  cairo_fill(cr);
}

static void draw_mean(cairo_t *cr, const Curve *curve, const FovAxis *x, const FovAxis *y) {
  for (size_t i = 0; i < curve->count; i++)
    cairo_line_to(cr, fov_axis_at(x, curve->points[i].episodes),
                  fov_axis_at(y, curve->points[i].mean));
  cairo_stroke(cr);
  if (curve->count == 0) return;
  // A dot ends the line; after one evaluation the line is only this dot.
  const Point *last = &curve->points[curve->count - 1];
  cairo_arc(cr, fov_axis_at(x, last->episodes), fov_axis_at(y, last->mean), 3.5, 0, 2 * M_PI);
  cairo_fill(cr);
}

static void draw_curves(cairo_t *cr, const Figure *figure, Metric metric, const FovAxis *x,
                        const FovAxis *y) {
  for (size_t e = 0; e < figure->experiment_count; e++) { // no width for one seed
    set_pen(cr, e, 0.16);
    draw_band(cr, &figure->experiments[e].curves[metric], x, y);
  }
  for (size_t e = 0; e < figure->experiment_count; e++) { // over all bands
    set_pen(cr, e, 1);
    draw_mean(cr, &figure->experiments[e].curves[metric], x, y);
  }
  cairo_set_dash(cr, NULL, 0, 0);
}

static void draw_panel(cairo_t *cr, const Figure *figure, Metric metric, FovBox box) {
  FovAxis x = episode_axis(figure, box), y = value_axis(figure, metric, box);
  fov_set_font(cr, 13, true);
  fov_set_colour(cr, fov_theme_light.ink, 1);
  fov_text(cr, box.x, box.y - 14, FOV_ALIGN_LEFT, "%s", metric_titles[metric]);
  fov_set_font(cr, 13, false);
  fov_set_colour(cr, fov_theme_light.quiet, 1);
  if (has_bands(figure))
    fov_text(cr, box.x + box.w, box.y - 14, FOV_ALIGN_RIGHT, "mean, 95 %% band over seeds");
  fov_draw_value_ticks(cr, &y, box);
  draw_episode_ticks(cr, &x, box);
  cairo_save(cr);
  cairo_rectangle(cr, box.x, box.y, box.w + 5, box.h); // room for the last dot
  cairo_clip(cr);
  draw_curves(cr, figure, metric, &x, &y);
  cairo_restore(cr);
}

static void draw_figure(cairo_t *cr, const Figure *figure) {
  enum { GUTTER = 44, TITLE = 40, FOOT = 50, GAP = 36 };
  fov_fill_box(cr, (FovBox){0, 0, WIDTH, HEIGHT}, fov_theme_light.paper);
  double top = draw_legend(cr, figure, MARGIN) + TITLE;
  double width = (WIDTH - 2 * MARGIN - GAP) / 2.0;
  for (Metric metric = 0; metric < METRICS; metric++) {
    double left = MARGIN + metric * (width + GAP) + GUTTER;
    draw_panel(cr, figure, metric,
               (FovBox){left, top, width - GUTTER, HEIGHT - MARGIN / 2.0 - FOOT - top});
  }
}

FovStatus fov_draw_curves(const char *path, const char *const *runs, size_t count) {
  FOV_TRY(fov_draw_check(path));
  if (count == 0) return fov_fail(FOV_ERR_USAGE, "%s: no runs to plot: name one or more", path);
  Figure figure = {0};
  FovCanvas canvas = {0};
  FovStatus status = load(&figure, runs, count);
  if (status == FOV_OK) status = fov_canvas_begin(&canvas, path, WIDTH, HEIGHT, DENSITY);
  if (status == FOV_OK) {
    draw_figure(canvas.cr, &figure);
    status = fov_canvas_commit(&canvas);
  }
  finish(&figure);
  return status;
}
