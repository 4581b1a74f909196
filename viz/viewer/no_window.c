/** Replaces the window in a program that is built without SDL. */
#include "base/file.h"
#include "base/text.h"
#include "draw.h"

FovStatus fov_draw_window(const char *source, const FovDrawEpisode *what) {
  (void)what;
  char quoted[FOV_PATH_SIZE];
  return fov_fail(FOV_ERR_USAGE,
                  "%s: this program was built without its window; install SDL2 and build it with "
                  "-Dwindow=enabled, or write a file: fovea view %s --export gaze.gif",
                  source, fov_text_word(quoted, sizeof quoted, source));
}
