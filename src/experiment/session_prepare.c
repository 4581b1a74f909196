#include "experiment/session_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"

void fov_session_note(void *session, const char *line) {
  const FovReporter *reporter = &((const FovSession *)session)->request->reporter;
  if (!reporter->report) return;
  reporter->report(reporter->context, &(FovReport){.kind = FOV_REPORT_NOTE, .note = line});
}

/** Reads the configuration of the run `dir`, to be freed. */
static FovStatus read_config(char **config, char *path, const char *dir) {
  FovSafetensors *file;
  const char *text;
  FOV_TRY(fov_run_expect(path, dir, FOV_RUN_LAST));
  FOV_TRY(fov_safetensors_open(&file, path));
  FovStatus status = fov_checkpoint_config(&text, file);
  if (status == FOV_OK && !(*config = strdup(text)))
    status = fov_fail(FOV_ERR_MEMORY, "%s: no memory for its configuration", path);
  fov_safetensors_close(file);
  return status;
}

/** Adds the settings of a run. Its checkpoint may be replaced before the run is locked: then
 * fov_session_open compares the settings with those of the new one. */
static FovStatus read_run(FovSession *session) {
  char path[FOV_PATH_SIZE], *config = NULL;
  FOV_TRY(fov_run_find(path, session->request->dir, FOV_RUN_LAST));
  FovStatus status =
      fov_session_writes(session) ? read_config(&config, path, session->request->dir) : FOV_OK;
  status = fov_ranks_agree(session->request->ranks, status);
  if (status == FOV_OK) status = fov_session_share_text(session, &config);
  if (status == FOV_OK) status = fov_settings_parse(session->experiment.settings, config, path);
  free(config);
  return status;
}

static FovStatus read_settings(FovSession *session) {
  const FovTrainRequest *request = session->request;
  FovSettings *settings = session->experiment.settings;
  if (request->text)
    FOV_TRY(fov_settings_parse(settings, request->text, request->file));
  else if (request->file)
    FOV_TRY(fov_settings_read(settings, request->file));
  else
    FOV_TRY(read_run(session));
  for (int i = 0; i < request->change_count; i++)
    FOV_TRY(fov_settings_add(settings, request->changes[i]));
  FovStatus status = fov_experiment_resolve(&session->experiment);
  fov_settings_notes(settings, fov_session_note, session);
  return status;
}

/** The asked-for directory, or runs/NAME-sSEED from the experiment's file and its seed. */
static FovStatus choose_dir(FovSession *session) {
  const FovTrainRequest *request = session->request;
  char *dir = session->run.dir;
  size_t size = sizeof session->run.dir, length;
  if (request->dir) {
    length = (size_t)snprintf(dir, size, "%s", request->dir);
  } else {
    const char *name = fov_file_name(request->file);
    const char *dot = strrchr(name, '.');
    int stem = dot && dot != name ? (int)(dot - name) : (int)strlen(name);
    length = (size_t)snprintf(dir, size, "runs/%.*s-s%lld", stem, name,
                              (long long)session->experiment.general.seed);
  }
  if (length >= size)
    return fov_fail(FOV_ERR_USAGE, "the run's path has more than %zu bytes", size - 1);
  return fov_session_writes(session) ? fov_run_check(dir, request->resume) : FOV_OK;
}

/** Bytes that a run's trace has at most: each evaluation replaces it. */
enum { MAX_TRACE = 64 << 20 };

FovRecordRequest fov_session_record(const FovSession *session, const FovTask *task) {
  return (FovRecordRequest){.task = task,
                            .episodes = session->experiment.eval.episodes,
                            .room = MAX_TRACE,
                            .seed = (uint64_t)session->experiment.eval.seed,
                            .split = FOV_SPLIT_VALID};
}

/** Checks what the evaluations record, and how `fovea eval` will search for answers. */
static FovStatus check_evaluations(const FovSession *session) {
  FovTask task = fov_experiment_task(&session->experiment, &session->valid_env);
  FOV_TRY(fov_experiment_check_beam(&session->experiment, &task, 1));
  FovRecordRequest record = fov_session_record(session, &task);
  return fov_record_check(&record);
}

