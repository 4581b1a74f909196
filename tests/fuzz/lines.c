/** Text files of env = text_pairs, in characters and in words. */
#include "envs/datasets/lines.h"
#include "tests/fuzz/fuzz.h"

static void read_lines(const char *path, FovLinesUnit unit, size_t size) {
  FovLines lines;
  FovStatus status = fov_lines_read(&lines, path, unit, 100, NULL);
  fuzz_check_message(status);
  for (size_t i = 0; status == FOV_OK && i < lines.starts[lines.count]; i++)
    FOV_CHECK(lines.tokens[i] >= 0 && lines.tokens[i] < lines.vocabulary, "symbol %zu", i);
  for (int v = 0; status == FOV_OK && v < lines.vocabulary; v++)
    FOV_CHECK(strlen(lines.names[v]) <= size, "a name longer than the file");
  fov_lines_finish(&lines);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const char *path = fuzz_file("input", data, size);
  read_lines(path, FOV_LINES_CHARACTER, size);
  read_lines(path, FOV_LINES_WORD, size);
  return 0;
}
