#include "experiment/sweep/sweep.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/profile.h"
#include "base/team.h"
#include "experiment/sweep/folder.h"
#include "experiment/sweep/halving.h"
#include "experiment/sweep/job.h"

enum { MAX_JOBS = FOV_MAX_THREADS };

static const double PATIENCE = 0.1; // seconds between two looks at the children

struct FovSweep {
  const FovSweepRequest *request;
  FovSweepPlan plan;
  FovEnv train, valid; // of run `first`: its children share their data
  FovSweepRun *runs;
  bool *tried;       // [count]: by this process, as far as it went
  int64_t *episodes; // [configurations]: of a whole training
  int count;
  int first; // the first run that is not left out
  int times; // evaluations of a training, at the least
  FovSweepJob jobs[MAX_JOBS];
  FovSweepSlot *slots; // [MAX_JOBS], shared with the children
  int most, threads;   // runs at a time; threads of each
  double bytes;        // of `most` runs
  FovHalving *halving; // NULL: every run is trained to its end
  FovRun log;
  bool testing;              // training is over
  int tests[FOV_SWEEP_ROWS]; // testing: the configuration of each row that is tested; −1: none
  double started;
};

/* ---- reports ---- */

/** Mean validation error of a configuration whose runs are all finished; else infinite. */
static double mean_error(const FovSweep *sweep, int configuration) {
  double sum = 0;
  for (int s = 0; s < sweep->plan.seeds; s++) {
    const FovSweepRun *run = &sweep->runs[configuration * sweep->plan.seeds + s];
    sum += run->state == FOV_SWEEP_FINISHED ? run->valid_error : INFINITY;
  }
  return sum / sweep->plan.seeds;
}

/** The best configuration of a row, of all if there are no rows; −1: none is complete. */
static int choose_of_row(const FovSweep *sweep, int row) {
  int chosen = -1;
  double least = INFINITY;
  for (int i = 0; i < sweep->plan.configurations; i++) {
    double error = fov_sweep_row(&sweep->plan, i) == row ? mean_error(sweep, i) : INFINITY;
    if (error < least) chosen = i, least = error;
  }
  return chosen;
}

/** Rows; without any, all configurations are one. */
static int count_rows(const FovSweep *sweep) {
  return sweep->plan.rows.count > 0 ? sweep->plan.rows.count : 1;
}

/** The best configuration of all rows. */
static int choose(const FovSweep *sweep) {
  int chosen = -1;
  for (int r = 0; r < count_rows(sweep); r++) {
    int best = choose_of_row(sweep, r);
    if (best >= 0 && (chosen < 0 || mean_error(sweep, best) < mean_error(sweep, chosen)))
      chosen = best;
  }
  return chosen;
}

static void report(const FovSweep *sweep, const FovSweepRun *ended) {
  const FovSweepReporter *reporter = &sweep->request->reporter;
  if (!reporter->report) return;
  FovSweepReport report = fov_sweep_report(sweep);
  report.ended = ended;
  reporter->report(reporter->context, &report);
}

FovSweepReport fov_sweep_report(const FovSweep *sweep) {
  int chosen = choose(sweep);
  return (FovSweepReport){.plan = &sweep->plan,
                          .runs = sweep->runs,
                          .count = sweep->count,
                          .jobs = sweep->most,
                          .threads = sweep->threads,
                          .chosen = chosen,
                          .chosen_error = chosen >= 0 ? mean_error(sweep, chosen) : INFINITY,
                          .testing = sweep->testing,
                          .bytes = sweep->bytes,
                          .seconds = fov_now() - sweep->started};
}

/* ---- what other processes did ---- */

static void scan(const FovSweep *sweep, FovSweepRun *run) {
  fov_sweep_scan(run, sweep->request->dir, sweep->episodes[run->configuration],
                 sweep->plan.options.rollouts);
}

/** Reads the files of the runs that no child of this process works on; `all`: also of finished
 * ones, which may have been tested. */
