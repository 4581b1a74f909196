#include "record/checkpoint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"

#define FORMAT "fovea checkpoint 1"

static const char *const prefixes[] = {"", "average.", "first.", "second."};

/** Sums of an objective's further losses, which older files lack. */
static const char *const further[] = {"state.sums.loss_2", "state.sums.loss_3",
                                      "state.sums.loss_4", "state.sums.loss_5",
                                      "state.sums.loss_6", "state.sums.loss_7"};

enum {
  BLOCKS = sizeof prefixes / sizeof *prefixes,
  FURTHER = sizeof further / sizeof *further,
  REQUIRED = 13,
  SCALARS = REQUIRED + FURTHER,
};
_Static_assert(FURTHER == FOV_OBJECTIVE_LOSSES - 2, "a name for every loss");

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
  const Scalar all[REQUIRED] = {
      {"state.update", FOV_DTYPE_I64, &state->update},
      {"state.average_return", FOV_DTYPE_F64, &state->average_return},
      {"state.sums.episodes", FOV_DTYPE_I64, &sums->episodes},
      {"state.sums.updates", FOV_DTYPE_I64, &sums->updates},
      {"state.sums.wrong", FOV_DTYPE_I64, &sums->wrong},
      {"state.sums.glimpses", FOV_DTYPE_I64, &sums->glimpses},
      {"state.sums.reward", FOV_DTYPE_F64, &sums->reward},
      {"state.sums.class_loss", FOV_DTYPE_F64, &sums->losses[0]},
      {"state.sums.baseline_loss", FOV_DTYPE_F64, &sums->losses[1]},
      {"state.sums.gradient_norm", FOV_DTYPE_F64, &sums->gradient_norm},
      {"state.best_loss", FOV_DTYPE_F64, &best->loss},
      {"state.best_error", FOV_DTYPE_F64, &best->error},
      {"state.best_update", FOV_DTYPE_I64, &best->update},
  };
  memcpy(scalars, all, sizeof all);
  for (int i = 0; i < FURTHER; i++)
    scalars[REQUIRED + i] = (Scalar){further[i], FOV_DTYPE_F64, &sums->losses[2 + i]};
}

bool fov_checkpoint_is_weight(const char *name) {
  for (int i = 1; i < BLOCKS; i++)
    if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0) return false;
  return strncmp(name, "state.", strlen("state.")) != 0;
}

/** A parameter's array in the file; block: its values in memory, or NULL. */
static FovBlob describe(const char *prefix, const FovParam *param, const real *block) {
  FOV_CHECK(fov_checkpoint_is_weight(param->name),
            "parameter %s: average., first., second. and state. are reserved", param->name);
  FovBlob blob = {.dtype = sizeof(real) == 8 ? FOV_DTYPE_F64 : FOV_DTYPE_F32,
                  .dims = 2,
                  .shape = {param->rows, param->cols},
                  .data = block ? (real *)block + param->offset : NULL};
  snprintf(blob.name, sizeof blob.name, "%s%s", prefix, param->name);
  return blob;
}

/** Numbers that are not finite must never replace a good file. */
static FovStatus check_finite(const FovBlob *blob, const char *path) {
  size_t count = fov_blob_size(blob) / fov_dtype_size(blob->dtype);
  for (size_t i = 0; i < count; i++) {
    bool finite = blob->dtype == FOV_DTYPE_F32   ? isfinite(((const float *)blob->data)[i])
                  : blob->dtype == FOV_DTYPE_F64 ? isfinite(((const double *)blob->data)[i])
                                                 : ((const int64_t *)blob->data)[i] >= 0;
    if (!finite)
      return fov_fail(FOV_ERR_NUMBER, "%s: number %zu of %s is %s", path, i, blob->name,
                      blob->dtype == FOV_DTYPE_I64 ? "a negative count" : "not finite");
  }
  return FOV_OK;
}

uint64_t fov_weights_digest(const FovParams *params, const real *values) {
  FovDigest digest = FOV_DIGEST_START;
  for (int i = 0; i < params->count; i++) {
    const FovParam *param = &params->list[i];
    const int64_t shape[2] = {param->rows, param->cols};
    size_t count = (size_t)param->rows * (size_t)param->cols;
    fov_digest_add(&digest, param->name, strlen(param->name) + 1);
    fov_digest_add(&digest, shape, sizeof shape);
    fov_digest_add(&digest, values + param->offset, count * sizeof *values);
  }
  return fov_digest_value(&digest);
}

enum { STANDARD = 2 }; // arrays that describe standardised images

/** Describes mean and deviation, if there are any. Returns how many arrays. */
static size_t describe_standard(FovBlob blobs[STANDARD], const FovStandard *standard) {
  static const char *const names[] = {"state.mean", "state.deviation"};
  const double *const numbers[] = {standard->mean, standard->deviation};
  if (!fov_is_standardised(standard)) return 0;
  for (int i = 0; i < STANDARD; i++) {
    blobs[i] = (FovBlob){.dtype = FOV_DTYPE_F64,
                         .dims = 1,
                         .shape = {standard->channels},
                         .data = (double *)numbers[i]};
    snprintf(blobs[i].name, FOV_BLOB_NAME, "%s", names[i]);
  }
  return STANDARD;
}

