/**
 * b_t = r(p_t, y) + Linear(h_t): what an answer at time t would earn, given the label y, and a
 * prediction of what later glimpses add to it.
 *
 * Neither depends on the choice at time t, so that REINFORCE stays unbiased. The label shows how
 * hard an image is, which the state alone does not: what remains is how a glimpse changes the
 * answer.
 */
#include "learn/baseline/learned.h"

const FovBaseline fov_baseline_answer = {
    .plugin = {.name = "answer",
               .help = "what an answer at t would earn, and a prediction of the rest"},
    .head = {.layout_size = sizeof(FovBaselineHead), .build = fov_baseline_head_build},
    .predict = fov_baseline_head_predict,
    .from_answer = true,
    .least_copies = 1,
    .values = fov_baseline_predicted,
};
