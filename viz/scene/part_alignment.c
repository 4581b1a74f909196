#include "viz/scene/part_alignment.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "viz/scene/alignment_names.h"
#include "viz/scene/attention.h"
#include "viz/scene/episode.h"
#include "viz/scene/part_map.h"

/* ---- cells ---- */

/** Draws the cells of a row; several columns are one cell, of their largest weight, if they are
 * narrower than a unit together. */
static void draw_row(cairo_t *cr, const FovAlignmentView *a, int t, double alpha) {
  const FovAlignmentFrame *f = &a->f;
  const FovTheme *theme = a->scene->theme;
  const float *weights = fov_alignment_weights(a->scene, t, a->head);
  int each = (int)fmax(1, floor(f->columns / a->image.w));
  for (int i = 0; weights && i < f->columns; i += each) {
    double most = 0;
    int count = i + each < f->columns ? each : f->columns - i;
    for (int j = i; j < i + count; j++) most = fmax(most, fov_alignment_share(weights[j], a->top));
    FovBox box = fov_alignment_cell(a, t, i, count);
    if (most > 0.002 && fov_shows(cr, box))
      fov_fill_box(cr, box, fov_alignment_colour(theme, theme->panel, alpha * most));
  }
}

void fov_draw_alignment_cells(cairo_t *cr, const FovScene *scene, FovBox box, double top) {
  FovAlignmentView a = {
      .scene = scene, .image = box, .head = fov_alignment_head(scene), .top = top};
  a.f.columns = fov_alignment_columns(scene->trace, scene->episode);
  a.f.rows = fov_scene_length(scene);
  fov_fill_box(cr, box, scene->theme->panel);
  for (int t = 0; t < a.f.rows; t++) draw_row(cr, &a, t, 1);
}

/** Rules between the rows and columns, if they leave room. */
static void draw_rules(cairo_t *cr, const FovAlignmentView *a) {
  const FovAlignmentFrame *f = &a->f;
  if (a->image.w < 8 * f->columns || a->image.h < 8 * f->rows) return;
  cairo_set_line_width(cr, 1);
  fov_set_colour(cr, a->scene->theme->rule, 0.6);
  for (int i = 1; i < f->columns; i++) {
    double x = fov_alignment_cell(a, 0, i, 1).x + 0.5;
    fov_line(cr, x, f->matrix.y, x, f->matrix.y + f->matrix.h);
  }
  for (int t = 1; t < f->rows; t++) {
    double y = fov_alignment_cell(a, t, 0, 1).y + 0.5;
    fov_line(cr, f->matrix.x, y, f->matrix.x + f->matrix.w, y);
  }
}

/** The site that a glimpse read alone; −1: all had weights. */
static int chosen_site(const FovTrace *trace, int episode, int t) {
  if (fov_heads(trace) == 0 || fov_reads_several(trace)) return -1;
  int count = fov_trace_find_column(trace, "attention.tiles")->width;
  return fov_part_of((double)trace->locations[2 * fov_glimpse_index(trace, episode, t)], count);
}

static void draw_matrix(cairo_t *cr, const FovAlignmentView *a) {
  const FovScene *scene = a->scene;
  const FovTheme *theme = scene->theme;
  fov_fill_box(cr, a->f.matrix, theme->panel);
  cairo_save(cr);
  cairo_rectangle(cr, a->f.matrix.x, a->f.matrix.y, a->f.matrix.w, a->f.matrix.h);
  cairo_clip(cr);
  for (int t = 0; t < a->f.rows; t++) draw_row(cr, a, t, fov_alignment_opacity(a, t));
  draw_rules(cr, a);
  for (int t = 0; t < a->f.rows; t++) {
    int chosen = chosen_site(scene->trace, scene->episode, t);
    if (chosen < 0 || chosen >= a->f.columns || fov_alignment_opacity(a, t) < 1) continue;
    FovBox box = fov_alignment_cell(a, t, chosen, 1);
    if (box.w > 4 && box.h > 4)
      fov_stroke_box(cr, (FovBox){box.x + 1, box.y + 1, box.w - 2, box.h - 2}, theme->ink, 2);
  }
  cairo_restore(cr);
}

