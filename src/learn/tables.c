#include "learn/objective.h"
#include "learn/optimiser.h"

extern const FovPolicy fov_policy_gaussian, fov_policy_tiles, fov_policy_sites, fov_policy_relative,
    fov_policy_random, fov_policy_scan, fov_policy_centre;
extern const FovStopRule fov_stop_never, fov_stop_learned, fov_stop_confident;
extern const FovReward fov_reward_correct, fov_reward_probability, fov_reward_log_probability,
    fov_reward_cross_entropy, fov_reward_information_gain;
extern const FovBaseline fov_baseline_learned, fov_baseline_answer, fov_baseline_average,
    fov_baseline_leave_one_out, fov_baseline_self_critical, fov_baseline_none;
extern const FovObjective fov_objective_reinforce, fov_objective_gae, fov_objective_exact,
    fov_objective_marginal, fov_objective_ppo, fov_objective_vimco, fov_objective_wake_sleep;
extern const FovOptimiser fov_optimiser_adam, fov_optimiser_adamw, fov_optimiser_muon,
    fov_optimiser_sgd;

const FovPolicy *const fov_policies[] = {
    &fov_policy_gaussian, &fov_policy_tiles, &fov_policy_sites,  &fov_policy_relative,
    &fov_policy_random,   &fov_policy_scan,  &fov_policy_centre, NULL};

const FovStopRule *const fov_stop_rules[] = {&fov_stop_never, &fov_stop_learned,
                                             &fov_stop_confident, NULL};

const FovReward *const fov_rewards[] = {&fov_reward_correct,          &fov_reward_probability,
                                        &fov_reward_log_probability,  &fov_reward_cross_entropy,
                                        &fov_reward_information_gain, NULL};

const FovBaseline *const fov_baselines[] = {&fov_baseline_learned,
                                            &fov_baseline_answer,
                                            &fov_baseline_average,
                                            &fov_baseline_leave_one_out,
                                            &fov_baseline_self_critical,
                                            &fov_baseline_none,
                                            NULL};

const FovObjective *const fov_objectives[] = {
    &fov_objective_reinforce, &fov_objective_gae,   &fov_objective_ppo,        &fov_objective_exact,
    &fov_objective_marginal,  &fov_objective_vimco, &fov_objective_wake_sleep, NULL};

const FovOptimiser *const fov_optimisers[] = {&fov_optimiser_adam, &fov_optimiser_adamw,
                                              &fov_optimiser_muon, &fov_optimiser_sgd, NULL};
