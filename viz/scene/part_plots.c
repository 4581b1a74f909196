#include "viz/scene/part_plots.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "viz/scene/episode.h"
#include "viz/scene/part_answer.h"

/** The box inside a plot's axes: right of the numbers on the left, above those at the foot. */
static FovBox plot_box(FovBox box, double em, double foot) {
  double gutter = 3.6 * em;
  return (FovBox){box.x + gutter, box.y + 1.9 * em, box.w - gutter, box.h - 1.9 * em - foot};
}

/** Horizontal lines at the axis's round values, numbered on the left. */
static void draw_grid(cairo_t *cr, const FovScene *scene, FovBox plot, const FovAxis *axis,
                      double em) {
  double ticks[FOV_TICKS];
  int count = fov_axis_ticks(ticks, axis, plot.h > 4 * em ? 3 : 1);
  double last = INFINITY; // where a number was drawn
  cairo_set_line_width(cr, 1);
  for (int i = 0; i < count; i++) {
    double y = round(fov_axis_at(axis, ticks[i])) + 0.5;
    fov_set_colour(cr, scene->theme->rule, 1);
    fov_line(cr, plot.x, y, plot.x + plot.w, y);
    if (last - y < em) continue;
    last = y;
    fov_set_colour(cr, scene->theme->quiet, 1);
    fov_text(cr, plot.x - 0.6 * em, y + 0.3 * em, FOV_ALIGN_RIGHT, "%g", ticks[i]);
  }
}

/* ---- bars ---- */

enum { MOST_BARS = 128 };

/** The classes or actions that are shown: all, or the likeliest if not all fit. */
typedef struct Bars {
  FovBox plot;
  double pitch, name; // from bar to bar; width of a name
  double top;         // the probability at the upper end of the axis
  int count, classes[MOST_BARS];
} Bars;

/** The height of a row of marks under the bars; 0 if the title or the heading has to do. */
static double mark_row(const FovScene *scene, const FovLayout *l) {
  return l->bars.h > 10 * l->em && !scene->trace->control ? 1.35 * l->em : 0;
}

static int longest_name(const FovTrace *trace) {
  size_t longest = 0;
  const char *name = trace->names;
  if (!name) return snprintf(NULL, 0, "%d", trace->actions - 1);
  for (size_t length; *name; name += length + (name[length] == '\n')) {
    length = strcspn(name, "\n");
    if (length > longest) longest = length;
  }
  return longest < FOV_ACTION_NAME ? (int)longest : FOV_ACTION_NAME - 1;
}

/** The largest probability of a class in the episode; 1 if it is a label or answer, 2 if it is so
 * now. */
static double weight(const FovScene *scene, int class) {
  const FovTrace *trace = scene->trace;
  double most = 0;
  for (int t = 0; t < fov_scene_length(scene); t++) {
    size_t m = fov_glimpse_index(trace, scene->episode, t);
    bool named = trace->labels[m] == class || trace->answers[m] == class;
    most = fmax(most, named ? 1 : trace->probabilities[m * trace->actions + class]);
  }
  bool now = trace->labels[fov_glimpse_at(scene)] == class ||
             fov_next_answer(trace, scene->episode, scene->glimpse) == class;
  return now ? 2 : most;
}

static int compare(const void *a, const void *b) {
  return *(const int *)a - *(const int *)b;
}

/** Keeps the classes of the largest weights, in ascending order. */
static void choose_likeliest(Bars *bars, const FovScene *scene) {
  double weights[MOST_BARS];
  int count = 0;
  for (int a = 0; a < scene->trace->actions; a++) {
    double w = weight(scene, a);
    if (count == bars->count && w <= weights[count - 1]) continue;
    int i = count < bars->count ? count++ : count - 1;
    for (; i > 0 && weights[i - 1] < w; i--) {
      weights[i] = weights[i - 1];
      bars->classes[i] = bars->classes[i - 1];
    }
    weights[i] = w;
    bars->classes[i] = a;
  }
  qsort(bars->classes, (size_t)count, sizeof *bars->classes, compare);
}

