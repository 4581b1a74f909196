/** The worker team: tasks, signals, sleep, fork, exit. Clean under ThreadSanitizer, too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "base/error.h"
#include "base/gemm.h"
#include "base/profile.h"
#include "base/team.h"
#include "tests/check.h"

enum { TASKS = 100 };

typedef struct Roll {
  int threads;
  atomic_int done[TASKS], busy[FOV_MAX_THREADS], faults;
} Roll;

/** Counts itself, and as faults what no task may see; asserting is for the main thread. */
static void answer(void *context, int task, int worker) {
  Roll *roll = context;
  if (worker < 0 || worker >= roll->threads)
    roll->faults++;
  else if (atomic_exchange(&roll->busy[worker], 1))
    roll->faults++;
  usleep(100); // so that tasks of different workers overlap
  roll->done[task]++;
  if (worker >= 0 && worker < roll->threads) roll->busy[worker] = 0;
}

static void every_task_is_done_once(void **state) {
  (void)state;
  static const int counts[] = {0, 1, 2, 7, TASKS};
  for (int threads = 1; threads <= 5; threads++)
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
      static Roll roll;
      roll = (Roll){.threads = threads};
      fov_team_run(threads, counts[c], answer, &roll);
      assert_int_equal(roll.faults, 0);
      for (int task = 0; task < TASKS; task++)
        assert_int_equal(roll.done[task], task < counts[c] ? 1 : 0);
    }
  assert_in_range(fov_team_default_threads(), 1, FOV_MAX_THREADS);
}

typedef struct Count {
  int run;
  int runs[TASKS]; /**< the last run in which each task was done */
} Count;

static void note_run(void *context, int task, int worker) {
  (void)worker;
  Count *count = context;
  count->runs[task] = count->run;
}

/** Workers are late for some runs, spin before others, and sleep before a few. What the tasks
 * write is not atomic: a run ends after all of them. */
static void runs_follow_each_other_at_any_pace(void **state) {
  (void)state;
  enum { RUNS = 4000 };
  Count count = {.run = 0};
  for (count.run = 1; count.run <= RUNS; count.run++) {
    int tasks = count.run * 37 % TASKS + 1;
    fov_team_run(count.run % 5 + 1, tasks, note_run, &count);
    for (int task = 0; task < tasks; task++) assert_int_equal(count.runs[task], count.run);
    if (count.run % 50 == 0) usleep(200);
  }
}

/** Waits until as many tasks run at the same time as there are workers. */
typedef struct Meeting {
  atomic_int arrived, missed;
  int expected;
} Meeting;

static void meet(void *context, int task, int worker) {
  (void)task, (void)worker;
  Meeting *meeting = context;
  double end = fov_now() + 20;
  meeting->arrived++;
  while (meeting->arrived < meeting->expected && fov_now() < end) usleep(10);
  if (meeting->arrived < meeting->expected) meeting->missed++;
}

static void tasks_run_at_the_same_time(void **state) {
  (void)state;
  for (int threads = 2; threads <= 9; threads++) {
    Meeting meeting = {.expected = threads};
    fov_team_run(threads, threads, meet, &meeting);
    assert_int_equal(meeting.missed, 0);
  }
}

/* ---- waiting ---- */

/** Seconds of all processors that this process has used. */
static double cpu_seconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void sleep_first(void *context, int task, int worker) {
  (void)context, (void)worker;
  if (task == 0) usleep(100000);
}

/** Before a run, and at its end, when one task takes longer than the others. */
static void those_who_wait_sleep(void **state) {
  (void)state;
  fov_team_run(4, 4, sleep_first, NULL);
  double before = cpu_seconds();
  usleep(100000);
  fov_team_run(4, 4, sleep_first, NULL);
  assert_true(cpu_seconds() - before < 0.05);
}

/* ---- signals ---- */

/** A product may not be interrupted by a handler: see fov_gemm. */
static void look_at_mask(void *context, int task, int worker) {
  (void)task, (void)worker;
  atomic_int *faults = context;
  sigset_t held;
  pthread_sigmask(SIG_SETMASK, NULL, &held);
  static const int wait[] = {SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGCHLD, SIGALRM, SIGPROF};
  for (size_t i = 0; i < sizeof wait / sizeof *wait; i++)
    if (!sigismember(&held, wait[i])) ++*faults;
  if (sigismember(&held, SIGSEGV)) ++*faults;
  usleep(100);
}

