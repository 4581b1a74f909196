#include "base/busy.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/** The child. Handlers that its parent has set for signals must not save or print anything here. */
_Noreturn static void compute(pid_t parent) {
  for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(0); // it ended before prctl
  for (volatile unsigned turns = 0;;) turns++;
}

FovStatus fov_busy_start(FovBusy *busy, int count) {
  FOV_CHECK(count >= 0 && count <= FOV_MAX_THREADS, "%d processes", count);
  pid_t parent = getpid();
  for (busy->count = 0; busy->count < count; busy->count++) {
    pid_t process = fork();
    if (process == 0) compute(parent);
    if (process < 0) {
      int why = errno;
      fov_busy_stop(busy);
      return fov_fail(FOV_ERR_IO, "cannot start a process: %s", strerror(why));
    }
    busy->processes[busy->count] = process;
  }
  return FOV_OK;
}

void fov_busy_stop(FovBusy *busy) {
  for (int i = 0; i < busy->count; i++) kill(busy->processes[i], SIGKILL);
  for (int i = 0; i < busy->count; i++)
    while (waitpid(busy->processes[i], NULL, 0) < 0 && errno == EINTR) continue;
  busy->count = 0;
}
