#include "experiment/trained.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "record/checkpoint.h"

static FovStatus find_checkpoint(char *path, const char *source) {
  char last[FOV_PATH_SIZE];
  FOV_TRY(fov_run_find(path, source, FOV_RUN_BEST));
  FOV_TRY(fov_run_find(last, source, FOV_RUN_LAST));
  if (!fov_file_exists(path) && fov_file_exists(last))
    return fov_fail(FOV_ERR_USAGE, "%s: not evaluated yet; wait, or name %s", source, last);
  return fov_run_expect(path, source, FOV_RUN_BEST);
}

FovStatus fov_trained_find_trace(char *path, const char *source) {
  char best[FOV_PATH_SIZE];
  FOV_TRY(fov_run_find(path, source, FOV_RUN_TRACE));
  FOV_TRY(fov_run_find(best, source, FOV_RUN_BEST));
  if (!fov_file_exists(path) && fov_file_exists(best))
    return fov_fail(FOV_ERR_IO, "%s: a run without a trace; fovea trace records one", source);
  return fov_run_expect(path, source, FOV_RUN_TRACE);
}

static FovStatus resolve(FovTrained *trained, const FovSafetensors *file,
                         const char *const *changes, int count) {
  FovExperiment *experiment = &trained->experiment;
  FOV_TRY(fov_experiment_read(experiment, file));
  experiment->trained = true;
  experiment->split = trained->split;
  for (int i = 0; i < count; i++) FOV_TRY(fov_settings_add(experiment->settings, changes[i]));
  return fov_experiment_resolve(experiment);
}

/** Whether the command line changes the sensor, so that other weights are expected for that reason.
 */
static bool changes_sensor(const FovTrained *trained) {
  size_t count;
  const FovSetting *list = fov_settings_list(&count, trained->experiment.settings);
  for (size_t i = 0; i < count; i++)
    if (list[i].origin == FOV_ORIGIN_COMMAND && strncmp(list[i].key, "sensor.", 7) == 0)
      return true;
  return false;
}

/** After weights that did not fit: compares the channels and classes that the agent was trained on
 * with those of its pictures. */
static FovStatus compare(const FovTrained *trained, const FovSafetensors *file) {
  const FovAgent *agent = &trained->experiment.agent;
  const FovParam *first = &agent->params.list[0]; // its columns are pixels
  const FovBlob *sees = fov_safetensors_find(file, first->name);
  const FovBlob *answers = fov_safetensors_find(file, "class.w");
  const FovObservation *shown = &trained->env.spec.observation;
  bool text = shown->kind == FOV_OBSERVATION_TOKENS;
  int channels = fov_observed(shown, NULL).channels, other = channels == 1 ? 3 : 1;
  if (shown->kind == FOV_OBSERVATION_IMAGE && sees && sees->dims == 2 &&
      sees->shape[1] == (int64_t)first->cols * other / channels && !changes_sensor(trained))
    return fov_fail(FOV_ERR_USAGE,
                    "%s: the agent sees %d channel%s where these pictures have %d; convert them "
                    "with env = images and env.colour = %s",
                    fov_error_message(), other, fov_plural(other), channels,
                    other == 1 ? "grey" : "rgb");
  if (answers && answers->dims == 2 && answers->shape[0] != agent->actions)
    return fov_fail(FOV_ERR_USAGE, "%s: trained on %lld classes, but these %s have %d%s",
                    trained->path, (long long)answers->shape[0], text ? "sequences" : "pictures",
                    agent->actions,
                    text ? "" : "; env.classes is the number of classes of IDX files");
  return FOV_OK;
}

/** Whether a setting of the command line may change the agent; env: only through its environment.
 */
static bool may_change_agent(const FovSetting *setting, bool env) {
  const char *key = setting->key;
  bool is_env = strncmp(key, "env", 3) == 0 && (key[3] == '.' || !key[3]);
  return setting->origin == FOV_ORIGIN_COMMAND && strncmp(key, "eval.", 5) != 0 && is_env == env;
}

/** Lists such settings in `text`. */
static void list_changes(char *text, size_t size, const FovTrained *trained, bool env) {
  size_t count, length = 0;
  const FovSetting *list = fov_settings_list(&count, trained->experiment.settings);
  *text = '\0';
  for (size_t i = 0; i < count && length < size; i++)
    if (may_change_agent(&list[i], env))
      length +=
          (size_t)snprintf(text + length, size - length, " %s=%s", list[i].key, list[i].value);
}

/** After weights that do not fit the agent: names the settings of the command line as the cause. */
static FovStatus name_changes(const FovTrained *trained, FovStatus status) {
  char text[512];
  list_changes(text, sizeof text, trained, false);
  if (!*text) list_changes(text, sizeof text, trained, true);
  if (!*text) return status;
  return fov_fail(status, "%s; the likely cause is on the command line:%s", fov_error_message(),
                  text);
}

/** Whether it is a parameter of the heads that older versions gave to every agent. */
static bool is_old_head(const char *name) {
  static const char *const names[] = {"location.w", "location.bias", "baseline.w", "baseline.bias"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(name, names[i]) == 0) return true;
  return false;
}

