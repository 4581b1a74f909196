#include "viz/scene/alignment_names.h"

#include <math.h>
#include <string.h>

#include "viz/scene/episode.h"
#include "viz/scene/part_map.h"

static const double ON_IMAGE = 0.7; // the opacity of the largest weight: the image stays visible

/* ---- names ---- */

/** Chooses names that do not touch: the highest score first. scores: [count], which is changed */
static void choose_names(bool *chosen, float *scores, int count, double pitch, double spacing) {
  int reach = (int)fmin(count, ceil(spacing / pitch - 1e-6));
  for (int i = 0; i < count; i++) chosen[i] = reach <= 1;
  for (int best = 0; reach > 1 && best >= 0;) {
    best = -1;
    for (int i = 0; i < count; i++)
      if (isfinite(scores[i]) && (best < 0 || scores[i] > scores[best])) best = i;
    if (best >= 0) chosen[best] = true;
    for (int i = best - reach + 1; best >= 0 && i < best + reach; i++)
      if (i >= 0 && i < count) scores[i] = -INFINITY;
  }
}

/** Draws a mark for a space, which no font shows. */
static void draw_space(cairo_t *cr, double x, double y, double size) {
  cairo_move_to(cr, x - 0.25 * size, y - 0.2 * size);
  cairo_line_to(cr, x - 0.25 * size, y);
  cairo_line_to(cr, x + 0.25 * size, y);
  cairo_line_to(cr, x + 0.25 * size, y - 0.2 * size);
  cairo_set_line_width(cr, fmax(1, 0.07 * size));
  cairo_stroke(cr);
}

static void draw_symbol(cairo_t *cr, const FovAlignmentView *a, FovLettering letters, FovBox box,
                        int i) {
  const FovTrace *trace = a->scene->trace;
  char name[FOV_ACTION_NAME + 4];
  fov_symbol_name(name, trace, trace->symbols[(size_t)a->scene->episode * trace->width + i]);
  double x = box.x + box.w / 2, y = box.y + box.h / 2 + 0.35 * letters.size;
  if (strcmp(name, " ") == 0) {
    draw_space(cr, x, y, letters.size);
  } else if (!letters.turned) {
    fov_text(cr, x, y, FOV_ALIGN_CENTRE, "%s", name);
  } else {
    fov_fit_text(cr, name, sizeof name, box.h - 0.8 * letters.size);
    cairo_save(cr);
    cairo_translate(cr, x + 0.35 * letters.size, box.y + box.h - 0.4 * letters.size);
    cairo_rotate(cr, -M_PI / 2);
    fov_text(cr, 0, 0, FOV_ALIGN_LEFT, "%s", name);
    cairo_restore(cr);
  }
}

/* ---- the source ---- */

/** The box of a site above the matrix. */
static FovBox site_box(const FovAlignmentView *a, int i) {
  FovBox box = fov_alignment_cell(a, 0, i, 1);
  return (FovBox){box.x, a->f.source.y, box.w, a->f.source.h};
}

/** The symbols on the shares of this glimpse, [columns]. If not all fit, those with the largest. */
static void draw_symbols(cairo_t *cr, const FovAlignmentView *a, const float *shares) {
  const double readable = 0.55; // from this share on, text has the other colour
  const FovScene *scene = a->scene;
  const FovTheme *theme = scene->theme;
  double pitch = a->image.w / a->f.columns;
  FovLettering letters = fov_letter_columns(scene->trace, scene->episode, pitch, a->em);
  bool chosen[FOV_ALIGNMENT_COLUMNS], tint = !a->figure && scene->overlays & FOV_OVERLAY_POLICY;
  float scores[FOV_ALIGNMENT_COLUMNS];
  memcpy(scores, shares, (size_t)a->f.columns * sizeof *scores);
  choose_names(chosen, scores, a->f.columns, pitch, letters.spacing);
  for (int i = 0; tint && i < a->f.columns; i++)
    fov_fill_box(cr, site_box(a, i), fov_alignment_colour(theme, theme->paper, (double)shares[i]));
  fov_set_font(cr, letters.size, false);
  for (int i = 0; i < a->f.columns; i++) {
    if (!chosen[i] || !fov_shows(cr, site_box(a, i))) continue;
    bool dark = tint && (double)shares[i] > readable;
    fov_set_colour(cr, dark ? fov_text_on(theme->series[0]) : theme->ink, 1);
    draw_symbol(cr, a, letters, site_box(a, i), i);
  }
}

/** Draws the image with its explanation, or with each column tinted by its share at this glimpse,
 * [columns]. */
