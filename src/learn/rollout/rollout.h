/** Episodes: B lanes look, answer or act, and are rewarded, on one tape. */
#ifndef FOV_LEARN_ROLLOUT_ROLLOUT_H
#define FOV_LEARN_ROLLOUT_ROLLOUT_H

#include "learn/rollout/task.h"

/** The places, actions and stops that the lanes chose, by time step and lane. A rollout on which
 * they are forced repeats this one, with any weights; arrays that are NULL force nothing. Vectors
 * are answered again: the end of an episode must not depend on them. */
typedef struct FovChoices {
  FovChoice *places; /**< [M, B]: of the next glimpse */
  int *actions;      /**< [M, B]: −1 where none was taken */
  bool *stops;       /**< [M, B]: whether the lane stopped looking */
} FovChoices;

/** What the lanes are to do. */
typedef struct FovPlan {
  int lanes;            /**< B */
  const int64_t *cases; /**< [B]: case of each lane */
  FovRng *env_rng;      /**< [B]; advanced, and moved as lanes leave */
  FovRng *policy_rng;   /**< [B]; likewise */
  int copies;           /**< K: lanes side by side that show the same image; 0 or 1: none */
  double progress;      /**< share of the training that is done, for the policy's schedules */
  double near;          /**< share of the way from a random first place to the target, `where` */
  bool deterministic;   /**< no choice is sampled: FovPolicyInput.deterministic */
  const FovChoices *forced; /**< choices to repeat, of a rollout of the same cases; NULL: none */
  bool teach;               /**< the agent reads right answers as those before, not its own */
  bool predict;             /**< run the baseline's head */
  bool every;               /**< run the answer's head after every glimpse, needed or not */
  bool frames;              /**< keep the image of every time step, if it changes */
  bool augment; /**< change images by sensor.contrast and sensor.brightness: a training */
  bool full;    /**< to measure the most memory that a rollout takes: every lane takes
                     all glimpses, starts its case again where an episode ends, and
                     the state is copied at every step as if lanes left */
} FovPlan;

/** What a lane did at a time step, as bits. */
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
  int count;                 /**< n: lanes that still play */
  const int *lanes;          /**< [n]: which of the B, ascending */
  FovVar *rho;               /**< [n, S·G·G·C]: the glimpse */
  FovVar *location;          /**< [n, 2]: its place */
  int *previous;             /**< [n]: the answers before, as the agent reads them; −1: none */
  FovVar *read[FOV_COLUMNS]; /**< [n, width]: what the attention records of it */
  const void **frames;       /**< [n]: the observation; unless the plan keeps them, the last one */
  FovVar *relaxed[2], *fitted; /**< c of relaxed choices, see FovReadout; NULL: none */
  FovVar *logits;              /**< [n, A]: of answer or action, or the vector that is answered */
  real *log_p;                 /**< [n, A]: fov_step_log_p; NULL: not computed yet */
  FovVar *baseline;     /**< [n, 1]: of its head, which predicts the return less fov_step_offset */
  FovVar *log_look;     /**< [n, 1]: log π of the next place */
  FovVar *look_entropy; /**< [n, 1]: of the policy, exactly */
  FovVar *log_act;      /**< [n, 1]: log π of the action, if it was sampled */
  FovVar *log_stop;     /**< [n, 1]: log π of stopping or not */
  real *columns[FOV_COLUMNS]; /**< [n, width]: what the policy records of the next place */
  int *labels;                /**< [n]: the label that was due; −1 if no class was */
  real *targets;              /**< [n, A]: the vector that was due; NULL: answers are no vectors */
  float *where;    /**< [n, 2]: the place of what was asked for; NULL: the environment is not
                        `located`, or frames are not kept */
  int *actions;    /**< [n]: −1 where none was taken */
  uint8_t *events; /**< [n]: FovEvent bits */
} FovTimeStep;

/** [n, A], dense: the log-softmax of the step's logits, computed once, in the arena of its rollout;
 * NULL: it has none, or a vector, which has no probability. */
const real *fov_step_log_p(FovTimeStep *step, FovArena *arena);

/** What the task's baseline adds to its head's prediction for lane i: what an answer at this step
 * would earn as the first to its question, or 0. A right one earns 1 from the environment.
 * log_p: fov_step_log_p; without, at time step 0, `average` stands for it. */
real fov_step_offset(const FovTimeStep *step, const FovTask *task, const real *log_p, real average,
                     int i);

/** What was read before an answer whose source is known (FovAlignment), as bits. */
typedef enum FovAligned {
  FOV_ALIGNED_PART = 1 << 0,    /**< the part that it belongs to is known */
  FOV_ALIGNED_SURE = 1 << 1,    /**< the one place that it comes from is known */
  FOV_ALIGNED_IN_PART = 1 << 2, /**< what was read most lies in this part */
  FOV_ALIGNED_IN_SURE = 1 << 3, /**< it is this place */
} FovAligned;

/** What happened; all in the tape's arena. */
typedef struct FovRollout {
  int time_steps, lanes;   /**< M, B: time steps 0 … M−1; a lane plays in each */
  FovTimeStep *at;         /**< [M] */
  const FovImage *cues;    /**< [B]: as they were shown; without pixels if there are none */
  FovChoices choices;      /**< of the lanes that played; the others' are −1 or false */
  real *rewards;           /**< [M, B]: earned by the action of time step t, less the costs of its
                              glimpse and of what is chosen there */
  real *returns;           /**< [M, B]: Σ of the rewards from time step t on */
  int turns;               /**< N: the most actions of an episode */
  int *taken;              /**< [B]: actions */
  int *labels, *answers;   /**< [B, N]: of each turn; −1 where there was none */
  uint8_t *aligned;        /**< [B, N]: FovAligned bits of each turn's answer */
  real *log_probabilities; /**< [B, N, A]: of each turn's answer; NULL unless it is a class */
  real *squares; /**< [B, N]: ‖y − target‖² of each turn's vector; NULL: no vectors */
  int *glimpses; /**< [B]: taken */
  bool *wrong;   /**< [B]: an answer was; of moves and vectors, the goal was missed */
} FovRollout;

/** The environment's generator of a case of a fixed set: the same in every rollout of it. */
FovRng fov_case_rng(uint64_t seed, FovSplit split, int64_t index);

/** Where an episode starts that does not choose its first place: a sample in [−1, 1]², in units of
 * fov_task_bounds. FOV_FIRST_CENTRE draws nothing. */
FovChoice fov_first_choice(FovFirst first, FovRng *rng);

/** Plays one episode a lane. */
void fov_rollout_run(FovRollout *rollout, FovTape *tape, const FovTask *task, const FovPlan *plan);

/**
 * Plans a lane for each case of a list, in the arena. Cases: each 0 … 2^40 − 1.
 *
 * seed, split and case name the draws of the environment; those of the policy depend on `repeat`
 * (0 … 1023) too. Nothing is shared with training, whatever its seed.
 */
FovPlan fov_plan_list(FovArena *arena, const int64_t *cases, int lanes, uint64_t seed,
                      FovSplit split, int repeat);

/** The same for cases first … first+lanes−1. */
FovPlan fov_plan_cases(FovArena *arena, int64_t first, int lanes, uint64_t seed, FovSplit split,
                       int repeat);

/** Plans full rollouts of the environment's first cases, again from the first where there are fewer
 * than lanes, with the baseline's head if it has one: for measuring memory. */
FovPlan fov_plan_full(FovArena *arena, const FovTask *task, int lanes);

#endif
