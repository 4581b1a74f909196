/** A team of worker threads for numbered tasks. */
#ifndef FOV_BASE_TEAM_H
#define FOV_BASE_TEAM_H

enum {
  FOV_MAX_THREADS = 256,
  FOV_STACK_SIZE = 1 << 20, /**< bytes of stack that a thread may need; workers have as much */
};

/** One task; `worker` (0 … threads−1) names the thread, for scratch memory of its own. */
typedef void FovWork(void *context, int task, int worker);

/**
 * Runs tasks 0 … tasks−1 on up to `threads` threads, of which the caller is worker 0, and returns
 * when all are done. One thread of a process may call it, and not from a task that shares a run
 * with other workers.
 *
 * Which worker gets which task is not fixed, so a task's result must not depend on the worker.
 * No signal handler runs on a worker during a task: see fov_gemm. Signals wait until it is done, or
 * until the caller's task admits them.
 *
 * The other workers are created when they are first needed, and kept; they sleep while they wait.
 * A forked child creates workers of its own.
 */
void fov_team_run(int threads, int tasks, FovWork *work, void *context);

/** Handles pending signals from within a task that takes seconds, between two matrix products. Does
 * nothing outside a task and on workers other than the caller. */
void fov_team_admit_signals(void);

/** Processors that this process may run on, at most FOV_MAX_THREADS. */
int fov_team_default_threads(void);

#endif