static void draw_strip(cairo_t *cr, const FovAlignmentView *a, const float *shares) {
  const FovScene *scene = a->scene;
  FovPixels pixels = fov_picture(scene->trace, scene->episode, scene->glimpse);
  FovBox strip = {a->image.x, a->f.source.y, a->image.w, a->f.source.h};
  fov_draw_pixels(cr, strip, &pixels);
  if (scene->explanation.method) {
    fov_draw_map(cr, scene, strip);
    return;
  }
  if (a->figure || !(scene->overlays & FOV_OVERLAY_POLICY)) return;
  for (int i = 0; i < a->f.columns; i++) {
    FovBox box = site_box(a, i);
    fov_set_colour(cr, scene->theme->series[0], ON_IMAGE * (double)shares[i]);
    cairo_rectangle(cr, box.x, box.y, box.w, box.h);
    cairo_fill(cr);
  }
}

void fov_draw_alignment_source(cairo_t *cr, const FovAlignmentView *a) {
  float shares[FOV_ALIGNMENT_COLUMNS];
  fov_alignment_shares(shares, a, a->head, a->top);
  cairo_save(cr);
  cairo_rectangle(cr, a->f.source.x, a->f.source.y, a->f.source.w, a->f.source.h);
  cairo_clip(cr);
  if (a->scene->trace->vocabulary > 0)
    draw_symbols(cr, a, shares);
  else
    draw_strip(cr, a, shares);
  cairo_restore(cr);
}

/* ---- outputs ---- */

/** Whether the answer after a glimpse differs from its label; both are known. */
static bool is_wrong(const FovTrace *trace, size_t m) {
  return trace->answers[m] >= 0 && trace->labels[m] >= 0 && trace->answers[m] != trace->labels[m];
}

/** Draws the name of row t's output at the right end of a box, after a cross if it is marked. */
static void draw_output(cairo_t *cr, const FovAlignmentView *a, FovBox box, int t, double size,
                        int action, FovColour colour, bool cross) {
  double y = a->image.y + (t + 0.5) * a->image.h / a->f.rows + 0.35 * size;
  char name[FOV_ACTION_NAME + 4];
  fov_action_name(name, a->scene->trace, action);
  double right = box.x + box.w - 0.7 * a->em, mark = cross ? size : 0;
  fov_fit_text(cr, name, sizeof name, box.w - a->em - mark);
  fov_set_colour(cr, colour, fov_alignment_opacity(a, t));
  if (strcmp(name, " ") == 0)
    draw_space(cr, right - 0.3 * size, y, size);
  else
    fov_text(cr, right, y, FOV_ALIGN_RIGHT, "%s", name);
  if (cross) fov_verdict(cr, right - fov_text_width(cr, name) - mark, y, 0.7 * size, false);
}

/** The answers beside their rows, wrong ones with their labels. If not all fit, this one and wrong
 * ones first. */
static void draw_outputs(cairo_t *cr, const FovAlignmentView *a) {
  const FovScene *scene = a->scene;
  const FovTrace *trace = scene->trace;
  const FovTheme *theme = scene->theme;
  size_t first = fov_glimpse_index(trace, scene->episode, 0);
  double pitch = a->image.h / a->f.rows;
  FovLettering letters = fov_letter_rows(pitch, a->em);
  bool chosen[FOV_ALIGNMENT_COLUMNS];
  float scores[FOV_ALIGNMENT_COLUMNS];
  for (int t = 0; t < a->f.rows; t++) {
    scores[t] = t == scene->glimpse && !a->figure ? 2 : is_wrong(trace, first + t);
    if (trace->answers[first + t] < 0) scores[t] = -INFINITY;
  }
  choose_names(chosen, scores, a->f.rows, pitch, letters.spacing);
  for (int t = 0; t < a->f.rows; t++) {
    bool wrong = is_wrong(trace, first + t), now = t == scene->glimpse && !a->figure;
    double middle = a->image.y + (t + 0.5) * pitch;
    if (!chosen[t] || trace->answers[first + t] < 0) continue;
    if (!fov_inside(a->f.matrix, a->f.matrix.x, middle)) continue;
    fov_set_font(cr, letters.size, now);
    draw_output(cr, a, a->f.answers, t, letters.size, trace->answers[first + t],
                wrong ? theme->wrong : theme->ink, wrong);
    if (wrong)
      draw_output(cr, a, a->f.labels, t, letters.size, trace->labels[first + t], theme->right,
                  false);
  }
}

static void draw_headings(cairo_t *cr, const FovAlignmentView *a) {
  double y = a->f.matrix.y + a->f.matrix.h + 1.2 * a->em, inset = 0.7 * a->em;
  fov_set_font(cr, 0.85 * a->em, false);
  fov_set_colour(cr, a->scene->theme->quiet, 1);
  fov_text(cr, a->f.answers.x + a->f.answers.w - inset, y, FOV_ALIGN_RIGHT, "answer");
  if (a->f.labels.w > 0)
    fov_text(cr, a->f.labels.x + a->f.labels.w - inset, y, FOV_ALIGN_RIGHT, "label");
}

void fov_draw_alignment_outputs(cairo_t *cr, const FovAlignmentView *a) {
  draw_outputs(cr, a);
  draw_headings(cr, a);
}