/** An outline around this glimpse's row, also on its way to the next. */
static void draw_row_mark(cairo_t *cr, const FovAlignmentView *a) {
  const FovScene *scene = a->scene;
  double pitch = a->image.h / a->f.rows, line = fov_border(a->em);
  double y = a->image.y + (scene->glimpse + scene->glide) * pitch;
  FovBox box = {a->f.matrix.x, y, a->f.matrix.w, pitch};
  cairo_save(cr);
  cairo_rectangle(cr, box.x - line, a->f.matrix.y - line, box.w + 2 * line,
                  a->f.matrix.h + 2 * line);
  cairo_clip(cr);
  fov_stroke_box(cr, scene->glide == 0 ? fov_snap(box) : box, scene->theme->ink, line / 2);
  cairo_restore(cr);
}

/* ---- heads ---- */

/** The row of a head, 1, 2 …; or of the only one. */
static FovBox head_box(const FovAlignmentView *a, int head) {
  int heads = fov_heads(a->scene->trace);
  FovBox all = a->f.heads;
  double y = round(all.y + all.h * (head - 1) / heads);
  double gap = all.h / heads > 6 ? 2 : 0;
  return (FovBox){all.x, y, all.w, round(all.y + all.h * head / heads) - y - gap};
}

static void draw_head(cairo_t *cr, const FovAlignmentView *a, int head, double top) {
  float shares[FOV_COLUMN_WIDTH];
  FovBox row = head_box(a, head);
  const FovTheme *theme = a->scene->theme;
  bool bars = row.h > 0.6 * a->em; // else colours
  fov_alignment_shares(shares, a, head, top);
  fov_fill_box(cr, row, theme->panel);
  cairo_save(cr);
  cairo_rectangle(cr, row.x, row.y, row.w, row.h);
  cairo_clip(cr);
  for (int i = 0; i < a->f.columns; i++) {
    FovBox box = fov_alignment_cell(a, 0, i, 1);
    double share = (double)shares[i], h = bars ? share * row.h : row.h;
    double gap = bars && box.w > 4 ? 1 : 0;
    fov_fill_box(cr, (FovBox){box.x + gap, row.y + row.h - h, box.w - 2 * gap, h},
                 fov_alignment_colour(theme, theme->panel, bars ? 1 : share));
  }
  cairo_restore(cr);
}

/** The weights of each head at this glimpse, as bars; the head that the matrix shows has a mark. */
static void draw_heads(cairo_t *cr, const FovAlignmentView *a) {
  const FovScene *scene = a->scene;
  int heads = fov_heads(scene->trace);
  double top = 0;
  if (a->f.heads.h == 0 || heads == 0) return;
  for (int head = 1; head <= heads; head++) top = fmax(top, fov_alignment_top(scene, head));
  fov_set_font(cr, 0.85 * a->em, false);
  for (int head = 1; head <= heads; head++) {
    draw_head(cr, a, head, top);
    FovBox row = head_box(a, head);
    double y = row.y + row.h / 2 + 0.3 * a->em;
    fov_set_colour(cr, a->head == head ? scene->theme->ink : scene->theme->quiet, 1);
    if (heads > 1 && row.h > 0.8 * a->em)
      fov_text(cr, row.x - 0.5 * a->em, y, FOV_ALIGN_RIGHT, "head %d", head);
    if (heads > 1 && a->head == head)
      fov_stroke_box(cr, row, scene->theme->ink, fov_border(a->em) / 2);
  }
}

/* ---- the whole ---- */

/** A scale of the colours, numbered; returns the x at which it ends. */
static double draw_scale(cairo_t *cr, const FovAlignmentView *a, double x, double y) {
  enum { STEPS = 32 };
  const FovTheme *theme = a->scene->theme;
  double em = a->em, step = fmax(1, round(6 * em / STEPS));
  fov_set_colour(cr, theme->quiet, 1);
  x = round(x + fov_text(cr, x, y, FOV_ALIGN_LEFT, "0") + 0.5 * em);
  FovBox box = {x, round(y - 0.75 * em), STEPS * step, round(0.9 * em)};
  for (int i = 0; i < STEPS; i++)
    fov_fill_box(cr, (FovBox){x + i * step, box.y, step, box.h},
                 fov_alignment_colour(theme, theme->panel, i / (STEPS - 1.0)));
  fov_set_colour(cr, theme->quiet, 1);
  x += box.w + 0.5 * em;
  return x + fov_text(cr, x, y, FOV_ALIGN_LEFT, "%.3g", a->top) + 1.2 * em;
}

