#include "viz/scene/part_gazes.h"

#include <math.h>

/** Whether there are any of the scene's episode. */
static bool has_gazes(const FovScene *scene) {
  return scene->gazes && scene->episode < scene->gazes->episodes;
}

static FovColour colour_of(const FovScene *scene, int k) {
  bool wrong = scene->gazes->wrong[k * scene->gazes->episodes + scene->episode];
  return wrong ? scene->theme->wrong : scene->theme->right;
}

/** Moves along a gaze to a share of the way to glimpse t; x and y: the end of the way. */
static void go_to(cairo_t *cr, const FovLayout *l, const float *place, double share, double *x,
                  double *y) {
  FovPoint to = fov_point_at(l->image, place);
  *x += share * (to.x - *x);
  *y += share * (to.y - *y);
  cairo_line_to(cr, *x, *y);
}

static void draw_gaze(cairo_t *cr, const FovScene *scene, const FovLayout *l, int k) {
  double em = l->em, x = 0, y = 0;
  for (int t = 0; t <= scene->glimpse + (scene->glide > 0); t++) {
    const float *place = fov_gazes_place(scene->gazes, k, scene->episode, t);
    if (!place) break;
    go_to(cr, l, place, t > scene->glimpse ? scene->glide : 1, &x, &y);
  }
  fov_stroke_rimmed(cr, colour_of(scene, k), fmax(1, 0.08 * em), 0.6);
  fov_disc(cr, x, y, 0.28 * em);
  fov_set_colour(cr, colour_of(scene, k), 1);
  cairo_fill(cr);
}

void fov_draw_gazes(cairo_t *cr, const FovScene *scene, const FovLayout *l) {
  if (!has_gazes(scene)) return;
  for (int k = 0; k < scene->gazes->count; k++) draw_gaze(cr, scene, l, k);
}

double fov_draw_gazes_legend(cairo_t *cr, const FovScene *scene, double x, double y, double em) {
  if (!has_gazes(scene)) return x;
  const FovGazes *gazes = scene->gazes;
  int right = 0;
  for (int k = 0; k < gazes->count; k++)
    right += !gazes->wrong[k * gazes->episodes + scene->episode];
  cairo_set_line_width(cr, fmax(1.5, 0.14 * em));
  for (int i = 0; i < 2; i++) {
    fov_set_colour(cr, i ? scene->theme->wrong : scene->theme->right, 1);
    fov_line(cr, x, y - (0.5 - 0.4 * i) * em, x + em, y - (0.5 - 0.4 * i) * em);
  }
  fov_set_colour(cr, scene->theme->quiet, 1);
  x += 1.4 * em;
  return x +
         fov_text(cr, x, y, FOV_ALIGN_LEFT, "%d of %d sampled gazes %s", right, gazes->count,
                  scene->trace->control ? "met the goal" : "right") +
         1.4 * em;
}
