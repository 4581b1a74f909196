#include "record/checkpoint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/safetensors.h"

static const char *const prefixes[] = {"", "average.", "first.", "second."};

enum { BLOCKS = sizeof prefixes / sizeof *prefixes, SCALARS = 10 };

static void blocks_of(real *blocks[BLOCKS], const FovTrainerState *state) {
  real *all[BLOCKS] = {state->value, state->average, state->first, state->second};
  memcpy(blocks, all, sizeof all);
}

/** One number of the state and its place in the file. */
typedef struct Scalar {
  const char *name;
  FovDtype dtype;
  void *data;
} Scalar;

static void scalars_of(Scalar scalars[SCALARS], FovTrainerState *state, FovBest *best) {
  FovSums *sums = &state->sums;
  Scalar all[SCALARS] = {
      {"state.update", FOV_DTYPE_I64, &state->update},
      {"state.average_return", FOV_DTYPE_F64, &state->average_return},
      {"state.sums.episodes", FOV_DTYPE_I64, &sums->episodes},
      {"state.sums.updates", FOV_DTYPE_I64, &sums->updates},
      {"state.sums.wrong", FOV_DTYPE_I64, &sums->wrong},
      {"state.sums.reward", FOV_DTYPE_F64, &sums->reward},
      {"state.sums.class_loss", FOV_DTYPE_F64, &sums->class_loss},
      {"state.sums.baseline_loss", FOV_DTYPE_F64, &sums->baseline_loss},
      {"state.sums.gradient_norm", FOV_DTYPE_F64, &sums->gradient_norm},
      {"state.best_error", FOV_DTYPE_F64, &best->error},
  };
  memcpy(scalars, all, sizeof all);
}

static FovBlob describe(const char *prefix, const FovParam *param, real *block) {
  FovBlob blob = {.dtype = sizeof(real) == 8 ? FOV_DTYPE_F64 : FOV_DTYPE_F32,
                  .dims = 2,
                  .shape = {param->rows, param->cols},
                  .data = block + param->offset};
  snprintf(blob.name, sizeof blob.name, "%s%s", prefix, param->name);
  return blob;
}

FovStatus fov_checkpoint_save(const char *path, const FovParams *params,
                              const FovTrainerState *state, const FovBest *best,
                              const char *config) {
  FovBlob blobs[BLOCKS * FOV_MAX_PARAMS + SCALARS + 1];
  size_t count = 0;
  real *blocks[BLOCKS];
  blocks_of(blocks, state);
  for (int b = 0; b < BLOCKS; b++)
    for (int i = 0; i < params->count; i++)
      blobs[count++] = describe(prefixes[b], &params->list[i], blocks[b]);
  FovTrainerState state_copy = *state;
  FovBest best_copy = *best;
  Scalar scalars[SCALARS];
  scalars_of(scalars, &state_copy, &best_copy);
  for (int i = 0; i < SCALARS; i++) {
    blobs[count] = (FovBlob){.dtype = scalars[i].dtype, .data = scalars[i].data};
    snprintf(blobs[count++].name, FOV_BLOB_NAME, "%s", scalars[i].name);
  }
  blobs[count++] =
      (FovBlob){.name = "state.best_update", .dtype = FOV_DTYPE_I64, .data = &best_copy.update};
  const FovText texts[] = {{"config", config}, {"format", "fovea checkpoint 1"}};
  return fov_safetensors_write(path, blobs, count, texts, sizeof texts / sizeof *texts);
}

static FovStatus load_param(real *values, const FovSafetensors *file, const char *path,
                            const FovBlob *expected) {
  const FovBlob *blob;
  FOV_TRY(fov_safetensors_require(&blob, file, expected->name, expected->dtype, expected->dims,
                                  expected->shape));
  size_t count = fov_blob_size(blob) / sizeof(real);
  for (size_t i = 0; i < count; i++)
    if (!isfinite(((const real *)blob->data)[i]))
      return fov_fail(FOV_ERR_FORMAT, "%s: %s holds a number that is not finite", path, blob->name);
  memcpy(values, blob->data, count * sizeof(real));
  return FOV_OK;
}

static FovStatus load_block(real *block, const FovSafetensors *file, const char *path,
                            const FovParams *params, const char *prefix) {
  for (int i = 0; i < params->count; i++) {
    FovBlob expected = describe(prefix, &params->list[i], block);
    FOV_TRY(load_param(block + params->list[i].offset, file, path, &expected));
  }
  return FOV_OK;
}

static FovStatus load_scalar(void *data, const FovSafetensors *file, const char *path,
                             const char *name, FovDtype dtype) {
  const FovBlob *blob;
  FOV_TRY(fov_safetensors_require(&blob, file, name, dtype, 0, NULL));
  // The best error is infinite before the first evaluation.
  if (dtype == FOV_DTYPE_F64 && isnan(*(const double *)blob->data))
    return fov_fail(FOV_ERR_FORMAT, "%s: %s is not a number", path, name);
  memcpy(data, blob->data, fov_dtype_size(dtype));
  return FOV_OK;
}

static FovStatus load_all(FovTrainerState *state, FovBest *best, const FovParams *params,
                          const FovSafetensors *file, const char *path) {
  real *blocks[BLOCKS];
  blocks_of(blocks, state);
  for (int b = 0; b < BLOCKS; b++) FOV_TRY(load_block(blocks[b], file, path, params, prefixes[b]));
  Scalar scalars[SCALARS];
  scalars_of(scalars, state, best);
  for (int i = 0; i < SCALARS; i++)
    FOV_TRY(load_scalar(scalars[i].data, file, path, scalars[i].name, scalars[i].dtype));
  FOV_TRY(load_scalar(&best->update, file, path, "state.best_update", FOV_DTYPE_I64));
  if (state->update < 0 || state->sums.updates < 0 || state->sums.updates > state->update)
    return fov_fail(FOV_ERR_FORMAT, "%s: state.update is %lld with %lld updates to report", path,
                    (long long)state->update, (long long)state->sums.updates);
  return FOV_OK;
}

FovStatus fov_checkpoint_load(FovTrainerState *state, FovBest *best, const FovParams *params,
                              const char *path) {
  FovSafetensors *file;
  FOV_TRY(fov_safetensors_open(&file, path));
  FovStatus status = load_all(state, best, params, file, path);
  fov_safetensors_close(file);
  return status;
}

FovStatus fov_checkpoint_load_weights(real *values, int64_t *update, const FovParams *params,
                                      bool averaged, const char *path) {
  FovSafetensors *file;
  FOV_TRY(fov_safetensors_open(&file, path));
  FovStatus status = load_block(values, file, path, params, averaged ? "average." : "");
  if (status == FOV_OK) status = load_scalar(update, file, path, "state.update", FOV_DTYPE_I64);
  fov_safetensors_close(file);
  return status;
}

FovStatus fov_checkpoint_config(char **config, const char *path) {
  FovSafetensors *file;
  FOV_TRY(fov_safetensors_open(&file, path));
  const char *text = fov_safetensors_text(file, "config");
  *config = text ? strdup(text) : NULL;
  fov_safetensors_close(file);
  if (!text) return fov_fail(FOV_ERR_FORMAT, "%s: no configuration: not a fovea checkpoint", path);
  return *config ? FOV_OK : fov_fail(FOV_ERR_MEMORY, "%s: no memory for its configuration", path);
}
