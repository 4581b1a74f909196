/** A trained agent, read from a run or a checkpoint. */
#ifndef FOV_EXPERIMENT_TRAINED_H
#define FOV_EXPERIMENT_TRAINED_H

#include "experiment/experiment.h"
#include "record/run.h"

/** Like its experiment, it stays where it was loaded. */
typedef struct FovTrained {
  FovExperiment experiment;
  FovEnv env;
  FovSplit split; /**< of `env` */
  FovTask task;
  real *values;             /**< the weights to evaluate */
  int64_t update;           /**< of its training that it was saved at */
  double progress;          /**< the same as a share, 0 … 1 */
  char path[FOV_PATH_SIZE]; /**< of the checkpoint */
  bool checked;             /**< it has a digest, which was right */
} FovTrained;

/** Fails if what should be a run is the folder of a sweep. */
FovStatus fov_trained_refuse_sweep(const char *path);

/** Loads `source`, a run (its best checkpoint) or a checkpoint, with `count` key=value `changes` on
 * top of its configuration. Finished by fov_trained_finish, also after a failure. */
FovStatus fov_trained_load(FovTrained *trained, const char *source, const char *const *changes,
                           int count, FovSplit split);
void fov_trained_finish(FovTrained *trained);

#endif
