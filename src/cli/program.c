#include "cli/program.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/** The last line of what a file's last bytes contain, without its end. */
static void read_last_line(char line[FOV_PROGRAM_LINE], int fd) {
  char text[4 * FOV_PROGRAM_LINE];
  off_t size = lseek(fd, 0, SEEK_END), most = sizeof text - 1;
  ssize_t length = pread(fd, text, sizeof text - 1, size > most ? size - most : 0);
  if (length < 0) length = 0;
  while (length > 0 && text[length - 1] == '\n') length--;
  text[length] = '\0';
  const char *last = strrchr(text, '\n');
  snprintf(line, FOV_PROGRAM_LINE, "%.*s", FOV_PROGRAM_LINE - 1, last ? last + 1 : text);
}

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
  read_last_line(line, errors);
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
  if (status == FOV_OK) read_last_line(line, output);
  if (output >= 0) close(output);
  if (errors >= 0) close(errors);
  return status;
}
