#include "experiment/session_parts.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

#include "base/profile.h"
#include "base/text.h"
#include "record/history.h"
#include "record/progress.h"

static double epoch(const FovSession *session) {
  const FovTrainOptions *o = &session->experiment.train;
  double images = (double)fov_session_update(session) * o->batch / o->copies;
  return images / (double)session->train_env.spec.cases;
}

/** From the pace of this part of the training. */
static double seconds_left(const FovSession *session) {
  double done = (double)(fov_session_update(session) - session->first_update);
  double left =
      (double)(fov_train_updates_planned(&session->training.options) - fov_session_update(session));
  return done > 0 ? (fov_now() - session->started) / done * left : 0;
}

/** Of training, without evaluations, since the last of them; 0 before the first update. */
static double glimpses_per_second(const FovSession *session) {
  const FovSums *sums = &fov_trainer_state(session->trainer)->sums;
  if (session->busy_seconds <= 0) return 0;
  return (double)(sums->glimpses - session->timed_glimpses) / session->busy_seconds;
}

/** Reports what has happened, with where the training stands. */
static void report(const FovSession *session, FovReportKind kind, const FovProgress *row) {
  const FovReporter *reporter = &session->request->reporter;
  if (!reporter->report) return;
  int64_t update = fov_session_update(session);
  const FovReport standing = {.kind = kind,
                              .dir = session->run.dir,
                              .experiment = &session->experiment,
                              .train = &session->train_env.spec,
                              .valid = &session->valid_env.spec,
                              .glimpses = fov_task_glimpses(&session->training.task),
                              .threads = session->request->threads,
                              .ranks = fov_ranks_count(session->request->ranks),
                              .update = update,
                              .updates = fov_train_updates_planned(&session->training.options),
                              .episodes = update * session->experiment.train.batch,
                              .epoch = epoch(session),
                              .glimpses_per_second = glimpses_per_second(session),
                              .seconds_left = seconds_left(session),
                              .sums = &fov_trainer_state(session->trainer)->sums,
                              .row = row,
                              .best = &session->best};
  reporter->report(reporter->context, &standing);
}

/** Adds the columns that depend on policy and objective: "policy_NAME" and "NAME_loss". A loss to
 * which nothing was added has no column. */
static void add_extras(FovProgress *row, const FovSession *session) {
  const FovTraining *training = &session->training;
  const FovPolicy *policy = training->task.policy;
  const FovSums *sums = &fov_trainer_state(session->trainer)->sums;
  double progress = fov_trainer_progress(session->trainer);
  FovFigure figures[FOV_POLICY_FIGURES];
  char name[FOV_FIGURE_NAME];
  int count =
      policy->figures ? policy->figures(figures, training->task.policy_options, progress) : 0;
  for (int i = 0; i < count; i++) {
    snprintf(name, sizeof name, "policy_%.20s", figures[i].name);
    fov_progress_add(row, name, figures[i].value);
  }
  for (int i = 0; training->objective->losses[i]; i++) {
    if (sums->losses[i] == 0) continue;
    snprintf(name, sizeof name, "%.20s_loss", training->objective->losses[i]);
    fov_progress_add(row, name, sums->losses[i] / (double)sums->episodes);
  }
}

/** One row, from the sums since the last and an evaluation. */
static FovProgress make_row(const FovSession *session, const FovEvalResult *valid) {
  const FovSums *sums = &fov_trainer_state(session->trainer)->sums;
  double episodes = (double)sums->episodes;
  FovProgress row = {
      .update = fov_session_update(session),
      .episodes = fov_session_update(session) * session->experiment.train.batch,
      .epoch = epoch(session),
      .seconds = session->earlier + fov_now() - session->started,
      .rate = fov_trainer_rate(session->trainer),
      .train_error = (double)sums->wrong / episodes,
      .train_reward = sums->reward / episodes,
      .gradient_norm = sums->gradient_norm / (double)sums->updates,
      .valid_error = (double)valid->wrong / (double)valid->cases,
      .valid_reward = valid->reward,
      .valid_glimpses = valid->glimpses,
      .glimpses_per_second = glimpses_per_second(session),
  };
  if (valid->answers > valid->cases)
    fov_progress_add(&row, "valid_answer_error",
                     (double)valid->wrong_answers / (double)valid->answers);
  if (session->valid_env.spec.answer == FOV_ANSWER_VECTOR) {
    fov_progress_add(&row, "valid_distance", valid->distance);
    fov_progress_add(&row, "valid_last_distance", valid->last_distance);
  }
  add_extras(&row, session);
  return row;
}

