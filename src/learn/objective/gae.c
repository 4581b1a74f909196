/** Generalised advantage estimation without discount (Schulman et al. 2016): each choice is
 * credited with the change of the expected return that followed it, so that the reward of a long
 * episode is not assigned to every choice alike. With λ < 1 the errors of the baseline bias it. */
#include "learn/objective/policy_gradient.h"

static const FovOption options[] = {
    FOV_POLICY_GRADIENT_OPTIONS,
    FOV_REAL(FovAdvantageOptions, lambda, "0.9", 0, 1,
             "1: the whole return, as reinforce; 0: up to the next time step"),
    FOV_OPTIONS_END,
};

static void backward(FovTape *tape, double *losses, const FovObjectiveInput *input,
                     const void *values) {
  fov_policy_gradient_add(tape, losses, input, fov_weigh_advantages, values);
}

const FovObjective fov_objective_gae = {
    .plugin = {.name = "gae",
               .help = "generalised advantages of a learned baseline (Schulman et al. 2016)",
               .options = options,
               .options_size = sizeof(FovAdvantageOptions)},
    .predicts = true,
    .losses = fov_policy_gradient_losses,
    .backward = backward,
};