/** Copies the weights of a checkpoint, which may lack those of heads. */
static FovStatus copy_weights(FovSession *session, const FovSafetensors *file) {
  const FovParams *params = &session->experiment.agent.params;
  const FovEnvSpec *spec = &session->train_env.spec;
  FovTrainerState *state = fov_trainer_state(session->trainer);
  FovAgent heads = {.width = 0};
  FovStatus status = fov_experiment_build_heads(&heads, &session->experiment, spec,
                                                session->experiment.agent.width);
  if (status == FOV_OK)
    status = fov_checkpoint_start_weights(state->value, &session->kept, params, &heads.params,
                                          session->experiment.train.average > 0, file);
  fov_agent_finish(&heads);
  if (status == FOV_ERR_FORMAT)
    return fov_fail(
        status,
        "%s; train.init needs weights for all layers but the heads: set the attention, sensor, "
        "glimpse, encoder and core of that training",
        fov_error_message());
  FOV_TRY(status);
  memcpy(state->average, state->value, params->size * sizeof *state->value);
  return FOV_OK;
}

/** Fails unless the agent of a checkpoint was shown standardised images if this one is. */
static FovStatus compare_standard(const FovSession *session, const FovSafetensors *file) {
  FovStandard other;
  FOV_TRY(fov_checkpoint_standard(&other, file));
  bool standardised = fov_is_standardised(&other);
  if (standardised == fov_is_standardised(&session->experiment.standard)) return FOV_OK;
  return fov_fail(FOV_ERR_USAGE,
                  "train.init = %s: expected sensor.standardise = %s, as it was trained",
                  session->experiment.start.init, standardised ? "yes" : "no");
}

/** Starts from the weights of train.init, if it is set and nothing is resumed. The other ranks get
 * them from rank 0. */
static FovStatus start_weights(FovSession *session) {
  const char *init = session->experiment.start.init;
  char path[FOV_PATH_SIZE];
  FovSafetensors *file;
  if (!*init || !fov_session_writes(session)) return FOV_OK;
  if (fov_file_exists(fov_session_path(path, session, FOV_RUN_LAST))) return FOV_OK;
  FOV_TRY(fov_run_expect(path, init, FOV_RUN_BEST));
  FOV_TRY(fov_safetensors_open(&file, path));
  const char *config;
  FovStatus status = fov_checkpoint_config(&config, file);
  if (status == FOV_OK)
    status = fov_checkpoint_check_symbols(file, fov_env_symbols(&session->train_env.spec));
  if (status == FOV_OK) status = compare_standard(session, file);
  if (status == FOV_OK) status = copy_weights(session, file);
  fov_safetensors_close(file);
  return status;
}

/** The files of a run hold UTF-8. */
static FovStatus check_text(const char *config) {
  const char *line = config, *at = config;
  for (; *at == '\n' || *at == '\t' || (*at && fov_text_printable(at) > 0);
       at += fov_text_character(at))
    if (*at == '\n') line = at + 1;
  if (!*at) return FOV_OK;
  return fov_fail(FOV_ERR_USAGE, "'%.*s': expected UTF-8", (int)strcspn(line, "\n"), line);
}

static FovStatus prepare(FovSession *session, const FovTrainRequest *request) {
  FovExperiment *experiment = &session->experiment;
  FOV_TRY(fov_experiment_init(experiment));
  FOV_TRY(read_settings(session));
  FOV_TRY(choose_dir(session));
  FOV_TRY(fov_config_dump(&session->config, &experiment->config));
  FOV_TRY(check_text(session->config));
  FOV_TRY(fov_experiment_env(&session->train_env, experiment, FOV_SPLIT_TRAIN));
  FOV_TRY(fov_experiment_env(&session->valid_env, experiment, FOV_SPLIT_VALID));
  FOV_TRY(fov_experiment_build(experiment, &session->train_env.spec));
  FOV_TRY(fov_experiment_standardise(experiment, &session->train_env));
  session->training = fov_experiment_training(experiment, &session->train_env);
  session->training.ranks = request->ranks;
  FOV_TRY(fov_trainer_create(&session->trainer, &session->training, request->threads));
  FOV_TRY(start_weights(session));
  return check_evaluations(session);
}

FovStatus fov_session_prepare(FovSession *session, const FovTrainRequest *request) {
  *session = (FovSession){.request = request, .run = {.log = -1}, .best = {.loss = FOV_NO_LOSS}};
  FOV_TRY(fov_ranks_agree(request->ranks, prepare(session, request)));
  return fov_session_compare_ranks(session);
}

void fov_session_finish(FovSession *session) {
  fov_tfevents_close(session->events);
  fov_run_close(&session->run);
  fov_trainer_destroy(session->trainer);
  fov_env_finish(&session->valid_env);
  fov_env_finish(&session->train_env);
  free(session->config);
  fov_experiment_finish(&session->experiment);
}
