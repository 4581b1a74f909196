/** How similar a scanpath is to a reference on the same image. */
#ifndef FOV_EXPERIMENT_SCANPATH_MEASURES_H
#define FOV_EXPERIMENT_SCANPATH_MEASURES_H

#include "base/error.h"
#include "experiment/scanpath/path.h"

typedef enum FovScanpathMeasure {
  FOV_SCANPATH_VECTOR,    /**< MultiMatch: shape of aligned saccades */
  FOV_SCANPATH_DIRECTION, /**< MultiMatch: their directions */
  FOV_SCANPATH_LENGTH,    /**< MultiMatch: their lengths */
  FOV_SCANPATH_POSITION,  /**< MultiMatch: where they start */
  FOV_SCANPATH_SCANMATCH,
  FOV_SCANPATH_DTW,
  FOV_SCANPATH_NSS,
  FOV_SCANPATH_GAIN,
  FOV_SCANPATH_MEASURES
} FovScanpathMeasure;

/** "vector", "direction" … */
extern const char *const fov_scanpath_measure_names[FOV_SCANPATH_MEASURES];

/* room: memory for the alignment of two paths, [a->count × b->count] numbers, more than 0. */

/**
 * MultiMatch without durations and without grouping (Jarodzka, Holmqvist and Nyström 2010; Dewhurst
 * et al. 2012): the saccades of both paths are aligned by the cheapest way through the matrix of
 * their vector differences; the median differences of the aligned pairs are normalised so that 1 is
 * equal: vector by twice the diagonal of the image, direction by π, length and position by the
 * diagonal.
 *
 * similarity: of VECTOR, DIRECTION, LENGTH, POSITION; NaN if a path has fewer than three places.
 */
void fov_multimatch(double similarity[4], const FovScanpath *a, const FovScanpath *b, double height,
                    double *room);

/**
 * ScanMatch without durations (Cristino et al. 2010): a grid of 12 columns, with tiles as square as
 * the height allows, turns places into letters. The alignment of Needleman and Wunsch (1970) scores
 * a gap 0 and a pair 3.5 − distance in tiles; the sum is divided by 3.5 times the longer length. 0
 * … 1, 1 is equal; NaN if a path is empty.
 */
double fov_scanmatch(const FovScanpath *a, const FovScanpath *b, double height, double *room);

/** Dynamic time warping (Berndt and Clifford 1994): the smallest sum of the distances of aligned
 * places, in image widths; 0 is equal, NaN if a path is empty. */
double fov_dynamic_warping(const FovScanpath *a, const FovScanpath *b, double *room);

/** A density of places over tiles of the image, `columns` wide; sums to 1, or is 0 if there
 * are no places. */
typedef struct FovScanpathMap {
  double *density; /**< [rows, columns] */
  int columns, rows;
} FovScanpathMap;

/** Allocates a map for images of this height; the caller finishes it on success. */
FovStatus fov_scanpath_map_create(FovScanpathMap *map, double height);
void fov_scanpath_map_finish(FovScanpathMap *map);

/** The mean of normal densities of standard deviation `blur` around the places; none outside the
 * image. */
void fov_scanpath_map_fill(FovScanpathMap *map, const FovScanpath *path, double height,
                           double blur);

/** Normalised scanpath saliency (Peters et al. 2005): the mean of the map at the places, in
 * standard deviations of the map above its mean. NaN if the map is even or the path is empty. */
double fov_scanpath_nss(const FovScanpathMap *map, const FovScanpath *path, double height);

/** Information gain over a prior (Kümmerer, Wallis and Bethge 2015): the mean log2(map/prior) at
 * the places, in bits for each; NaN if there are none. A tenth of both is spread evenly, so that it
 * is finite. */
double fov_scanpath_gain(const FovScanpathMap *map, const FovScanpathMap *prior,
                         const FovScanpath *path, double height);

#endif