/** weights: digest of those to evaluate. */
static FovStatus write_file(const char *path, const FovBlob *blobs, size_t count,
                            const FovIdentity *identity, uint64_t weights) {
  for (size_t i = 0; i < count; i++) FOV_TRY(check_finite(&blobs[i], path));
  char data[FOV_DIGEST_SIZE + 1], digest[FOV_DIGEST_SIZE + 1], symbols[FOV_DIGEST_SIZE + 1];
  const FovText texts[] = {{"config", identity->config},
                           {"data", fov_digest_print(data, identity->data)},
                           {"format", FORMAT},
                           {"weights", fov_digest_print(digest, weights)},
                           {"symbols", fov_digest_print(symbols, identity->symbols)}};
  size_t texts_count = sizeof texts / sizeof *texts;
  if (identity->symbols == 0) texts_count--; // which come last
  return fov_safetensors_write(path, blobs, count, texts, texts_count);
}

/** Room for the descriptions of `count` tensors, to be freed. */
static FovStatus create_blobs(FovBlob **blobs, size_t count, const char *path) {
  *blobs = malloc(count * sizeof **blobs);
  return *blobs ? FOV_OK : fov_fail(FOV_ERR_MEMORY, "%s: no memory for %zu tensors", path, count);
}

FovStatus fov_checkpoint_save_weights(const char *path, const FovParams *params, const real *values,
                                      int64_t update, const FovIdentity *identity) {
  int count = params->count;
  FovBlob *blobs;
  FOV_TRY(create_blobs(&blobs, (size_t)count + 1 + STANDARD, path));
  for (int i = 0; i < count; i++) blobs[i] = describe("", &params->list[i], values);
  blobs[count] = (FovBlob){.name = "state.update", .dtype = FOV_DTYPE_I64, .data = &update};
  size_t described = describe_standard(blobs + count + 1, &identity->standard);
  FovStatus status = write_file(path, blobs, (size_t)count + 1 + described, identity,
                                fov_weights_digest(params, values));
  free(blobs);
  return status;
}

FovStatus fov_checkpoint_save(const char *path, const FovParams *params,
                              const FovTrainerState *state, const real *evaluated,
                              const FovBest *best, const FovIdentity *identity) {
  FovBlob *blobs;
  size_t count = 0;
  FOV_TRY(create_blobs(&blobs, BLOCKS * (size_t)params->count + SCALARS + STANDARD, path));
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
  count += describe_standard(blobs + count, &identity->standard);
  FovStatus status =
      write_file(path, blobs, count, identity, fov_weights_digest(params, evaluated));
  free(blobs);
  return status;
}

FovStatus fov_checkpoint_check_data(const FovSafetensors *file, uint64_t data) {
  const char *path = fov_safetensors_path(file), *kept = fov_safetensors_text(file, "data");
  char expected[FOV_DIGEST_SIZE + 1];
  if (!kept) return fov_fail(FOV_ERR_FORMAT, "%s: not a fovea checkpoint", path);
  if (strcmp(kept, fov_digest_print(expected, data)) == 0) return FOV_OK;
  return fov_fail(
      FOV_ERR_USAGE,
      "%s: was started on other training data; see env.data and $FOVEA_DATA, or env.source "
      "and env.target",
      path);
}

FovStatus fov_checkpoint_check_symbols(const FovSafetensors *file, uint64_t symbols) {
  const char *kept = fov_safetensors_text(file, "symbols");
  char expected[FOV_DIGEST_SIZE + 1];
  if (!kept || strcmp(kept, fov_digest_print(expected, symbols)) == 0) return FOV_OK;
  return fov_fail(
      FOV_ERR_USAGE,
      "%s: expected sequences with the symbols of its training, found others; to test on "
      "other lines, set env.test_source and env.test_target",
      fov_safetensors_path(file));
}

/** Copies the array of the expected name, dtype and shape. */
static FovStatus load_blob(const FovBlob *expected, const FovSafetensors *file) {
  const FovBlob *blob;
  FOV_TRY(fov_safetensors_require(&blob, file, expected->name, expected->dtype, expected->dims,
                                  expected->shape));
  FOV_TRY(check_finite(blob, fov_safetensors_path(file)));
  memcpy(expected->data, blob->data, fov_blob_size(blob));
  return FOV_OK;
}

FovStatus fov_checkpoint_standard(FovStandard *standard, const FovSafetensors *file) {
  const FovBlob *mean = fov_safetensors_find(file, "state.mean");
  FovBlob blobs[STANDARD];
  *standard = (FovStandard){.channels = 0};
  if (!mean) return FOV_OK;
  standard->channels = mean->dims == 1 && mean->shape[0] == 3 ? 3 : 1;
  describe_standard(blobs, standard);
  for (int i = 0; i < STANDARD; i++) FOV_TRY(load_blob(&blobs[i], file));
  for (int c = 0; c < standard->channels; c++)
    if (standard->deviation[c] <= 0)
      return fov_fail(FOV_ERR_FORMAT, "%s: state.deviation: expected numbers above 0, found %g",
                      fov_safetensors_path(file), standard->deviation[c]);
  return FOV_OK;
}

