#include "experiment/sweep/job.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"

FovStatus fov_sweep_job_start(FovSweepJob *job, const FovSweepChild *child) {
  job->child = *child;
  job->child.errors = memfd_create("errors", MFD_CLOEXEC);
  FovStatus status = job->child.errors >= 0
                         ? fov_sweep_child_start(&job->process, &job->child)
                         : fov_fail(FOV_ERR_MEMORY, "no memory for messages: %s", strerror(errno));
  if (status != FOV_OK) fov_sweep_job_release(job);
  return status;
}

/** How a child ended: the status that it left, or that it crashed, with the reason in its slot. */
static FovStatus outcome(const FovSweepChild *child, int status) {
  FovSweepSlot *slot = child->slot;
  char line[FOV_SWEEP_REASON];
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return slot->status;
  fov_file_last_line(line, sizeof line, child->errors);
  if (WIFSIGNALED(status))
    snprintf(slot->message, sizeof slot->message, "ended by signal %d (%s)%s%.150s",
             WTERMSIG(status), strsignal(WTERMSIG(status)), *line ? ": " : "", line);
  else
    snprintf(slot->message, sizeof slot->message, "ended with status %d: %.200s",
             WEXITSTATUS(status), line);
  return FOV_ERR_IO;
}

bool fov_sweep_job_has_ended(FovStatus *ended, FovSweepJob *job, bool wait) {
  int status;
  pid_t found;
  while ((found = waitpid(job->process, &status, wait ? 0 : WNOHANG)) < 0 && errno == EINTR)
    continue;
  if (found <= 0) return false;
  *ended = outcome(&job->child, status);
  job->process = 0; // the number may soon be that of another process
  return true;
}

void fov_sweep_job_release(FovSweepJob *job) {
  if (job->child.claim >= 0) close(job->child.claim);
  if (job->child.errors >= 0) close(job->child.errors);
  job->child.claim = job->child.errors = -1;
  job->process = 0;
}
