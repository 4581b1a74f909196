#include "cli/program.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"

extern char **environ;

static FovStatus start(pid_t *process, const char *const *argv, int output, int errors) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, errors, STDERR_FILENO);
  int failed = posix_spawnp(process, argv[0], &files, NULL, (char *const *)argv, environ);
  posix_spawn_file_actions_destroy(&files);
  if (failed == ENOENT) return fov_fail(FOV_ERR_IO, "%s: no such program on the PATH", argv[0]);
  if (failed) return fov_fail(FOV_ERR_IO, "%s: cannot start it: %s", argv[0], strerror(failed));
  return FOV_OK;
}

static FovStatus wait_for(pid_t process, const char *name, int errors) {
  int status;
  char line[FOV_PROGRAM_LINE];
  while (waitpid(process, &status, 0) < 0)
    if (errno != EINTR)
      return fov_fail(FOV_ERR_IO, "%s: cannot wait for it: %s", name, strerror(errno));
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return FOV_OK;
  fov_file_last_line(line, FOV_PROGRAM_LINE, errors);
  if (WIFSIGNALED(status))
    return fov_fail(FOV_ERR_IO, "%s ended by signal %d%s%s", name, WTERMSIG(status),
                    *line ? ": " : "", line);
  return fov_fail(FOV_ERR_IO, "%s failed with status %d%s%s", name, WEXITSTATUS(status),
                  *line ? ": " : "", line);
}

FovStatus fov_program_run(char line[FOV_PROGRAM_LINE], const char *const *argv) {
  pid_t process;
  int output = memfd_create("output", MFD_CLOEXEC), errors = memfd_create("errors", MFD_CLOEXEC);
  FovStatus status = output >= 0 && errors >= 0
                         ? start(&process, argv, output, errors)
                         : fov_fail(FOV_ERR_MEMORY, "no memory for the output of %s", argv[0]);
  if (status == FOV_OK) status = wait_for(process, argv[0], errors);
  if (status == FOV_OK) fov_file_last_line(line, FOV_PROGRAM_LINE, output);
  if (output >= 0) close(output);
  if (errors >= 0) close(errors);
  return status;
}
