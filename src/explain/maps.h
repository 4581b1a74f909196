/** Maps of many episodes by one method. */
#ifndef FOV_EXPLAIN_MAPS_H
#define FOV_EXPLAIN_MAPS_H

#include "explain/each.h"

/** E episodes; arrays are the struct's own. */
typedef struct FovMaps {
  int64_t episodes;                    /**< E */
  int frames, height, width, channels; /**< F, H, W, C */
  int glimpses;                        /**< T, at most */
  float *map, *pixels;                 /**< [E, F, H, W, C]; pixels: brightness */
  float *mean, *mean_pixels;           /**< [F, H, W, C] */
  float *places;                       /**< [E, T, 2]: x, y of each glimpse; NaN: none */
  double *y;                           /**< [E]: what is explained */
  double *completeness;                /**< [E]: Σ map − (y(x) − y(x₀)); NaN: not promised */
  int32_t *labels, *answers;           /**< [E]: that y belongs to; −1: there is none */
  int32_t *times;                      /**< [E]: the glimpse that y is read after; 0: before all */
} FovMaps;

/** Explains all episodes of the request. Fails if a number of a map is not finite. Finished by
 * fov_maps_finish, also after a failure. */
FovStatus fov_maps_make(FovMaps *maps, const FovExplainRequest *request, const FovMethod *method,
                        const void *options);
void fov_maps_finish(FovMaps *maps);

/** Numbers of a map: F·H·W·C. */
size_t fov_maps_numbers(const FovMaps *maps);

#endif
