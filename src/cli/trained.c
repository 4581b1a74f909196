#include "cli/trained.h"

#include <stdlib.h>

#include "base/file.h"
#include "record/checkpoint.h"

static FovStatus find_checkpoint(char *path, const char *source) {
  char last[FOV_PATH_SIZE];
  FOV_TRY(fov_run_find(path, source, FOV_RUN_BEST));
  FOV_TRY(fov_run_find(last, source, FOV_RUN_LAST));
  if (!fov_file_exists(path) && fov_file_exists(last))
    return fov_fail(FOV_ERR_USAGE, "%s: not evaluated yet; wait, or name %s", source, last);
  return FOV_OK;
}

static FovStatus resolve(FovTrained *trained, char **changes, int count) {
  FovExperiment *experiment = &trained->experiment;
  char *config;
  FOV_TRY(fov_checkpoint_config(&config, trained->path));
  FovStatus status = fov_settings_parse(experiment->settings, config, trained->path);
  free(config);
  for (int i = 0; i < count && status == FOV_OK; i++)
    status = fov_settings_add(experiment->settings, changes[i]);
  return status == FOV_OK ? fov_experiment_resolve(experiment) : status;
}

static FovStatus load_weights(FovTrained *trained) {
  const FovExperiment *experiment = &trained->experiment;
  const FovTrainOptions *o = &experiment->train;
  FOV_TRY(fov_checkpoint_load_weights(&trained->values, &trained->update, &experiment->agent.params,
                                      o->average > 0, trained->path));
  double updates = (double)fov_train_updates(o);
  trained->progress = (double)trained->update < updates ? (double)trained->update / updates : 1;
  return FOV_OK;
}

FovStatus fov_trained_load(FovTrained *trained, const char *source, char **changes, int count,
                           FovSplit split) {
  *trained = (FovTrained){.split = split};
  FovExperiment *experiment = &trained->experiment;
  FOV_TRY(fov_experiment_init(experiment));
  FOV_TRY(find_checkpoint(trained->path, source));
  FOV_TRY(resolve(trained, changes, count));
  FOV_TRY(fov_experiment_env(&trained->env, experiment, split));
  FOV_TRY(fov_experiment_build(experiment, &trained->env.spec));
  trained->task = fov_experiment_task(experiment, &trained->env);
  return load_weights(trained);
}

void fov_trained_finish(FovTrained *trained) {
  free(trained->values);
  fov_env_finish(&trained->env);
  fov_experiment_finish(&trained->experiment);
}
