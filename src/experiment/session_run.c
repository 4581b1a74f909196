#include "experiment/session_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "base/text.h"
#include "record/history.h"
#include "record/progress.h"
#include "record/provenance.h"

char *fov_session_path(char *path, const FovSession *session, const char *name) {
  return fov_run_path(path, &session->run, name);
}

int64_t fov_session_update(const FovSession *session) {
  return fov_trainer_state(session->trainer)->update;
}

bool fov_session_writes(const FovSession *session) {
  return fov_ranks_is_first(session->request->ranks);
}

FovStatus fov_session_describe(const FovSession *session, const char *outcome) {
  FovRunFacts facts = {.command = session->request->command,
                       .seed = session->experiment.general.seed,
                       .threads = session->request->threads,
                       .ranks = fov_ranks_count(session->request->ranks),
                       .outcome = outcome,
                       .changes = session->changes,
                       .change_count = session->change_count};
  return fov_run_describe(&session->run, &facts);
}

static FovIdentity identity(const FovSession *session) {
  return (FovIdentity){.config = session->config,
                       .data = session->train_env.spec.digest,
                       .symbols = fov_env_symbols(&session->train_env.spec),
                       .standard = session->experiment.standard};
}

FovStatus fov_session_save(const FovSession *session) {
  char path[FOV_PATH_SIZE];
  FovIdentity is = identity(session);
  return fov_checkpoint_save(fov_session_path(path, session, FOV_RUN_LAST),
                             &session->experiment.agent.params, fov_trainer_state(session->trainer),
                             fov_trainer_weights(session->trainer), &session->best, &is);
}

FovStatus fov_session_save_best(const FovSession *session) {
  char path[FOV_PATH_SIZE];
  FovIdentity is = identity(session);
  return fov_checkpoint_save_weights(
      fov_session_path(path, session, FOV_RUN_BEST), &session->experiment.agent.params,
      fov_trainer_weights(session->trainer), fov_session_update(session), &is);
}

/** Resolves a checkpoint's configuration and dumps it: the same settings under present names. */
static FovStatus renew(char **renewed, const char *config, const char *path) {
  FovExperiment experiment;
  *renewed = NULL;
  FovStatus status = fov_experiment_init(&experiment);
  if (status == FOV_OK) status = fov_settings_parse(experiment.settings, config, path);
  if (status == FOV_OK) status = fov_experiment_resolve(&experiment);
  if (status == FOV_OK) status = fov_config_dump(renewed, &experiment.config);
  fov_experiment_finish(&experiment);
  return status;
}

/** Splits a line of a dump, `key = value`, into a change's fields; false if it does not fit. */
static bool split_line(char key[64], char value[64], const char *line) {
  const char *equals = strstr(line, " = ");
  if (!equals || equals - line >= 64 || strlen(equals + 3) >= 64) return false;
  memcpy(key, line, (size_t)(equals - line));
  key[equals - line] = '\0';
  strcpy(value, equals + 3);
  return true;
}

/** Whether the two lines set one option that changes neither agent nor data. */
static bool may_change(FovRunChange *change, const char *was, const char *is) {
  static const char *const keys[] = {"train.rate", "train.clip", "train.episodes",
                                     "train.patience"};
  char key[64];
  if (!split_line(change->key, change->from, was) || !split_line(key, change->to, is)) return false;
  if (strcmp(key, change->key) != 0) return false;
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    if (strcmp(key, keys[i]) == 0) return true;
  return false;
}

/** Whether the two lines name the files of the data, which may have moved: the digest of those to
 * train on is compared, too. */
static bool name_data(const char *was, const char *is) {
  static const char *const starts[] = {
      "env.data = ", "env.source = ", "env.target = ", "env.test_source = ", "env.test_target = "};
  for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
    size_t length = strlen(starts[i]);
    if (strncmp(was, starts[i], length) == 0 && strncmp(is, starts[i], length) == 0) return true;
  }
  return false;
}

/** Compares two dumps line by line, which it cuts, and records the changes. */
static FovStatus compare_lines(FovSession *session, char *was, char *is, const char *path) {
  char quoted[FOV_PATH_SIZE];
  while (was || is) {
    const char *old_line = was ? strsep(&was, "\n") : "", *line = is ? strsep(&is, "\n") : "";
    FovRunChange change = {.update = 0};
    if (strcmp(old_line, line) == 0) continue;
    if (name_data(old_line, line)) {
      session->moved = true;
      continue;
    }
    if (session->request->file || !may_change(&change, old_line, line) ||
        session->change_count == FOV_MAX_RUN_CHANGES)
      return fov_fail(FOV_ERR_USAGE,
                      "%s: was started with '%s', not with '%s'; choose another --run (only "
                      "train.rate, .clip, .episodes and .patience can change, and names of files "
                      "of the data: fovea train %s --resume train.rate=...)",
                      path, old_line, line, fov_text_word(quoted, sizeof quoted, session->run.dir));
    session->changes[session->change_count++] = change;
  }
  return FOV_OK;
}

