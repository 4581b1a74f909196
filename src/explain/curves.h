/**
 * Deletion and insertion curves (Petsiuk et al. 2018): whether an answer depends on what a map
 * marks.
 *
 * Pixels are ranked by their numbers, channels added, ties at random. Deletion blanks them in this
 * order, the largest first; insertion shows them in blank pictures. After each hundredth of the
 * pixels the probability p of the explained class is noted. The area under the curve, by the
 * trapezoidal rule over shares of 0 … 1, is small for the deletion by a faithful map, large for its
 * insertion. Choices are held, so a pixel that was never seen changes nothing.
 */
#ifndef FOV_EXPLAIN_CURVES_H
#define FOV_EXPLAIN_CURVES_H

#include "explain/each.h"

enum { FOV_CURVE_POINTS = 101 };

typedef enum FovCurveKind { FOV_CURVE_DELETION, FOV_CURVE_INSERTION, FOV_CURVE_KINDS } FovCurveKind;

typedef struct FovFaithfulness {
  double *areas[FOV_CURVE_KINDS];                 /**< [E], owned */
  double mean[FOV_CURVE_KINDS][FOV_CURVE_POINTS]; /**< p after 0, 1 … 100 % of the pixels */
} FovFaithfulness;

/** Ranks by the maps of a method of the request's target. p is that of its class, or of the answer
 * if it has none. blank: brightness. Fails if answers have no probabilities, if one, or a
 * number of a map, is not finite, or if an episode has more than INT_MAX pixels.
 * Finished by fov_faithfulness_finish, also after a failure. */
FovStatus fov_faithfulness_measure(FovFaithfulness *faithfulness, const FovExplainRequest *request,
                                   const FovMethod *method, const void *options, double blank);
void fov_faithfulness_finish(FovFaithfulness *faithfulness);

#endif