static void take_stock(FovSweep *sweep, bool all) {
  for (int i = 0; i < sweep->count; i++) {
    FovSweepRun *run = &sweep->runs[i];
    if (run->state == FOV_SWEEP_RUNNING || (run->state == FOV_SWEEP_FINISHED && !all)) continue;
    scan(sweep, run);
    if (run->state == FOV_SWEEP_WAITING && sweep->halving &&
        fov_halving_is_paused(sweep->halving, i))
      run->state = FOV_SWEEP_PAUSED;
  }
}

/** Replaces results.csv. The lock lasts from reading to writing, so that the newest table has all
 * that older ones had. all: see take_stock. */
static FovStatus write_results(FovSweep *sweep, bool all) {
  int lock;
  FOV_TRY(fov_sweep_lock(&lock, sweep->request->dir));
  take_stock(sweep, all);
  FovStatus status =
      fov_sweep_write_results(sweep->request->dir, &sweep->plan, sweep->runs, sweep->count);
  close(lock);
  return status;
}

/* ---- children ---- */

/** until: as in FovSweepChild. */
static FovStatus start(FovSweep *sweep, FovSweepJob *job, FovSweepWork work, int run, int claim,
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
  bool paused = job->child.until < 1 && slot->progress >= job->child.until;
  bool tested = job->child.work == FOV_SWEEP_TEST; // a run without its test is finished, too
  run->state = ended != FOV_ERR_INTERRUPT ? (tested ? FOV_SWEEP_FINISHED : FOV_SWEEP_FAILED)
               : paused                   ? FOV_SWEEP_PAUSED
                                          : FOV_SWEEP_WAITING;
  snprintf(run->reason, sizeof run->reason, "%s", ended != FOV_ERR_INTERRUPT ? slot->message : "");
  if (ended == FOV_ERR_NUMBER) FOV_TRY(fov_sweep_note_divergence(run, sweep->request->dir));
  scan(sweep, run);
  if (sweep->halving && job->child.work == FOV_SWEEP_TRAIN && run->state != FOV_SWEEP_WAITING)
    FOV_TRY(fov_halving_end(sweep->halving, (int)(run - sweep->runs),
                            is_sound(run->state) ? run->valid_error : NAN));
  fov_sweep_job_release(job);
  if (run->state == FOV_SWEEP_WAITING) return FOV_OK;
  log_end(sweep, run);
  report(sweep, run);
  return write_results(sweep, false);
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

/** Ends all children: each saves its run. */
static void stop_all(FovSweep *sweep) {
  FovStatus ended;
  for (int i = 0; i < MAX_JOBS; i++)
    if (sweep->jobs[i].process) kill(sweep->jobs[i].process, SIGTERM);
  for (int i = 0; i < MAX_JOBS; i++) {
    FovSweepJob *job = &sweep->jobs[i];
    if (job->process && fov_sweep_job_has_ended(&ended, job, true)) fov_sweep_job_release(job);
  }
}

/* ---- what to do next ---- */

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
    scan(sweep, &sweep->runs[i]);
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
  if (sweep->halving && !sweep->testing)
    return fov_halving_next(next, claim, until, sweep->halving);
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
    FOV_TRY(
        start(sweep, job, sweep->testing ? FOV_SWEEP_TEST : FOV_SWEEP_TRAIN, next, claim, until));
  }
  return FOV_OK;
}

static bool is_interrupted(const FovSweep *sweep) {
  return sweep->request->interrupted && *sweep->request->interrupted;
}

/** Works until nothing is open. */
static FovStatus work(FovSweep *sweep) {
  const struct timespec patience = {.tv_nsec = (long)(1e9 * PATIENCE)};
  for (;;) {
    if (is_interrupted(sweep))
      return fov_fail(FOV_ERR_INTERRUPT, "interrupted and saved; continue with: fovea sweep -o %s",
                      sweep->request->dir);
    FOV_TRY(look(sweep));
    FOV_TRY(start_jobs(sweep));
    if (active(sweep) == 0) return FOV_OK;
    report(sweep, NULL);
    nanosleep(&patience, NULL);
  }
}

