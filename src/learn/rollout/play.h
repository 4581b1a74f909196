/** A rollout while it is played: what the files of this folder share. */
#ifndef FOV_LEARN_ROLLOUT_PLAY_H
#define FOV_LEARN_ROLLOUT_PLAY_H

#include "learn/rollout/rollout.h"
#include "sensor/augment.h"

/**
 * The lanes that still play, side by side: arrays are [B], of which the first n are in use.
 *
 * A lane that is done leaves: the lanes after it move up, here and in the rows of the agent's
 * state, so that nothing is computed for it any more. lanes[i] is the number that the lane at place
 * i had at first:
 *
 *     lanes  0 1 2 3 4     lanes 1 and 3 are done     lanes  0 2 4
 *     n = 5                                           n = 3
 */
typedef struct Play {
  const FovTask *task;
  const FovPlan *plan;
  FovTape *tape;
  FovRollout *rollout;
  FovAgentState state;
  int count; // n
  int *lanes;
  FovEnvLane *env;
  FovImage *images;               // as the agent is shown them
  FovImage *cues;                 // likewise; of lanes as they start
  FovAugmentation *augmentations; // of each episode's images; NULL: none
  float *augmented;               // room for an image before it is standardised
  FovRng *env_rng, *policy_rng;
  int *looked;       // glimpses since the last action
  int *previous;     // the answer of the last turn, or what was right; −1 before the first
  real *earned;      // in all, from the environment
  real *places;      // [n, 2]: of the next glimpse
  FovVar *locations; // rows for all time steps, so that their matrix products can be joined
  int row;           // the first of them that is free
} Play;

/* rollout.c */

/** Resets all lanes, and lets them choose where to look first. */
void fov_play_begin(Play *play, FovRollout *rollout, FovTape *tape, const FovTask *task,
                    const FovPlan *plan);
/** The next time step of the lanes that still play. */
FovTimeStep *fov_play_begin_step(Play *play);

/* lanes.c */

/** Augments and standardises the images of all lanes as they are now, if that is asked for. */
void fov_play_show(Play *play);
/** Resets the environments of all lanes. */
void fov_play_start(Play *play);
/** Shows the lanes that still play what is at the places of their next glimpses, if the environment
 * depends on them; some may end there. */
void fov_play_look(Play *play);
/** Lets the lanes that are done leave. */
void fov_play_drop(Play *play);
/** Whether some lane still plays. */
bool fov_play_goes_on(const Play *play);

/* looking.c */

/** FovAligned bits of what lane i read at this step, before its answer is judged. */
uint8_t fov_play_align(const FovTimeStep *step, const Play *play, int i);

/** Takes the next glimpse of every lane and moves the agent's state. */
void fov_play_see(FovTimeStep *step, Play *play);

/* choosing.c */

/** Whether each lane answers or acts now, what, and what it earns. */
void fov_play_act(FovTimeStep *step, Play *play);
/** Where each lane looks next. */
void fov_play_choose_place(FovTimeStep *step, Play *play);
/** Where each lane looks first, at time step 0. */
void fov_play_choose_first(FovTimeStep *step, Play *play);

#endif
