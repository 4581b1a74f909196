#include "viz/scene/confusion.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/stats.h"
#include "viz/scene/episode.h"
#include "viz/scene/scene.h"

/* ---- counting ---- */

FovStatus fov_confusion_count(FovConfusion *confusion, const FovTrace *trace, int episodes) {
  int A = trace->actions;
  if (trace->control)
    return fov_fail(FOV_ERR_USAGE,
                    "confusion matrix: expected answers that are classes, found moves or vectors");
  if (A > FOV_CONFUSION_CLASSES)
    return fov_fail(FOV_ERR_USAGE, "confusion matrix: expected at most %d classes, found %d",
                    FOV_CONFUSION_CLASSES, A);
  *confusion = (FovConfusion){.classes = A};
  confusion->counts = calloc((size_t)A * A + A, sizeof *confusion->counts);
  if (!confusion->counts) return fov_fail(FOV_ERR_MEMORY, "no memory for a matrix");
  confusion->labels = confusion->counts + (size_t)A * A;
  for (int e = 0; e < episodes; e++)
    for (int t = 0; t < trace->lengths[e]; t++) {
      size_t m = fov_glimpse_index(trace, e, t);
      int label = trace->labels[m], answer = trace->answers[m];
      if (label < 0 || answer < 0) continue;
      confusion->counts[(size_t)label * A + answer]++;
      confusion->labels[label]++;
    }
  return FOV_OK;
}

void fov_confusion_finish(FovConfusion *confusion) {
  free(confusion->counts);
  *confusion = (FovConfusion){0};
}

static int count_of(const FovConfusion *c, int label, int answer) {
  return c->counts[(size_t)label * c->classes + answer];
}

static int errors_of(const FovConfusion *c, int label) {
  return c->labels[label] - count_of(c, label, label);
}

static double error_of(const FovConfusion *c, int label) {
  return c->labels[label] > 0 ? (double)errors_of(c, label) / c->labels[label] : -1;
}

/* ---- layout ---- */

typedef struct Layout {
  double em, pitch, row; // of cells; of lines of the list
  FovBox title, matrix, list;
  int lines, classes[FOV_CONFUSION_CLASSES]; // of the list
} Layout;

/** All classes, or those with the largest errors if not all fit, in ascending order. */
static void choose_classes(Layout *l, const FovConfusion *c) {
  int room = (int)fmax(1, floor(l->list.h / l->row));
  l->lines = c->classes < room ? c->classes : room;
  bool taken[FOV_CONFUSION_CLASSES] = {false};
  for (int i = 0; i < l->lines; i++) {
    int worst = -1;
    for (int a = 0; a < c->classes; a++)
      if (!taken[a] && (worst < 0 || error_of(c, a) > error_of(c, worst))) worst = a;
    taken[worst] = true;
  }
  for (int a = 0, i = 0; a < c->classes; a++)
    if (taken[a]) l->classes[i++] = a;
}

static Layout lay_out(const FovConfusion *c, const FovTrace *trace, double width, double height) {
  Layout l = {.em = fov_em(width, height)};
  double em = l.em, pad = round(1.25 * em);
  FovBox body = {pad, pad, width - 2 * pad, height - 2 * pad};
  l.title = fov_cut_top(&body, round(1.5 * em), round(0.75 * pad));
  double names = (trace->names ? 6 : 2.6) * em, above = 3.2 * em;
  double side = fmax(1, fmin(body.h - above, 0.56 * body.w - names));
  l.pitch = side / c->classes;
  l.matrix = (FovBox){body.x + names, body.y + above, side, side};
  double left = l.matrix.x + side + 2 * pad;
  l.row = 1.7 * em;
  l.list = (FovBox){left, l.matrix.y, fmax(1, body.x + body.w - left), body.h - above};
  choose_classes(&l, c);
  return l;
}

static FovBox cell_box(const Layout *l, int label, int answer) {
  double x = round(l->matrix.x + answer * l->pitch), y = round(l->matrix.y + label * l->pitch);
  double gap = l->pitch > 6 ? 1 : 0;
  // At least a pixel, over its neighbours where there are more cells than pixels.
  return (FovBox){x, y, fmax(1, round(l->matrix.x + (answer + 1) * l->pitch) - x - gap),
                  fmax(1, round(l->matrix.y + (label + 1) * l->pitch) - y - gap)};
}

static FovBox line_box(const Layout *l, int i) {
  return (FovBox){l->list.x, l->list.y + i * l->row, l->list.w, l->row};
}

/* ---- drawing ---- */

