/** Learning-rate schedules. */
#ifndef FOV_LEARN_SCHEDULE_H
#define FOV_LEARN_SCHEDULE_H

typedef enum FovSchedule {
  FOV_SCHEDULE_CONSTANT,
  FOV_SCHEDULE_LINEAR, /**< to 0 at the end (Mnih et al. 2014) */
  FOV_SCHEDULE_COSINE, /**< to 0 at the end (Loshchilov and Hutter 2017) */
} FovSchedule;

/**
 * The factor on the learning rate, in [0, 1].
 *
 * progress: share of the training done, 0 … 1. warmup: share at the start over which the factor
 * rises linearly from 0; the schedule's own fall begins after it.
 */
double fov_schedule(FovSchedule schedule, double progress, double warmup);

#endif
