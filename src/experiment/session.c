#include "experiment/session.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "base/profile.h"
#include "cli/report.h"
#include "record/history.h"
#include "record/progress.h"
#include "record/recorder.h"

static char *path_of(char *path, const FovSession *session, const char *name) {
  return fov_run_path(path, &session->run, name);
}

static int64_t updates_done(const FovSession *session) {
  return fov_trainer_state(session->trainer)->update;
}

/* ---- preparing ---- */

static FovStatus read_settings(FovSession *session) {
  const FovTrainRequest *request = session->request;
  FovSettings *settings = session->experiment.settings;
  if (request->file) {
    FOV_TRY(fov_settings_read(settings, request->file));
  } else {
    char path[FOV_PATH_SIZE], *config;
    FOV_TRY(fov_run_find(path, request->dir, FOV_RUN_LAST));
    FOV_TRY(fov_checkpoint_config(&config, path));
    FovStatus status = fov_settings_parse(settings, config, path);
    free(config);
    FOV_TRY(status);
  }
  for (int i = 0; i < request->change_count; i++)
    FOV_TRY(fov_settings_add(settings, request->changes[i]));
  return fov_experiment_resolve(&session->experiment);
}

/** The asked-for directory, or runs/NAME-sSEED from the experiment's file and its seed. */
static FovStatus choose_dir(FovSession *session) {
  const FovTrainRequest *request = session->request;
  char *dir = session->run.dir;
  size_t size = sizeof session->run.dir, length;
  if (request->dir) {
    length = (size_t)snprintf(dir, size, "%s", request->dir);
  } else {
    const char *slash = strrchr(request->file, '/'), *name = slash ? slash + 1 : request->file;
    const char *dot = strrchr(name, '.');
    int stem = dot && dot != name ? (int)(dot - name) : (int)strlen(name);
    length = (size_t)snprintf(dir, size, "runs/%.*s-s%lld", stem, name,
                              (long long)session->experiment.general.seed);
  }
  if (length >= size)
    return fov_fail(FOV_ERR_USAGE, "the run's path has more than %zu bytes", size - 1);
  return fov_run_check(dir, request->resume);
}

/** Bytes that a run's trace has at most: it is written anew at each evaluation. */
enum { TRACE_ROOM = 64 << 20 };

/** What is recorded at an evaluation, for the viewer: fewer episodes than asked for if large. */
static FovRecordRequest record_of(const FovSession *session, const FovTask *task) {
  return (FovRecordRequest){.task = task,
                            .episodes = session->experiment.eval.episodes,
                            .room = TRACE_ROOM,
                            .seed = (uint64_t)session->experiment.eval.seed,
                            .split = FOV_SPLIT_VALID};
}

static FovStatus check_record(const FovSession *session) {
  FovTask task = fov_experiment_task(&session->experiment, &session->valid_env);
  FovRecordRequest record = record_of(session, &task);
  return fov_record_check(&record);
}

