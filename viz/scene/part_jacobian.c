#include "viz/scene/part_jacobian.h"

#include <math.h>
#include <stdio.h>

#include "viz/scene/alignment_view.h"

/** The cells of the glimpses that were taken: a square between its numbers. */
static FovBox matrix_box(const FovLayout *l) {
  double em = l->em, side = fmin(l->jacobian.w - 1.8 * em, l->jacobian.h - 3.3 * em);
  return fov_snap((FovBox){l->jacobian.x + 1.8 * em, l->jacobian.y + 1.9 * em, side, side});
}

static FovBox cell_box(FovBox matrix, int count, int t, int s) {
  double x = round(matrix.x + matrix.w * s / count), y = round(matrix.y + matrix.h * t / count);
  double gap = matrix.w / count > 6 ? 1 : 0;
  return (FovBox){x, y, round(matrix.x + matrix.w * (s + 1) / count) - x - gap,
                  round(matrix.y + matrix.h * (t + 1) / count) - y - gap};
}

/** The norm for glimpses t and s of the episode. */
static double norm_at(const FovScene *scene, int t, int s) {
  return (double)scene->explanation.jacobian[t * scene->trace->glimpses + s];
}

static double largest(const FovScene *scene, int count) {
  double most = 0;
  for (int i = 0; i < count * count; i++) // fmax ignores NaN
    most = fmax(most, norm_at(scene, i / count, i % count));
  return most;
}

static void draw_cells(cairo_t *cr, const FovScene *scene, FovBox matrix, int count) {
  double most = largest(scene, count);
  for (int i = 0; i < count * count; i++) {
    int t = i / count, s = i % count;
    double norm = norm_at(scene, t, s), share = most > 0 && norm > 0 ? norm / most : 0;
    if (s <= t)
      fov_fill_box(cr, cell_box(matrix, count, t, s),
                   fov_alignment_colour(scene->theme, scene->theme->panel, share));
  }
}

/** Numbers of the glimpses, thinned so that they do not touch; this glimpse's row has an outline.
 */
static void draw_numbers(cairo_t *cr, const FovScene *scene, FovBox matrix, int count, double em) {
  int every = (int)ceil(1.5 * em / (matrix.w / count));
  for (int i = 0; i < count; i++) {
    double at = (i + 0.5) / count;
    if (i % every != 0) continue;
    fov_set_colour(cr, i == scene->glimpse ? scene->theme->ink : scene->theme->quiet, 1);
    fov_text(cr, matrix.x - 0.4 * em, matrix.y + at * matrix.h + 0.3 * em, FOV_ALIGN_RIGHT, "%d",
             i + 1);
    fov_set_colour(cr, scene->theme->quiet, 1);
    fov_text(cr, matrix.x + at * matrix.w, matrix.y + matrix.h + 1.1 * em, FOV_ALIGN_CENTRE, "%d",
             i + 1);
  }
  FovBox first = cell_box(matrix, count, scene->glimpse, 0),
         last = cell_box(matrix, count, scene->glimpse, scene->glimpse);
  FovBox row = {first.x, first.y, last.x + last.w - first.x, first.h};
  if (first.h > 3) fov_stroke_box(cr, row, scene->theme->ink, 1);
}

void fov_draw_jacobian(cairo_t *cr, const FovScene *scene, const FovLayout *l) {
  if (l->jacobian.h == 0 || !fov_shows(cr, l->jacobian)) return;
  FovBox box = l->jacobian, matrix = matrix_box(l);
  int count = fov_scene_length(scene);
  fov_draw_heading(cr, &box, scene->theme, l->em, "‖∂y_t / ∂g_s‖");
  if (scene->explanation.jacobian) {
    draw_cells(cr, scene, matrix, count);
    draw_numbers(cr, scene, matrix, count, l->em);
  } else {
    fov_fill_box(cr, matrix, scene->theme->panel);
  }
}

bool fov_describe_jacobian(char *text, size_t size, const FovScene *scene, double x, double y) {
  FovLayout l = fov_layout(scene);
  FovBox matrix = matrix_box(&l);
  int count = fov_scene_length(scene);
  if (l.jacobian.h == 0 || !scene->explanation.jacobian || !fov_inside(matrix, x, y)) return false;
  int t = (int)fmin(count - 1, floor((y - matrix.y) / matrix.h * count));
  int s = (int)fmin(count - 1, floor((x - matrix.x) / matrix.w * count));
  if (s > t) return false;
  snprintf(text, size, "logits after glimpse %d by glimpse %d: %.3g", t + 1, s + 1,
           norm_at(scene, t, s));
  return true;
}
