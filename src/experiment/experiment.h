/** An experiment: agent, environments and training, built from a configuration. */
#ifndef FOV_EXPERIMENT_EXPERIMENT_H
#define FOV_EXPERIMENT_EXPERIMENT_H

#include "config/config.h"
#include "learn/trainer/trainer.h"
#include "record/safetensors.h"

enum {
  FOV_SLOT_ENV,
  FOV_SLOT_ATTENTION,
  FOV_SLOT_ENCODER,
  FOV_SLOT_CORE,
  FOV_SLOT_SCORE,
  FOV_SLOT_POLICY,
  FOV_SLOT_STOP,
  FOV_SLOT_REWARD,
  FOV_SLOT_BASELINE,
  FOV_SLOT_OBJECTIVE,
  FOV_SLOT_OPTIMISER,
  FOV_SLOTS,
};
enum { FOV_GROUPS = 10 };

/** Options of no particular part. */
typedef struct FovGeneralOptions {
  int64_t seed;
} FovGeneralOptions;

/** Where a training starts, and whether it ends early. */
typedef struct FovStartOptions {
  char init[FOV_STRING_SIZE]; /**< a run or a checkpoint whose weights it starts from; "": none */
  int patience;               /**< evaluations without a better one before it stops; 0: no limit */
} FovStartOptions;

/** How a training is evaluated, and which cases test it. */
typedef struct FovEvalOptions {
  int64_t seed;  /**< of the fixed validation and test cases */
  int times;     /**< evaluations during a training, evenly spaced */
  int64_t cases; /**< validation cases of each; 0: all */
  int episodes;  /**< recorded at each, for the viewer */
  int beam;      /**< sequences that fovea eval follows at a time */
} FovEvalOptions;

/** Its address must not change from init to finish: parts of it point into it. */
typedef struct FovExperiment {
  FovSettings *settings;
  FovGroup groups[FOV_GROUPS];
  FovSlot slots[FOV_SLOTS];
  FovConfig config;
  FovGeneralOptions general;
  FovTaskOptions task;
  FovAgentOptions agent_options;
  FovGlimpseOptions glimpse;
  FovContextOptions context;
  FovTilesOptions tiles;
  FovSensor sensor;
  FovTrainOptions train;
  FovStartOptions start;
  FovEvalOptions eval;
  FovAgent agent;       /**< built by fov_experiment_build */
  FovStandard standard; /**< by fov_experiment_standardise, or read from a checkpoint */
  bool trained;         /**< its training is over; settings of it get a note */
  FovSplit split;       /**< trained: the cases that the agent is shown */
} FovExperiment;

/** Makes it ready for settings. Finished by fov_experiment_finish, also after a failure. */
FovStatus fov_experiment_init(FovExperiment *experiment);
void fov_experiment_finish(FovExperiment *experiment);

/** Adds the settings of a checkpoint to `experiment->settings`. */
FovStatus fov_experiment_read(FovExperiment *experiment, const FovSafetensors *file);

/** Resolves the settings gathered in `experiment->settings`. If the source that chooses the
 * attention comes after the one that chooses the policy, and the two do not fit, the policy is
 * first replaced by one that fits, so that the later source can set its options. */
FovStatus fov_experiment_resolve(FovExperiment *experiment);

/** Builds the agent for an environment of this experiment; fails if its parts do not fit. */
FovStatus fov_experiment_build(FovExperiment *experiment, const FovEnvSpec *spec);

/** Builds only the heads of an agent whose states have `width` numbers: the names of their
 * parameters. heads: finished by fov_agent_finish, also after a failure. */
FovStatus fov_experiment_build_heads(FovAgent *heads, const FovExperiment *experiment,
                                     const FovEnvSpec *spec, int width);

/** Creates the experiment's environment for a split. */
FovStatus fov_experiment_env(FovEnv *env, const FovExperiment *experiment, FovSplit split);

/** Finds mean and standard deviation of the brightness over the training cases of `env`, if agents
 * are shown standardised images: 10,000 cases and 100 million pixels at most. The agent must have
 * been built. Fails as resets of the environment do. */
FovStatus fov_experiment_standardise(FovExperiment *experiment, const FovEnv *env);

/** The task on `env`; the agent must have been built. */
FovTask fov_experiment_task(const FovExperiment *experiment, const FovEnv *env);

/** Fails if answers are searched for with a beam, and the task does not allow it, or several
 * rollouts are wanted. */
FovStatus fov_experiment_check_beam(const FovExperiment *experiment, const FovTask *task,
                                    int rollouts);

/** The training on `env`; the agent must have been built. */
FovTraining fov_experiment_training(const FovExperiment *experiment, const FovEnv *env);

#endif
