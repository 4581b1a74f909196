#include "experiment/measure/parts.h"
#include "record/run.h"

/** The settings of an experiment, or those of a run. */
static FovStatus read_settings(FovExperiment *experiment, const char *source) {
  char path[FOV_PATH_SIZE];
  FOV_TRY(fov_run_expect(path, source, FOV_RUN_CONFIG));
  return fov_settings_read(experiment->settings, path);
}

FovStatus fov_subject_load(FovSubject *subject, const char *source, const char *const *settings,
                           int count) {
  FovExperiment *experiment = &subject->experiment;
  FOV_TRY(fov_experiment_init(experiment));
  if (source) FOV_TRY(read_settings(experiment, source));
  for (int i = 0; i < count; i++) FOV_TRY(fov_settings_add(experiment->settings, settings[i]));
  FOV_TRY(fov_experiment_resolve(experiment));
  FOV_TRY(fov_experiment_env(&subject->env, experiment, FOV_SPLIT_TRAIN));
  FOV_TRY(fov_experiment_build(experiment, &subject->env.spec));
  FOV_TRY(fov_experiment_standardise(experiment, &subject->env));
  subject->training = fov_experiment_training(experiment, &subject->env);
  return fov_task_check(&subject->training.task);
}

void fov_subject_finish(FovSubject *subject) {
  fov_env_finish(&subject->env);
  fov_experiment_finish(&subject->experiment);
}

FovEvalRequest fov_subject_request(const FovSubject *subject, const real *values, int64_t most,
                                   int threads) {
  int64_t cases = subject->env.spec.cases;
  return (FovEvalRequest){.task = &subject->training.task,
                          .values = values,
                          .cases = most < cases ? most : cases,
                          .rollouts = 1,
                          .split = FOV_SPLIT_TRAIN,
                          .threads = threads};
}
