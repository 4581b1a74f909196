#include "experiment/sweep/child.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/file.h"
#include "experiment/session.h"
#include "experiment/sweep/folder.h"
#include "experiment/tested.h"

static volatile sig_atomic_t interrupted, evaluating;

/** An evaluation has nothing to save and may take longer than a job has left: it ends at once, with
 * the status that its slot started with. */
static void on_signal(int number) {
  (void)number;
  if (evaluating) {
    fov_replace_abort_all();
    _exit(0);
  }
  interrupted = 1;
}

FovStatus fov_sweep_check_rollouts(const FovSweepPlan *plan, const FovEnv *env) {
  if (plan->options.rollouts == 1 || env->spec.answer == FOV_ANSWER_CLASS) return FOV_OK;
  return fov_fail(FOV_ERR_USAGE,
                  "--rollouts %d: expected 1: several rollouts of moves or vectors have no common "
                  "outcome",
                  plan->options.rollouts);
}

/* ---- training ---- */

/** Passes on how far the training is, and pauses it after the first evaluation at `until` or later,
 * which an earlier process may have made. */
static void take_report(void *context, const FovReport *report) {
  const FovSweepChild *child = context;
  if (report->kind == FOV_REPORT_NOTE) return;
  double progress = (double)report->update / (double)report->updates;
  child->slot->progress = progress;
  if (report->row) child->slot->valid_error = report->row->valid_error;
  bool made = report->kind == FOV_REPORT_RESUMED && child->run->progress >= child->until;
  bool evaluated = report->row || made;
  if (evaluated && progress >= child->until && child->until < 1)
    child->slot->paused = true, interrupted = 1;
}

typedef struct Changes {
  char **list; // key=value
  int count;
} Changes;

static void free_changes(Changes *changes) {
  for (int i = 0; i < changes->count; i++) free(changes->list[i]);
  free(changes->list);
}

/** The settings of the run's configuration, as the command line would give them. */
static FovStatus make_changes(Changes *changes, const FovSweepChild *child) {
  FovSettings *settings;
  size_t count;
  *changes = (Changes){.count = 0};
  FOV_TRY(fov_settings_create(&settings));
  FovStatus status =
      fov_sweep_settings(settings, child->plan, child->run->configuration, child->run->seed);
  const FovSetting *list = fov_settings_list(&count, settings);
  changes->list = calloc(count + 1, sizeof *changes->list);
  for (size_t i = 0; i < count && status == FOV_OK; i++) {
    if (list[i].origin != FOV_ORIGIN_COMMAND) continue;
    char **change = &changes->list[changes->count];
    if (!changes->list || asprintf(change, "%s=%s", list[i].key, list[i].value) < 0)
      status = fov_fail(FOV_ERR_MEMORY, "no memory for a sweep");
    else
      changes->count++;
  }
  fov_settings_destroy(settings);
  return status;
}

static FovStatus run_session(FovSession *session, const FovSweepChild *child,
                             const FovTrainRequest *request) {
  FOV_TRY(fov_session_prepare(session, request));
  if (child->work == FOV_SWEEP_PROBE) {
    double blocks, shards;
    FOV_TRY(fov_sweep_check_rollouts(child->plan, &session->valid_env));
    FOV_TRY(fov_training_memory(&blocks, &shards, &session->training));
    struct rusage usage; // data, blocks, and the arena of the measurement
    getrusage(RUSAGE_SELF, &usage);
    child->slot->bytes = 1024.0 * (double)usage.ru_maxrss + shards;
    return FOV_OK;
  }
  FOV_TRY(fov_session_open(session));
  return fov_session_train(session);
}

static FovStatus train(const FovSweepChild *child) {
  char dir[FOV_PATH_SIZE];
  Changes changes;
  FOV_TRY(make_changes(&changes, child));
  const FovSweepExperiment *experiment =
      fov_sweep_experiment(child->plan, child->run->configuration);
  const FovTrainRequest request = {.file = experiment->file,
                                   .text = experiment->text,
                                   .dir = fov_sweep_path(dir, child->dir, child->run->name, NULL),
                                   .changes = (const char *const *)changes.list,
                                   .change_count = changes.count,
                                   .resume = true,
                                   .threads = child->threads,
                                   .command = child->command,
                                   .interrupted = &interrupted,
                                   .reporter = {take_report, (void *)child}};
  FovSession session;
  FovStatus status = run_session(&session, child, &request);
  fov_session_finish(&session);
  free_changes(&changes);
  return status;
}

/* ---- evaluating ---- */