/** Whether every run has ended: nothing is open, here or in another process. */
static bool is_complete(const FovSweep *sweep) {
  for (int i = 0; i < sweep->count; i++)
    if (sweep->runs[i].state == FOV_SWEEP_WAITING && !sweep->runs[i].left_out) return false;
  return true;
}

/** Begins the tests of what validation has chosen of each row. */
static void choose_tests(FovSweep *sweep) {
  sweep->testing = true;
  for (int r = 0; r < count_rows(sweep); r++) sweep->tests[r] = choose_of_row(sweep, r);
  memset(sweep->tried, 0, (size_t)sweep->count * sizeof *sweep->tried);
}

static FovStatus run_all(FovSweep *sweep) {
  FOV_TRY(work(sweep));
  take_stock(sweep, true);
  if (sweep->plan.options.test && is_complete(sweep)) {
    choose_tests(sweep);
    FOV_TRY(work(sweep));
  }
  return write_results(sweep, true);
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
  return write_results(sweep, false);
}

FovStatus fov_sweep_log(const FovSweep *sweep, const char *line) {
  return fov_run_log(&sweep->log, "%s", line);
}

/** How many runs wait to be trained, by this process's knowledge of their files. */
static int untrained(const FovSweep *sweep) {
  int count = 0;
  for (int i = 0; i < sweep->count; i++)
    count += !sweep->runs[i].left_out && (sweep->runs[i].state == FOV_SWEEP_WAITING ||
                                          sweep->runs[i].state == FOV_SWEEP_FAILED);
  return count;
}

/** How many runs of the configurations that validation chooses are not tested. */
static int untested(const FovSweep *sweep) {
  int count = 0;
  for (int r = 0; r < count_rows(sweep); r++) {
    int chosen = choose_of_row(sweep, r);
    for (int i = 0; i < sweep->count && chosen >= 0; i++)
      count += sweep->runs[i].configuration == chosen && !sweep->runs[i].left_out &&
               !fov_sweep_is_tested(&sweep->runs[i], sweep->plan.options.rollouts);
  }
  return count;
}

FovStatus fov_sweep_left(int *left, FovSweep *sweep) {
  bool over = false;
  if (sweep->halving) FOV_TRY(fov_halving_is_over(&over, sweep->halving));
  *left = over ? 0 : untrained(sweep);
  if (*left == 0 && sweep->plan.options.test) *left = untested(sweep);
  return FOV_OK;
}

FovStatus fov_sweep_run(FovSweep *sweep) {
  FOV_TRY(fov_sweep_write(sweep));
  FovStatus status = run_all(sweep);
  if (status == FOV_OK) return FOV_OK;
  char message[1024];
  snprintf(message, sizeof message, "%s", fov_error_message());
  stop_all(sweep);
  fov_run_log(&sweep->log, "%s", message);
  return fov_fail(status, "%s", message);
}

/* ---- opening ---- */

/** Bytes of this process, which its children share as long as they only read them. */
static double shared_bytes(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return 1024.0 * (double)usage.ru_maxrss;
}

/** Jobs and threads: the request's, or as many runs at a time as cores and memory allow. bytes: of
 * one run. */
static void choose_jobs(FovSweep *sweep, double bytes) {
  int cores = fov_team_default_threads(), most = cores, wanted = 0;
  double fitting = fov_memory_available() / bytes;
  for (int i = 0; i < sweep->count; i++) wanted += !sweep->runs[i].left_out;
  if (most > wanted) most = wanted;
  if (fitting < most) most = fitting < 1 ? 1 : (int)fitting;
  sweep->most = sweep->request->jobs > 0 ? sweep->request->jobs : most;
  int share = cores / sweep->most;
  sweep->threads = sweep->request->threads > 0 ? sweep->request->threads : share > 0 ? share : 1;
  sweep->bytes = shared_bytes() + sweep->most * bytes;
}

