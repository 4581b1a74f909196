/** What the viewer draws of a trace: an episode, also of two agents, a web page, or an overview;
 * the input chooses which, because each takes milliseconds. */
#include "draw.h"
#include "tests/fuzz/fuzz.h"

/** Fontconfig keeps its cache until the process ends; the leak checker ignores it. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) {
  return "leak:libfontconfig";
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  enum { OVERVIEWS = FOV_DRAW_CONFUSION - FOV_DRAW_EPISODE, PAIR = OVERVIEWS + 1, PAGE, VIEWS };
  const char *path = fuzz_file("input", data, size);
  unsigned sum = 0;
  for (size_t i = 0; i < size; i++) sum += data[i];
  int view = (int)(sum % VIEWS); // 0: an episode
  FovDrawEpisode what = {.width = 320, .height = 180, .page = 1};
  if (view == PAIR) what.beside = path;
  if (view > 0 && view <= OVERVIEWS) {
    what.show = (FovDrawShow)(FOV_DRAW_EPISODE + view);
    fuzz_check_message(fov_draw_overview("out.svg", path, &what));
  } else {
    fuzz_check_message(fov_draw_episode(view == PAGE ? "out.html" : "out.svg", path, &what));
  }
  return 0;
}
