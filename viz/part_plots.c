#include <math.h>
#include <stdio.h>

#include "viz/known.h"
#include "viz/parts.h"

/** A plot's own room: right of the numbers of its axis, above those of its foot. */
static FovBox plot_box(FovBox box, double em, double foot) {
  double gutter = 3.6 * em;
  return (FovBox){box.x + gutter, box.y + 1.9 * em, box.w - gutter, box.h - 1.9 * em - foot};
}

/** Horizontal lines at the axis's round values, numbered on the left. */
static void draw_grid(cairo_t *cr, const FovScene *scene, FovBox plot, const FovAxis *axis,
                      double em) {
  double ticks[FOV_TICKS];
  int count = fov_axis_ticks(ticks, axis, plot.h > 4 * em ? 3 : 1);
  cairo_set_line_width(cr, 1);
  for (int i = 0; i < count; i++) {
    double y = round(fov_axis_at(axis, ticks[i])) + 0.5;
    fov_set_color(cr, scene->theme->rule, 1);
    fov_line(cr, plot.x, y, plot.x + plot.w, y);
    fov_set_color(cr, scene->theme->quiet, 1);
    fov_text(cr, plot.x - 0.6 * em, y + 0.3 * em, FOV_ALIGN_RIGHT, "%g", ticks[i]);
  }
}

/* ---- classes ---- */

/** The height of a row of marks under the bars; 0 where the title must do. */
static double mark_row(const FovLayout *l) {
  return l->classes.h > 8 * l->em ? 1.35 * l->em : 0;
}

static FovBox bars_box(const FovLayout *l) {
  return plot_box(l->classes, l->em, 1.5 * l->em + 2 * mark_row(l));
}

/** A row under the bars that points out one class. */
static void draw_class_mark(cairo_t *cr, const FovScene *scene, FovBox row, double pitch, int class,
                            const char *name, bool filled) {
  double em = row.h / 1.35, x = row.x + (class + 0.5) * pitch, y = row.y + 0.75 * em;
  double radius = fmin(0.32 * em, 0.4 * pitch);
  fov_set_color(cr, scene->theme->quiet, 1);
  fov_text(cr, row.x - 0.6 * em, y + 0.3 * em, FOV_ALIGN_RIGHT, "%s", name);
  fov_set_color(cr, scene->theme->ink, 1);
  cairo_set_line_width(cr, fmax(1.25, 0.12 * em));
  fov_disc(cr, x, y, radius);
  if (filled)
    cairo_fill(cr);
  else
    cairo_stroke(cr);
}

/** How wide the bars of a class may be together. */
static double bars_width(const FovScene *scene, FovBox plot, double em) {
  double most = fmax(3, 0.8 * scene->trace->glimpses) * em;
  return fmin(0.8 * plot.w / scene->trace->actions, most);
}

static bool has_all_bars(const FovScene *scene, FovBox plot, double em) {
  int T = scene->trace->glimpses;
  return T > 1 && bars_width(scene, plot, em) >= 3 * T;
}

/** The bars of a class, one a glimpse and this glimpse's in full colour; that one alone where there
 * is no room for so many. */
static void draw_class_bars(cairo_t *cr, const FovScene *scene, FovBox plot, int class, double em,
                            FovColor color) {
  const FovTrace *trace = scene->trace;
  bool all = has_all_bars(scene, plot, em);
  int now = scene->glimpse, first = all ? 0 : now, count = all ? trace->glimpses : 1;
  double pitch = plot.w / trace->actions, width = floor(bars_width(scene, plot, em) / count);
  double gap = all ? 1 + floor(width / 8) : 0, x = plot.x + (class + 0.5) * pitch;
  const float *p = trace->probabilities + (fov_moment(scene) - now) * trace->actions + class;
  x = round(x - width * count / 2);
  for (int t = first; t < first + count; t++, x += width) {
    double h = fmax(1, p[(size_t)t * trace->actions] * plot.h);
    fov_set_color(cr, color, t == now ? 1 : 0.35);
    cairo_rectangle(cr, x, plot.y + plot.h - h, fmax(1, width - gap), h);
    cairo_fill(cr);
  }
}

