/** Opening a sweep: its plan, its runs, the data that they share, and how many run at a time. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/profile.h"
#include "experiment/sweep/folder.h"
#include "experiment/sweep/parts.h"
#include "learn/trainer/update.h"

/** Bytes of this process, which its children share as long as they only read them. */
static double shared_bytes(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return 1024.0 * (double)usage.ru_maxrss;
}

/** Jobs and threads: the request's, or as many runs at a time as processors and memory allow.
 * bytes: of one run. */
static void choose_jobs(FovSweep *sweep, double bytes) {
  int processors = fov_team_default_threads(), most = processors, wanted = 0;
  double fitting = fov_memory_available() / bytes;
  for (int i = 0; i < sweep->count; i++) wanted += !sweep->runs[i].left_out;
  if (most > wanted) most = wanted;
  if (fitting < most) most = fitting < 1 ? 1 : (int)fitting;
  sweep->most = sweep->request->jobs > 0 ? sweep->request->jobs : most;
  int share = processors / sweep->most;
  sweep->threads = sweep->request->threads > 0 ? sweep->request->threads : share > 0 ? share : 1;
  sweep->bytes = shared_bytes() + sweep->most * bytes;
}

/** Loads the data of the first configuration that is wanted. */
static FovStatus load_data(FovSweep *sweep) {
  FovExperiment experiment;
  FovStatus status =
      fov_sweep_resolve(&experiment, &sweep->plan, sweep->runs[sweep->first].configuration);
  if (status == FOV_OK) status = fov_experiment_env(&sweep->train, &experiment, FOV_SPLIT_TRAIN);
  if (status == FOV_OK) status = fov_experiment_env(&sweep->valid, &experiment, FOV_SPLIT_VALID);
  fov_experiment_finish(&experiment);
  return status;
}

/** Builds the training of a configuration. */
static FovStatus check_configuration(const FovSweepPlan *plan, int configuration) {
  FovExperiment experiment;
  FovEnv env = {.impl = NULL};
  FovStatus status = fov_sweep_resolve(&experiment, plan, configuration);
  if (status == FOV_OK) status = fov_experiment_env(&env, &experiment, FOV_SPLIT_TRAIN);
  if (status == FOV_OK) status = fov_sweep_check_rollouts(plan, &env);
  if (status == FOV_OK) status = fov_experiment_build(&experiment, &env.spec);
  if (status == FOV_OK) {
    FovTraining training = fov_experiment_training(&experiment, &env);
    status = fov_train_check(&training);
    if (status == FOV_OK)
      status = fov_experiment_check_beam(&experiment, &training.task, plan->options.rollouts);
  }
  fov_experiment_finish(&experiment);
  fov_env_finish(&env);
  return status;
}

/** Checks all configurations of a new sweep, so that no run is started if another one could not be.
 * One that exists may be continued, whatever this version refuses. */
static FovStatus check_configurations(const FovSweep *sweep) {
  const FovSweepPlan *plan = &sweep->plan;
  char path[FOV_PATH_SIZE], label[4 * FOV_STRING_SIZE], message[FOV_SWEEP_REASON];
  if (fov_file_exists(fov_sweep_path(path, sweep->request->dir, FOV_SWEEP_PLAN, NULL)))
    return FOV_OK;
  FOV_TRY(fov_sweep_check_different(plan));
  for (int i = 0; i < sweep->count; i += plan->seeds) {
    int configuration = sweep->runs[i].configuration;
    FovStatus status = sweep->runs[i].left_out ? FOV_OK : check_configuration(plan, configuration);
    if (status == FOV_OK) continue;
    snprintf(message, sizeof message, "%s", fov_error_message());
    fov_sweep_describe(label, sizeof label, plan, configuration);
    return *label ? fov_fail(status, "%s (configuration: %s)", message, label)
                  : fov_fail(status, "%s", message);
  }
  return FOV_OK;
}

/** Prepares a run in a child, which finds what is wrong with its agent, and how much memory it
 * takes: bytes, if that is more. */
static FovStatus probe(double *bytes, FovSweep *sweep, int run) {
  FovSweepJob *job = &sweep->jobs[0];
  FovStatus ended;
  FOV_TRY(fov_sweep_start(sweep, job, FOV_SWEEP_PROBE, run, -1, 1));
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
    FovStatus status = fov_sweep_resolve(&experiment, &sweep->plan, i);
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
    fov_sweep_refresh(sweep, run);
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
  sweep->slots = mmap(NULL, FOV_SWEEP_JOBS * sizeof *sweep->slots, PROT_READ | PROT_WRITE,
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
  FOV_TRY(probe_rows(sweep));
  return check_configurations(sweep);
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
  fov_sweep_stop(sweep);
  fov_run_close(&sweep->log);
  if (sweep->slots) munmap(sweep->slots, FOV_SWEEP_JOBS * sizeof *sweep->slots);
  fov_halving_destroy(sweep->halving);
  fov_env_finish(&sweep->valid);
  fov_env_finish(&sweep->train);
  free(sweep->runs);
  free(sweep->tried);
  free(sweep->episodes);
  fov_sweep_plan_finish(&sweep->plan);
  free(sweep);
}