/** Describes what the cells show and, if that is the norms, what the bars above them show. */
static void describe_cells(char *text, size_t size, const FovAlignmentView *a) {
  const FovTrace *trace = a->scene->trace;
  const FovExplanation *explanation = &a->scene->explanation;
  bool weights = fov_heads(trace) > 0, bars = weights && !a->figure;
  char head[40], attention[FOV_TRACE_TEXT + 12];
  snprintf(attention, sizeof attention, "attention%s%s", trace->attention[0] ? " " : "",
           trace->attention);
  if (a->head == FOV_ALIGNMENT_NORMS) {
    snprintf(text, size, "%s, ‖∂y_t / ∂x_s‖%s%s%s", explanation->method,
             explanation->jacobian  ? ""
             : explanation->pending ? ": being computed"
                                    : ": none",
             bars ? "; bars: " : "", bars ? attention : "");
    return;
  }
  fov_describe_head(head, sizeof head, trace, a->head);
  snprintf(text, size, "%s%s%s", attention,
           head[0]   ? ", "
           : weights ? ""
                     : ", which records no weights",
           head);
}

/** The scale, what the cells show, and the outline of a site that is read alone. */
static void draw_legend(cairo_t *cr, const FovAlignmentView *a, FovBox box) {
  const FovScene *scene = a->scene;
  const FovTrace *trace = scene->trace;
  double em = a->em, y = box.y + box.h - 0.3 * em, end = box.x + box.w;
  char text[160];
  bool weights = fov_heads(trace) > 0;
  bool scale = a->head == FOV_ALIGNMENT_NORMS ? scene->explanation.jacobian != NULL : weights;
  if (box.h == 0) return;
  fov_set_font(cr, 0.85 * em, false);
  if (scene->explanation.method && trace->vocabulary == 0) { // the scale of the map takes its place
    fov_draw_map_legend(cr, scene, box.x, y, end, em);
    return;
  }
  double x = scale ? draw_scale(cr, a, box.x, y) : box.x;
  fov_set_colour(cr, scene->theme->quiet, 1);
  describe_cells(text, sizeof text, a);
  fov_fit_text(cr, text, sizeof text, end - x);
  x += fov_text(cr, x, y, FOV_ALIGN_LEFT, "%s", text) + 1.2 * em;
  if (!weights || fov_reads_several(trace) || x + 6 * em > end) return;
  fov_stroke_box(cr, fov_snap((FovBox){x, y - 0.7 * em, 0.8 * em, 0.8 * em}), scene->theme->ink, 2);
  fov_set_colour(cr, scene->theme->quiet, 1);
  fov_text(cr, x + 1.2 * em, y, FOV_ALIGN_LEFT, "read alone");
}

static FovAlignmentView of_scene(const FovScene *scene, const FovLayout *l) {
  int head = fov_alignment_head(scene);
  return (FovAlignmentView){
      .scene = scene,
      .f = fov_alignment_frame(scene->trace, scene->episode, l->view, l->em, true),
      .image = l->image,
      .em = l->em,
      .head = head,
      .top = fov_alignment_top(scene, head)};
}

void fov_draw_alignment(cairo_t *cr, const FovScene *scene, const FovLayout *l) {
  FovAlignmentView a = of_scene(scene, l);
  if (fov_shows(cr, l->legend)) draw_legend(cr, &a, l->legend);
  if (!fov_shows(cr, l->view)) return;
  fov_draw_alignment_source(cr, &a);
  draw_heads(cr, &a);
  draw_matrix(cr, &a);
  draw_row_mark(cr, &a);
  fov_draw_alignment_outputs(cr, &a);
}

void fov_draw_alignment_figure(cairo_t *cr, const FovScene *scene) {
  int head = fov_alignment_head(scene);
  FovAlignmentView a = {.scene = scene,
                        .em = fov_em(scene->width, scene->height),
                        .head = head,
                        .top = fov_alignment_top(scene, head),
                        .figure = true};
  double pad = round(1.25 * a.em);
  FovBox room = {pad, pad, scene->width - 2 * pad, scene->height - 2 * pad};
  a.f = fov_alignment_frame(scene->trace, scene->episode, room, a.em, false);
  a.image = a.f.matrix;
  FovBox legend = {a.f.matrix.x, a.f.matrix.y + a.f.matrix.h, room.x + room.w - a.f.matrix.x,
                   1.5 * a.em};
  fov_fill_box(cr, (FovBox){0, 0, scene->width, scene->height}, scene->theme->paper);
  fov_draw_alignment_source(cr, &a);
  draw_matrix(cr, &a);
  fov_draw_alignment_outputs(cr, &a);
  draw_legend(cr, &a, legend);
}

