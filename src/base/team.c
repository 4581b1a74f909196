/**
 * Worker threads that are created when first needed, and kept. Between two runs they spin briefly,
 * which is fast on a quiet machine, then sleep, which leaves the processor to others on a busy one.
 *
 * `open` is the run's number and how many of its tasks nobody has taken, in one word. Whoever
 * takes a task decrements it by compare-and-swap. That fails if another thread took the task or
 * another run has begun, so a worker that was late never mixes two runs; nobody waits for it.
 */
#include "base/team.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

#include "base/error.h"
#include "base/profile.h"

/** Seconds that a thread spins before it sleeps. Measured: between 5e-6 and 5e-4 the rate of a
 * training is the same within 2 %, on a quiet machine and beside busy processes. */
static const double SPIN = 50e-6;

static struct {
  pthread_mutex_t mutex; /**< held to begin a run, to end it, and to fall asleep */
  pthread_cond_t begun, ended;
  int workers; /**< created so far; the caller of fov_team_run is worker 0 and not counted */
  // The run. These do not change while a task is open.
  FovWork *_Atomic work;
  void *_Atomic context;
  atomic_int threads, tasks;
  _Atomic uint64_t open;
  atomic_int undone; /**< tasks that are not done yet */
} team = {
    .mutex = PTHREAD_MUTEX_INITIALIZER,
    .begun = PTHREAD_COND_INITIALIZER,
    .ended = PTHREAD_COND_INITIALIZER,
};

/** Blocks all signals of this thread, except those that report a fault. Returns the former mask. */
static sigset_t block_signals(void) {
  static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS};
  sigset_t blocked, before;
  sigfillset(&blocked);
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) sigdelset(&blocked, faults[i]);
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  return before;
}

/** The mask of this thread between two tasks; NULL: it is not in a task. */
static _Thread_local const sigset_t *between_tasks;

static void do_task(FovWork *work, void *context, int task, int worker) {
  const sigset_t *outer = between_tasks;
  sigset_t before = block_signals();
  between_tasks = &before;
  fov_profile_attach(worker);
  work(context, task, worker);
  fov_profile_detach();
  between_tasks = outer;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void fov_team_admit_signals(void) {
  sigset_t blocked;
  if (!between_tasks) return;
  pthread_sigmask(SIG_SETMASK, between_tasks, &blocked);
  pthread_sigmask(SIG_SETMASK, &blocked, NULL);
}

/* ---- waiting ---- */

static void pause_briefly(void) {
#if defined __x86_64__ || defined __i386__
  __builtin_ia32_pause();
#elif defined __aarch64__
  __asm__ volatile("yield");
#endif
}

static bool has_task(int worker) {
  return (uint32_t)team.open > 0 && worker < team.threads;
}

static bool has_ended(int worker) {
  (void)worker;
  return team.undone == 0;
}

static void wait_until(bool (*ready)(int worker), int worker, pthread_cond_t *changed) {
  double start = fov_now();
  while (!ready(worker) && fov_now() - start < SPIN) pause_briefly();
  if (ready(worker)) return;
  pthread_mutex_lock(&team.mutex);
  while (!ready(worker)) pthread_cond_wait(changed, &team.mutex);
  pthread_mutex_unlock(&team.mutex);
}

static void report_end(void) {
  pthread_mutex_lock(&team.mutex);
  pthread_cond_signal(&team.ended);
  pthread_mutex_unlock(&team.mutex);
}

/* ---- a run ---- */

/** Takes an open task and does it; false if there is none for this worker. */
static bool do_open_task(int worker) {
  uint64_t open = team.open;
  while ((uint32_t)open > 0 && worker < team.threads) {
    FovWork *work = team.work;
    void *context = team.context;
    int task = team.tasks - (int)(uint32_t)open;
    if (!atomic_compare_exchange_weak(&team.open, &open, open - 1)) continue;
    do_task(work, context, task, worker);
    if (atomic_fetch_sub(&team.undone, 1) == 1) report_end();
    return true;
  }
  return false;
}

static void *be_worker(void *number) {
  int worker = (int)(intptr_t)number;
  for (;;) {
    wait_until(has_task, worker, &team.begun);
    while (do_open_task(worker)) {
    }
  }
  return NULL;
}

/** A fork copies none of the workers, and the mutex as one of them may have locked it. */
static void forget_workers(void) {
  team.workers = 0;
  pthread_mutex_init(&team.mutex, NULL);
  pthread_cond_init(&team.begun, NULL);
  pthread_cond_init(&team.ended, NULL);
}

/** Creates what is missing. If the system has no more threads, those that exist do all tasks. */
static void create_workers(int workers) {
  static bool forgets;
  if (team.workers >= workers) return;
  if (!forgets) forgets = pthread_atfork(NULL, NULL, forget_workers) == 0;
  pthread_attr_t detached;
  pthread_attr_init(&detached);
  pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&detached, FOV_STACK_SIZE); // whatever ulimit -s is
  sigset_t before = block_signals();                    // workers keep them blocked
  pthread_t thread;
  while (team.workers < workers &&
         !pthread_create(&thread, &detached, be_worker, (void *)(intptr_t)(team.workers + 1)))
    team.workers++;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&detached);
}

static void begin_run(int threads, int tasks, FovWork *work, void *context) {
  FOV_CHECK(team.undone == 0, "a task of a team has started a team");
  pthread_mutex_lock(&team.mutex);
  team.work = work;
  team.context = context;
  team.threads = threads;
  team.tasks = team.undone = tasks;
  team.open = ((team.open >> 32) + 1) << 32 | (uint32_t)tasks;
  pthread_cond_broadcast(&team.begun);
  pthread_mutex_unlock(&team.mutex);
}

void fov_team_run(int threads, int tasks, FovWork *work, void *context) {
  FOV_CHECK(threads >= 1 && threads <= FOV_MAX_THREADS, "%d threads", threads);
  if (threads == 1 || tasks <= 1) {
    for (int task = 0; task < tasks; task++) do_task(work, context, task, 0);
    return;
  }
  create_workers(threads - 1);
  begin_run(threads, tasks, work, context);
  while (do_open_task(0)) {
  }
  wait_until(has_ended, 0, &team.ended);
}

int fov_team_default_threads(void) {
  cpu_set_t allowed;
  int threads = sched_getaffinity(0, sizeof allowed, &allowed) == 0
                    ? CPU_COUNT(&allowed)
                    : (int)sysconf(_SC_NPROCESSORS_ONLN); // more than fit into a cpu_set_t
  return threads < FOV_MAX_THREADS ? threads : FOV_MAX_THREADS;
}
