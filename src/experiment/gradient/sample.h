/** Samples of one estimator's gradient, and their sums. */
#ifndef FOV_EXPERIMENT_GRADIENT_SAMPLE_H
#define FOV_EXPERIMENT_GRADIENT_SAMPLE_H

#include "experiment/gradient/gradient.h"

/** The parameters whose gradients are compared: those of every estimator, by name. An agent may
 * have others besides, and another layout. */
typedef struct FovGradientParams {
  struct {
    char name[FOV_PARAM_NAME];
    size_t offset, count; /**< of its numbers in the compared gradient */
    int group;
  } * params; /**< [count] */
  int count;
  uint32_t *signs; /**< [size]: bit p is the sign of a number in projection p */
  size_t size;     /**< numbers of the compared gradient */
  char groups[FOV_GRADIENT_GROUPS][FOV_PARAM_NAME]; /**< first words of the names */
  int group_count;
} FovGradientParams;

/** Those of an agent without a baseline. Freed by fov_gradient_params_finish. */
FovStatus fov_gradient_params_create(FovGradientParams *compared, const FovParams *params);
void fov_gradient_params_finish(FovGradientParams *compared);

/** What is sampled. */
typedef struct FovSampling {
  const FovTraining *training; /**< with its copies K; what it plays is decided here */
  const real *values;
  const FovGradientParams *compared;
  double average_return;
  double progress; /**< of the training at the checkpoint, for schedules */
  int cases;
  int64_t samples;
  uint64_t image_seed, choice_seed; /**< of the images; of what is chosen */
  int threads;
} FovSampling;

/** Sums over samples of a gradient ĝ. */
typedef struct FovGradientSums {
  double *sum;                         /**< [size] of the compared gradient */
  double squares[FOV_GRADIENT_GROUPS]; /**< of |ĝ|² of each group */
  /** Sums of the projections of each group; the last ones are those of all parameters. */
  double projected[FOV_GRADIENT_GROUPS + 1][FOV_PROJECTIONS];
  double projected_squares[FOV_GRADIENT_GROUPS + 1][FOV_PROJECTIONS];
  double reward, seconds;
  int64_t samples;
  int lanes; /**< of a sample */
} FovGradientSums;

/** Draws the samples; the same sums for any number of threads. On failure nothing is owned. */
FovStatus fov_gradient_sample(FovGradientSums *sums, const FovSampling *sampling);
void fov_gradient_sums_finish(FovGradientSums *sums);

#endif