/** Evaluates and writes the outcomes into the run. */
static FovStatus evaluate(const FovSweepChild *child, const FovTrained *trained, int rollouts) {
  char path[FOV_PATH_SIZE], name[FOV_OUTCOMES_NAME];
  FovTested tested;
  fov_sweep_path(path, child->dir, child->run->name,
                 fov_outcomes_name(name, trained->split, rollouts));
  FovStatus status = fov_tested_run(&tested, trained, rollouts, child->threads, FOV_TESTED_WRONG);
  if (status == FOV_OK) status = fov_outcomes_write(&tested.outcomes, path);
  fov_tested_finish(&tested);
  return status;
}

/** Makes the tests that the run does not have. */
static FovStatus test(const FovSweepChild *child, const FovTrained *trained) {
  int rollouts = child->plan->options.rollouts;
  if (!isfinite(child->run->test_error)) FOV_TRY(evaluate(child, trained, 1));
  if (rollouts == 1 || isfinite(child->run->rollouts_error)) return FOV_OK;
  FOV_TRY(fov_sweep_check_rollouts(child->plan, &trained->env));
  return evaluate(child, trained, rollouts);
}

/** Validates or tests. */
static FovStatus evaluate_on(FovSplit split, const FovSweepChild *child) {
  char dir[FOV_PATH_SIZE];
  FovTrained trained;
  evaluating = 1;
  if (interrupted) return fov_fail(FOV_ERR_INTERRUPT, "interrupted");
  fov_sweep_path(dir, child->dir, child->run->name, NULL);
  FovStatus status = fov_trained_load(&trained, dir, NULL, 0, split);
  if (status == FOV_OK)
    status = split == FOV_SPLIT_TEST ? test(child, &trained) : evaluate(child, &trained, 1);
  fov_trained_finish(&trained);
  return status;
}

static FovStatus work(const FovSweepChild *child) {
  if (child->work == FOV_SWEEP_TEST) return evaluate_on(FOV_SPLIT_TEST, child);
  FOV_TRY(train(child));
  return child->work == FOV_SWEEP_TRAIN ? evaluate_on(FOV_SPLIT_VALID, child) : FOV_OK;
}

/* ---- the process ---- */

/** Closes what the parent had open for others: above all the claims of other runs. */
static void close_files(int claim) {
  int most = (int)sysconf(_SC_OPEN_MAX);
  for (int fd = 3; fd < most && fd < 65536; fd++)
    if (fd != claim) close(fd);
}

/** Prints nothing; what a failed check prints is the last line of `errors`. */
static void redirect(int errors) {
  int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  dup2(nothing, 0);
  dup2(nothing, 1);
  dup2(errors, 2);
  close(nothing);
}

/** Keeps SIGTERM waiting, or lets it come. */
static void block_signals(bool block) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigprocmask(block ? SIG_BLOCK : SIG_UNBLOCK, &set, NULL);
}

static void catch_signals(pid_t parent) {
  struct sigaction action = {.sa_handler = on_signal};
  sigaction(SIGTERM, &action, NULL);
  sigaction(SIGINT, &(struct sigaction){.sa_handler = SIG_IGN}, NULL); // the parent passes it on
  sigaction(SIGHUP, &(struct sigaction){.sa_handler = SIG_IGN}, NULL);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) interrupted = 1; // it died before
  block_signals(false);
}

static FovSweepSlot *own_slot;

static void end_without_memory(void) {
  fov_replace_abort_all();
  own_slot->status = FOV_ERR_MEMORY;
  snprintf(own_slot->message, sizeof own_slot->message, "%s", fov_error_message());
  _exit(0);
}

_Noreturn static void run(const FovSweepChild *child, pid_t parent) {
  own_slot = child->slot;
  fov_on_no_memory(end_without_memory);
  catch_signals(parent);
  redirect(child->errors);
  close_files(child->claim);
  child->slot->status = work(child);
  snprintf(child->slot->message, sizeof child->slot->message, "%s",
           child->slot->status == FOV_OK ? "" : fov_error_message());
  _exit(0);
}

FovStatus fov_sweep_child_start(pid_t *process, const FovSweepChild *child) {
  pid_t parent = getpid();
  *child->slot = (FovSweepSlot){.status = FOV_ERR_INTERRUPT, .valid_error = NAN};
  fflush(NULL);
  block_signals(true); // until the child catches them: the parent's handler does nothing there
  pid_t started = fork();
  if (started == 0) run(child, parent);
  int why = errno;
  block_signals(false);
  if (started < 0) return fov_fail(FOV_ERR_MEMORY, "cannot start a process: %s", strerror(why));
  *process = started;
  return FOV_OK;
}
