/** The head of the baselines that learn to predict. */
#ifndef FOV_LEARN_BASELINE_LEARNED_H
#define FOV_LEARN_BASELINE_LEARNED_H

#include "learn/baseline.h"

/** Linear(h_t): one number. */
typedef struct FovBaselineHead {
  int w, bias;
} FovBaselineHead;

/* Functions of FovHead and FovBaseline, whose layout is FovBaselineHead. */

void fov_baseline_head_build(void *layout, FovParams *params, const void *options, int inputs);
FovVar *fov_baseline_head_predict(FovTape *tape, FovVar *h, const void *layout);
/** b_t is the prediction. */
void fov_baseline_predicted(real *b, const FovBaselineInput *input);

#endif
