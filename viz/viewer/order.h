/** In which order a viewer shows episodes. */
#ifndef FOV_VIZ_VIEWER_ORDER_H
#define FOV_VIZ_VIEWER_ORDER_H

#include "record/trace.h"

typedef enum FovOrder {
  FOV_ORDER_NUMBER,   /**< as recorded */
  FOV_ORDER_ENTROPY,  /**< of the answer, in bits; the highest first */
  FOV_ORDER_MARGIN,   /**< between the two likeliest answers; the lowest first */
  FOV_ORDER_LOSS,     /**< −ln p(label), of a game minus the return; the highest first */
  FOV_ORDER_PATH,     /**< length of the scanpath in half image widths; the longest first */
  FOV_ORDER_GLIMPSES, /**< number of glimpses; the most first */
  FOV_ORDERS
} FovOrder;

/** "number", "entropy" … */
extern const char *const fov_order_names[FOV_ORDERS];

/** The number that an episode is sorted by; entropy, margin and loss are means over its answers,
 * NaN if it has none. */
double fov_order_value(const FovTrace *trace, int episode, FovOrder order);

/** Sorts `count` episodes, reversed if `reverse`; those without a value come last, equal ones in
 * their order. values: [E], of all episodes. */
void fov_order_sort(int *episodes, int count, const double *values, FovOrder order, bool reverse);

#endif