/** The upper end of the axis, a round number that no bar of the episode exceeds. */
static double choose_top(const Bars *bars, const FovScene *scene) {
  const FovTrace *trace = scene->trace;
  float most = 0;
  for (int t = 0; t < fov_scene_length(scene); t++)
    for (int i = 0; i < bars->count; i++)
      most = fmaxf(
          most, trace->probabilities[fov_glimpse_index(trace, scene->episode, t) * trace->actions +
                                     bars->classes[i]]);
  return fov_round_up(most);
}

/** Numbers in their order may be thinned; names, or numbers of the likeliest, may not. */
static Bars choose_bars(const FovScene *scene, const FovLayout *l) {
  const FovTrace *trace = scene->trace;
  double em = l->em;
  Bars bars = {.plot = plot_box(l->bars, em, 1.5 * em + 2 * mark_row(scene, l)),
               .name = fmax(1.7, 0.5 * longest_name(trace) + 0.7) * em};
  double least = trace->names ? bars.name : 0.6 * em;
  bool all = trace->actions <= MOST_BARS && trace->actions * least <= bars.plot.w;
  double room = fmin(MOST_BARS, fmax(2, floor(bars.plot.w / bars.name)));
  bars.count = all ? trace->actions : (int)fmin(trace->actions, room);
  bars.pitch = bars.plot.w / bars.count;
  choose_likeliest(&bars, scene);
  bars.top = choose_top(&bars, scene);
  return bars;
}

/** The largest width of the bars of one class together. */
static double bars_width(const FovScene *scene, const Bars *bars, double em) {
  return fmin(0.8 * bars->pitch, fmax(3, 0.8 * fov_scene_length(scene)) * em);
}

static bool has_all_glimpses(const FovScene *scene, const Bars *bars, double em) {
  int n = fov_scene_length(scene);
  return n > 1 && bars_width(scene, bars, em) >= 3 * n;
}

/** Actions are neither right nor wrong: the one that was taken has a colour. */
static FovColour bar_colour(const FovScene *scene, int class, int t) {
  const FovTrace *trace = scene->trace;
  const FovTheme *theme = scene->theme;
  int answer = fov_next_answer(trace, scene->episode, t);
  if (class == trace->labels[fov_glimpse_index(trace, scene->episode, t)]) return theme->right;
  if (class != answer) return theme->quiet;
  bool unknown = fov_first_label(trace, scene->episode) < 0;
  return trace->control || unknown ? theme->series[0] : theme->wrong;
}

/** Draws the bars of a class, one per glimpse, this glimpse in full colour; only that one if not
 * all fit. */
static void draw_class_bars(cairo_t *cr, const FovScene *scene, const Bars *bars, int place,
                            double em) {
  const FovTrace *trace = scene->trace;
  bool all = has_all_glimpses(scene, bars, em);
  int now = scene->glimpse, first = all ? 0 : now, count = all ? fov_scene_length(scene) : 1;
  int class = bars->classes[place];
  double width = floor(bars_width(scene, bars, em) / count), gap = all ? 1 + floor(width / 8) : 0;
  double bottom = bars->plot.y + bars->plot.h, x = bars->plot.x + (place + 0.5) * bars->pitch;
  const float *p = trace->probabilities + (fov_glimpse_at(scene) - now) * trace->actions + class;
  x = round(x - width * count / 2);
  for (int t = first; t < first + count; t++, x += width) {
    double h = fmax(1, p[(size_t)t * trace->actions] / bars->top * bars->plot.h);
    fov_set_colour(cr, bar_colour(scene, class, t), t == now ? 1 : 0.35);
    cairo_rectangle(cr, x, bottom - h, fmax(1, width - gap), h);
    cairo_fill(cr);
  }
}