/* ---- under the pointer ---- */

/** Writes which glimpse a row is, with its answer. text: [size]; returns the bytes written. */
static int describe_row(char *text, size_t size, const FovScene *scene, int t) {
  char name[FOV_ACTION_NAME];
  const FovTrace *trace = scene->trace;
  size_t m = fov_glimpse_index(trace, scene->episode, t);
  fov_action_name(name, trace, trace->answers[m]);
  return snprintf(text, size, "glimpse %d, answer %s", t + 1, name);
}

static void describe_weight(char *text, size_t size, const FovScene *scene, int t, int head,
                            int i) {
  const FovTrace *trace = scene->trace;
  char name[FOV_ACTION_NAME], value[16] = "";
  const float *weights = fov_alignment_weights(scene, t, head);
  if (weights) snprintf(value, sizeof value, ": %.3g", (double)weights[i]);
  if (trace->vocabulary == 0) {
    snprintf(text, size, ", tile %d%s", i, value);
    return;
  }
  fov_symbol_name(name, trace, trace->symbols[(size_t)scene->episode * trace->width + i]);
  snprintf(text, size, ", symbol %d \"%s\"%s", i + 1, name, value);
}

static void describe_label(char *text, size_t size, const FovScene *scene, int t) {
  size_t m = fov_glimpse_index(scene->trace, scene->episode, t);
  char name[FOV_ACTION_NAME];
  if (scene->trace->labels[m] < 0) return;
  fov_action_name(name, scene->trace, scene->trace->labels[m]);
  snprintf(text, size, ", label %s", name);
}

/** Which of `count` parts of a span a coordinate is in. */
static int part_at(double at, double from, double size, int count) {
  return (int)fmin(count - 1, fmax(0, floor((at - from) / size * count)));
}

/** Writes the map's number under a point of the strip; returns the bytes written. */
static int describe_strip(char *text, size_t size, const FovAlignmentView *a, double x, double y) {
  const FovTrace *trace = a->scene->trace;
  FovBox strip = a->f.source;
  if (trace->vocabulary > 0 || !fov_inside(strip, x, y)) return 0;
  return fov_describe_map(text, size, a->scene, part_at(x, a->image.x, a->image.w, trace->width),
                          part_at(y, strip.y, strip.h, trace->height));
}

bool fov_describe_alignment(char *text, size_t size, const FovScene *scene, double x, double y) {
  FovLayout l = fov_layout(scene);
  FovAlignmentView a = of_scene(scene, &l);
  int column = part_at(x, a.image.x, a.image.w, a.f.columns), head = a.head;
  int row = part_at(y, a.image.y, a.image.h, a.f.rows);
  bool beside = fov_inside(a.f.answers, x, y) || fov_inside(a.f.labels, x, y);
  bool in_heads = a.f.heads.h > 0 && fov_inside(a.f.heads, x, y);
  if (!beside && !fov_inside(a.f.matrix, x, y)) {
    row = scene->glimpse;
    if (in_heads) head = scene->head;
    if (in_heads && fov_heads(scene->trace) > 1)
      head = 1 + part_at(y, a.f.heads.y, a.f.heads.h, fov_heads(scene->trace));
    if (!in_heads && !fov_inside(a.f.source, x, y)) return false;
  }
  int length = describe_strip(text, size, &a, x, y);
  text += length;
  size -= (size_t)length;
  char described[40] = "";
  if (!beside && head == FOV_ALIGNMENT_NORMS)
    snprintf(described, sizeof described, "Jacobian");
  else if (!beside)
    fov_describe_head(described, sizeof described, scene->trace, head);
  length = snprintf(text, size, "%s%s", described, described[0] ? ", " : "");
  length += describe_row(text + length, size - (size_t)length, scene, row);
  if (beside)
    describe_label(text + length, size - (size_t)length, scene, row);
  else if (a.f.columns > 0)
    describe_weight(text + length, size - (size_t)length, scene, row, head, column);
  return true;
}