/** Compares the checkpoint's configuration, under present names, with that of the session. */
static FovStatus compare_config(FovSession *session, const char *config, const char *path) {
  char *was, *is;
  FOV_TRY(renew(&was, config, path));
  is = strdup(session->config);
  FovStatus status = is ? compare_lines(session, was, is, path)
                        : fov_fail(FOV_ERR_MEMORY, "%s: no memory for its configuration", path);
  free(was);
  free(is);
  return status;
}

/** Fails unless the checkpoint is of this training: the same settings and data. */
static FovStatus check(FovSession *session, const FovSafetensors *file) {
  const char *config;
  FOV_TRY(fov_checkpoint_config(&config, file));
  FOV_TRY(compare_config(session, config, fov_safetensors_path(file)));
  session->outdated = strcmp(config, session->config) != 0;
  return fov_checkpoint_check_data(file, session->train_env.spec.digest);
}

/** Reports a checkpoint without a digest. */
static void note_unchecked(FovSession *session, const FovSafetensors *file) {
  char line[FOV_PATH_SIZE + 128];
  if (fov_safetensors_is_checked(file)) return;
  snprintf(line, sizeof line, "%s: %s", fov_safetensors_path(file), fov_provenance_note);
  fov_session_note(session, line);
}

static FovStatus load_state(FovSession *session, const FovSafetensors *file) {
  FovTrainerState *state = fov_trainer_state(session->trainer);
  FOV_TRY(check(session, file));
  FOV_TRY(fov_checkpoint_load(state, &session->best, &session->experiment.agent.params, file));
  // Versions that did not standardise images wrote the same settings.
  FOV_TRY(fov_checkpoint_standard(&session->experiment.standard, file));
  note_unchecked(session, file);
  int64_t planned = fov_train_updates_planned(&session->training.options);
  if (state->update > planned)
    return fov_fail(FOV_ERR_USAGE,
                    "%s: has made %lld updates, more than the %lld of train.episodes = %lld",
                    fov_safetensors_path(file), (long long)state->update, (long long)planned,
                    (long long)session->experiment.train.episodes);
  return FOV_OK;
}

/** Whether best.safetensors has the best weights of the updates until the checkpoint. A process
 * that was killed may have written better ones after it; with the same settings they are found
 * again. */
static bool best_is_right(const FovSession *session, const char *path) {
  int64_t update;
  FovSafetensors *file;
  if (!fov_file_exists(path)) return session->best.loss == FOV_NO_LOSS;
  if (fov_safetensors_open(&file, path) != FOV_OK) return false;
  FovStatus status = fov_checkpoint_update(&update, file);
  fov_safetensors_close(file);
  return status == FOV_OK && (session->change_count == 0 || update <= fov_session_update(session));
}

/** Writes the best weights again, with the present configuration: their data have moved. */
static FovStatus renew_best(const FovSession *session, const char *path) {
  int64_t update;
  FovSafetensors *file;
  real *values = NULL;
  FovIdentity is = identity(session);
  const FovParams *params = &session->experiment.agent.params;
  FOV_TRY(fov_safetensors_open(&file, path));
  FovStatus status = fov_checkpoint_load_weights(&values, &update, params, false, file);
  fov_safetensors_close(file);
  if (status == FOV_OK) status = fov_checkpoint_save_weights(path, params, values, update, &is);
  free(values);
  return status;
}

/** If the best weights are lost, the best of the remaining evaluations replace them. */
static FovStatus check_best(FovSession *session) {
  char path[FOV_PATH_SIZE];
  bool right = best_is_right(session, fov_session_path(path, session, FOV_RUN_BEST));
  if (right) return session->moved && fov_file_exists(path) ? renew_best(session, path) : FOV_OK;
  if (fov_session_update(session) == fov_train_updates_planned(&session->training.options))
    return fov_fail(FOV_ERR_USAGE,
                    "%s: missing, damaged, or newer than " FOV_RUN_LAST ", and no update is left "
                    "to replace it; set more train.episodes",
                    path);
  session->best = (FovBest){.loss = FOV_NO_LOSS, .update = fov_session_update(session)};
  session->outdated = true; // its best loss is that of lost weights
  fov_session_note(session, "the best weights are missing, damaged, or newer than the last "
                            "checkpoint: they are chosen again, from the next evaluation on");
  return FOV_OK;
}

