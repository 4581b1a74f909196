#include "viz/scene/part_map.h"

#include <math.h>
#include <stdio.h>

#include "viz/scene/part_answer.h"
#include "viz/scene/pixels.h"

void fov_draw_map(cairo_t *cr, const FovScene *scene, FovBox image) {
  const float *map = scene->explanation.map;
  if (!map) return;
  cairo_surface_t *surface =
      fov_map_surface(map, scene->trace->height, scene->trace->width, scene->explanation.scale);
  fov_draw_surface(cr, image, surface);
  cairo_surface_destroy(surface);
}

/** The colours from −scale to scale, numbered; returns the x at which they end. */
static double draw_scale(cairo_t *cr, const FovScene *scene, double x, double y, double em) {
  enum { STEPS = 33 };
  double step = fmax(1, round(6 * em / STEPS)), scale = scene->explanation.scale;
  x += fov_text(cr, x, y, FOV_ALIGN_LEFT, "%.2g", -scale) + 0.5 * em;
  for (int i = 0; i < STEPS; i++) {
    uint32_t argb = fov_map_colour(2.0 * i / (STEPS - 1) - 1);
    FovColour colour = {(argb >> 16 & 255) / 255.0, (argb >> 8 & 255) / 255.0,
                        (argb & 255) / 255.0};
    fov_fill_box(cr, (FovBox){round(x) + i * step, round(y - 0.75 * em), step, round(0.9 * em)},
                 colour);
  }
  x = round(x) + STEPS * step + 0.5 * em;
  fov_set_colour(cr, scene->theme->quiet, 1);
  return x + fov_text(cr, x, y, FOV_ALIGN_LEFT, "%.2g", scale) + 1.2 * em;
}

/** What the map is of, in short if the whole does not fit: the glimpse stays. */
static void describe(char *text, size_t size, cairo_t *cr, const FovScene *scene, double room) {
  const char *method = scene->explanation.method;
  const char *number = fov_answers_places(scene->trace) ? "x" : "logit";
  int glimpse = scene->glimpse + 1;
  snprintf(text, size, "%s of the answer's %s after glimpse %d", method, number, glimpse);
  if (fov_text_width(cr, text) > room) snprintf(text, size, "%s after glimpse %d", method, glimpse);
}

void fov_draw_map_legend(cairo_t *cr, const FovScene *scene, double x, double y, double end,
                         double em) {
  const FovExplanation *explanation = &scene->explanation;
  char text[128];
  fov_set_colour(cr, scene->theme->quiet, 1);
  if (explanation->map) x = draw_scale(cr, scene, x, y, em);
  if (!explanation->map)
    snprintf(text, sizeof text, "%s: %s", explanation->method,
             explanation->pending ? "being computed" : "none");
  else
    describe(text, sizeof text, cr, scene, end - x);
  fov_fit_text(cr, text, sizeof text, end - x);
  fov_text(cr, x, y, FOV_ALIGN_LEFT, "%s", text);
}

int fov_describe_map(char *text, size_t size, const FovScene *scene, int column, int row) {
  const float *map = scene->explanation.map;
  if (!map) return 0;
  return snprintf(text, size, "%s %.3g; ", scene->explanation.method,
                  (double)map[row * scene->trace->width + column]);
}