/** Loads the data of the first configuration that is wanted. */
static FovStatus load_data(FovSweep *sweep) {
  FovExperiment experiment;
  FovStatus status = fov_experiment_init(&experiment);
  if (status == FOV_OK)
    status = fov_sweep_settings(experiment.settings, &sweep->plan,
                                sweep->runs[sweep->first].configuration, sweep->plan.first_seed);
  if (status == FOV_OK) status = fov_experiment_resolve(&experiment);
  if (status == FOV_OK) status = fov_experiment_env(&sweep->train, &experiment, FOV_SPLIT_TRAIN);
  if (status == FOV_OK) status = fov_experiment_env(&sweep->valid, &experiment, FOV_SPLIT_VALID);
  fov_experiment_finish(&experiment);
  return status;
}

/** Prepares a run in a child, which finds what is wrong with its agent, and how much memory it
 * takes: bytes, if that is more. */
static FovStatus probe(double *bytes, FovSweep *sweep, int run) {
  FovSweepJob *job = &sweep->jobs[0];
  FovStatus ended;
  FOV_TRY(start(sweep, job, FOV_SWEEP_PROBE, run, -1, 1));
  if (!fov_sweep_job_has_ended(&ended, job, true))
    return fov_fail(FOV_ERR_IO, "cannot wait for a child: %s", strerror(errno));
  fov_sweep_job_release(job);
  *bytes = fmax(*bytes, job->child.slot->bytes);
  if (ended == FOV_OK) return FOV_OK;
  if (sweep->plan.rows.count == 0) return fov_fail(ended, "%s", job->child.slot->message);
  const FovSweepRow *row =
      &sweep->plan.rows.list[fov_sweep_row(&sweep->plan, sweep->runs[run].configuration)];
  return fov_fail(ended, "%s: row '%s': %s", row->where, row->name, job->child.slot->message);
}

/** Prepares the first run of each row, or of all. */
static FovStatus probe_rows(FovSweep *sweep) {
  bool probed[FOV_SWEEP_ROWS] = {false};
  double bytes = 0;
  sweep->threads = 1;
  for (int i = 0; i < sweep->count; i++) {
    int row = fov_sweep_row(&sweep->plan, sweep->runs[i].configuration);
    if (probed[row] || sweep->runs[i].left_out) continue;
    FOV_TRY(probe(&bytes, sweep, i));
    probed[row] = true;
  }
  choose_jobs(sweep, fmax(bytes - shared_bytes(), 1 << 20));
  return FOV_OK;
}

/** Also finds how often the trainings are evaluated, at the least. */
static FovStatus count_episodes(FovSweep *sweep) {
  sweep->times = INT_MAX;
  for (int i = 0; i < sweep->plan.configurations; i++) {
    FovExperiment experiment;
    FovStatus status = fov_experiment_init(&experiment);
    if (status == FOV_OK) status = fov_sweep_settings(experiment.settings, &sweep->plan, i, 0);
    if (status == FOV_OK) status = fov_experiment_resolve(&experiment);
    if (status == FOV_OK) {
      sweep->episodes[i] = fov_train_updates_planned(&experiment.train) * experiment.train.batch;
      if (experiment.eval.times < sweep->times) sweep->times = experiment.eval.times;
    }
    fov_experiment_finish(&experiment);
    FOV_TRY(status);
  }
  return FOV_OK;
}

