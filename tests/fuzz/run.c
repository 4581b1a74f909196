/** run.json of a run that is resumed: the changes of settings in it are kept. */
#include "record/run.h"

#include <jansson.h>
#include <sys/stat.h>

#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const FovRun run = {.dir = ".", .log = -1, .resumed = true};
  const FovRunChange change = {.key = "train.rate", .from = "0.1", .to = "0.2", .update = 3};
  const FovRunFacts facts = {
      .command = "fovea", .outcome = "running", .changes = &change, .change_count = 1};
  fuzz_file("run.json", data, size);
  FovStatus status = fov_run_describe(&run, &facts);
  FOV_CHECK(status == FOV_OK, "%s", fov_error_message());
  json_t *root = json_load_file("run.json", 0, NULL);
  FOV_CHECK(json_object_get(json_object_get(root, "changed"), "train.rate"), "no change");
  json_decref(root);
  return 0;
}
