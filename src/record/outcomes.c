#include "record/outcomes.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "record/safetensors.h"

/** Older files have the first OLDER scalars only. */
enum { OLDER = 8, SCALARS = 12, MAX_CASES = 1 << 30 };

static const char format[] = "fovea outcomes 1";

double fov_outcomes_error(const FovOutcomes *outcomes) {
  int64_t wrong = 0;
  for (int64_t i = 0; i < outcomes->cases; i++) wrong += outcomes->wrong[i];
  return (double)wrong / (double)outcomes->cases;
}

char *fov_outcomes_name(char *name, FovSplit split, int rollouts) {
  if (rollouts == 1)
    snprintf(name, FOV_OUTCOMES_NAME, "%s.safetensors", fov_split_names[split]);
  else
    snprintf(name, FOV_OUTCOMES_NAME, "%s-%d.safetensors", fov_split_names[split], rollouts);
  return name;
}

/** Numbers that the file has as int64, and FovOutcomes has not. */
typedef struct Numbers {
  int64_t rollouts, split;
} Numbers;

static void scalars_of(FovBlob scalars[SCALARS], const FovOutcomes *o, Numbers *numbers) {
  const FovBlob all[SCALARS] = {
      {.name = "glimpses", .dtype = FOV_DTYPE_F64, .data = (double *)&o->glimpses},
      {.name = "mflop", .dtype = FOV_DTYPE_F64, .data = (double *)&o->mflop},
      {.name = "parameters", .dtype = FOV_DTYPE_I64, .data = (int64_t *)&o->parameters},
      {.name = "reward", .dtype = FOV_DTYPE_F64, .data = (double *)&o->reward},
      {.name = "rollouts", .dtype = FOV_DTYPE_I64, .data = &numbers->rollouts},
      {.name = "seed", .dtype = FOV_DTYPE_I64, .data = (int64_t *)&o->seed},
      {.name = "split", .dtype = FOV_DTYPE_I64, .data = &numbers->split},
      {.name = "update", .dtype = FOV_DTYPE_I64, .data = (int64_t *)&o->update},
      {.name = "input_numbers", .dtype = FOV_DTYPE_F64, .data = (double *)&o->input_numbers},
      {.name = "input_pixels", .dtype = FOV_DTYPE_F64, .data = (double *)&o->input_pixels},
      {.name = "answer_error", .dtype = FOV_DTYPE_F64, .data = (double *)&o->answer_error},
      {.name = "alignment_error", .dtype = FOV_DTYPE_F64, .data = (double *)&o->alignment_error},
  };
  memcpy(scalars, all, sizeof all);
}

FovStatus fov_outcomes_write(const FovOutcomes *outcomes, const char *path) {
  FovBlob blobs[SCALARS + 1];
  Numbers numbers = {outcomes->rollouts, outcomes->split};
  scalars_of(blobs, outcomes, &numbers);
  blobs[SCALARS] = (FovBlob){.name = "wrong",
                             .dtype = FOV_DTYPE_U8,
                             .dims = 1,
                             .shape = {outcomes->cases},
                             .data = outcomes->wrong};
  const FovText texts[] = {
      {"data", outcomes->data}, {"format", format}, {"weights", outcomes->weights}};
  return fov_safetensors_write(path, blobs, SCALARS + 1, texts, 3);
}

static FovStatus read_scalars(FovOutcomes *outcomes, const FovSafetensors *file) {
  FovBlob scalars[SCALARS];
  Numbers numbers;
  scalars_of(scalars, outcomes, &numbers);
  outcomes->input_numbers = outcomes->input_pixels = NAN;
  outcomes->answer_error = outcomes->alignment_error = NAN;
  for (int i = 0; i < SCALARS; i++) {
    if (i >= OLDER && !fov_safetensors_find(file, scalars[i].name)) continue;
    const FovBlob *blob;
    FOV_TRY(fov_safetensors_require(&blob, file, scalars[i].name, scalars[i].dtype, 0, NULL));
    memcpy(scalars[i].data, blob->data, fov_blob_size(blob));
  }
  if (numbers.rollouts != (int)numbers.rollouts || numbers.split != (int)numbers.split)
    numbers.rollouts = 0; // which is_sound refuses
  outcomes->rollouts = (int)numbers.rollouts;
  outcomes->split = (FovSplit)numbers.split;
  return FOV_OK;
}

