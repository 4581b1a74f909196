#include "viz/viewer/origin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"

FovSplit fov_origin_split(const FovTrace *trace) {
  int split = FOV_SPLIT_VALID;
  for (int i = 0; fov_split_names[i]; i++)
    if (strcmp(fov_split_names[i], trace->split) == 0) split = i;
  return (FovSplit)split;
}

uint64_t fov_origin_seed(const char *seed, const FovTrained *trained) {
  return seed[0] ? strtoull(seed, NULL, 10) : (uint64_t)trained->experiment.eval.seed;
}

FovProvenance fov_origin_weights(const FovTrace *trace) {
  FovProvenance weights = {.update = trace->update};
  strcpy(weights.weights, trace->weights);
  return weights;
}

FovStatus fov_origin_checkpoint(char *path, const char *run, const FovProvenance *weights) {
  char quoted[FOV_PATH_SIZE];
  static const char *const files[] = {FOV_RUN_BEST, FOV_RUN_LAST};
  FovProvenance found;
  for (int i = 0; i < 2; i++) {
    FOV_TRY(fov_run_find(path, run, files[i]));
    if (fov_provenance_read(&found, path) == FOV_OK && fov_provenance_same(&found, weights))
      return FOV_OK;
  }
  for (int i = 0; i < 2; i++) { // a damaged one may have had them
    FOV_TRY(fov_run_find(path, run, files[i]));
    if (fov_file_exists(path)) FOV_TRY(fov_provenance_read(&found, path));
  }
  return fov_fail(
      FOV_ERR_USAGE,
      "%s: no checkpoint has the weights of this trace (update %lld); record a new one: "
      "fovea trace %s",
      run, (long long)weights->update, fov_text_word(quoted, sizeof quoted, run));
}
