#include "record/provenance.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "record/safetensors.h"

const char fov_provenance_note[] =
    "no digest: it was written by an older version, so damage to it would go unnoticed";

/** A checkpoint has its update as a number, a trace as a text. */
static int64_t read_update(const FovSafetensors *file) {
  const FovBlob *blob = fov_safetensors_find(file, "state.update");
  const char *text = fov_safetensors_text(file, "update");
  int64_t update = -1;
  char *end;
  if (blob && blob->dtype == FOV_DTYPE_I64 && blob->dims == 0) {
    memcpy(&update, blob->data, sizeof update);
  } else if (text) {
    errno = 0;
    update = strtoll(text, &end, 10);
    if (end == text || *end || errno != 0) update = -1;
  }
  return update < 0 ? -1 : update;
}

FovStatus fov_provenance_read(FovProvenance *provenance, const char *path) {
  FovSafetensors *file;
  FOV_TRY(fov_safetensors_open(&file, path));
  *provenance =
      (FovProvenance){.update = read_update(file), .checked = fov_safetensors_is_checked(file)};
  const char *weights = fov_safetensors_text(file, "weights");
  if (weights && strlen(weights) == FOV_DIGEST_SIZE) strcpy(provenance->weights, weights);
  fov_safetensors_close(file);
  return FOV_OK;
}

bool fov_provenance_same(const FovProvenance *a, const FovProvenance *b) {
  if (a->weights[0] && b->weights[0]) return strcmp(a->weights, b->weights) == 0;
  return a->update >= 0 && a->update == b->update;
}
