#include "experiment/sweep/sweep.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "experiment/sweep/folder.h"
#include "experiment/sweep/parts.h"
#include "record/outcomes.h"

static const double PATIENCE = 0.1; // seconds between two looks at the children

void fov_sweep_refresh(const FovSweep *sweep, FovSweepRun *run) {
  fov_sweep_scan(run, sweep->request->dir, sweep->episodes[run->configuration],
                 sweep->plan.options.rollouts);
}

/** With halving, a run that has not ended stands where the journal has it, whichever process wrote
 * that: also one that this process has seen paused, and another one continues. */
static void read_standing(FovSweep *sweep, int i) {
  FovSweepRun *run = &sweep->runs[i];
  if (run->state == FOV_SWEEP_FINISHED || run->state == FOV_SWEEP_DIVERGED) return;
  run->state = fov_halving_is_paused(sweep->halving, i)    ? FOV_SWEEP_PAUSED
               : fov_halving_has_failed(sweep->halving, i) ? FOV_SWEEP_FAILED
                                                           : FOV_SWEEP_WAITING;
}

/** Whether the files of a run may have more than this process knows. A finished run only gets its
 * tests, perhaps by another process. */
static bool may_have_news(const FovSweep *sweep, const FovSweepRun *run) {
  char path[FOV_PATH_SIZE], name[FOV_OUTCOMES_NAME];
  if (run->state != FOV_SWEEP_FINISHED) return run->state != FOV_SWEEP_RUNNING;
  if (fov_sweep_is_tested(run, sweep->plan.options.rollouts)) return false;
  fov_outcomes_name(name, FOV_SPLIT_TEST, 1);
  return fov_file_exists(fov_sweep_path(path, sweep->request->dir, run->name, name));
}

/** Reads the files of the runs that no child of this process works on. */
static void refresh_runs(FovSweep *sweep) {
  for (int i = 0; i < sweep->count; i++) {
    FovSweepRun *run = &sweep->runs[i];
    if (!may_have_news(sweep, run)) continue;
    fov_sweep_refresh(sweep, run);
    if (sweep->halving) read_standing(sweep, i);
  }
}

/** Replaces results.csv. If the folder has got more seeds or rollouts since this process began, a
 * start with these completes it. The lock lasts from reading to writing, so that the newest table
 * has all that older ones had. */
static FovStatus write_results(FovSweep *sweep) {
  int lock;
  FOV_TRY(fov_sweep_lock(&lock, sweep->request->dir));
  refresh_runs(sweep);
  FovStatus status = fov_sweep_folder_check(sweep->request->dir, &sweep->plan);
  if (status == FOV_OK)
    status = fov_sweep_write_results(sweep->request->dir, &sweep->plan, sweep->runs, sweep->count);
  else if (status == FOV_ERR_USAGE)
    status = fov_run_log(&sweep->log, "results.csv is not written: %s", fov_error_message());
  close(lock);
  return status;
}

FovStatus fov_sweep_start(FovSweep *sweep, FovSweepJob *job, FovSweepWork work, int run, int claim,
                          double until) {
  const FovSweepChild child = {.plan = &sweep->plan,
                               .run = &sweep->runs[run],
                               .dir = sweep->request->dir,
                               .command = sweep->request->command,
                               .work = work,
                               .threads = sweep->threads,
                               .until = until,
                               .slot = &sweep->slots[job - sweep->jobs],
                               .claim = claim};
  return fov_sweep_job_start(job, &child);
}

/** Whether a run that has ended has a result. */
static bool is_sound(FovSweepState state) {
  return state == FOV_SWEEP_PAUSED || state == FOV_SWEEP_FINISHED;
}

static void log_end(const FovSweep *sweep, const FovSweepRun *run) {
  if (is_sound(run->state) && *run->reason)
    fov_run_log(&sweep->log, "%s: test failed: %s", run->name, run->reason);
  else if (is_sound(run->state))
    fov_run_log(&sweep->log, "%s: validation error %.2f %%%s", run->name, 100 * run->valid_error,
                isfinite(run->test_error)        ? ", tested"
                : run->state == FOV_SWEEP_PAUSED ? ", paused"
                                                 : "");
  else
    fov_run_log(&sweep->log, "%s: %s", run->name, run->reason);
}