FovStatus fov_session_prepare(FovSession *session, const FovTrainRequest *request) {
  *session = (FovSession){.request = request, .run = {.log = -1}, .best = {.loss = FOV_NO_LOSS}};
  FovExperiment *experiment = &session->experiment;
  FOV_TRY(fov_experiment_init(experiment));
  FOV_TRY(read_settings(session));
  FOV_TRY(choose_dir(session));
  FOV_TRY(fov_config_dump(&session->config, &experiment->config));
  FOV_TRY(fov_experiment_env(&session->train_env, experiment, FOV_SPLIT_TRAIN));
  FOV_TRY(fov_experiment_env(&session->valid_env, experiment, FOV_SPLIT_VALID));
  FOV_TRY(fov_experiment_build(experiment, &session->train_env.spec));
  session->training = fov_experiment_training(experiment, &session->train_env);
  FOV_TRY(fov_trainer_create(&session->trainer, &session->training, request->threads));
  return check_record(session);
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

/* ---- the run directory ---- */

static FovStatus tell(const FovSession *session, const char *outcome) {
  FovRunFacts facts = {.command = session->request->command,
                       .seed = session->experiment.general.seed,
                       .threads = session->request->threads,
                       .outcome = outcome};
  return fov_run_tell(&session->run, &facts);
}

static FovIdentity identity(const FovSession *session) {
  return (FovIdentity){.config = session->config, .data = session->train_env.spec.digest};
}

static FovStatus save(const FovSession *session) {
  char path[FOV_PATH_SIZE];
  FovIdentity is = identity(session);
  return fov_checkpoint_save(path_of(path, session, FOV_RUN_LAST),
                             &session->experiment.agent.params, fov_trainer_state(session->trainer),
                             &session->best, &is);
}

static FovStatus save_best(const FovSession *session) {
  char path[FOV_PATH_SIZE];
  FovIdentity is = identity(session);
  return fov_checkpoint_save_weights(
      path_of(path, session, FOV_RUN_BEST), &session->experiment.agent.params,
      fov_trainer_weights(session->trainer), updates_done(session), &is);
}

/** Goes on from the last checkpoint, and forgets the rows that were written after it. */
static FovStatus load(FovSession *session) {
  char path[FOV_PATH_SIZE];
  FovIdentity is = identity(session);
  FovTrainerState *state = fov_trainer_state(session->trainer);
  FOV_TRY(fov_checkpoint_check(path_of(path, session, FOV_RUN_LAST), &is));
  FOV_TRY(fov_checkpoint_load(state, &session->best, &session->experiment.agent.params, path));
  if (state->update > fov_trainer_updates_planned(session->trainer))
    return fov_fail(FOV_ERR_FORMAT, "%s: expected at most %lld updates, found %lld", path,
                    (long long)fov_trainer_updates_planned(session->trainer),
                    (long long)state->update);
  path_of(path, session, FOV_RUN_PROGRESS);
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
  FOV_TRY(fov_file_write(path_of(path, session, FOV_RUN_CONFIG), session->config,
                         strlen(session->config)));
  return save(session);
}

FovStatus fov_session_open(FovSession *session) {
  char dir[sizeof session->run.dir];
  memcpy(dir, session->run.dir, sizeof dir);
  FOV_TRY(fov_run_open(&session->run, dir, session->request->resume));
  FOV_TRY(session->run.resumed ? load(session) : begin(session));
  FOV_TRY(fov_history_begin(dir, updates_done(session)));
  session->first_update = updates_done(session);
  session->timed_glimpses = fov_trainer_state(session->trainer)->sums.glimpses;
  FOV_TRY(fov_tfevents_open(&session->events, session->run.dir, (double)time(NULL),
                            session->run.resumed, session->first_update + 1));
  FOV_TRY(fov_run_log(&session->run, "%s", session->request->command));
  FOV_TRY(fov_run_log(&session->run, "%s at update %lld with %d threads",
                      session->run.resumed ? "resumed" : "began", (long long)session->first_update,
                      session->request->threads));
  return tell(session, "running");
}

/* ---- training ---- */

static double epoch(const FovSession *session) {
  const FovTrainOptions *o = &session->experiment.train;
  double images = (double)updates_done(session) * o->batch / o->copies;
  return images / (double)session->train_env.spec.cases;
}

static double seconds_left(const FovSession *session) {
  double done = (double)(updates_done(session) - session->first_update);
  double left = (double)(fov_trainer_updates_planned(session->trainer) - updates_done(session));
  return (fov_now() - session->started) / done * left;
}

/** Of training, evaluations excluded, since the last of them. */
static double glimpses_per_second(const FovSession *session) {
  const FovSums *sums = &fov_trainer_state(session->trainer)->sums;
  return (double)(sums->glimpses - session->timed_glimpses) / session->busy_seconds;
}

/** One row, from the sums since the last and an evaluation. */
static FovProgress make_row(const FovSession *session, const FovEvalResult *valid) {
  const FovExperiment *experiment = &session->experiment;
  const FovTask *task = &session->training.task;
  const FovSums *sums = &fov_trainer_state(session->trainer)->sums;
  FovFigure figures[FOV_POLICY_FIGURES];
  double episodes = (double)sums->episodes, progress = fov_trainer_progress(session->trainer);
  return (FovProgress){
      .update = updates_done(session),
      .episodes = updates_done(session) * experiment->train.batch,
      .epoch = epoch(session),
      .seconds = session->earlier + fov_now() - session->started,
      .rate = fov_trainer_rate(session->trainer),
      .sigma =
          task->policy->figures && task->policy->figures(figures, task->policy_options, progress)
              ? figures[0].value
              : NAN,
      .train_error = (double)sums->wrong / episodes,
      .train_reward = sums->reward / episodes,
      .class_loss = task->env->spec.answer == FOV_ANSWER_MOVE ? NAN : sums->losses[0] / episodes,
      .baseline_loss =
          session->training.task.baseline->head.build ? sums->losses[1] / episodes : NAN,
      .gradient_norm = sums->gradient_norm / (double)sums->updates,
      .valid_error = (double)valid->wrong / (double)valid->cases,
      .valid_reward = valid->reward,
      .valid_glimpses = valid->glimpses,
      .glimpses_per_second = glimpses_per_second(session),
  };
}

/** Evaluations up to an update: `times` in all, evenly spaced. */
static int64_t evaluations(const FovSession *session, int64_t update) {
  double updates = (double)fov_trainer_updates_planned(session->trainer);
  return (int64_t)floor((double)update * session->experiment.eval.times / updates);
}

/** Whether an evaluation is due after the update just made. */
static bool is_due(const FovSession *session) {
  int64_t update = updates_done(session);
  return evaluations(session, update) > evaluations(session, update - 1);
}

/** Whether the history keeps a trace of it. */
static bool is_kept(const FovSession *session) {
  int64_t last = fov_trainer_updates_planned(session->trainer), update = updates_done(session);
  int64_t times = session->experiment.eval.times;
  if (times >= last) return fov_history_keeps(update, last); // one after every update
  return fov_history_keeps(evaluations(session, update), times);
}

static FovStatus record_trace(const FovSession *session, const FovTask *task) {
  char path[FOV_PATH_SIZE];
  FovRecordRequest record = record_of(session, task);
  record.values = fov_trainer_weights(session->trainer);
  record.update = updates_done(session);
  FovTrace trace;
  FOV_TRY(fov_record_trace(&trace, &record, fov_trainer_workspace(session->trainer)));
  FovStatus status = fov_trace_write(&trace, path_of(path, session, FOV_RUN_TRACE));
  if (status == FOV_OK && is_kept(session)) status = fov_history_add(session->run.dir, &trace);
  fov_trace_finish(&trace);
  return status;
}

static FovStatus write_row(const FovSession *session, const FovProgress *row) {
  char path[FOV_PATH_SIZE];
  FOV_TRY(fov_progress_append(path_of(path, session, FOV_RUN_PROGRESS), row));
  FOV_TRY(fov_tfevents_row(session->events, row, (double)time(NULL)));
  FOV_TRY(fov_tfevents_flush(session->events));
  fov_report_row(row, seconds_left(session));
  return fov_run_log(&session->run, "update %lld: validation error %.2f %%, training error %.2f %%",
                     (long long)row->update, 100 * row->valid_error, 100 * row->train_error);
}

/** What the best weights have least of: errors or, where glimpses cost something, the reward's
 * negative. */
static double loss_of(const FovSession *session, const FovProgress *row) {
  return session->training.task.stop->cost ? -row->valid_reward : row->valid_error;
}

static FovStatus evaluate(FovSession *session) {
  const FovEvalOptions *eval = &session->experiment.eval;
  FovTask task = fov_experiment_task(&session->experiment, &session->valid_env);
  int64_t cases = session->valid_env.spec.cases;
  FovEvalRequest what = {.task = &task,
                         .values = fov_trainer_weights(session->trainer),
                         .cases = eval->cases > 0 && eval->cases < cases ? eval->cases : cases,
                         .rollouts = 1,
                         .seed = (uint64_t)eval->seed,
                         .split = FOV_SPLIT_VALID,
                         .threads = session->request->threads};
  FovEvalResult valid;
  FOV_TRY(fov_evaluate(&valid, &what, fov_trainer_workspace(session->trainer)));
  FovProgress row = make_row(session, &valid);
  FOV_TRY(write_row(session, &row));
  fov_trainer_state(session->trainer)->sums = (FovSums){0};
  session->timed_glimpses = 0;
  session->busy_seconds = 0;
  if (loss_of(session, &row) < session->best.loss) {
    session->best =
        (FovBest){.loss = loss_of(session, &row), .error = row.valid_error, .update = row.update};
    FOV_TRY(save_best(session));
  }
  FOV_TRY(record_trace(session, &task));
  return save(session);
}

static FovStatus interrupt(const FovSession *session) {
  FOV_TRY(save(session));
  return fov_fail(FOV_ERR_INTERRUPT,
                  "interrupted and saved; go on with: fovea train --resume --run %s",
                  session->run.dir);
}

static FovStatus train(FovSession *session) {
  session->started = fov_now();
  while (updates_done(session) < fov_trainer_updates_planned(session->trainer)) {
    if (*session->request->interrupted) return interrupt(session);
    double start = fov_now();
    FOV_TRY(fov_trainer_update(session->trainer));
    session->busy_seconds += fov_now() - start;
    FovStanding standing = {.progress = fov_trainer_progress(session->trainer),
                            .epoch = epoch(session),
                            .sums = &fov_trainer_state(session->trainer)->sums,
                            .glimpses_per_second = glimpses_per_second(session),
                            .seconds_left = seconds_left(session)};
    fov_report_standing(&standing);
    if (is_due(session)) FOV_TRY(evaluate(session));
  }
  return FOV_OK;
}

static void print_start(const FovSession *session) {
  const FovExperiment *e = &session->experiment;
  const FovGlimpseShape *glimpse = &e->agent.glimpse;
  printf("%s: %s, %d glimpses of %d x %d at %d scales, encoder %s, core %s, %zu parameters, %d "
         "threads\n",
         session->run.dir, e->slots[FOV_SLOT_ENV].plugin->name,
         fov_task_glimpses(&session->training.task), glimpse->side, glimpse->side, glimpse->scales,
         e->slots[FOV_SLOT_ENCODER].plugin->name, e->slots[FOV_SLOT_CORE].plugin->name,
         fov_params_learned(&e->agent.params), session->request->threads);
  if (session->run.resumed) printf("resumed at update %lld\n", (long long)session->first_update);
  fflush(stdout);
}

/** Tells the run's files of a failure, and returns it whatever else fails here. */
static FovStatus end_badly(const FovSession *session, FovStatus status) {
  char message[1024];
  snprintf(message, sizeof message, "%s", fov_error_message());
  // A gradient that is not finite leaves the state before it, which is worth keeping.
  if (status == FOV_ERR_NUMBER) save(session);
  fov_run_log(&session->run, "%s", message);
  tell(session, status == FOV_ERR_INTERRUPT ? "interrupted" : message);
  return fov_fail(status, "%s", message);
}

FovStatus fov_session_train(FovSession *session) {
  print_start(session);
  FovStatus status = train(session);
  fov_report_leave();
  if (status != FOV_OK) return end_badly(session, status);
  FOV_TRY(fov_run_log(&session->run, "finished"));
  FOV_TRY(tell(session, "finished"));
  printf("best validation error %.2f %% at update %lld; test it once with: fovea eval %s\n",
         100 * session->best.error, (long long)session->best.update, session->run.dir);
  return FOV_OK;
}