/** Whether it belongs to a control variate, which only training needs. */
static bool is_control(const char *name) {
  return strncmp(name, FOV_CONTROL, strlen(FOV_CONTROL)) == 0;
}

/** Fails if the checkpoint has a weight that is neither this agent's nor one of `heads`. */
static FovStatus find_unused(const FovTrained *trained, const FovSafetensors *file,
                             const FovParams *heads) {
  for (size_t i = 0; i < fov_safetensors_count(file); i++) {
    const char *name = fov_safetensors_at(file, i)->name;
    if (!fov_checkpoint_is_weight(name) || is_old_head(name) || is_control(name) ||
        fov_params_have(heads, name) || fov_params_have(&trained->experiment.agent.params, name))
      continue;
    fov_fail(FOV_ERR_USAGE, "%s: the agent was trained with '%s', which these settings do not use",
             trained->path, name);
    return name_changes(trained, FOV_ERR_USAGE);
  }
  return FOV_OK;
}

/** Fails if the agent would ignore weights of the checkpoint, other than those of the heads that it
 * was trained with. */
static FovStatus check_unused(const FovTrained *trained, const FovSafetensors *file) {
  FovAgent heads = {.width = 0};
  FovExperiment own; // without what has been changed
  FovStatus status = fov_experiment_init(&own);
  if (status == FOV_OK) status = fov_experiment_read(&own, file);
  if (status == FOV_OK) status = fov_experiment_resolve(&own);
  if (status == FOV_OK)
    status = fov_experiment_build_heads(&heads, &own, &trained->env.spec,
                                        trained->experiment.agent.width);
  if (status == FOV_OK) status = find_unused(trained, file, &heads.params);
  fov_agent_finish(&heads);
  fov_experiment_finish(&own);
  return status;
}

static FovStatus load_weights(FovTrained *trained, const FovSafetensors *file) {
  const FovExperiment *experiment = &trained->experiment;
  const FovTrainOptions *o = &experiment->train;
  FovStatus status = fov_checkpoint_load_weights(&trained->values, &trained->update,
                                                 &experiment->agent.params, o->average > 0, file);
  if (status == FOV_ERR_FORMAT) {
    FOV_TRY(compare(trained, file));
    return name_changes(trained, status);
  }
  FOV_TRY(status);
  FOV_TRY(check_unused(trained, file));
  double updates = (double)fov_train_updates_planned(o);
  trained->progress = (double)trained->update < updates ? (double)trained->update / updates : 1;
  trained->checked = fov_safetensors_is_checked(file);
  return FOV_OK;
}

/** The agent is shown images as in its training, unless the settings say otherwise. */
static FovStatus find_standard(FovExperiment *experiment, const FovSafetensors *file,
                               int channels) {
  FOV_TRY(fov_checkpoint_standard(&experiment->standard, file));
  FovStandard *standard = &experiment->standard;
  if (fov_is_standardised(standard) && standard->channels != channels)
    return fov_fail(FOV_ERR_USAGE, "%s: trained on images of %d channels, but these have %d",
                    fov_safetensors_path(file), standard->channels, channels);
  if (experiment->sensor.standardise == FOV_STANDARDISE_NO) standard->channels = 0;
  if (experiment->sensor.standardise != FOV_STANDARDISE_YES || fov_is_standardised(standard))
    return FOV_OK;
  return fov_fail(FOV_ERR_USAGE,
                  "%s: expected sensor.standardise = no, as the agent was trained, found yes",
                  fov_safetensors_path(file));
}

static FovStatus load(FovTrained *trained, const FovSafetensors *file, const char *const *changes,
                      int count) {
  FovExperiment *experiment = &trained->experiment;
  FOV_TRY(resolve(trained, file, changes, count));
  FOV_TRY(fov_experiment_env(&trained->env, experiment, trained->split));
  FOV_TRY(fov_experiment_build(experiment, &trained->env.spec));
  trained->task = fov_experiment_task(experiment, &trained->env);
  FOV_TRY(fov_task_check(&trained->task));
  FOV_TRY(load_weights(trained, file));
  FOV_TRY(fov_checkpoint_check_symbols(file, fov_env_symbols(&trained->env.spec)));
  return find_standard(experiment, file,
                       fov_observed(&trained->env.spec.observation, NULL).channels);
}

FovStatus fov_trained_load(FovTrained *trained, const char *source, const char *const *changes,
                           int count, FovSplit split) {
  *trained = (FovTrained){.split = split};
  FovSafetensors *file;
  FOV_TRY(fov_experiment_init(&trained->experiment));
  FOV_TRY(find_checkpoint(trained->path, source));
  FOV_TRY(fov_safetensors_open(&file, trained->path));
  FovStatus status = load(trained, file, changes, count);
  fov_safetensors_close(file);
  return status;
}

void fov_trained_finish(FovTrained *trained) {
  free(trained->values);
  trained->values = NULL;
  fov_env_finish(&trained->env);
  fov_experiment_finish(&trained->experiment);
}