/** Evaluations of the training: at most one after every update. */
static int64_t all_evaluations(const FovSession *session) {
  int64_t updates = fov_train_updates_planned(&session->training.options);
  int64_t times = session->experiment.eval.times;
  return times < updates ? times : updates;
}

/** Evaluations up to an update, evenly spaced. */
static int64_t evaluations(const FovSession *session, int64_t update) {
  double updates = (double)fov_train_updates_planned(&session->training.options);
  return (int64_t)floor((double)update * (double)all_evaluations(session) / updates);
}

/** Whether an evaluation is due after the update just made. */
static bool is_due(const FovSession *session) {
  int64_t update = fov_session_update(session);
  return evaluations(session, update) > evaluations(session, update - 1);
}

/** Whether the history keeps a trace of it. */
static bool is_kept(const FovSession *session) {
  return fov_history_keeps(evaluations(session, fov_session_update(session)),
                           all_evaluations(session));
}

static FovStatus record_trace(const FovSession *session, const FovTask *task) {
  char path[FOV_PATH_SIZE];
  FovRecordRequest record = fov_session_record(session, task);
  record.values = fov_trainer_weights(session->trainer);
  record.update = fov_session_update(session);
  record.progress = fov_trainer_progress(session->trainer);
  FovTrace trace;
  FOV_TRY(fov_record_trace(&trace, &record, fov_trainer_workspace(session->trainer)));
  FovStatus status = fov_trace_write(&trace, fov_session_path(path, session, FOV_RUN_TRACE));
  if (status == FOV_OK && is_kept(session)) status = fov_history_add(session->run.dir, &trace);
  fov_trace_finish(&trace);
  return status;
}

static FovStatus write_row(const FovSession *session, const FovProgress *row) {
  char path[FOV_PATH_SIZE];
  FOV_TRY(fov_progress_append(fov_session_path(path, session, FOV_RUN_PROGRESS), row));
  FOV_TRY(fov_tfevents_row(session->events, row, (double)time(NULL)));
  report(session, FOV_REPORT_EVALUATED, row);
  return fov_run_log(&session->run, "update %lld: validation error %.2f %%, training error %.2f %%",
                     (long long)row->update, 100 * row->valid_error, 100 * row->train_error);
}

/** The loss by which the best weights are chosen: the error or, where the stop rule has a cost, one
 * question is asked several times, or answers are vectors, the negative reward. */
static double loss_of(const FovSession *session, const FovProgress *row) {
  const FovTask *task = &session->training.task;
  bool vectors = task->env->spec.answer == FOV_ANSWER_VECTOR;
  return task->stop->cost || task->env->spec.last || vectors ? -row->valid_reward
                                                             : row->valid_error;
}

/** Writes weights and trace of an evaluation. is_best: none was better before. */
static FovStatus write_weights(const FovSession *session, const FovTask *task, bool is_best) {
  if (is_best) FOV_TRY(fov_session_save_best(session));
  FOV_TRY(record_trace(session, task));
  return fov_session_save(session);
}

/** All ranks come to the same result; the first one writes it. */
static FovStatus evaluate(FovSession *session) {
  const FovEvalOptions *eval = &session->experiment.eval;
  FovTask task = fov_experiment_task(&session->experiment, &session->valid_env);
  int64_t cases = session->valid_env.spec.cases;
  fov_trainer_gather(session->trainer);
  FovEvalRequest what = {.task = &task,
                         .values = fov_trainer_weights(session->trainer),
                         .cases = eval->cases > 0 && eval->cases < cases ? eval->cases : cases,
                         .rollouts = 1,
                         .progress = fov_trainer_progress(session->trainer),
                         .seed = (uint64_t)eval->seed,
                         .split = FOV_SPLIT_VALID,
                         .threads = session->request->threads,
                         .ranks = session->request->ranks};
  FovEvalResult valid;
  FOV_TRY(fov_evaluate(&valid, &what, fov_trainer_workspace(session->trainer)));
  if (!isfinite(valid.reward))
    return fov_fail(
        FOV_ERR_NUMBER,
        "update %lld: the reward of the evaluation is not finite; try a lower train.rate",
        (long long)fov_trainer_state(session->trainer)->update);
  FovProgress row = make_row(session, &valid);
  bool is_best = loss_of(session, &row) < session->best.loss;
  if (is_best)
    session->best =
        (FovBest){.loss = loss_of(session, &row), .error = row.valid_error, .update = row.update};
  bool writes = fov_session_writes(session);
  FovStatus status = writes ? fov_run_check_own(&session->run) : FOV_OK;
  if (status == FOV_OK && writes) status = write_row(session, &row);
  fov_trainer_state(session->trainer)->sums = (FovSums){0};
  session->timed_glimpses = 0;
  session->busy_seconds = 0;
  if (status == FOV_OK && writes) status = write_weights(session, &task, is_best);
  return fov_ranks_agree(session->request->ranks, status);
}

