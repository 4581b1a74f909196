/** Measurements for `fovea bench`: rates of matrix products, glimpses, images and training. */
#ifndef FOV_EXPERIMENT_MEASURE_H
#define FOV_EXPERIMENT_MEASURE_H

#include "base/profile.h"
#include "experiment/experiment.h"

enum { FOV_MAX_REPEATS = 100 };

/** Repeated measurements of one quantity. Zero-initialise. */
typedef struct FovRepeats {
  double values[FOV_MAX_REPEATS];
  int count;
} FovRepeats;

typedef struct FovSpread {
  double median, low, high; /**< low, high: the extremes */
} FovSpread;

/** Median and extremes of one repeat or more. */
FovSpread fov_spread_of(const FovRepeats *repeats);

/** An experiment that is ready to be measured; like it, it stays where it was loaded.
 * Zero-initialise; finished by fov_subject_finish, also after a failure. */
typedef struct FovSubject {
  FovExperiment experiment;
  FovEnv env;
  FovTraining training;
} FovSubject;

/** source: an experiment, a run, or NULL for the defaults; then `count` settings, in order. */
FovStatus fov_subject_load(FovSubject *subject, const char *source, const char *const *settings,
                           int count);
void fov_subject_finish(FovSubject *subject);

/** Products of one shape in a training. */
typedef struct FovShape {
  FovProduct product;
  double share; /**< of the training's floating-point operations */
  double rate;  /**< FLOP/s on all threads at once, warm, C overwritten; fastest of the repeats */
} FovShape;

/** The products of an update, most work first. */
typedef struct FovShapes {
  FovShape list[FOV_MAX_PRODUCTS];
  int count;
  double flops; /**< of a glimpse: 2·m·n·k summed over every product of training on it */
} FovShapes;

/** Trains for some updates and counts the matrix products. */
FovStatus fov_measure_shapes(FovShapes *shapes, const FovSubject *subject);

/** Times each shape that makes up a hundredth of the work or more, on `threads` threads. */
FovStatus fov_measure_products(FovShapes *shapes, int threads, int repeats);

/** The fastest shape: its rate is the machine's limit. */
const FovShape *fov_fastest(const FovShapes *shapes);

/** Training on a number of threads, of all ranks together. The figures of one repeat are taken in
 * the same second. A figure without repeats does not apply. */
typedef struct FovTrainRate {
  int threads;
  FovRepeats limit;     /**< FLOP/s of the fastest product */
  FovRepeats glimpses;  /**< trained on, a second */
  FovRepeats evaluated; /**< glimpses a second of evaluation */
  FovRepeats beside;    /**< trained on, a second, beside `busy` processes */
  FovRepeats sent;      /**< bytes that the busiest of several ranks sends in an update */
  FovRepeats share;     /**< FLOP/s of training over the limit */
  FovRepeats phases[FOV_PHASES + 1]; /**< shares of the threads' time; the last is waiting */
  FovRepeats faults;                 /**< pages that the system had to provide, an update */
} FovTrainRate;

typedef struct FovTrainMeter FovTrainMeter;

/** Prepares a training that can be measured repeatedly, with its memory allocated. The subject must
 * outlive it. Destroyed also after a failure. */
FovStatus fov_train_meter_create(FovTrainMeter **meter, const FovSubject *subject, int threads);
void fov_train_meter_destroy(FovTrainMeter *meter);

/** Adds one repeat of about two seconds to `rate`, the last half second beside `busy` processes
 * that compute, if any; collective if the subject's training has several ranks. */
FovStatus fov_measure_train(FovTrainRate *rate, FovTrainMeter *meter, const FovShapes *shapes,
                            int busy);

/** Images drawn a second on `threads` threads. Fails if their lanes do not fit in memory. */
FovStatus fov_measure_env(FovRepeats *rate, const FovSubject *subject, int threads, int repeats);

/** Glimpses a second that a retina of `scales` takes at random places, on `threads` threads; the
 * subject's side, and not the whole image. Fails for sequences, and if the lanes do not fit in
 * memory; a vector is seen whole. */
FovStatus fov_measure_sensor(FovRepeats *rate, const FovSubject *subject, int scales, int threads,
                             int repeats);

/** Seconds of one episode of an untrained agent on one thread: of glimpses and answer in `seconds`,
 * of drawing the image in `drawing`. */
FovStatus fov_measure_episode(FovRepeats *seconds, FovRepeats *drawing, const FovSubject *subject,
                              int repeats);

#endif