/** Takes note of how a child ended. */
static FovStatus end_job(FovSweep *sweep, FovSweepJob *job, FovStatus ended) {
  FovSweepRun *run = &sweep->runs[job->child.run - sweep->runs];
  const FovSweepSlot *slot = job->child.slot;
  bool tested = job->child.work == FOV_SWEEP_TEST; // a run without its test is finished, too
  run->state = ended != FOV_ERR_INTERRUPT ? (tested ? FOV_SWEEP_FINISHED : FOV_SWEEP_FAILED)
               : slot->paused             ? FOV_SWEEP_PAUSED
                                          : FOV_SWEEP_WAITING;
  snprintf(run->reason, sizeof run->reason, "%s", ended != FOV_ERR_INTERRUPT ? slot->message : "");
  FovStatus status = FOV_OK;
  if (ended == FOV_ERR_NUMBER) status = fov_sweep_note_divergence(run, sweep->request->dir);
  fov_sweep_refresh(sweep, run);
  if (status == FOV_OK && sweep->halving && job->child.work == FOV_SWEEP_TRAIN &&
      run->state != FOV_SWEEP_WAITING)
    status = fov_halving_end(sweep->halving, (int)(run - sweep->runs), &job->child.claim,
                             is_sound(run->state) ? run->valid_error : NAN);
  fov_sweep_job_release(job);
  FOV_TRY(status);
  if (run->state == FOV_SWEEP_WAITING) return FOV_OK;
  log_end(sweep, run);
  fov_sweep_notify(sweep, run);
  return write_results(sweep);
}

/** Copies what the children report, and takes note of those that ended. */
static FovStatus look(FovSweep *sweep) {
  for (int i = 0; i < sweep->most; i++) {
    FovSweepJob *job = &sweep->jobs[i];
    FovStatus ended;
    if (!job->process) continue;
    FovSweepRun *run = &sweep->runs[job->child.run - sweep->runs];
    run->progress = fmax(run->progress, job->child.slot->progress);
    if (isfinite(job->child.slot->valid_error)) run->valid_error = job->child.slot->valid_error;
    if (fov_sweep_job_has_ended(&ended, job, false)) FOV_TRY(end_job(sweep, job, ended));
  }
  return FOV_OK;
}

FovStatus fov_sweep_stop(FovSweep *sweep) {
  FovStatus ended, status = FOV_OK;
  for (int i = 0; i < FOV_SWEEP_JOBS; i++)
    if (sweep->jobs[i].process) kill(sweep->jobs[i].process, SIGTERM);
  for (int i = 0; i < FOV_SWEEP_JOBS; i++) {
    FovSweepJob *job = &sweep->jobs[i];
    if (!job->process || !fov_sweep_job_has_ended(&ended, job, true)) continue;
    if (job->child.work == FOV_SWEEP_TRAIN && ended != FOV_OK && ended != FOV_ERR_INTERRUPT &&
        ended != FOV_ERR_NUMBER)
      status = fov_fail(FOV_ERR_IO, "interrupted, but %s is not saved: %s", job->child.run->name,
                        job->child.slot->message);
    fov_sweep_job_release(job);
  }
  return status;
}

/** Whether a run is to be trained, or tested, by whoever gets its claim. */
static bool is_open(const FovSweep *sweep, int i) {
  const FovSweepRun *run = &sweep->runs[i];
  if (sweep->tried[i] || run->left_out) return false;
  if (!sweep->testing) return run->state == FOV_SWEEP_WAITING || run->state == FOV_SWEEP_FAILED;
  return run->state == FOV_SWEEP_FINISHED &&
         !fov_sweep_is_tested(run, sweep->plan.options.rollouts) &&
         run->configuration == sweep->tests[fov_sweep_row(&sweep->plan, run->configuration)];
}

/** The number of the k-th run in the order of work: the first seed of all configurations first. */
static int ordered(const FovSweep *sweep, int k) {
  int configurations = sweep->plan.configurations;
  return k % configurations * sweep->plan.seeds + k / configurations;
}

/** Claims an open run; −1: there is none that nobody works on. */
static FovStatus claim_next(int *next, int *claim, FovSweep *sweep) {
  *next = -1;
  for (int k = 0; k < sweep->count; k++) {
    int i = ordered(sweep, k);
    if (!is_open(sweep, i)) continue;
    FOV_TRY(fov_sweep_claim(claim, sweep->request->dir, sweep->runs[i].name));
    if (*claim < 0) continue;
    // Another process may have ended it since this one looked.
    fov_sweep_refresh(sweep, &sweep->runs[i]);
    if (is_open(sweep, i)) return *next = i, FOV_OK;
    close(*claim);
  }
  return FOV_OK;
}

static int active(const FovSweep *sweep) {
  int count = 0;
  for (int i = 0; i < sweep->most; i++) count += sweep->jobs[i].process != 0;
  return count;
}

/** The next run to train or test, claimed, and how far. */
static FovStatus choose_next(int *next, int *claim, double *until, FovSweep *sweep) {
  *until = 1;
  if (sweep->halving && !sweep->testing) {
    FOV_TRY(fov_halving_next(next, claim, until, sweep->halving));
    if (*next >= 0) fov_sweep_refresh(sweep, &sweep->runs[*next]);
    return FOV_OK;
  }
  FOV_TRY(claim_next(next, claim, sweep));
  if (*next >= 0) sweep->tried[*next] = true;
  return FOV_OK;
}

