/** A task: environment, agent and plug-ins of an episode. */
#ifndef FOV_LEARN_ROLLOUT_TASK_H
#define FOV_LEARN_ROLLOUT_TASK_H

#include "env.h"
#include "learn/baseline.h"
#include "learn/policy.h"
#include "learn/reward.h"
#include "learn/stop.h"
#include "model/agent.h"
#include "sensor/standard.h"

/** Where the first glimpse falls. */
typedef enum FovFirst {
  FOV_FIRST_CENTRE,
  FOV_FIRST_RANDOM,  /**< uniform over the image */
  FOV_FIRST_LEARNED, /**< the policy's choice from h_0: zeros, or the context's start */
} FovFirst;

enum { FOV_MAX_GLIMPSES = 64 };

typedef struct FovTaskOptions {
  int glimpses; /**< before each answer or action */
  int first;    /**< FovFirst */
} FovTaskOptions;

extern const FovOption fov_task_options[];

/** Const; shared by training, evaluation and recording. */
typedef struct FovTask {
  FovTaskOptions options;
  const FovAgent *agent;
  const FovEnv *env;
  const FovPolicy *policy;
  const void *policy_options;
  const FovStopRule *stop;
  const void *stop_options;
  const FovReward *reward;
  const FovBaseline *baseline;
  const FovStandard *standard; /**< of the images that the agent is shown; not NULL */
} FovTask;

/** Fails unless an agent can look at what the environment shows: images of 1 or 3 channels, vectors
 * or, except for the cue, sequences. env: its name. */
FovStatus fov_spec_check(const FovEnvSpec *spec, const char *env);

/** An observation or a cue as an image: a vector of D numbers is one pixel of D channels, and L
 * symbols are 1 × L pixels of tokens. values: NULL where only the shape is wanted. */
FovImage fov_observed(const FovObservation *shown, const void *values);

/** What a lane shows, as its environment has drawn it. */
FovImage fov_lane_image(const FovEnvLane *lane, const FovEnvSpec *spec);

/** The policy to choose with an attention instead of one that does not fit: the attention looks at
 * a place, chooses among sites, or needs no choice. NULL: the policy fits. */
const char *fov_policy_for(const FovAttention *attention, const FovPolicy *policy);

/** Fails as fov_spec_check does, if the policy does not fit the attention, if an episode has fewer
 * glimpses than this needs, if it chooses among sites of a sequence and `first` is not learned, or
 * where the environment has `look`; if the reward needs labels and the environment has none, if the
 * stop rule needs the probabilities of a vector, or if sensor.contrast or .brightness is set where
 * no image is shown or with a cue. */
FovStatus fov_task_check(const FovTask *task);

/** The most glimpses of an episode: those before an action, times the actions. */
int fov_task_glimpses(const FovTask *task);

/** The part of a view after `taken` glimpses that the task decides: `changed`, `fixed` and `time`.
 */
FovView fov_task_view(const FovTask *task, int taken);

/** Places to look at run from −bounds to bounds: the whole image, or with sensor.inside those at
 * which the finest patch is inside. */
void fov_task_bounds(real bounds[2], const FovTask *task);

/** N: the policy chooses one of N places, each time; 0: they cannot be enumerated. */
int fov_task_choices(const FovTask *task);

/** What the policy records of each choice. Returns how many columns. */
int fov_task_columns(FovColumn columns[FOV_COLUMNS], const FovTask *task);

#endif