static void draw_cells(cairo_t *cr, const FovConfusion *c, const Layout *l, const FovTheme *theme) {
  fov_set_font(cr, fmin(l->em, 0.5 * l->pitch), false);
  bool numbers = 0.4 * l->pitch > 9; // no smaller text
  for (int i = 0; i < c->classes * c->classes; i++)
    fov_fill_box(cr, cell_box(l, i / c->classes, i % c->classes), theme->panel);
  for (int label = 0; label < c->classes; label++)
    for (int answer = 0; answer < c->classes; answer++) {
      FovBox box = cell_box(l, label, answer);
      int count = count_of(c, label, answer);
      double share = c->labels[label] > 0 ? (double)count / c->labels[label] : 0;
      if (count == 0) continue;
      // A single error has to be visible; the root spreads the small shares.
      double alpha = 0.2 + 0.8 * sqrt(share);
      FovColour colour = label == answer ? theme->right : theme->wrong;
      fov_set_colour(cr, colour, alpha);
      cairo_rectangle(cr, box.x, box.y, box.w, box.h);
      cairo_fill(cr);
      if (!numbers) continue;
      fov_set_colour(cr, alpha > 0.7 ? fov_text_on(colour) : theme->ink, 1);
      fov_text(cr, box.x + box.w / 2, box.y + box.h / 2 + 0.36 * fmin(l->em, 0.5 * l->pitch),
               FOV_ALIGN_CENTRE, "%d", count);
    }
}

/** Columns from one name to the next, so that names do not touch; long ones are shortened. */
static int columns_of_name(cairo_t *cr, const FovConfusion *c, const FovTrace *trace,
                           const Layout *l) {
  char name[FOV_ACTION_NAME];
  double widest = 0;
  for (int a = 0; a < c->classes; a++) {
    fov_action_name(name, trace, a);
    widest = fmax(widest, fov_text_width(cr, name));
  }
  return (int)ceil((fmin(widest, 3.4 * l->em) + 0.6 * l->em) / l->pitch);
}

/** Names along both sides, thinned so that they do not touch. */
static void draw_names(cairo_t *cr, const FovConfusion *c, const FovTrace *trace, const Layout *l,
                       const FovTheme *theme) {
  double em = l->em, room = (trace->names ? 5.6 : 2.2) * em;
  char name[FOV_ACTION_NAME + 4];
  fov_set_font(cr, 0.85 * em, false);
  int down = (int)ceil(1.1 * em / l->pitch), across = columns_of_name(cr, c, trace, l);
  fov_set_colour(cr, theme->quiet, 1);
  for (int a = 0; a < c->classes; a++) {
    double at = (a + 0.5) * l->pitch;
    fov_action_name(name, trace, a);
    if (a % across == 0) {
      fov_fit_text(cr, name, sizeof name, across * l->pitch);
      fov_text(cr, l->matrix.x + at, l->matrix.y - 0.5 * em, FOV_ALIGN_CENTRE, "%s", name);
    }
    fov_action_name(name, trace, a);
    if (a % down == 0) {
      fov_fit_text(cr, name, sizeof name, room);
      fov_text(cr, l->matrix.x - 0.5 * em, l->matrix.y + at + 0.3 * em, FOV_ALIGN_RIGHT, "%s",
               name);
    }
  }
  fov_set_font(cr, 0.85 * em, true);
  fov_set_colour(cr, theme->ink, 1);
  fov_text(cr, l->matrix.x + l->matrix.w, l->matrix.y - 2 * em, FOV_ALIGN_RIGHT, "answer");
  fov_text(cr, l->matrix.x - 0.5 * em, l->matrix.y - 2 * em, FOV_ALIGN_RIGHT, "label");
}

/** The largest upper end of an interval, the scale of the bars. */
static double longest_bar(const FovConfusion *c, const Layout *l) {
  double most = 0.01, low, high;
  for (int i = 0; i < l->lines; i++) {
    int a = l->classes[i];
    if (c->labels[a] == 0) continue;
    fov_stats_wilson(&low, &high, errors_of(c, a), c->labels[a]);
    most = fmax(most, high);
  }
  return most;
}