static FovStatus create_runs(FovSweep *sweep) {
  const FovSweepPlan *plan = &sweep->plan;
  size_t count = (size_t)plan->configurations * (size_t)plan->seeds;
  sweep->count = (int)count;
  sweep->runs = calloc(count, sizeof *sweep->runs);
  sweep->tried = calloc(count, sizeof *sweep->tried);
  sweep->episodes = calloc((size_t)plan->configurations, sizeof *sweep->episodes);
  if (!sweep->runs || !sweep->tried || !sweep->episodes)
    return fov_fail(FOV_ERR_MEMORY, "no memory for %zu runs", count);
  FOV_TRY(count_episodes(sweep));
  for (int i = 0; i < sweep->count; i++) {
    FovSweepRun *run = &sweep->runs[i];
    *run = (FovSweepRun){.configuration = i / plan->seeds,
                         .seed = plan->first_seed + i % plan->seeds,
                         .valid_error = NAN,
                         .test_error = NAN,
                         .rollouts_error = NAN,
                         .answer_error = NAN,
                         .alignment_error = NAN,
                         .mflop = NAN,
                         .input_numbers = NAN,
                         .input_pixels = NAN};
    fov_sweep_run_name(run->name, plan, run->configuration, run->seed);
    scan(sweep, run);
  }
  return FOV_OK;
}

/** Leaves out the runs of rows that are not wanted. */
static FovStatus choose_rows(FovSweep *sweep) {
  bool wanted[FOV_SWEEP_ROWS] = {true}; // the only one, without rows
  const char *names[FOV_SWEEP_ROWS];
  const FovSweepRows *rows = &sweep->plan.rows;
  for (int r = 0; r < rows->count; r++) names[r] = rows->list[r].name;
  FOV_TRY(fov_sweep_rows_choose(wanted, names, rows->count, sweep->request->rows));
  for (int i = 0; i < sweep->count; i++)
    sweep->runs[i].left_out = !wanted[fov_sweep_row(&sweep->plan, sweep->runs[i].configuration)];
  while (sweep->runs[sweep->first].left_out) sweep->first++;
  return FOV_OK;
}

static FovStatus open_sweep(FovSweep *sweep) {
  const FovSweepRequest *request = sweep->request;
  char path[FOV_PATH_SIZE];
  FOV_TRY(fov_sweep_plan_read(
      &sweep->plan,
      request->file ? request->file : fov_sweep_path(path, request->dir, FOV_SWEEP_PLAN, NULL),
      request->changes, request->change_count));
  sweep->slots = mmap(NULL, MAX_JOBS * sizeof *sweep->slots, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (sweep->slots == MAP_FAILED) {
    sweep->slots = NULL;
    return fov_fail(FOV_ERR_MEMORY, "no memory for a sweep");
  }
  FOV_TRY(create_runs(sweep));
  FOV_TRY(choose_rows(sweep));
  FOV_TRY(fov_sweep_folder_check(request->dir, &sweep->plan));
  if (sweep->plan.options.halving)
    FOV_TRY(
        fov_halving_create(&sweep->halving, request->dir, sweep->runs, sweep->count, sweep->times));
  FOV_TRY(load_data(sweep));
  return probe_rows(sweep);
}

FovStatus fov_sweep_create(FovSweep **sweep, const FovSweepRequest *request) {
  *sweep = calloc(1, sizeof **sweep);
  if (!*sweep) return fov_fail(FOV_ERR_MEMORY, "no memory for a sweep");
  (*sweep)->request = request;
  (*sweep)->log.log = -1;
  (*sweep)->started = fov_now();
  return open_sweep(*sweep);
}

void fov_sweep_destroy(FovSweep *sweep) {
  if (!sweep) return;
  stop_all(sweep);
  fov_run_close(&sweep->log);
  if (sweep->slots) munmap(sweep->slots, MAX_JOBS * sizeof *sweep->slots);
  fov_halving_destroy(sweep->halving);
  fov_env_finish(&sweep->valid);
  fov_env_finish(&sweep->train);
  free(sweep->runs);
  free(sweep->tried);
  free(sweep->episodes);
  fov_sweep_plan_finish(&sweep->plan);
  free(sweep);
}
