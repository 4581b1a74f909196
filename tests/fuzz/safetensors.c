/** Header and arrays of safetensors files: what is accepted lies within the file. */
#include "record/safetensors.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  FovSafetensors *file;
  FovStatus status = fov_safetensors_open(&file, fuzz_file("input", data, size));
  fuzz_check_message(status);
  if (status != FOV_OK) return 0;
  unsigned sum = 0;
  for (size_t i = 0; i < fov_safetensors_count(file); i++) {
    const FovBlob *blob = fov_safetensors_at(file, i);
    const uint8_t *bytes = blob->data;
    for (size_t j = 0; j < fov_blob_size(blob); j++) sum += bytes[j];
    FOV_CHECK(fov_safetensors_find(file, blob->name) == blob, "%s is not found", blob->name);
  }
  FOV_CHECK(sum <= 255 * size, "more bytes than the file has");
  fov_safetensors_close(file);
  return 0;
}
