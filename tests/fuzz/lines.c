/** Text files of env = text_pairs, in characters and in words; the second half as a test of the
 * first. */
#include "envs/datasets/lines.h"
#include "tests/fuzz/fuzz.h"

/** Reads a file; all its symbols are numbered and no name is longer than it. known: as
 * fov_lines_read has it. */
static FovStatus read_lines(FovLines *lines, const char *path, FovLinesUnit unit, size_t size,
                            const FovLines *known) {
  FovStatus status = fov_lines_read(lines, path, unit, 100, known);
  fuzz_check_message(status);
  for (size_t i = 0; status == FOV_OK && i < lines->starts[lines->count]; i++)
    FOV_CHECK(lines->tokens[i] >= 0 && lines->tokens[i] < lines->vocabulary, "symbol %zu", i);
  for (int v = 0; status == FOV_OK && v < lines->vocabulary; v++)
    FOV_CHECK(strlen(lines->names[v]) <= (known ? strlen(known->names[v]) : size),
              "name %d is longer", v);
  return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_file("training", data, size / 2);
  fuzz_file("test", data + size / 2, size - size / 2);
  for (int unit = FOV_LINES_CHARACTER; unit <= FOV_LINES_WORD; unit++) {
    FovLines training, test = {.count = 0};
    if (read_lines(&training, "training", (FovLinesUnit)unit, size / 2, NULL) == FOV_OK)
      read_lines(&test, "test", (FovLinesUnit)unit, size, &training);
    fov_lines_finish(&training);
    fov_lines_finish(&test);
  }
  return 0;
}
