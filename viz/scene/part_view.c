#include "viz/scene/part_view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "viz/scene/attention.h"
#include "viz/scene/cache.h"
#include "viz/scene/episode.h"
#include "viz/scene/part_answer.h"
#include "viz/scene/part_gazes.h"
#include "viz/scene/part_map.h"
#include "viz/scene/part_policy.h"
#include "viz/scene/pixels.h"

/** The canvas coordinates of where glimpse t was. */
static FovPoint place(const FovScene *scene, FovBox image, int t) {
  return fov_point_at(image, fov_gaze(scene->trace, scene->episode, t));
}

static FovPoint between(FovPoint a, FovPoint b, double share) {
  return (FovPoint){a.x + share * (b.x - a.x), a.y + share * (b.y - a.y)};
}

/* ---- the image, without the marks ---- */

static FovPixels image_of(const FovScene *scene) {
  return fov_picture(scene->trace, scene->episode, scene->glimpse);
}

static void draw_image(cairo_t *cr, const FovScene *scene, const FovLayout *l) {
  FovPixels image = image_of(scene);
  bool known_only = scene->overlays & (FOV_OVERLAY_RECONSTRUCTION | FOV_OVERLAY_VEIL);
  if (!known_only || fov_reads_several(scene->trace)) {
    fov_draw_pixels(cr, l->image, &image);
    return;
  }
  FovReconstruction known = fov_scene_reconstruction(scene);
  if (scene->overlays & FOV_OVERLAY_RECONSTRUCTION) {
    fov_draw_hatch(cr, scene->theme, fov_cut_far(l->image, l->view), l->em);
    fov_draw_surface(cr, l->image, known.seen);
  } else {
    fov_draw_pixels(cr, l->image, &image);
    fov_draw_surface(cr, l->image, known.unseen);
  }
  cairo_surface_destroy(known.seen);
  cairo_surface_destroy(known.unseen);
}

static void draw_ground(cairo_t *cr, const FovScene *scene, const FovLayout *l) {
  fov_fill_box(cr, l->view, scene->theme->panel);
  cairo_rectangle(cr, l->view.x, l->view.y, l->view.w, l->view.h);
  cairo_clip(cr);
  draw_image(cr, scene, l);
  fov_draw_map(cr, scene, l->image);
}

/** Whether two scenes have the same ground. */
static bool same_ground(const FovScene *a, const FovScene *b) {
  unsigned kinds = FOV_OVERLAY_RECONSTRUCTION | FOV_OVERLAY_VEIL;
  bool lasts = a->trace->frames == 1 && !(a->overlays & kinds);
  return a->episode == b->episode && a->width == b->width && a->height == b->height &&
         a->theme == b->theme && a->explanation.map == b->explanation.map &&
         (a->overlays & kinds) == (b->overlays & kinds) && (a->glimpse == b->glimpse || lasts) &&
         a->zoom.factor == b->zoom.factor && a->zoom.x == b->zoom.x && a->zoom.y == b->zoom.y;
}

/** Draws the ground from a surface that is kept until it changes. */
static void lay_ground(cairo_t *cr, const FovScene *scene, const FovLayout *l) {
  FovSceneCache *cache = scene->cache;
  if (!cache->ground || !same_ground(&cache->scene, scene)) {
    cairo_surface_destroy(cache->ground);
    cache->ground = cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)l->view.w, (int)l->view.h);
    cairo_t *ground = cairo_create(cache->ground);
    cairo_translate(ground, -l->view.x, -l->view.y);
    draw_ground(ground, scene, l);
    cairo_destroy(ground);
    cache->scene = *scene;
  }
  cairo_set_source_surface(cr, cache->ground, l->view.x, l->view.y);
  cairo_paint(cr);
}

/* ---- the marks ---- */

/** Numbers a square at the first of its corners that lies in the view, outside the square. Small
 * squares alternate between left and right corners, so that tags do not cover each other. */
static void draw_tag(cairo_t *cr, FovBox square, FovBox view, int scale, FovColour colour,
                     double em) {
  double size = 1.1 * em;
  int first = square.w < 5 * size ? scale & 1 : 0;
  for (int i = 0; i < 4; i++) {
    bool right = (i ^ first) & 1, bottom = i >> 1;
    FovBox tag = {square.x + (right ? square.w - size : 0), square.y + (bottom ? square.h : -size),
                  size, size};
    if (!fov_inside(view, tag.x, tag.y) || !fov_inside(view, tag.x + size, tag.y + size)) continue;
    fov_fill_box(cr, tag, colour);
    fov_set_colour(cr, fov_text_on(colour), 1);
    fov_text(cr, tag.x + size / 2, tag.y + 0.86 * em, FOV_ALIGN_CENTRE, "%d", scale + 1);
    return;
  }
}