static void draw_bars(cairo_t *cr, const FovScene *scene, const Bars *bars, double em) {
  const FovTrace *trace = scene->trace;
  int label = trace->labels[fov_glimpse_at(scene)];
  int answer = fov_next_answer(trace, scene->episode, scene->glimpse);
  double y = bars->plot.y + bars->plot.h + 1.15 * em;
  int every = (int)ceil(bars->name / bars->pitch); // thinned so that numbers do not touch
  if (bars->count < trace->actions) every = 1;
  for (int i = 0; i < bars->count; i++) {
    char name[FOV_ACTION_NAME + 4];
    int a = bars->classes[i];
    draw_class_bars(cr, scene, bars, i, em);
    if (i % every != 0) continue;
    fov_action_name(name, trace, a);
    fov_fit_text(cr, name, sizeof name, every * bars->pitch);
    fov_set_colour(cr, a == label || a == answer ? scene->theme->ink : scene->theme->quiet, 1);
    fov_text(cr, bars->plot.x + (i + 0.5) * bars->pitch, y, FOV_ALIGN_CENTRE, "%s", name);
  }
}

/** Draws a row under the bars that marks one class with a disc or a ring. */
static void draw_mark(cairo_t *cr, const FovScene *scene, const Bars *bars, FovBox row, int class,
                      const char *name, bool filled) {
  double em = row.h / 1.35, y = row.y + 0.75 * em;
  fov_set_colour(cr, scene->theme->quiet, 1);
  fov_text(cr, row.x - 0.6 * em, y + 0.3 * em, FOV_ALIGN_RIGHT, "%s", name);
  fov_set_colour(cr, scene->theme->ink, 1);
  cairo_set_line_width(cr, fmax(1.25, 0.12 * em));
  for (int i = 0; i < bars->count; i++)
    if (bars->classes[i] == class)
      fov_disc(cr, row.x + (i + 0.5) * bars->pitch, y, fmin(0.32 * em, 0.4 * bars->pitch));
  if (filled)
    cairo_fill(cr);
  else
    cairo_stroke(cr);
}

static void draw_marks(cairo_t *cr, const FovScene *scene, const FovLayout *l, const Bars *bars) {
  const FovTrace *trace = scene->trace;
  size_t now = fov_glimpse_at(scene);
  FovBox row = {bars->plot.x, bars->plot.y + bars->plot.h + 1.5 * l->em, bars->plot.w,
                mark_row(scene, l)};
  if (row.h == 0) return;
  draw_mark(cr, scene, bars, row, trace->labels[now], "label", true);
  row.y += row.h;
  draw_mark(cr, scene, bars, row, trace->answers[now], "answer", false);
}

/** The heading of the bars; in a game with the action taken. text: [size] */
static void name_bars(char *text, size_t size, const FovScene *scene, const Bars *bars, double em) {
  const FovTrace *trace = scene->trace;
  char action[FOV_ACTION_NAME];
  fov_action_name(action, trace, trace->answers[fov_glimpse_at(scene)]);
  const char *kind = trace->control ? "action" : "class",
             *many = trace->control ? "actions" : "classes";
  int length = trace->control ? snprintf(text, size, "Action: %s.  ", action) : 0;
  text += length;
  size -= (size_t)length;
  if (bars->count < trace->actions)
    snprintf(text, size, "Probability of the %d likeliest of %d %s", bars->count, trace->actions,
             many);
  else
    snprintf(text, size, "Probability of each %s%s", kind,
             has_all_glimpses(scene, bars, em) ? ", glimpse by glimpse" : "");
}

static void draw_classes(cairo_t *cr, const FovScene *scene, const FovLayout *l) {
  FovBox box = l->bars;
  Bars bars = choose_bars(scene, l);
  char heading[128];
  name_bars(heading, sizeof heading, scene, &bars, l->em);
  fov_draw_heading(cr, &box, scene->theme, l->em, heading);
  FovAxis axis = {.lo = 0, .hi = bars.top, .from = bars.plot.y + bars.plot.h, .to = bars.plot.y};
  draw_grid(cr, scene, bars.plot, &axis, l->em);
  draw_bars(cr, scene, &bars, l->em);
  draw_marks(cr, scene, l, &bars);
}

