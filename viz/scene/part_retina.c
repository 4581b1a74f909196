#include "viz/scene/part_retina.h"

#include <math.h>
#include <stdio.h>

#include "viz/scene/attention.h"
#include "viz/scene/cache.h"
#include "viz/scene/pixels.h"
#include "viz/scene/reconstruction.h"

static FovPixels patch_of(const FovScene *scene, int scale) {
  const FovTrace *trace = scene->trace;
  size_t patch = (size_t)trace->side * trace->side * trace->channels;
  return (FovPixels){trace->retina + (fov_glimpse_at(scene) * trace->scales + scale) * patch,
                     trace->side, trace->side, trace->channels};
}

/** Tile `i` under the heading, in as many columns as make tiles largest: the scales of the glimpse,
 * then the reconstruction. */
static FovBox tile(const FovScene *scene, const FovLayout *l, int i) {
  int tiles = fov_retina_tiles(scene->trace), columns = tiles;
  double em = l->em, side = 0;
  for (int c = tiles; c > 0; c--) {
    int rows = (tiles + c - 1) / c;
    double fits =
        fmin((l->retina.w - (c - 1) * em) / c, (l->retina.h - 1.6 * em) / rows - 1.6 * em);
    if (fits <= side) continue;
    side = fits;
    columns = c;
  }
  double pitch = columns > 1 ? (l->retina.w - side) / (columns - 1) : 0;
  pitch = fmin(pitch, side + 3 * em); // a few tiles stay together
  return fov_snap((FovBox){l->retina.x + i % columns * pitch,
                           l->retina.y + 1.6 * em + i / columns * (side + 1.6 * em), side, side});
}

static void caption(cairo_t *cr, FovBox frame, double em, const char *text) {
  fov_text(cr, frame.x + frame.w / 2, frame.y + frame.h + 1.15 * em, FOV_ALIGN_CENTRE, "%s", text);
}

static FovBox known_image(const FovScene *scene, FovBox frame) {
  return fov_fit(frame, scene->trace->width, scene->trace->height);
}

static void draw_known_tile(cairo_t *cr, const FovScene *scene, const FovLayout *l) {
  FovBox frame = tile(scene, l, scene->trace->scales), image = known_image(scene, frame);
  FovReconstruction known = fov_scene_reconstruction(scene);
  fov_draw_hatch(cr, scene->theme, image, l->em);
  fov_draw_surface(cr, image, known.seen);
  fov_stroke_box(cr, image, scene->theme->quiet, 1);
  caption(cr, frame, l->em, frame.w > 6 * l->em ? "known so far" : "known");
  cairo_surface_destroy(known.seen);
  cairo_surface_destroy(known.unseen);
}

static const char *heading(const FovTrace *trace) {
  if (fov_reads_several(trace))
    return fov_has_places(trace) ? "Weighted sum of near tiles" : "Weighted mean of all tiles";
  return fov_has_window(trace) ? "Window, as received" : "Retina, as received";
}

/** Writes the number of a scale and, if there is room, the pixels of the image that it covers. */
static void caption_patch(cairo_t *cr, const FovScene *scene, FovBox frame, double em, int scale) {
  FovPatchArea patch = fov_patch_area(scene->trace, scene->episode, scene->glimpse, scale);
  char text[48];
  snprintf(text, sizeof text, "%d: %g × %g px", scale + 1, round(10 * patch.w) / 10,
           round(10 * patch.h) / 10);
  if (patch.w == 0 || fov_text_width(cr, text) > frame.w)
    snprintf(text, sizeof text, "%d", scale + 1);
  caption(cr, frame, em, text);
}

void fov_draw_retina(cairo_t *cr, const FovScene *scene, const FovLayout *l) {
  if (l->retina.h == 0 || !fov_shows(cr, l->retina)) return;
  const FovTrace *trace = scene->trace;
  FovBox box = l->retina;
  fov_draw_heading(cr, &box, scene->theme, l->em, heading(trace));
  fov_set_colour(cr, scene->theme->quiet, 1);
  for (int s = 0; s < trace->scales; s++) {
    FovBox frame = tile(scene, l, s);
    FovPixels pixels = patch_of(scene, s);
    fov_draw_pixels(cr, frame, &pixels);
    fov_stroke_box(cr, frame, scene->theme->patches[s % FOV_PATCHES], fov_border(l->em));
    fov_set_colour(cr, scene->theme->quiet, 1);
    caption_patch(cr, scene, frame, l->em, s);
  }
  if (!fov_reads_several(trace)) draw_known_tile(cr, scene, l);
}

static void describe_patch(char *text, size_t size, const FovScene *scene, int scale, FovBox frame,
                           double x, double y) {
  FovPixels pixels = patch_of(scene, scale);
  int column = (int)fmin(pixels.width - 1, floor((x - frame.x) / frame.w * pixels.width));
  int row = (int)fmin(pixels.height - 1, floor((y - frame.y) / frame.h * pixels.height));
  uint32_t rgb = fov_pixel_rgb(&pixels, column, row);
  if (pixels.channels == 3)
    snprintf(text, size, "scale %d at %d, %d: red %u, green %u, blue %u", scale + 1, column, row,
             rgb >> 16, rgb >> 8 & 255, rgb & 255);
  else
    snprintf(text, size, "scale %d at %d, %d: %u", scale + 1, column, row, rgb & 255);
}

/** Describes the scale of a pixel of the reconstruction. */
static void describe_known(char *text, size_t size, const FovScene *scene, FovBox image, double x,
                           double y) {
  const FovTrace *trace = scene->trace;
  double column = floor((x - image.x) / image.w * trace->width);
  double row = floor((y - image.y) / image.h * trace->height);
  int scale = fov_reconstructed_scale(trace, scene->episode, scene->glimpse, column, row);
  if (scale < 0)
    snprintf(text, size, "pixel %g, %g: not seen yet", column, row);
  else
    snprintf(text, size, "pixel %g, %g: known at scale %d", column, row, scale + 1);
}

bool fov_describe_retina(char *text, size_t size, const FovScene *scene, double x, double y) {
  FovLayout l = fov_layout(scene);
  if (l.retina.h == 0) return false;
  FovBox image = known_image(scene, tile(scene, &l, scene->trace->scales));
  if (!fov_reads_several(scene->trace) && fov_inside(image, x, y))
    return describe_known(text, size, scene, image, x, y), true;
  for (int s = 0; s < scene->trace->scales; s++) {
    FovBox frame = tile(scene, &l, s);
    if (fov_inside(frame, x, y)) return describe_patch(text, size, scene, s, frame, x, y), true;
  }
  return false;
}