/** The outlines of the glimpse's patches. */
static void draw_squares(cairo_t *cr, const FovScene *scene, const FovLayout *l) {
  double line = fov_border(l->em);
  fov_set_font(cr, 0.85 * l->em, true);
  for (int s = scene->trace->scales - 1; s >= 0; s--) { // the finest on top
    FovBox square = fov_scene_patch(scene, s);
    if (square.w == 0) continue;
    square = fov_cut_far(square, l->view);
    if (scene->glide == 0) square = fov_snap(square); // while moving it would jerk
    FovColour colour = scene->theme->patches[s % FOV_PATCHES];
    cairo_rectangle(cr, square.x, square.y, square.w, square.h);
    fov_stroke_rimmed(cr, colour, line, 1);
    draw_tag(cr, square, l->view, s, colour, l->em);
  }
}

/** Draws a step of the path, which ends outside the ring around its end. */
static void draw_step(cairo_t *cr, const FovScene *scene, FovPoint from, FovPoint to, double ring,
                      double line, double alpha) {
  double part = 1 - ring / hypot(to.x - from.x, to.y - from.y);
  if (!(part > 0)) return;
  FovPoint end = between(from, to, part);
  cairo_move_to(cr, from.x, from.y);
  cairo_line_to(cr, end.x, end.y);
  fov_stroke_rimmed(cr, scene->theme->path, line, alpha);
}

static void draw_dot(cairo_t *cr, const FovScene *scene, FovPoint at, double radius, double alpha) {
  fov_disc(cr, at.x, at.y, radius + 1.5);
  fov_set_colour(cr, fov_theme_dark.paper, 0.7 * alpha);
  cairo_fill(cr);
  fov_disc(cr, at.x, at.y, radius);
  fov_set_colour(cr, scene->theme->path, alpha);
  cairo_fill(cr);
}

/** Point t of the path; the one after this glimpse is on the way to the next. */
static FovPoint path_point(const FovScene *scene, FovBox image, int t) {
  if (t <= scene->glimpse) return place(scene, image, t);
  return between(place(scene, image, t - 1), place(scene, image, t), scene->glide);
}

/** Draws the path from the first glimpse, a disc, to the current location, a ring; older steps are
 * fainter. */
static void draw_path(cairo_t *cr, const FovScene *scene, const FovLayout *l) {
  double radius = 0.34 * l->em, ring = 1.5 * radius, line = fmax(1.5, 0.14 * l->em);
  int end = scene->glimpse + (scene->glide > 0);
  FovPoint at = path_point(scene, l->image, 0);
  for (int t = 0; t < end; t++) {
    double alpha = 0.35 + 0.65 * (t + 1) / end;
    FovPoint next = path_point(scene, l->image, t + 1);
    draw_step(cr, scene, at, next, t + 1 == end ? ring : 0, line, alpha);
    draw_dot(cr, scene, at, t == 0 ? radius : 0.55 * radius, t == 0 ? 1 : alpha);
    at = next;
  }
  fov_disc(cr, at.x, at.y, ring);
  fov_stroke_rimmed(cr, scene->theme->path, line, 1);
  if (end == 0) draw_dot(cr, scene, at, 0.8 * radius, 1); // it is also the first
}

static void draw_numbers(cairo_t *cr, const FovScene *scene, const FovLayout *l) {
  double em = l->em;
  fov_set_font(cr, 0.85 * em, true);
  for (int t = 0; t <= scene->glimpse; t++) {
    FovPoint at = path_point(scene, l->image, t);
    double half = t < 9 ? 0.6 * em : 0.85 * em;
    FovBox plate = {at.x + 0.7 * em, at.y + 0.35 * em, 2 * half, 1.2 * em};
    fov_round_box(cr, plate, 0.25 * em);
    fov_set_colour(cr, fov_theme_dark.paper, 0.75);
    cairo_fill(cr);
    fov_set_colour(cr, fov_theme_dark.path, 1);
    fov_text(cr, plate.x + half, plate.y + 0.9 * em, FOV_ALIGN_CENTRE, "%d", t + 1);
  }
}

