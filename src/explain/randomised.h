/**
 * The check of Adebayo et al. 2018: a map that explains what was learned must change when weights
 * are replaced by random ones.
 */
#ifndef FOV_EXPLAIN_RANDOMISED_H
#define FOV_EXPLAIN_RANDOMISED_H

#include "explain/each.h"

enum { FOV_MOST_LAYERS = 64 };

/** A layer: the parameters whose names differ in the last part, such as core.w and core.u. */
typedef struct FovRandomisedLayer {
  char name[FOV_PARAM_NAME];
  /** Mean rank correlation (Spearman) of |map| with that of the trained weights, over the pixels
   * where one of them is not 0; NaN: no episode has two different numbers in each. */
  double cascade; /**< this layer and those before it in the list are random */
  double alone;   /**< only this layer is */
} FovRandomisedLayer;

typedef struct FovRandomised {
  FovRandomisedLayer layers[FOV_MOST_LAYERS]; /**< in the reverse order of the parameters: heads,
                                                   context, cores, encoder */
  int count;
  double looked; /**< the same with the map of the gaze, or of the weights of an attention that
                    reads all tiles: what is left of a map that marks where it looked and no more;
                    NaN likewise, or if there is no such map */
} FovRandomised;

/** Compares the maps of a method; the episodes, their choices and the explained class are those of
 * the trained weights. Random weights are initial values of `weights_seed`. Fails (FOV_ERR_NUMBER)
 * if a map is not finite. */
FovStatus fov_randomised_measure(FovRandomised *result, const FovExplainRequest *request,
                                 const FovMethod *method, const void *options);

/** Spearman's rank correlation of x and y [count], equal numbers with their mean rank; NaN if all
 * numbers of one are equal. room: [4 · count]. */
double fov_rank_correlation(const double *x, const double *y, int count, double *room);

#endif