/** Continues from the last checkpoint, and removes the rows that were written after it. */
static FovStatus load(FovSession *session) {
  char path[FOV_PATH_SIZE];
  FovSafetensors *file;
  FOV_TRY(fov_safetensors_open(&file, fov_session_path(path, session, FOV_RUN_LAST)));
  FovStatus status = load_state(session, file);
  fov_safetensors_close(file);
  FOV_TRY(status);
  FOV_TRY(check_best(session));
  fov_session_path(path, session, FOV_RUN_PROGRESS);
  if (!fov_file_exists(path)) return FOV_OK;
  FOV_TRY(fov_progress_truncate(path, fov_session_update(session)));
  FovProgress *rows;
  size_t count;
  FOV_TRY(fov_progress_read(&rows, &count, path));
  if (count > 0) session->earlier = rows[count - 1].seconds;
  free(rows);
  return FOV_OK;
}

static FovStatus write_config(const FovSession *session) {
  char path[FOV_PATH_SIZE];
  return fov_file_write(fov_session_path(path, session, FOV_RUN_CONFIG), session->config,
                        strlen(session->config));
}

static FovStatus begin(const FovSession *session) {
  const char *init = session->experiment.start.init;
  if (*init)
    FOV_TRY(fov_run_log(
        &session->run,
        "starts from the weights of %s; %d parameters of heads keep their initial values", init,
        session->kept));
  FOV_TRY(write_config(session));
  return fov_session_save(session);
}

/** Records the changes of a resumption. The checkpoint comes last: until it has the new settings,
 * they can be given again. */
static FovStatus record_changes(FovSession *session) {
  for (int i = 0; i < session->change_count; i++) {
    FovRunChange *change = &session->changes[i];
    change->update = session->first_update;
    FOV_TRY(fov_run_log(&session->run, "%s changed from %s to %s at update %lld", change->key,
                        change->from, change->to, (long long)change->update));
  }
  FOV_TRY(fov_session_describe(session, "running"));
  if (!session->run.resumed) return FOV_OK;
  FOV_TRY(write_config(session));
  return session->outdated ? fov_session_save(session) : FOV_OK;
}

/** "4 threads", or "8 threads on 2 ranks". */
static void print_workers(char text[64], int ranks, int threads) {
  int length = snprintf(text, 64, "%d thread%s", ranks * threads, fov_plural(ranks * threads));
  if (ranks > 1) snprintf(text + length, 64 - (size_t)length, " on %d ranks", ranks);
}

/** Reports that some threads or ranks have nothing to train on, and the setting that changes it. */
static void note_idle(FovSession *session) {
  const FovTrainOptions *o = &session->training.options;
  int ranks = fov_ranks_count(session->request->ranks), fed = fov_train_shards(o);
  int threads = ranks * session->request->threads;
  FovTrainOptions better = *o;
  better.shard = fov_train_shard_for(o, threads);
  int feeds = fov_train_shards(&better);
  // A run is resumed with its own shard and batch: only ranks can then be started otherwise.
  bool useful = !session->run.resumed && feeds > fed;
  if (fed >= threads || (!useful && fed >= ranks)) return;
  char line[256], workers[64], remedy[64], number[16];
  print_workers(workers, ranks, session->request->threads);
  snprintf(number, sizeof number, "%d", feeds);
  if (session->run.resumed)
    snprintf(remedy, sizeof remedy, "start at most %d rank%s", fed, fov_plural(fed));
  else if (useful)
    snprintf(remedy, sizeof remedy, "set train.shard = %d to use %s", better.shard,
             feeds < threads ? number : "all");
  else
    snprintf(remedy, sizeof remedy, "set a larger train.batch");
  snprintf(line, sizeof line, "%s, but a batch of %d in shards of %d occupies %d: %s", workers,
           o->batch, o->shard, fed, remedy);
  fov_session_note(session, line);
}

static FovStatus open_run(FovSession *session) {
  char dir[sizeof session->run.dir], workers[64];
  memcpy(dir, session->run.dir, sizeof dir);
  FOV_TRY(fov_run_open(&session->run, dir, session->request->resume));
  FOV_TRY(session->run.resumed ? load(session) : begin(session));
  note_idle(session);
  FOV_TRY(fov_history_begin(dir, fov_session_update(session)));
  session->first_update = fov_session_update(session);
  session->timed_glimpses = fov_trainer_state(session->trainer)->sums.glimpses;
  FOV_TRY(fov_tfevents_open(&session->events, session->run.dir, (double)time(NULL),
                            session->run.resumed, session->first_update + 1));
  FOV_TRY(fov_run_log(&session->run, "%s", session->request->command));
  print_workers(workers, fov_ranks_count(session->request->ranks), session->request->threads);
  FOV_TRY(fov_run_log(&session->run, "%s at update %lld with %s",
                      session->run.resumed ? "resumed" : "began", (long long)session->first_update,
                      workers));
  return record_changes(session);
}

FovStatus fov_session_open(FovSession *session) {
  FovStatus status = fov_session_writes(session) ? open_run(session) : FOV_OK;
  FOV_TRY(fov_ranks_agree(session->request->ranks, status));
  fov_session_share_state(session);
  return FOV_OK;
}
