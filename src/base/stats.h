/** Statistics: 95 % intervals. */
#ifndef FOV_BASE_STATS_H
#define FOV_BASE_STATS_H

#include <stdint.h>

/** Wilson's 95 % interval for a share of `hits` in `trials` (Wilson 1927), in [0, 1]; trials > 0
 * and 0 <= hits <= trials. */
void fov_stats_wilson(double *low, double *high, int64_t hits, int64_t trials);

/** The 97.5 % quantile of Student's t: half a 95 % interval in standard errors. Within 0.0005 for
 * every freedom >= 1: a table for small ones, then the expansion of Fisher and Cornish (1960). */
double fov_stats_student(int64_t freedom);

#endif