static void draw_bars(cairo_t *cr, const FovScene *scene, FovBox plot, double em) {
  const FovTrace *trace = scene->trace;
  const FovTheme *theme = scene->theme;
  int label = trace->labels[scene->episode], answer = trace->answers[scene->episode];
  double pitch = plot.w / trace->actions, y = plot.y + plot.h + 1.15 * em;
  int every = (int)ceil(1.7 * em / pitch); // thinned so that numbers do not touch
  for (int a = 0; a < trace->actions; a++) {
    FovColor color = a == label ? theme->right : a == answer ? theme->wrong : theme->quiet;
    draw_class_bars(cr, scene, plot, a, em, color);
    fov_set_color(cr, a == label || a == answer ? theme->ink : theme->quiet, 1);
    if (a % every == 0) fov_text(cr, plot.x + (a + 0.5) * pitch, y, FOV_ALIGN_CENTER, "%d", a);
  }
}

static void draw_classes(cairo_t *cr, const FovScene *scene, const FovLayout *l) {
  FovBox box = l->classes, plot = bars_box(l);
  const FovTrace *trace = scene->trace;
  fov_draw_heading(cr, &box, scene, l->em,
                   has_all_bars(scene, plot, l->em)
                       ? "Probability of each class, glimpse by glimpse"
                       : "Probability of each class");
  FovAxis axis = {.lo = 0, .hi = 1, .from = plot.y + plot.h, .to = plot.y};
  draw_grid(cr, scene, plot, &axis, l->em);
  draw_bars(cr, scene, plot, l->em);
  FovBox row = {plot.x, plot.y + plot.h + 1.5 * l->em, plot.w, mark_row(l)};
  if (row.h == 0) return;
  double pitch = row.w / trace->actions;
  draw_class_mark(cr, scene, row, pitch, trace->labels[scene->episode], "label", true);
  row.y += row.h;
  draw_class_mark(cr, scene, row, pitch, trace->answers[scene->episode], "answer", false);
}

/* ---- over time ---- */

static double return_at(const FovScene *scene, int t) {
  return fov_return(scene->trace, scene->episode, t);
}

static double baseline_at(const FovScene *scene, int t) {
  return scene->trace->baselines[(size_t)scene->episode * scene->trace->glimpses + t];
}

static double entropy_at(const FovScene *scene, int t) {
  return fov_entropy(scene->trace, scene->episode, t);
}

static FovAxis return_axis(const FovScene *scene, FovBox plot) {
  FovAxis axis = {.lo = 0, .hi = 1, .from = plot.y + plot.h, .to = plot.y};
  for (int t = 0; t < scene->trace->glimpses; t++) { // fmin and fmax pass over NaN
    axis.lo = fmin(axis.lo, fmin(return_at(scene, t), baseline_at(scene, t)));
    axis.hi = fmax(axis.hi, fmax(return_at(scene, t), baseline_at(scene, t)));
  }
  return axis;
}

/** A line through the finite values with a dot of radius `dot`, or what there is room for, at each.
 */