static FovStatus start_jobs(FovSweep *sweep) {
  for (int i = 0; i < sweep->most; i++) {
    FovSweepJob *job = &sweep->jobs[i];
    int next, claim;
    double until;
    if (job->process) continue;
    FOV_TRY(choose_next(&next, &claim, &until, sweep));
    if (next < 0) return FOV_OK;
    sweep->runs[next].state = FOV_SWEEP_RUNNING;
    FOV_TRY(fov_sweep_start(sweep, job, sweep->testing ? FOV_SWEEP_TEST : FOV_SWEEP_TRAIN, next,
                            claim, until));
  }
  return FOV_OK;
}

static bool is_interrupted(const FovSweep *sweep) {
  return sweep->request->interrupted && *sweep->request->interrupted;
}

void fov_sweep_continuation(char *text, size_t size, const FovSweep *sweep) {
  char dir[FOV_PATH_SIZE], rows[FOV_PATH_SIZE] = "";
  fov_text_word(dir, sizeof dir, sweep->request->dir);
  if (sweep->request->rows) fov_text_word(rows, sizeof rows, sweep->request->rows);
  snprintf(text, size, "fovea sweep -o %s%s%s%s", dir, sweep->plan.options.test ? " --test" : "",
           *rows ? " --rows " : "", rows);
}

static FovStatus fail_interrupted(const FovSweep *sweep) {
  char command[FOV_PATH_SIZE];
  fov_sweep_continuation(command, sizeof command, sweep);
  return fov_fail(FOV_ERR_INTERRUPT, "interrupted and saved; continue with: %s", command);
}

/** Works until nothing is open. */
static FovStatus work(FovSweep *sweep) {
  const struct timespec patience = {.tv_nsec = (long)(1e9 * PATIENCE)};
  for (;;) {
    if (is_interrupted(sweep)) return fail_interrupted(sweep);
    FOV_TRY(look(sweep));
    FOV_TRY(start_jobs(sweep));
    if (active(sweep) == 0) return FOV_OK;
    fov_sweep_notify(sweep, NULL);
    nanosleep(&patience, NULL);
  }
}

/** Whether every run has ended, here or in another process, and none that failed is being tried
 * again. */
static FovStatus find_complete(bool *complete, FovSweep *sweep) {
  *complete = true;
  for (int i = 0; i < sweep->count && *complete; i++) {
    FovSweepRun *run = &sweep->runs[i];
    int claim;
    if (run->left_out) continue;
    *complete = run->state != FOV_SWEEP_WAITING;
    if (run->state != FOV_SWEEP_FAILED) continue;
    FOV_TRY(fov_sweep_claim(&claim, sweep->request->dir, run->name));
    *complete = claim >= 0;
    if (claim < 0) continue;
    fov_sweep_refresh(sweep, run); // another process may have finished it
    close(claim);
  }
  return FOV_OK;
}

/** Begins the tests of what validation has chosen of each row. */
static void choose_tests(FovSweep *sweep) {
  sweep->testing = true;
  for (int r = 0; r < fov_sweep_count_rows(sweep); r++)
    sweep->tests[r] = fov_sweep_choose_of_row(sweep, r);
  memset(sweep->tried, 0, (size_t)sweep->count * sizeof *sweep->tried);
}

static FovStatus run_all(FovSweep *sweep) {
  bool complete = false;
  FOV_TRY(work(sweep));
  refresh_runs(sweep);
  if (sweep->plan.options.test) FOV_TRY(find_complete(&complete, sweep));
  if (complete) {
    choose_tests(sweep);
    FOV_TRY(work(sweep));
  }
  return write_results(sweep);
}

static FovStatus open_log(FovSweep *sweep) {
  char path[FOV_PATH_SIZE];
  snprintf(sweep->log.dir, sizeof sweep->log.dir, "%s", sweep->request->dir);
  fov_sweep_path(path, sweep->request->dir, FOV_SWEEP_LOG, NULL);
  return fov_file_open_append(&sweep->log.log, path);
}

FovStatus fov_sweep_write(FovSweep *sweep) {
  FOV_TRY(fov_sweep_folder_open(sweep->request->dir, &sweep->plan));
  FOV_TRY(open_log(sweep));
  FOV_TRY(fov_sweep_log(sweep, sweep->request->command));
  return write_results(sweep);
}

FovStatus fov_sweep_log(const FovSweep *sweep, const char *line) {
  return fov_run_log(&sweep->log, "%s", line);
}

FovStatus fov_sweep_run(FovSweep *sweep) {
  FOV_TRY(fov_sweep_write(sweep));
  FovStatus status = run_all(sweep);
  if (status == FOV_OK) return FOV_OK;
  char message[1024];
  snprintf(message, sizeof message, "%s", fov_error_message());
  FovStatus stopped = fov_sweep_stop(sweep);
  if (status == FOV_ERR_INTERRUPT && stopped != FOV_OK) {
    status = stopped;
    snprintf(message, sizeof message, "%s", fov_error_message());
  }
  fov_run_log(&sweep->log, "%s", message);
  return fov_fail(status, "%s", message);
}
