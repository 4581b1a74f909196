/** What explains the answer of an episode at a glimpse: a map of the pixels, and the sequential
 * Jacobian. */
#ifndef FOV_VIZ_SCENE_EXPLANATION_H
#define FOV_VIZ_SCENE_EXPLANATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cairo.h>

typedef struct FovExplanation {
  const char *method; /**< its name; NULL: no explanation is shown */
  bool pending;       /**< something is missing that can be computed */
  const float *map;   /**< [H, W]: of the pixels, at the scene's glimpse; NULL: none yet, or symbols
                           are shown */
  double scale;       /**< the number of the map that is drawn in full colour */
  const float *jacobian; /**< [T, T]: row t, column s; NaN: not taken; of a sequence of symbols
                              [T, W]; NULL: none yet */
} FovExplanation;

/** The number of a map [count] that is drawn in full colour: larger than nearly all, so that a
 * single large one does not hide the others. room: [count] */
double fov_map_scale(const float *map, float *room, size_t count);

/** The colour of a number in units of the scale, as premultiplied ARGB that also darkens the
 * picture below: orange for positive numbers, blue for negative ones. */
uint32_t fov_map_colour(double number);

/** A map [H, W] as a surface to draw over its picture, which the caller destroys. */
cairo_surface_t *fov_map_surface(const float *map, int height, int width, double scale);

#endif
