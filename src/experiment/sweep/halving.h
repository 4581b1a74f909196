/**
 * Asynchronous successive halving (ASHA; Li et al. 2020, algorithm 2): runs are stopped early.
 *
 * A training has rungs at 1/27, 1/9 and 1/3 of its length, and its end. A run that reaches a rung
 * pauses there. It goes on to the next if its validation error is among the best ⌊n/3⌋ of the n
 * results of its rung so far; its learning rate follows the schedule of the whole length. When
 * nothing else is left to do, the best run that waits at the highest rung goes on, so that one run
 * is finished.
 *
 * Every start, result and failure is a line of halving.csv, in the order in which they happened.
 * Decisions depend on nothing else, so a sweep that is continued decides as it would have; but the
 * first decision of a process starts runs again that failed without diverging.
 */
#ifndef FOV_EXPERIMENT_SWEEP_HALVING_H
#define FOV_EXPERIMENT_SWEEP_HALVING_H

#include "experiment/sweep/sweep.h"

enum { FOV_HALVING_RUNGS = 3 }; /**< before the end, at most */

typedef struct FovHalving FovHalving;

/** times: evaluations of a training, at the least; fewer than 27 leave rungs out. `dir` and `runs`
 * must outlive it. Destroyed also after a failure. */
FovStatus fov_halving_create(FovHalving **halving, const char *dir, const FovSweepRun *runs,
                             int count, int times);
void fov_halving_destroy(FovHalving *halving);

/**
 * What to train next: claims a run, or leaves *run at −1 if there is nothing to do now, or after a
 * failure. The caller closes *claim. until: the share of its training after which it pauses; 1: the
 * end.
 */
FovStatus fov_halving_next(int *run, int *claim, double *until, FovHalving *halving);

/** Records how a run that `next` gave has ended: its validation error at the rung, or NaN if it
 * failed. Closes *claim, the run's, also after a failure, and sets it to −1. */
FovStatus fov_halving_end(FovHalving *halving, int run, int *claim, double valid_error);

/** Whether no run will be started or continued: not now, and not when others have ended. */
FovStatus fov_halving_is_over(bool *over, FovHalving *halving);

/** Whether a run waits at a rung, or failed on the way to one, as of the last call of `next` or
 * `end`. */
bool fov_halving_is_paused(const FovHalving *halving, int run);
bool fov_halving_has_failed(const FovHalving *halving, int run);

#endif