static FovStatus load_block(real *block, const FovSafetensors *file, const FovParams *params,
                            const char *prefix) {
  for (int i = 0; i < params->count; i++) {
    FovBlob expected = describe(prefix, &params->list[i], block);
    FOV_TRY(load_blob(&expected, file));
  }
  return FOV_OK;
}

static FovStatus load_scalar(const Scalar *scalar, const FovSafetensors *file) {
  FovBlob expected = {.dtype = scalar->dtype, .data = scalar->data};
  snprintf(expected.name, sizeof expected.name, "%s", scalar->name);
  return load_blob(&expected, file);
}

FovStatus fov_checkpoint_load(FovTrainerState *state, FovBest *best, const FovParams *params,
                              const FovSafetensors *file) {
  real *blocks[BLOCKS];
  blocks_of(blocks, state);
  for (int b = 0; b < BLOCKS; b++) FOV_TRY(load_block(blocks[b], file, params, prefixes[b]));
  Scalar scalars[SCALARS];
  scalars_of(scalars, state, best);
  for (int i = 0; i < SCALARS; i++)
    if (i < REQUIRED || fov_safetensors_find(file, scalars[i].name))
      FOV_TRY(load_scalar(&scalars[i], file));
  if (state->sums.updates > state->update)
    return fov_fail(FOV_ERR_FORMAT,
                    "%s: state.update: expected %lld or more, the updates to report, found %lld",
                    fov_safetensors_path(file), (long long)state->sums.updates,
                    (long long)state->update);
  return FOV_OK;
}

FovStatus fov_checkpoint_update(int64_t *update, const FovSafetensors *file) {
  const Scalar scalar = {"state.update", FOV_DTYPE_I64, update};
  return load_scalar(&scalar, file);
}

static FovStatus load_weights(real **values, int64_t *update, const FovParams *params,
                              const char *prefix, const FovSafetensors *file) {
  for (int i = 0; i < params->count; i++) {
    FovBlob expected = describe(prefix, &params->list[i], NULL);
    const FovBlob *blob;
    FOV_TRY(fov_safetensors_require(&blob, file, expected.name, expected.dtype, expected.dims,
                                    expected.shape));
  }
  FOV_TRY(fov_checkpoint_update(update, file));
  *values = fov_params_block(params);
  if (!*values)
    return fov_fail(FOV_ERR_MEMORY, "%s: no memory for its weights", fov_safetensors_path(file));
  return load_block(*values, file, params, prefix);
}

/** Whether a file has more than the weights to evaluate. */
static bool is_whole(const FovSafetensors *file, const FovParams *params) {
  return fov_safetensors_find(file, describe("average.", &params->list[0], NULL).name);
}

FovStatus fov_checkpoint_load_weights(real **values, int64_t *update, const FovParams *params,
                                      bool averaged, const FovSafetensors *file) {
  *values = NULL;
  const char *prefix = averaged && is_whole(file, params) ? "average." : "";
  FovStatus status = load_weights(values, update, params, prefix, file);
  if (status == FOV_OK) return FOV_OK;
  free(*values);
  *values = NULL;
  return status;
}

/** Whether the file has an array of this name, type and shape. */
static bool has_blob(const FovSafetensors *file, const FovBlob *expected) {
  const FovBlob *found = fov_safetensors_find(file, expected->name);
  return found && found->dtype == expected->dtype && found->dims == expected->dims &&
         memcmp(found->shape, expected->shape, (size_t)found->dims * sizeof *found->shape) == 0;
}

FovStatus fov_checkpoint_start_weights(real *values, int *kept, const FovParams *params,
                                       const FovParams *heads, bool averaged,
                                       const FovSafetensors *file) {
  const char *prefix = averaged && is_whole(file, params) ? "average." : "";
  *kept = 0;
  for (int i = 0; i < params->count; i++) {
    FovBlob expected = describe(prefix, &params->list[i], values);
    if (fov_params_have(heads, params->list[i].name) && !has_blob(file, &expected))
      ++*kept;
    else
      FOV_TRY(load_blob(&expected, file));
  }
  return FOV_OK;
}

FovStatus fov_checkpoint_config(const char **config, const FovSafetensors *file) {
  const char *format = fov_safetensors_text(file, "format"), *path = fov_safetensors_path(file);
  if (format && strcmp(format, FORMAT) != 0)
    return fov_fail(FOV_ERR_FORMAT, "%s: format '%.40s', expected a fovea checkpoint, '" FORMAT "'",
                    path, format);
  *config = fov_safetensors_text(file, "config");
  if (*config) return FOV_OK;
  return fov_fail(FOV_ERR_FORMAT, "%s: no configuration: expected a fovea checkpoint", path);
}