static bool is_from_0(double number, double most) {
  return number >= 0 && number <= most;
}

/** The name of a number that no evaluation can have written; NULL: there is none. */
static const char *find_unsound(const FovOutcomes *o) {
  const struct {
    const char *name;
    bool sound;
  } numbers[] = {
      {"rollouts", o->rollouts >= 1},
      {"split", o->split >= FOV_SPLIT_TRAIN && o->split <= FOV_SPLIT_TEST},
      {"reward", isfinite(o->reward)},
      {"glimpses", is_from_0(o->glimpses, DBL_MAX)},
      {"mflop", is_from_0(o->mflop, DBL_MAX)},
      {"input_numbers", isnan(o->input_numbers) || is_from_0(o->input_numbers, DBL_MAX)},
      {"input_pixels", isnan(o->input_pixels) || is_from_0(o->input_pixels, DBL_MAX)},
      {"answer_error", isnan(o->answer_error) || is_from_0(o->answer_error, 1)},
      {"alignment_error", isnan(o->alignment_error) || is_from_0(o->alignment_error, 1)},
      {"parameters", o->parameters >= 0},
      {"update", o->update >= 0},
  };
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    if (!numbers[i].sound) return numbers[i].name;
  for (int64_t i = 0; i < o->cases; i++)
    if (o->wrong[i] > 1) return "wrong";
  return NULL;
}

static FovStatus read_file(FovOutcomes *outcomes, const FovSafetensors *file, const char *path) {
  const char *kind = fov_safetensors_text(file, "format");
  const char *weights = fov_safetensors_text(file, "weights");
  const char *data = fov_safetensors_text(file, "data");
  if (!kind || strcmp(kind, format) != 0 || !weights || strlen(weights) != FOV_DIGEST_SIZE ||
      (data && strlen(data) > FOV_DIGEST_SIZE))
    return fov_fail(FOV_ERR_FORMAT,
                    "%s: expected the outcomes of an evaluation, found another file", path);
  strcpy(outcomes->weights, weights);
  strcpy(outcomes->data, data ? data : "");
  FOV_TRY(read_scalars(outcomes, file));
  const FovBlob *wrong;
  FOV_TRY(fov_safetensors_require(&wrong, file, "wrong", FOV_DTYPE_U8, 1, (const int64_t[]){-1}));
  if (wrong->shape[0] < 1 || wrong->shape[0] > MAX_CASES)
    return fov_fail(FOV_ERR_FORMAT, "%s: expected 1 to %d cases, found %lld", path, MAX_CASES,
                    (long long)wrong->shape[0]);
  outcomes->cases = wrong->shape[0];
  outcomes->wrong = malloc((size_t)outcomes->cases);
  if (!outcomes->wrong) return fov_fail(FOV_ERR_MEMORY, "%s: no memory for its cases", path);
  memcpy(outcomes->wrong, wrong->data, (size_t)outcomes->cases);
  const char *unsound = find_unsound(outcomes);
  if (!unsound) return FOV_OK;
  return fov_fail(FOV_ERR_FORMAT, "%s: '%s' is outside its range; evaluate again", path, unsound);
}

FovStatus fov_outcomes_read(FovOutcomes *outcomes, const char *path) {
  *outcomes = (FovOutcomes){.cases = 0};
  FovSafetensors *file;
  FOV_TRY(fov_safetensors_open(&file, path));
  FovStatus status = read_file(outcomes, file, path);
  fov_safetensors_close(file);
  return status;
}

void fov_outcomes_finish(FovOutcomes *outcomes) {
  free(outcomes->wrong);
  outcomes->wrong = NULL;
}

FovStatus fov_outcomes_differ(bool *differ, const FovOutcomes *outcomes, const char *checkpoint) {
  FovSafetensors *file;
  *differ = false;
  if (!fov_file_exists(checkpoint)) return FOV_OK;
  FOV_TRY(fov_safetensors_open(&file, checkpoint));
  const char *weights = fov_safetensors_text(file, "weights");
  *differ = weights && strcmp(weights, outcomes->weights) != 0;
  fov_safetensors_close(file);
  return FOV_OK;
}