/* ---- over time ---- */

static double return_at(const FovScene *scene, int t) {
  return fov_return(scene->trace, scene->episode, t);
}

static double baseline_at(const FovScene *scene, int t) {
  return scene->trace->baselines[fov_glimpse_index(scene->trace, scene->episode, t)];
}

static double reward_at(const FovScene *scene, int t) {
  return scene->trace->rewards[fov_glimpse_index(scene->trace, scene->episode, t)];
}

static double cost_at(const FovScene *scene, int t) {
  return fov_step_cost(scene->trace, scene->episode, t);
}

static double entropy_at(const FovScene *scene, int t) {
  return fov_entropy(scene->trace, scene->episode, t);
}

/** An axis over all values of two series, and over 0 and 1. */
static FovAxis value_axis(const FovScene *scene, FovBox plot,
                          double a_at(const FovScene *scene, int t),
                          double b_at(const FovScene *scene, int t)) {
  FovAxis axis = {.lo = 0, .hi = 1, .from = plot.y + plot.h, .to = plot.y};
  for (int t = 0; t < fov_scene_length(scene); t++) { // fmin and fmax ignore NaN
    axis.lo = fmin(axis.lo, fmin(a_at(scene, t), b_at(scene, t)));
    axis.hi = fmax(axis.hi, fmax(a_at(scene, t), b_at(scene, t)));
  }
  return axis;
}

/** A line through the finite values with a dot of radius `dot`, or smaller if they are dense, at
 * each.
 */
static void draw_series(cairo_t *cr, const FovScene *scene, FovBox plot, const FovAxis *axis,
                        double value_at(const FovScene *scene, int t), double dot) {
  double pitch = plot.w / fov_scene_length(scene);
  dot = fmin(dot, 0.32 * pitch);
  for (int pass = 0; pass < 2; pass++) {
    for (int t = 0; t < fov_scene_length(scene); t++) {
      double value = value_at(scene, t), x = plot.x + (t + 0.5) * pitch;
      if (!isfinite(value)) continue;
      if (pass == 0)
        cairo_line_to(cr, x, fov_axis_at(axis, value));
      else
        fov_disc(cr, x, fov_axis_at(axis, value), dot);
    }
    if (pass == 0)
      cairo_stroke(cr);
    else
      cairo_fill(cr);
  }
}

/** Marks this glimpse's column, draws the grid and numbers the glimpses. */
static void draw_time_frame(cairo_t *cr, const FovScene *scene, FovBox plot, const FovAxis *axis,
                            double em) {
  double pitch = plot.w / fov_scene_length(scene), now = plot.x + scene->glimpse * pitch;
  fov_fill_box(cr, (FovBox){now, plot.y, pitch, plot.h}, scene->theme->panel);
  draw_grid(cr, scene, plot, axis, em);
  int every = (int)ceil(1.7 * em / fmax(pitch, 0.01));
  for (int t = 0; t < fov_scene_length(scene); t += every) {
    fov_set_colour(cr, t == scene->glimpse ? scene->theme->ink : scene->theme->quiet, 1);
    fov_text(cr, plot.x + (t + 0.5) * pitch, plot.y + plot.h + 1.15 * em, FOV_ALIGN_CENTRE, "%d",
             t + 1);
  }
  cairo_set_line_width(cr, fmax(1.25, 0.12 * em));
}

