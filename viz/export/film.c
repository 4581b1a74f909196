#include "viz/export/film.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "viz/scene/cache.h"
#include "viz/scene/drawing.h"

extern char **environ;

enum { FRAMES_PER_SECOND = 30 };

/** A running ffmpeg: it reads frames from a pipe and writes errors to a temporary file. */
typedef struct Film {
  pid_t process;
  FILE *frames, *complaints;
} Film;

/** Starts ffmpeg with `input` as its standard input; without a shell, so no name is interpreted. */
static int spawn(Film *film, const char *output, int input, int width, int height) {
  char size[32], rate[16];
  snprintf(size, sizeof size, "%dx%d", width, height);
  snprintf(rate, sizeof rate, "%d", FRAMES_PER_SECOND);
  // clang-format off
  const char *argv[] = {
      "ffmpeg", "-y", "-loglevel", "error", "-f", "rawvideo", "-pixel_format", "bgr0",
      "-video_size", size, "-framerate", rate, "-i", "-",
      "-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2", // players need even sides
      "-pix_fmt", "yuv420p", "-movflags", "+faststart", "-f", "mp4", output, NULL};
  // clang-format on
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, fileno(film->complaints), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, fileno(film->complaints), STDERR_FILENO);
  posix_spawnattr_init(&attributes);
  sigset_t normal;
  sigemptyset(&normal);
  sigaddset(&normal, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &normal);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  int error = posix_spawnp(&film->process, argv[0], &actions, &attributes, (char **)argv, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

static FovStatus start(Film *film, const char *path, const char *output, const FovScene *scene) {
  int ends[2];
  film->complaints = tmpfile();
  if (!film->complaints || pipe2(ends, O_CLOEXEC) != 0)
    return fov_fail(FOV_ERR_IO, "%s: cannot start ffmpeg: %s", path, strerror(errno));
  int error = spawn(film, output, ends[0], (int)scene->width, (int)scene->height);
  close(ends[0]);
  film->frames = fdopen(ends[1], "w");
  if (!film->frames) {
    if (error == 0) error = errno;
    close(ends[1]); // so that ffmpeg ends
  }
  if (error == ENOENT)
    return fov_fail(FOV_ERR_USAGE,
                    "%s: ffmpeg, which encodes an MP4, is not on the PATH: install it or export a "
                    ".gif",
                    path);
  if (error != 0) return fov_fail(FOV_ERR_IO, "%s: cannot start ffmpeg: %s", path, strerror(error));
  return FOV_OK;
}

static bool put_frame(Film *film, cairo_surface_t *surface, const FovScene *scene) {
  cairo_t *cr = cairo_create(surface);
  fov_scene_draw(cr, scene);
  bool drawn = cairo_status(cr) == CAIRO_STATUS_SUCCESS;
  cairo_destroy(cr);
  cairo_surface_flush(surface);
  const unsigned char *pixels = cairo_image_surface_get_data(surface);
  size_t stride = (size_t)cairo_image_surface_get_stride(surface), line = 4 * (size_t)scene->width;
  for (int y = 0; drawn && y < (int)scene->height; y++)
    drawn = fwrite(pixels + y * stride, 1, line, film->frames) == line;
  return drawn;
}

/** Sends the whole episode at normal speed; false if ffmpeg has ended or memory ran out. */
static bool put_episode(Film *film, FovScene scene) {
  cairo_surface_t *surface =
      cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)scene.width, (int)scene.height);
  double last = fov_scene_length(&scene) - 1, each = FOV_GLIMPSE_SECONDS * FRAMES_PER_SECOND;
  int frames = (int)lround(last * each + FOV_END_SECONDS * FRAMES_PER_SECOND);
  bool written = cairo_surface_status(surface) == CAIRO_STATUS_SUCCESS;
  for (int i = 0; written && i <= frames; i++) {
    fov_scene_seek(&scene, fmin(last, i / each));
    written = put_frame(film, surface, &scene);
  }
  cairo_surface_destroy(surface);
  return written;
}

/** Waits for ffmpeg to finish the file; fails unless it exits with 0. */
static FovStatus end(Film *film, const char *path, bool written) {
  bool sent = film->frames && fclose(film->frames) == 0 && written;
  int status = 0;
  while (waitpid(film->process, &status, 0) < 0 && errno == EINTR) {
  }
  if (sent && WIFEXITED(status) && WEXITSTATUS(status) == 0) return FOV_OK;
  char line[256];
  fov_file_last_line(line, sizeof line, fileno(film->complaints));
  return fov_fail(FOV_ERR_IO, "%s: ffmpeg did not write it: %s", path, *line ? line : "no message");
}

static FovStatus make_film(const char *path, const char *beside, FovScene scene) {
  Film film = {0};
  // "file:" prevents a name with a leading dash or a colon from being read as something else.
  size_t size = strlen(beside) + sizeof "file:";
  char *output = malloc(size);
  if (!output) return fov_fail(FOV_ERR_MEMORY, "%s: no memory for its name", path);
  snprintf(output, size, "file:%s", beside);
  FovStatus status = start(&film, path, output, &scene);
  free(output);
  scene.cache = fov_scene_cache_create();
  if (film.process > 0) {
    FovStatus ended = end(&film, path, status == FOV_OK && put_episode(&film, scene));
    if (status == FOV_OK) status = ended;
  } else if (film.frames) {
    fclose(film.frames);
  }
  fov_scene_cache_destroy(scene.cache);
  if (film.complaints) fclose(film.complaints);
  return status;
}

FovStatus fov_export_mp4(const char *path, const FovScene *scene) {
  FovReplace replace;
  FOV_TRY(fov_replace_begin(&replace, path));
  // If ffmpeg ends early, its exit status has the reason; the signal would end this process.
  struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
  sigaction(SIGPIPE, &ignore, &before);
  FovStatus status = make_film(path, replace.beside, *scene);
  sigaction(SIGPIPE, &before, NULL);
  if (status == FOV_OK) return fov_replace_commit(&replace);
  fov_replace_abort(&replace);
  return status;
}
