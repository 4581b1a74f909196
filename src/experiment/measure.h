/** What `fovea bench` measures: rates of products, glimpses, images and whole training. */
#ifndef FOV_EXPERIMENT_MEASURE_H
#define FOV_EXPERIMENT_MEASURE_H

#include "base/profile.h"
#include "experiment/experiment.h"

enum { FOV_MAX_REPEATS = 100 };

/** One figure, measured again and again. Zero-initialise. */
typedef struct FovSample {
  double values[FOV_MAX_REPEATS];
  int count;
} FovSample;

typedef struct FovSpread {
  double median, low, high; /**< low, high: the extremes */
} FovSpread;

/** The spread of a sample of one value or more. */
FovSpread fov_sample_spread(const FovSample *sample);

/** An experiment made ready to be measured. Zero-initialise; finished by fov_subject_finish, also
 * after a failure. */
typedef struct FovSubject {
  FovExperiment experiment;
  FovEnv env;
  FovTraining training;
} FovSubject;

/** file: an experiment, or NULL for the defaults; then `count` settings on top of it, in order. */
FovStatus fov_subject_load(FovSubject *subject, const char *file, const char *const *settings,
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

/** Trains for some updates and gathers what is multiplied. */
FovStatus fov_measure_shapes(FovShapes *shapes, const FovSubject *subject);

/** Times each shape that makes up a hundredth of the work or more, on `threads` threads. */
FovStatus fov_measure_products(FovShapes *shapes, int threads, int repeats);

/** The shape that was fastest: the machine's limit. */
const FovShape *fov_fastest(const FovShapes *shapes);

/** Whole training on a number of threads. Figures of a repeat are taken in the same second. */
typedef struct FovTrainRate {
  int threads;
  FovSample limit;                  /**< FLOP/s of the fastest product */
  FovSample glimpses;               /**< trained on, a second */
  FovSample evaluated;              /**< glimpses a second of evaluation */
  FovSample share;                  /**< FLOP/s of training over the limit */
  FovSample phases[FOV_PHASES + 1]; /**< shares of the threads' time; the last is waiting */
  FovSample faults;                 /**< pages that the system had to provide, an update */
} FovTrainRate;

typedef struct FovTrainMeter FovTrainMeter;

/** A training under way, to be measured once and again; its memory is in place. */
FovStatus fov_train_meter_create(FovTrainMeter **meter, const FovSubject *subject, int threads);
void fov_train_meter_destroy(FovTrainMeter *meter);

/** Adds one repeat of about a second to `rate`. */
FovStatus fov_measure_train(FovTrainRate *rate, FovTrainMeter *meter, const FovShapes *shapes);

/** Images drawn a second on `threads` threads. Fails if their lanes do not fit in memory. */
FovStatus fov_measure_env(FovSample *rate, const FovSubject *subject, int threads, int repeats);

/** Glimpses a second that a retina of `scales` takes at random places, on `threads` threads; the
 * subject's side, and not the whole image. */
FovStatus fov_measure_sensor(FovSample *rate, const FovSubject *subject, int scales, int threads,
                             int repeats);

/** Seconds that one episode takes an untrained agent on one thread: looking and answering, and,
 * apart from that, the drawing of its image. */
FovStatus fov_measure_episode(FovSample *seconds, FovSample *drawing, const FovSubject *subject,
                              int repeats);

#endif
