/** Choosing one of A actions by its log-probability. */
#ifndef FOV_LEARN_CATEGORICAL_H
#define FOV_LEARN_CATEGORICAL_H

#include "base/real.h"
#include "base/rng.h"

/** The action of highest log-probability [A]; the first of equals. */
int fov_likeliest(const real *log_probabilities, int actions);

/** A sample of the distribution with these log-probabilities [A], never one below FOV_NEVER / 2;
 * one draw. */
int fov_sample(const real *log_probabilities, int actions, FovRng *rng);

#endif
