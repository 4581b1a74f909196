/** Episodes: B lanes look, answer or act, and are rewarded, on one tape. */
#ifndef FOV_LEARN_ROLLOUT_ROLLOUT_H
#define FOV_LEARN_ROLLOUT_ROLLOUT_H

#include "env.h"
#include "learn/plugins.h"
#include "model/agent.h"

/** Who plays what for which reward; const, shared by training, evaluation and recording. */
typedef struct FovTask {
  const FovAgent *agent;
  const FovEnv *env;
  const FovPolicy *policy;
  const void *policy_options;
  const FovStopRule *stop;
  const void *stop_options;
  const FovReward *reward;
} FovTask;

/** Fails unless an agent can look at all that the environment shows (an image of bytes, no cue) and
 * learn its answers (classes or moves). env: its name. */
FovStatus fov_spec_check(const FovEnvSpec *spec, const char *env);

/** Fails as fov_spec_check does, or if the reward needs labels and the environment has none. */
FovStatus fov_task_check(const FovTask *task);

/** The most glimpses of an episode: those before an action, times the actions. */
int fov_task_glimpses(const FovTask *task);

/** What the lanes are to do. */
typedef struct FovPlan {
  int lanes;            /**< B */
  const int64_t *cases; /**< [B]: case of each lane */
  FovRng *env_rng;      /**< [B]; used up */
  FovRng *policy_rng;   /**< [B]; used up */
  FovChoice choice;
  bool predict; /**< run the baseline head */
  bool every;   /**< run the answer head after every glimpse, not only where it is needed */
  bool frames;  /**< keep what an image was at each step, if it changes */
} FovPlan;

/** What a lane did at a step, as bits. */
typedef enum FovEvent {
  FOV_EVENT_ACT = 1 << 0,    /**< answered or acted */
  FOV_EVENT_DECIDE = 1 << 1, /**< was free to stop looking, and decided */
  FOV_EVENT_LOOK = 1 << 2,   /**< chose the place of its next glimpse */
} FovEvent;

/**
 * Time step t of the lanes that still play: glimpse t is taken, h_t follows, and everything after
 * it is chosen from h_t. Time step 0 is before the first glimpse. A var is NULL where there is
 * none.
 */
typedef struct FovTimeStep {
  int count;              /**< n: lanes that still play */
  const int *lanes;       /**< [n]: which of the B, ascending */
  FovVar *rho;            /**< [n, S·G·G·C]: what was seen */
  FovVar *location;       /**< [n, 2]: where, the sample cut to the image */
  const uint8_t **frames; /**< [n]: [H, W, C] each; unless `frames`, as they are in the end */
  FovVar *logits;         /**< [n, A]: of answer or action */
  real *log_p;            /**< [n, A]: fov_step_log_p; NULL: nobody asked for it yet */
  FovVar *baseline;       /**< [n, 1]: the return expected from here on, if something is chosen */
  FovVar *mean;           /**< [n, 2]: of the next place */
  FovVar *log_look;       /**< [n, 1]: log π of the next place */
  FovVar *log_act;        /**< [n, 1]: log π of the action; of a sampled one in a control task */
  FovVar *log_stop;       /**< [n, 1]: log π of stopping or not */
  int *labels;            /**< [n]: the label that was due; −1 in a control task */
  int *actions;           /**< [n]: −1 where none was taken */
  uint8_t *events;        /**< [n]: FovEvent bits */
} FovTimeStep;

/** [n, A], dense: the log-softmax of the step's logits, computed once, in the arena of its
 * rollout; NULL: it has none. */
const real *fov_step_log_p(FovTimeStep *step, FovArena *arena);

/** What happened; all in the tape's arena. */
typedef struct FovRollout {
  int time_steps, lanes;   /**< M, B: time_steps 0 … M−1, up to the last that somebody plays */
  FovTimeStep *at;         /**< [M] */
  real *rewards;           /**< [M, B]: earned by the action of step t, less its glimpse's cost */
  real *returns;           /**< [M, B]: Σ of the rewards from step t on */
  int turns;               /**< N: the most actions of an episode */
  int *taken;              /**< [B]: actions */
  int *labels, *answers;   /**< [B, N]: of each turn; −1 where there was none */
  real *log_probabilities; /**< [B, N, A]: of each turn's answer; NULL in a control task */
  int *glimpses;           /**< [B]: taken */
  bool *wrong;             /**< [B]: some answer was; of a control task, the goal was missed */
} FovRollout;

/** The policy's standard deviations in location units, for a share `progress` of the training. */
FovChoice fov_task_choice(const FovTask *task, double progress, bool deterministic);

/** Plays one episode a lane. */
void fov_rollout_run(FovRollout *rollout, FovTape *tape, const FovTask *task, const FovPlan *plan);

#endif
