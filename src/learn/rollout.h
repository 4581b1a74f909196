/** Episodes: B lanes look, answer and are rewarded, on one tape. */
#ifndef FOV_LEARN_ROLLOUT_H
#define FOV_LEARN_ROLLOUT_H

#include "env.h"
#include "learn/plugins.h"
#include "model/agent.h"

/** Who plays what for which reward; const, shared by training, evaluation and recording. */
typedef struct FovTask {
  const FovAgent *agent;
  const FovEnv *env;
  const FovPolicy *policy;
  const void *policy_options;
  const FovReward *reward;
} FovTask;

/** What the lanes are to do. */
typedef struct FovPlan {
  int lanes;            /**< B */
  const int64_t *cases; /**< [B]: case of each lane */
  FovRng *env_rng;      /**< [B]; moved on */
  FovRng *policy_rng;   /**< [B]; moved on */
  FovChoice choice;
  bool predict; /**< run the baseline head */
  bool every;   /**< run the answer head after every glimpse, not the last alone */
} FovPlan;

/** What happened; all in the tape's arena. Entries of `mean`, `log_prob` and `baseline` at t belong
 * to the choice of glimpse t: they are made from h_{t−1}, and NULL where nothing was chosen. */
typedef struct FovRollout {
  int glimpses, lanes;                /**< T, B */
  FovVar *rho[FOV_MAX_GLIMPSES];      /**< [B, S·G·G·C]: what was seen */
  FovVar *mean[FOV_MAX_GLIMPSES];     /**< [B, 2] */
  FovVar *log_prob[FOV_MAX_GLIMPSES]; /**< [B, 1] */
  FovVar *baseline[FOV_MAX_GLIMPSES]; /**< [B, 1] */
  FovVar *logits[FOV_MAX_GLIMPSES];   /**< [B, A]; NULL but at the last glimpse, unless `every` */
  FovVar *location[FOV_MAX_GLIMPSES]; /**< [B, 2]: where it looked, the sample cut to the image */
  real *log_probabilities;            /**< [B, A]: of the final answer */
  real *rewards;                      /**< [T, B] */
  real *returns;                      /**< [T, B]: Σ of the rewards from t on */
  int *labels, *answers;              /**< [B] */
  const uint8_t **images;             /**< [B]: [H, W, C] each, after the last step */
} FovRollout;

/** The policy's standard deviations in location units, for a share `progress` of the training. */
FovChoice fov_task_choice(const FovTask *task, double progress, bool deterministic);

/** The action of highest log-probability [A]; the first of equals. */
int fov_likeliest(const real *log_probabilities, int actions);

/** Plays one episode a lane. */
void fov_rollout_run(FovRollout *rollout, FovTape *tape, const FovTask *task, const FovPlan *plan);

#endif