/** A class: its name, its error as a bar with Wilson's interval, and as numbers. */
static void draw_line(cairo_t *cr, const FovConfusion *c, const FovTrace *trace, const Layout *l,
                      const FovTheme *theme, int i, double most) {
  FovBox box = line_box(l, i);
  double em = l->em, y = box.y + 1.2 * em, names = (trace->names ? 6 : 2.4) * em, low, high;
  int a = l->classes[i], n = c->labels[a];
  char text[64];
  fov_action_name(text, trace, a);
  fov_fit_text(cr, text, sizeof text, names - 0.5 * em);
  fov_set_colour(cr, theme->ink, 1);
  fov_text(cr, box.x, y, FOV_ALIGN_LEFT, "%s", text);
  snprintf(text, sizeof text, n ? "%.1f %%  %d of %d" : "none", 100 * error_of(c, a),
           errors_of(c, a), n);
  double numbers = fmin(10 * em, 0.5 * box.w), w = box.w - names - numbers - em;
  fov_fit_text(cr, text, sizeof text, numbers);
  fov_set_colour(cr, theme->quiet, 1);
  fov_text(cr, box.x + box.w, y, FOV_ALIGN_RIGHT, "%s", text);
  if (n == 0 || w < 2 * em) return;
  fov_stats_wilson(&low, &high, errors_of(c, a), n);
  double x = box.x + names, middle = round(box.y + 0.85 * em) + 0.5;
  fov_fill_box(cr, (FovBox){x, box.y + 0.3 * em, w, 1.1 * em}, theme->panel);
  fov_fill_box(cr, (FovBox){x, box.y + 0.3 * em, w * error_of(c, a) / most, 1.1 * em},
               theme->wrong);
  cairo_set_line_width(cr, fmax(1, round(0.1 * em)));
  fov_set_colour(cr, theme->ink, 1);
  fov_line(cr, x + w * low / most, middle, x + w * high / most, middle);
}

static void draw_list(cairo_t *cr, const FovConfusion *c, const FovTrace *trace, const Layout *l,
                      const FovTheme *theme) {
  char heading[112];
  double most = longest_bar(c, l);
  int length = snprintf(heading, sizeof heading, "Error of each class");
  if (l->lines < c->classes)
    length =
        snprintf(heading, sizeof heading, "Error, worst %d of %d classes", l->lines, c->classes);
  snprintf(heading + length, sizeof heading - (size_t)length, ", 95 %% interval, 0 to %.3g %%",
           100 * most);
  fov_set_font(cr, l->em, true);
  fov_set_colour(cr, theme->ink, 1);
  fov_fit_text(cr, heading, sizeof heading, l->list.w);
  fov_text(cr, l->list.x, l->list.y - 0.5 * l->em, FOV_ALIGN_LEFT, "%s", heading);
  fov_set_font(cr, 0.9 * l->em, false);
  for (int i = 0; i < l->lines; i++) draw_line(cr, c, trace, l, theme, i, most);
}

static void draw_selected(cairo_t *cr, const Layout *l, const FovTheme *theme, int label,
                          int answer) {
  for (int i = 0; i < l->lines && answer < 0; i++)
    if (l->classes[i] == label) {
      FovBox line = line_box(l, i);
      fov_stroke_box(cr, (FovBox){line.x - 0.4 * l->em, line.y, line.w + 0.8 * l->em, line.h},
                     theme->ink, fov_border(l->em));
    }
  if (label >= 0 && answer >= 0)
    fov_stroke_box(cr, cell_box(l, label, answer), theme->ink, fov_border(l->em));
}

void fov_confusion_draw(cairo_t *cr, const FovConfusion *c, const FovTrace *trace,
                        const FovTheme *theme, double width, double height, int label, int answer) {
  Layout l = lay_out(c, trace, width, height);
  int answers = 0, errors = 0;
  char aside[96];
  for (int a = 0; a < c->classes; a++) {
    answers += c->labels[a];
    errors += errors_of(c, a);
  }
  fov_fill_box(cr, (FovBox){0, 0, width, height}, theme->paper);
  snprintf(aside, sizeof aside, "%d wrong of %d answers, %.2f %%", errors, answers,
           answers ? 100.0 * errors / answers : 0);
  fov_draw_title(cr, theme, l.title, l.em, "Labels and answers", trace->subset, aside);
  draw_cells(cr, c, &l, theme);
  draw_names(cr, c, trace, &l, theme);
  draw_list(cr, c, trace, &l, theme);
  draw_selected(cr, &l, theme, label, answer);
}

bool fov_confusion_at(int *label, int *answer, const FovConfusion *c, const FovTrace *trace,
                      double width, double height, double x, double y) {
  Layout l = lay_out(c, trace, width, height);
  *answer = -1;
  for (int i = 0; i < l.lines; i++)
    if (fov_inside(line_box(&l, i), x, y)) return *label = l.classes[i], true;
  if (!fov_inside(l.matrix, x, y)) return false;
  *label = (int)fmin(c->classes - 1, floor((y - l.matrix.y) / l.pitch));
  *answer = (int)fmin(c->classes - 1, floor((x - l.matrix.x) / l.pitch));
  return true;
}

void fov_confusion_describe(char *text, size_t size, const FovConfusion *c, const FovTrace *trace,
                            int label, int answer) {
  char name[FOV_ACTION_NAME], as[FOV_ACTION_NAME];
  fov_action_name(name, trace, label);
  fov_action_name(as, trace, answer);
  if (answer < 0)
    snprintf(text, size, "label %s: %d wrong of %d", name, errors_of(c, label), c->labels[label]);
  else
    snprintf(text, size, "label %s answered as %s: %d of %d", name, as, count_of(c, label, answer),
             c->labels[label]);
}
