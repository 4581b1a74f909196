/** Rollouts, gradients and evaluations of a toy training (toy.h). */
#ifndef FOV_TESTS_TOY_PLAY_H
#define FOV_TESTS_TOY_PLAY_H

#include "toy.h"

/** A rollout with its tape and memory. */
typedef struct ToyPlay {
  FovArena arena;
  FovTape tape;
  FovPlan plan;
  FovRollout rollout;
  FovRng start[FOV_SHARD]; /**< the policy's generators before the rollout */
} ToyPlay;

/** Plans a rollout of cases first … first + lanes − 1 that computes everything a rollout can
 * compute. The plan may be changed before toy_play_run. gradient: a block, or NULL. */
void toy_play_begin(ToyPlay *play, const Toy *toy, const real *values, real *gradient, int first,
                    int lanes);
void toy_play_run(ToyPlay *play, const Toy *toy);
void toy_play_finish(ToyPlay *play);

/** Both, of the first cases. */
void toy_play(ToyPlay *play, const Toy *toy, const real *values, int lanes);

/** Adds the objective's gradient to the block that the rollout began with. */
void toy_play_backward(ToyPlay *play, const Toy *toy);

/** Index of lane b among the lanes that play at a time step, or −1. */
int toy_place_in(const FovTimeStep *step, int b);

/** The action of the highest number of p [TOY_ACTIONS]. */
int toy_likeliest(const real *p);

/** Settings with which lanes leave a batch at different time steps. */
enum { TOY_RAGGED = 17 };
extern const char *const toy_ragged[TOY_RAGGED];

/** The gradient of a trainer with TOY_PLAIN settings at `values`, on the episodes of its first
 * update, or of its next one if `go_on`. */
void toy_gradient(real *gradient, FovTrainer *trainer, const Toy *toy, const real *values,
                  bool go_on);

/** Copies the parameters that two agents share, by name. */
void toy_copy_shared(real *to, const FovParams *to_params, const real *from,
                     const FovParams *from_params);

/** Weights of an agent with a Gaussian policy that answer well where the pattern is visible, and
 * look where it is mostly not; freed by the caller. */
real *toy_skilled_values(const Toy *toy);

FovEvalResult toy_evaluate(const Toy *toy, const real *values, int rollouts, int threads);

#endif