void fov_draw_view(cairo_t *cr, const FovScene *scene, const FovLayout *l) {
  if (!fov_shows(cr, l->view)) return;
  cairo_save(cr);
  if (scene->cache)
    lay_ground(cr, scene, l);
  else
    draw_ground(cr, scene, l);
  cairo_rectangle(cr, l->view.x, l->view.y, l->view.w, l->view.h);
  cairo_clip(cr);
  bool map = scene->explanation.method != NULL; // whose colours tints would change
  if (scene->overlays & FOV_OVERLAY_POLICY && !map) fov_draw_policy_tiles(cr, scene, l);
  if (scene->overlays & FOV_OVERLAY_SQUARES) draw_squares(cr, scene, l);
  if (scene->overlays & FOV_OVERLAY_POLICY) fov_draw_policy_gaussian(cr, scene, l);
  bool moves = fov_has_places(scene->trace);
  if (scene->overlays & FOV_OVERLAY_PATH && moves) {
    fov_draw_gazes(cr, scene, l);
    draw_path(cr, scene, l);
  }
  if (scene->overlays & FOV_OVERLAY_NUMBERS && moves) draw_numbers(cr, scene, l);
  fov_draw_answer(cr, scene, l);
  cairo_restore(cr);
}

/* ---- words ---- */

static double legend_text(cairo_t *cr, const FovScene *scene, double x, double y,
                          const char *text) {
  fov_set_colour(cr, scene->theme->quiet, 1);
  return x + fov_text(cr, x, y, FOV_ALIGN_LEFT, "%s", text);
}

/** A disc for the first glimpse and a ring for this one, with a rim: on light paper the colour,
 * made for the image, needs one. */
static double legend_path(cairo_t *cr, const FovScene *scene, double x, double y, double em) {
  double middle = y - 0.3 * em, line = fmax(1.5, 0.14 * em);
  draw_dot(cr, scene, (FovPoint){x + 0.4 * em, middle}, 0.36 * em, 1);
  x = legend_text(cr, scene, x + 1.15 * em, y, "first glimpse") + 1.4 * em;
  fov_disc(cr, x + 0.4 * em, middle, 0.42 * em);
  fov_stroke_rimmed(cr, scene->theme->path, line, 1);
  return legend_text(cr, scene, x + 1.25 * em, y, "this glimpse") + 1.4 * em;
}

void fov_draw_legend(cairo_t *cr, const FovScene *scene, const FovLayout *l) {
  if (l->legend.h == 0 || !fov_shows(cr, l->legend)) return;
  double em = l->em, x = l->legend.x, y = l->legend.y + l->legend.h - 0.3 * em;
  fov_set_font(cr, 0.85 * em, false);
  if (scene->explanation.method) { // whose colours need the room
    fov_draw_map_legend(cr, scene, x, y, l->legend.x + l->legend.w, em);
    return;
  }
  bool moves = fov_has_places(scene->trace);
  if (scene->overlays & FOV_OVERLAY_PATH && moves) {
    if (!scene->gazes) x = legend_path(cr, scene, x, y, em); // else there is no room for both
    x = fov_draw_gazes_legend(cr, scene, x, y, em);
  }
  x = fov_draw_answer_legend(cr, scene, x, y, em);
  if (scene->overlays & FOV_OVERLAY_SQUARES && fov_has_window(scene->trace))
    fov_draw_window_legend(cr, scene, x, y, l->legend.x + l->legend.w, em);
  if (scene->overlays & FOV_OVERLAY_POLICY)
    fov_draw_policy_legend(cr, scene, x, y, l->legend.x + l->legend.w, em);
}

bool fov_describe_view(char *text, size_t size, const FovScene *scene, double x, double y) {
  FovLayout l = fov_layout(scene);
  FovPixels image = image_of(scene);
  int column = (int)floor((x - l.image.x) / l.image.w * image.width);
  int row = (int)floor((y - l.image.y) / l.image.h * image.height);
  if (!fov_inside(l.view, x, y) || column < 0 || column >= image.width || row < 0 ||
      row >= image.height)
    return false;
  uint32_t rgb = fov_pixel_rgb(&image, column, row);
  int length = fov_describe_map(text, size, scene, column, row);
  text += length;
  size -= (size_t)length;
  length = fov_describe_policy(text, size, scene, (float)(2 * (x - l.image.x) / l.image.w - 1),
                               (float)(2 * (y - l.image.y) / l.image.h - 1));
  text += length;
  size -= (size_t)length;
  if (image.channels == 3)
    snprintf(text, size, "pixel %d, %d: red %u, green %u, blue %u", column, row, rgb >> 16,
             rgb >> 8 & 255, rgb & 255);
  else
    snprintf(text, size, "pixel %d, %d: %u", column, row, rgb & 255);
  return true;
}