/** The heading is also the legend: each line's name beside a sample of it. */
static void draw_return_heading(cairo_t *cr, const FovScene *scene, FovBox box, double em) {
  double y = box.y + 0.85 * em, x = box.x, dash[] = {0.4 * em, 0.25 * em};
  fov_set_font(cr, 0.95 * em, true);
  cairo_set_line_width(cr, fmax(1.25, 0.12 * em));
  fov_set_colour(cr, scene->theme->ink, 1);
  fov_line(cr, x, y - 0.3 * em, x + 1.4 * em, y - 0.3 * em);
  fov_disc(cr, x + 0.7 * em, y - 0.3 * em, 0.22 * em);
  cairo_fill(cr);
  x += 1.9 * em;
  x += fov_text(cr, x, y, FOV_ALIGN_LEFT, "Baseline") + 1.2 * em;
  if (isfinite(return_at(scene, 0))) {
    cairo_set_dash(cr, dash, 2, 0);
    fov_set_colour(cr, scene->theme->quiet, 1);
    fov_line(cr, x, y - 0.3 * em, x + 1.7 * em, y - 0.3 * em);
    cairo_set_dash(cr, NULL, 0, 0);
    fov_set_colour(cr, scene->theme->ink, 1);
    fov_text(cr, x + 2.1 * em, y, FOV_ALIGN_LEFT, "return");
  }
  fov_set_font(cr, 0.85 * em, false);
}

/** Prints what the step after this glimpse cost, in the corner that returns mostly leave free. */
static void draw_cost(cairo_t *cr, const FovScene *scene, FovBox plot, double em) {
  double cost = cost_at(scene, scene->glimpse);
  if (!isfinite(cost)) return;
  fov_set_colour(cr, scene->theme->quiet, 1);
  fov_text(cr, plot.x + 0.3 * em, plot.y + plot.h - 0.4 * em, FOV_ALIGN_LEFT, "step costs %.2g",
           cost);
}

static void draw_returns(cairo_t *cr, const FovScene *scene, const FovLayout *l) {
  double em = l->em, dash[] = {0.4 * em, 0.25 * em};
  FovBox plot = plot_box(l->returns, em, 1.4 * em);
  FovAxis axis = value_axis(scene, plot, return_at, baseline_at);
  draw_return_heading(cr, scene, l->returns, em);
  draw_time_frame(cr, scene, plot, &axis, em);
  fov_set_colour(cr, scene->theme->quiet, 1);
  cairo_set_dash(cr, dash, 2, 0);
  draw_series(cr, scene, plot, &axis, return_at, 0);
  cairo_set_dash(cr, NULL, 0, 0);
  fov_set_colour(cr, scene->theme->ink, 1);
  draw_series(cr, scene, plot, &axis, baseline_at, 0.24 * em);
  draw_cost(cr, scene, plot, em);
}

/** Instead of probabilities: how far each answered place is from the true one. */
static void draw_distances(cairo_t *cr, const FovScene *scene, const FovLayout *l) {
  FovBox box = l->bars, plot = plot_box(box, l->em, 1.4 * l->em);
  FovAxis axis = value_axis(scene, plot, fov_answer_distance, fov_answer_distance);
  fov_draw_heading(cr, &box, scene->theme, l->em, "Distance of the answer, half image widths");
  draw_time_frame(cr, scene, plot, &axis, l->em);
  fov_set_colour(cr, scene->theme->ink, 1);
  draw_series(cr, scene, plot, &axis, fov_answer_distance, 0.24 * l->em);
}

static void draw_last(cairo_t *cr, const FovScene *scene, const FovLayout *l) {
  bool control = scene->trace->control;
  FovBox box = l->last, plot = plot_box(box, l->em, 1.4 * l->em);
  FovAxis axis = {
      .lo = 0, .hi = fmax(1, log2(scene->trace->actions)), .from = plot.y + plot.h, .to = plot.y};
  if (control) axis = value_axis(scene, plot, reward_at, reward_at);
  fov_draw_heading(cr, &box, scene->theme, l->em, control ? "Reward" : "Entropy, bits");
  draw_time_frame(cr, scene, plot, &axis, l->em);
  fov_set_colour(cr, scene->theme->ink, 1);
  draw_series(cr, scene, plot, &axis, control ? reward_at : entropy_at, 0.24 * l->em);
}

