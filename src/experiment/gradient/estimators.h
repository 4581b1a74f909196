/** The estimators that are compared, as settings on top of a checkpoint's. */
#ifndef FOV_EXPERIMENT_GRADIENT_ESTIMATORS_H
#define FOV_EXPERIMENT_GRADIENT_ESTIMATORS_H

#include "experiment/gradient/gradient.h"

/** What an estimator needs. */
typedef enum FovEstimatorNeed {
  FOV_NEEDS_NOTHING,
  FOV_NEEDS_SITES,   /**< an attention that reads one tile */
  FOV_NEEDS_LABELS,  /**< classes as answers */
  FOV_NEEDS_HEAD,    /**< a baseline that was learned in the training */
  FOV_NEEDS_LEARNED, /**< the training had baseline = learned */
  FOV_NEEDS_ANSWER,  /**< the training had baseline = answer */
  FOV_NEEDS_CONTROL, /**< the training had a learned control variate */
} FovEstimatorNeed;

typedef struct FovEstimatorKind {
  const char *name;
  const char *settings[5]; /**< objective first; up to a NULL */
  FovEstimatorNeed need;
  bool likelihood; /**< its reference is that of the likelihood */
} FovEstimatorKind;

/** All kinds, ended by one without a name; the first is plain REINFORCE. */
extern const FovEstimatorKind fov_estimator_kinds[];

/** The exact gradients of the expected reward and of the likelihood. */
extern const FovEstimatorKind fov_exact_kinds[2];

/** What is sampled for the reference where nothing can be enumerated. */
extern const FovEstimatorKind fov_sampled_kind;

/** An estimator that is ready to be sampled. */
typedef struct FovEstimatorSubject {
  FovTrained trained;
  FovTraining training;
} FovEstimatorSubject;

/** Loads the checkpoint with the settings of a kind. Finished by fov_estimator_finish, also after a
 * failure, whose message is why the estimator is undefined. */
FovStatus fov_estimator_load(FovEstimatorSubject *subject, const FovGradientRequest *request,
                             const FovEstimatorKind *kind);
void fov_estimator_finish(FovEstimatorSubject *subject);

#endif
