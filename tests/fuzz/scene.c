/** What the viewer draws of a trace: episodes, overviews and web pages. */
#include "draw.h"
#include "tests/fuzz/fuzz.h"

/** Fontconfig keeps its cache until the process ends; the leak checker ignores it. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) {
  return "leak:libfontconfig";
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const char *path = fuzz_file("input", data, size);
  for (int show = FOV_DRAW_EPISODE; show <= FOV_DRAW_CONFUSION; show++) {
    const FovDrawEpisode what = {.width = 320, .height = 180, .show = (FovDrawShow)show, .page = 1};
    if (show == FOV_DRAW_EPISODE) {
      FovDrawEpisode pair = what;
      pair.beside = path;
      fuzz_check_message(fov_draw_episode("out.svg", path, &what));
      fuzz_check_message(fov_draw_episode("out.svg", path, &pair));
      fuzz_check_message(fov_draw_episode("out.html", path, &what));
    } else {
      fuzz_check_message(fov_draw_overview("out.svg", path, &what));
    }
  }
  return 0;
}