void fov_draw_plots(cairo_t *cr, const FovScene *scene, const FovLayout *l) {
  if (l->bars.h > 0 && fov_shows(cr, l->bars))
    fov_answers_places(scene->trace) ? draw_distances(cr, scene, l) : draw_classes(cr, scene, l);
  if (l->returns.h > 0 && fov_shows(cr, l->returns)) draw_returns(cr, scene, l);
  if (l->last.h > 0 && fov_shows(cr, l->last)) draw_last(cr, scene, l);
}

/** Which of `count` columns of a plot x lies in. */
static int column_at(FovBox plot, double x, int count) {
  return (int)fmin(count - 1, floor((x - plot.x) / plot.w * count));
}

static void describe_bar(char *text, size_t size, const FovScene *scene, const Bars *bars,
                         double x) {
  const FovTrace *trace = scene->trace;
  int a = bars->classes[column_at(bars->plot, x, bars->count)];
  float p = trace->probabilities[fov_glimpse_at(scene) * trace->actions + a];
  char name[FOV_ACTION_NAME];
  fov_action_name(name, trace, a);
  snprintf(text, size, "%s %s: %.4f", trace->control ? "action" : "class", name, (double)p);
}

static void describe_distance(char *text, size_t size, const FovScene *scene, int t) {
  double distance = fov_answer_distance(scene, t);
  if (isfinite(distance))
    snprintf(text, size, "glimpse %d: distance %.3f", t + 1, distance);
  else
    snprintf(text, size, "glimpse %d: no answer", t + 1);
}

/** Appends what the step after glimpse t cost, if that is known. */
static void describe_cost(char *text, size_t size, const FovScene *scene, int t) {
  size_t length = strlen(text);
  double cost = cost_at(scene, t);
  if (isfinite(cost)) snprintf(text + length, size - length, ", next step costs %.2g", cost);
}

static void describe_last(char *text, size_t size, const FovScene *scene, int t) {
  if (!scene->trace->control) {
    snprintf(text, size, "glimpse %d: %.3f bits", t + 1, entropy_at(scene, t));
    return;
  }
  snprintf(text, size, "glimpse %d: reward %g", t + 1, reward_at(scene, t));
  describe_cost(text, size, scene, t);
}

bool fov_describe_plots(char *text, size_t size, const FovScene *scene, double x, double y) {
  FovLayout l = fov_layout(scene);
  Bars bars = choose_bars(scene, &l);
  FovBox returns = plot_box(l.returns, l.em, 1.4 * l.em), last = plot_box(l.last, l.em, 1.4 * l.em);
  bool places = fov_answers_places(scene->trace);
  FovBox upper = places ? plot_box(l.bars, l.em, 1.4 * l.em) : bars.plot;
  if (l.bars.h == 0) return false;
  if (fov_inside(upper, x, y) && places) {
    describe_distance(text, size, scene, column_at(upper, x, fov_scene_length(scene)));
  } else if (fov_inside(upper, x, y)) {
    describe_bar(text, size, scene, &bars, x);
  } else if (l.returns.h > 0 && fov_inside(returns, x, y)) {
    int t = column_at(returns, x, fov_scene_length(scene));
    double baseline = baseline_at(scene, t);
    int length = isfinite(baseline)
                     ? snprintf(text, size, "glimpse %d: baseline %.3f", t + 1, baseline)
                     : snprintf(text, size, "glimpse %d: no baseline", t + 1);
    if (isfinite(return_at(scene, t)))
      snprintf(text + length, size - (size_t)length, ", return %.3f", return_at(scene, t));
    describe_cost(text, size, scene, t);
  } else if (l.last.h > 0 && fov_inside(last, x, y)) {
    describe_last(text, size, scene, column_at(last, x, fov_scene_length(scene)));
  } else {
    return false;
  }
  return true;
}
