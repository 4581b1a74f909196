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

/** Writes the path of the trace of `source`, a run or a trace, FOV_PATH_SIZE bytes. Fails if it is
 * a folder without one. */
FovStatus fov_trained_find_trace(char *path, const char *source);

/** Loads `source`, a run (its best checkpoint) or a checkpoint, with `count` key=value `changes` on
 * top of its configuration. Finished by fov_trained_finish, also after a failure. */
FovStatus fov_trained_load(FovTrained *trained, const char *source, const char *const *changes,
                           int count, FovSplit split);
void fov_trained_finish(FovTrained *trained);

#endif