static void no_signal_reaches_a_team(void **state) {
  (void)state;
  sigset_t before, after;
  atomic_int faults = 0;
  pthread_sigmask(SIG_SETMASK, NULL, &before);
  for (int threads = 1; threads <= 4; threads++) fov_team_run(threads, 20, look_at_mask, &faults);
  pthread_sigmask(SIG_SETMASK, NULL, &after);
  assert_int_equal(faults, 0);
  for (int number = 1; number < 32; number++)
    assert_int_equal(sigismember(&after, number), sigismember(&before, number));
}

static volatile sig_atomic_t signals;
static pthread_t receiver;

static void count_signal(int number) {
  (void)number;
  signals++;
  receiver = pthread_self();
}

static void raise_signal(void *context, int task, int worker) {
  (void)worker;
  int *seen = context;
  seen[2 * task] = signals;
  raise(SIGUSR1);
  seen[2 * task + 1] = signals;
}

static void a_signal_waits_for_a_task_not_for_all(void **state) {
  (void)state;
  int seen[6];
  signals = 0;
  assert_true(signal(SIGUSR1, count_signal) != SIG_ERR);
  fov_team_run(1, 3, raise_signal, seen);
  signal(SIGUSR1, SIG_DFL);
  static const int expected[] = {0, 0, 1, 1, 2, 2};
  assert_memory_equal(seen, expected, sizeof expected);
  assert_int_equal(signals, 3);
}

/** Counts the signals that are handled while the task runs: [task]. */
static void raise_and_admit(void *context, int task, int worker) {
  (void)worker;
  int *seen = context, before = signals;
  atomic_int faults = 0;
  raise(SIGUSR1);
  fov_team_run(1, 1, look_at_mask, &faults); // a run of its own
  seen[task] = signals - before;
  fov_team_admit_signals();
  seen[task] += 10 * (signals - before);
}

static void a_long_task_admits_signals(void **state) {
  (void)state;
  int seen[3];
  signals = 0;
  assert_true(signal(SIGUSR1, count_signal) != SIG_ERR);
  fov_team_admit_signals(); // outside a task
  fov_team_run(1, 3, raise_and_admit, seen);
  signal(SIGUSR1, SIG_DFL);
  static const int expected[] = {10, 10, 10};
  assert_memory_equal(seen, expected, sizeof expected);
}

static void signal_process(void *context, int task, int worker) {
  (void)context, (void)worker;
  if (task == 0) kill(getpid(), SIGUSR1);
  usleep(1000);
}

/** One that is sent to the process, as by Ctrl-C. */
static void a_signal_interrupts_the_thread_that_started_the_team(void **state) {
  (void)state;
  signals = 0;
  assert_true(signal(SIGUSR1, count_signal) != SIG_ERR);
  for (int threads = 2; threads <= 4; threads++) fov_team_run(threads, 8, signal_process, NULL);
  signal(SIGUSR1, SIG_DFL);
  assert_int_equal(signals, 3);
  assert_true(pthread_equal(receiver, pthread_self()));
}

/* ---- libraries, processes ---- */

static int count_threads(void) {
  int count = 0;
  DIR *folder = opendir("/proc/self/task");
  if (!folder) return 0;
  for (struct dirent *entry; (entry = readdir(folder));) count += entry->d_name[0] != '.';
  closedir(folder);
  return count;
}

enum { SIDE = 400 };

static void multiply(void *context, int task, int worker) {
  (void)task, (void)worker;
  atomic_int *most = context;
  real *numbers = calloc(3 * SIDE * SIDE, sizeof *numbers);
  if (!numbers) return;
  FovMatrix a = {numbers, SIDE, SIDE, SIDE}, b = a, c = a;
  b.at += SIDE * SIDE, c.at += 2 * SIDE * SIDE;
  fov_gemm(c, a, false, b, false, 0);
  int threads = count_threads();
  if (threads > *most) *most = threads;
  free(numbers);
}

/** Those of a library that starts threads when it is loaded, and which it starts again after a fork
 * although it uses none. */
static int loaded_threads;

