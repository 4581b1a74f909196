#include "experiment/internal.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "record/history.h"
#include "record/progress.h"

char *fov_session_path(char *path, const FovSession *session, const char *name) {
  return fov_run_path(path, &session->run, name);
}

int64_t fov_session_update(const FovSession *session) {
  return fov_trainer_state(session->trainer)->update;
}

FovStatus fov_session_describe(const FovSession *session, const char *outcome) {
  FovRunFacts facts = {.command = session->request->command,
                       .seed = session->experiment.general.seed,
                       .threads = session->request->threads,
                       .outcome = outcome};
  return fov_run_tell(&session->run, &facts);
}

static FovIdentity identity(const FovSession *session) {
  return (FovIdentity){.config = session->config, .data = session->train_env.spec.digest};
}

FovStatus fov_session_save(const FovSession *session) {
  char path[FOV_PATH_SIZE];
  FovIdentity is = identity(session);
  return fov_checkpoint_save(fov_session_path(path, session, FOV_RUN_LAST),
                             &session->experiment.agent.params, fov_trainer_state(session->trainer),
                             &session->best, &is);
}

FovStatus fov_session_save_best(const FovSession *session) {
  char path[FOV_PATH_SIZE];
  FovIdentity is = identity(session);
  return fov_checkpoint_save_weights(
      fov_session_path(path, session, FOV_RUN_BEST), &session->experiment.agent.params,
      fov_trainer_weights(session->trainer), fov_session_update(session), &is);
}

/** Goes on from the last checkpoint, and forgets the rows that were written after it. */
static FovStatus load(FovSession *session) {
  char path[FOV_PATH_SIZE];
  FovIdentity is = identity(session);
  FovTrainerState *state = fov_trainer_state(session->trainer);
  FOV_TRY(fov_checkpoint_check(fov_session_path(path, session, FOV_RUN_LAST), &is));
  FOV_TRY(fov_checkpoint_load(state, &session->best, &session->experiment.agent.params, path));
  if (state->update > fov_trainer_updates_planned(session->trainer))
    return fov_fail(FOV_ERR_FORMAT, "%s: expected at most %lld updates, found %lld", path,
                    (long long)fov_trainer_updates_planned(session->trainer),
                    (long long)state->update);
  fov_session_path(path, session, FOV_RUN_PROGRESS);
  if (!fov_file_exists(path)) return FOV_OK;
  FOV_TRY(fov_progress_truncate(path, state->update));
  FovProgress *rows;
  size_t count;
  FOV_TRY(fov_progress_read(&rows, &count, path));
  if (count > 0) session->earlier = rows[count - 1].seconds;
  free(rows);
  return FOV_OK;
}

static FovStatus begin(const FovSession *session) {
  char path[FOV_PATH_SIZE];
  FOV_TRY(fov_file_write(fov_session_path(path, session, FOV_RUN_CONFIG), session->config,
                         strlen(session->config)));
  return fov_session_save(session);
}

FovStatus fov_session_open(FovSession *session) {
  char dir[sizeof session->run.dir];
  memcpy(dir, session->run.dir, sizeof dir);
  FOV_TRY(fov_run_open(&session->run, dir, session->request->resume));
  FOV_TRY(session->run.resumed ? load(session) : begin(session));
  FOV_TRY(fov_history_begin(dir, fov_session_update(session)));
  session->first_update = fov_session_update(session);
  session->timed_glimpses = fov_trainer_state(session->trainer)->sums.glimpses;
  FOV_TRY(fov_tfevents_open(&session->events, session->run.dir, (double)time(NULL),
                            session->run.resumed, session->first_update + 1));
  FOV_TRY(fov_run_log(&session->run, "%s", session->request->command));
  FOV_TRY(fov_run_log(&session->run, "%s at update %lld with %d threads",
                      session->run.resumed ? "resumed" : "began", (long long)session->first_update,
                      session->request->threads));
  return fov_session_describe(session, "running");
}