static void draw_series(cairo_t *cr, const FovScene *scene, FovBox plot, const FovAxis *axis,
                        double value_at(const FovScene *scene, int t), double dot) {
  double pitch = plot.w / scene->trace->glimpses;
  dot = fmin(dot, 0.32 * pitch);
  for (int pass = 0; pass < 2; pass++) {
    for (int t = 0; t < scene->trace->glimpses; t++) {
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
  double pitch = plot.w / scene->trace->glimpses, now = plot.x + scene->glimpse * pitch;
  fov_fill_box(cr, (FovBox){now, plot.y, pitch, plot.h}, scene->theme->panel);
  draw_grid(cr, scene, plot, axis, em);
  int every = (int)ceil(1.7 * em / pitch);
  for (int t = 0; t < scene->trace->glimpses; t += every) {
    fov_set_color(cr, t == scene->glimpse ? scene->theme->ink : scene->theme->quiet, 1);
    fov_text(cr, plot.x + (t + 0.5) * pitch, plot.y + plot.h + 1.15 * em, FOV_ALIGN_CENTER, "%d",
             t + 1);
  }
  cairo_set_line_width(cr, fmax(1.25, 0.12 * em));
}

/** The heading doubles as the key: the name of each line beside a sample of it. */
static void draw_return_heading(cairo_t *cr, const FovScene *scene, FovBox box, double em) {
  double y = box.y + 0.85 * em, x = box.x, dash[] = {0.4 * em, 0.25 * em};
  fov_set_font(cr, 0.95 * em, true);
  cairo_set_line_width(cr, fmax(1.25, 0.12 * em));
  fov_set_color(cr, scene->theme->ink, 1);
  fov_line(cr, x, y - 0.3 * em, x + 1.4 * em, y - 0.3 * em);
  fov_disc(cr, x + 0.7 * em, y - 0.3 * em, 0.22 * em);
  cairo_fill(cr);
  x += 1.9 * em;
  x += fov_text(cr, x, y, FOV_ALIGN_LEFT, "Baseline") + 1.2 * em;
  cairo_set_dash(cr, dash, 2, 0);
  fov_set_color(cr, scene->theme->quiet, 1);
  fov_line(cr, x, y - 0.3 * em, x + 1.7 * em, y - 0.3 * em);
  cairo_set_dash(cr, NULL, 0, 0);
  fov_set_color(cr, scene->theme->ink, 1);
  fov_text(cr, x + 2.1 * em, y, FOV_ALIGN_LEFT, "return");
  fov_set_font(cr, 0.85 * em, false);
}

static void draw_returns(cairo_t *cr, const FovScene *scene, const FovLayout *l) {
  double em = l->em, dash[] = {0.4 * em, 0.25 * em};
  FovBox plot = plot_box(l->returns, em, 1.4 * em);
  FovAxis axis = return_axis(scene, plot);
  draw_return_heading(cr, scene, l->returns, em);
  draw_time_frame(cr, scene, plot, &axis, em);
  fov_set_color(cr, scene->theme->quiet, 1);
  cairo_set_dash(cr, dash, 2, 0);
  draw_series(cr, scene, plot, &axis, return_at, 0);
  cairo_set_dash(cr, NULL, 0, 0);
  fov_set_color(cr, scene->theme->ink, 1);
  draw_series(cr, scene, plot, &axis, baseline_at, 0.24 * em);
}

static void draw_entropy(cairo_t *cr, const FovScene *scene, const FovLayout *l) {
  FovBox box = l->entropy, plot = plot_box(box, l->em, 1.4 * l->em);
  FovAxis axis = {
      .lo = 0, .hi = fmax(1, log2(scene->trace->actions)), .from = plot.y + plot.h, .to = plot.y};
  fov_draw_heading(cr, &box, scene, l->em, "Entropy, bits");
  draw_time_frame(cr, scene, plot, &axis, l->em);
  fov_set_color(cr, scene->theme->ink, 1);
  draw_series(cr, scene, plot, &axis, entropy_at, 0.24 * l->em);
}

void fov_draw_plots(cairo_t *cr, const FovScene *scene, const FovLayout *l) {
  if (fov_shows(cr, l->classes)) draw_classes(cr, scene, l);
  if (l->returns.h > 0 && fov_shows(cr, l->returns)) draw_returns(cr, scene, l);
  if (l->entropy.h > 0 && fov_shows(cr, l->entropy)) draw_entropy(cr, scene, l);
}

/** Which of `count` columns of a plot x lies in. */
static int column_at(FovBox plot, double x, int count) {
  return (int)fmin(count - 1, floor((x - plot.x) / plot.w * count));
}

bool fov_tell_plots(char *text, size_t size, const FovScene *scene, double x, double y) {
  FovLayout l = fov_layout(scene);
  const FovTrace *trace = scene->trace;
  FovBox bars = bars_box(&l), returns = plot_box(l.returns, l.em, 1.4 * l.em);
  FovBox entropy = plot_box(l.entropy, l.em, 1.4 * l.em);
  if (fov_inside(bars, x, y)) {
    int a = column_at(bars, x, trace->actions);
    float p = trace->probabilities[fov_moment(scene) * trace->actions + a];
    snprintf(text, size, "class %d: %.4f", a, (double)p);
  } else if (l.returns.h > 0 && fov_inside(returns, x, y)) {
    int t = column_at(returns, x, trace->glimpses);
    snprintf(text, size, "glimpse %d: baseline %.3f, return %.3f", t + 1, baseline_at(scene, t),
             return_at(scene, t));
  } else if (l.entropy.h > 0 && fov_inside(entropy, x, y)) {
    int t = column_at(entropy, x, trace->glimpses);
    snprintf(text, size, "glimpse %d: %.3f bits", t + 1, entropy_at(scene, t));
  } else {
    return false;
  }
  return true;
}