/** A library that divided a product among threads would sum in another order. */
static void a_product_starts_no_thread(void **state) {
  (void)state;
  atomic_int most = 0;
  static Roll roll;
  roll = (Roll){.threads = 9};
  fov_team_run(9, 9, answer, &roll); // the most that these tests use
  int before = count_threads();
  if (before == 0) return; // a system without /proc
  assert_true(before >= 9);
  fov_team_run(3, 12, multiply, &most);
  fov_team_run(1, 1, multiply, &most);
  assert_int_equal(most, before > 9 + loaded_threads ? before : 9 + loaded_threads);
}

/** Runs `work` in a child; fails if it does not end with exit code 0. */
static void assert_child_ends(void (*work)(void)) {
  fflush(NULL);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    alarm(60);
    work();
    _exit(0);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
}

/** Linked with sanitizers only, whose malloc ends the process where memory is missing. */
void __asan_init(void) __attribute__((weak)), __tsan_init(void) __attribute__((weak));

static void multiply_once(void) {
  real numbers[3] = {1, 2};
  FovMatrix a = {numbers, 1, 1, 1}, b = {numbers + 1, 1, 1, 1}, c = {numbers + 2, 1, 1, 1};
  fov_gemm(c, a, false, b, false, 0);
}

static void take_all_memory(void) {
  struct rlimit none = {0};
  setrlimit(RLIMIT_AS, &none);
  for (size_t size = 1 << 20; size >= 16; size /= 2)
    while (malloc(size)) {
    }
}

static atomic_bool memory_is_taken;

static void *multiply_at_last(void *nothing) {
  while (!memory_is_taken) usleep(100);
  multiply_once();
  return nothing;
}

static void end_well(void) {
  _exit(0);
}

/** A library that needs no memory then multiplies; another would end the process by itself. */
static void multiply_without_memory(void) {
  pthread_t thread;
  fov_on_no_memory(end_well);
  multiply_once();
  if (pthread_create(&thread, NULL, multiply_at_last, NULL)) _exit(1);
  take_all_memory();
  memory_is_taken = true;
  pthread_join(thread, NULL);
}

static void a_first_product_without_memory_is_reported(void **state) {
  (void)state;
  if (__asan_init || __tsan_init) return; // not skip(), whose "not ok" Meson takes for a failure
  assert_child_ends(multiply_without_memory);
}

static void meet_twice(void) {
  for (int i = 0; i < 2; i++) {
    Meeting meeting = {.expected = 3};
    fov_team_run(3, 3, meet, &meeting);
    if (meeting.missed) _exit(1);
  }
}

/** Before the parent has used its team, while its workers spin, and while they sleep. */
static void a_fork_has_workers_of_its_own(void **state) {
  (void)state;
  for (int wait = 0; wait <= 1000; wait += 100) {
    assert_child_ends(meet_twice);
    meet_twice();
    usleep((useconds_t)wait);
  }
}

static void meet_and_exit(void) {
  meet_twice();
  exit(0);
}

static void a_process_with_a_team_exits(void **state) {
  (void)state;
  assert_child_ends(meet_and_exit);
}

static void run_without_threads(void) {
  fov_team_run(0, 1, answer, &(Roll){0});
}

static void run_within(void *context, int task, int worker) {
  (void)task, (void)worker;
  fov_team_run(2, 2, answer, context);
}

static void run_within_a_run(void) {
  fov_team_run(2, 2, run_within, &(Roll){.threads = 2});
}

static void wrong_use_aborts(void **state) {
  (void)state;
  assert_true(aborts(run_without_threads));
  assert_true(aborts(run_within_a_run));
}

int main(void) {
  loaded_threads = count_threads() - 1;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_first_product_without_memory_is_reported), // before any thread has memory
      cmocka_unit_test(a_fork_has_workers_of_its_own),              // before any worker: see there
      cmocka_unit_test(a_process_with_a_team_exits),
      cmocka_unit_test(every_task_is_done_once),
      cmocka_unit_test(runs_follow_each_other_at_any_pace),
      cmocka_unit_test(tasks_run_at_the_same_time),
      cmocka_unit_test(those_who_wait_sleep),
      cmocka_unit_test(no_signal_reaches_a_team),
      cmocka_unit_test(a_signal_waits_for_a_task_not_for_all),
      cmocka_unit_test(a_long_task_admits_signals),
      cmocka_unit_test(a_signal_interrupts_the_thread_that_started_the_team),
      cmocka_unit_test(a_product_starts_no_thread),
      cmocka_unit_test(wrong_use_aborts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