/** Whether train.patience allows another update. */
static bool is_patient(const FovSession *session) {
  int patience = session->experiment.start.patience;
  int64_t since = evaluations(session, fov_session_update(session)) -
                  evaluations(session, session->best.update);
  return patience == 0 || since < patience;
}

/** Whether a rank has been interrupted: signals reach ranks at different updates. */
static bool is_interrupted(const FovSession *session) {
  const volatile sig_atomic_t *interrupted = session->request->interrupted;
  return interrupted && fov_ranks_any(session->request->ranks, *interrupted);
}

static FovStatus interrupt(const FovSession *session) {
  fov_trainer_gather(session->trainer);
  if (fov_session_writes(session)) {
    FOV_TRY(fov_run_check_own(&session->run));
    FOV_TRY(fov_session_save(session));
  }
  char dir[FOV_PATH_SIZE];
  return fov_fail(FOV_ERR_INTERRUPT, "interrupted and saved; resume with: fovea train %s --resume",
                  fov_text_word(dir, sizeof dir, session->run.dir));
}

static FovStatus train(FovSession *session) {
  while (fov_session_update(session) < fov_train_updates_planned(&session->training.options) &&
         is_patient(session)) {
    if (is_interrupted(session)) return interrupt(session);
    double start = fov_now();
    FOV_TRY(fov_trainer_update(session->trainer));
    session->busy_seconds += fov_now() - start;
    report(session, FOV_REPORT_UPDATED, NULL);
    if (is_due(session)) FOV_TRY(evaluate(session));
  }
  // A run that was shortened may have ended between two evaluations.
  return fov_trainer_state(session->trainer)->sums.updates > 0 ? evaluate(session) : FOV_OK;
}

/** Records a failure in the run's files, and returns it whatever else fails here. The checkpoint of
 * the last evaluation stays: after a gradient that is not finite, the weights just before it are no
 * better to resume from. */
static FovStatus end_badly(const FovSession *session, FovStatus status) {
  char message[1024];
  if (!fov_session_writes(session)) return status;
  // Where a run is moved, another call may fail before that is noticed.
  FovStatus own = fov_run_check_own(&session->run);
  if (own != FOV_OK) status = own;
  snprintf(message, sizeof message, "%s", fov_error_message());
  fov_run_log(&session->run, "%s", message);
  if (own == FOV_OK)
    fov_session_describe(session, status == FOV_ERR_INTERRUPT ? "interrupted" : message);
  return fov_fail(status, "%s", message);
}

static FovStatus end_well(const FovSession *session) {
  if (!fov_session_writes(session)) return FOV_OK;
  FOV_TRY(fov_run_log(&session->run, "finished"));
  FOV_TRY(fov_session_describe(session, "finished"));
  report(session, FOV_REPORT_FINISHED, NULL);
  return FOV_OK;
}

FovStatus fov_session_train(FovSession *session) {
  session->started = fov_now();
  report(session, session->run.resumed ? FOV_REPORT_RESUMED : FOV_REPORT_STARTED, NULL);
  FovStatus status = train(session);
  status = status == FOV_OK ? end_well(session) : end_badly(session, status);
  return fov_ranks_agree(session->request->ranks, status);
}

FovStatus fov_session_run(const FovTrainRequest *request) {
  FovSession session;
  FovStatus status = fov_session_prepare(&session, request);
  if (status == FOV_OK) status = fov_session_open(&session);
  if (status == FOV_OK) status = fov_session_train(&session);
  fov_session_finish(&session);
  return status;
}
