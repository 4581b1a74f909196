#include "base/team.h"

#include <omp.h>
#include <signal.h>

#include "base/error.h"
#include "base/profile.h"

/** Blocks all signals of this thread, except those that report a fault. Returns the former mask. */
static sigset_t block_signals(void) {
  static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS};
  sigset_t blocked, before;
  sigfillset(&blocked);
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) sigdelset(&blocked, faults[i]);
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  return before;
}

static void do_task(FovWork *work, void *context, int task) {
  sigset_t before = block_signals();
  work(context, task, omp_get_thread_num());
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void fov_team_run(int threads, int tasks, FovWork *work, void *context) {
  FOV_CHECK(threads >= 1 && threads <= FOV_MAX_THREADS, "%d threads", threads);
#pragma omp parallel num_threads(threads)
  {
    // A team of one does not count as parallel: without this, a library called from a task would
    // start a team of its own, which sums in another order.
    omp_set_num_threads(1);
    fov_profile_attach(omp_get_thread_num());
#pragma omp for schedule(dynamic, 1) nowait
    for (int task = 0; task < tasks; task++) do_task(work, context, task);
    fov_profile_detach();
  }
}

int fov_team_default_threads(void) {
  int threads = omp_get_num_procs();
  return threads < FOV_MAX_THREADS ? threads : FOV_MAX_THREADS;
}
