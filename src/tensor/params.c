#include "tensor/params.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"

/** Parameters start on cache lines, so that no two are written through one by two threads. */
enum { ALIGNMENT = 64, STEP = ALIGNMENT / sizeof(real) };

/** Makes room for one more parameter and returns it. */
static FovParam *grow(FovParams *params) {
  size_t size = ((size_t)params->count + 1) * sizeof(FovParam);
  FovParam *list = realloc(params->list, size);
  if (!list) fov_no_memory(size);
  params->list = list;
  return &list[params->count];
}

int fov_params_add(FovParams *params, const char *name, int rows, int cols, FovInit init,
                   real scale) {
  FOV_CHECK(rows > 0 && cols > 0, "%s: [%d, %d]", name, rows, cols);
  FovParam *param = grow(params);
  *param = (FovParam){.rows = rows,
                      .cols = cols,
                      .init = init,
                      .scale = scale,
                      .offset = params->size,
                      .stream = params->streams++};
  int length =
      snprintf(param->name, sizeof param->name, "%s%s", params->prefix ? params->prefix : "", name);
  FOV_CHECK(length < FOV_PARAM_NAME, "%s: longer than %d bytes", name, FOV_PARAM_NAME - 1);
  for (int i = 0; i < params->count; i++)
    FOV_CHECK(strcmp(params->list[i].name, param->name) != 0, "two parameters named %s",
              param->name);
  params->size += ((size_t)rows * cols + STEP - 1) / STEP * STEP;
  return params->count++;
}

void fov_params_skip(FovParams *params, int count) {
  params->streams += count;
}

void fov_params_finish(FovParams *params) {
  free(params->list);
  *params = (FovParams){0};
}

bool fov_params_have(const FovParams *params, const char *name) {
  for (int i = 0; i < params->count; i++)
    if (strcmp(params->list[i].name, name) == 0) return true;
  return false;
}

size_t fov_params_learned(const FovParams *params) {
  size_t learned = 0;
  for (int i = 0; i < params->count; i++)
    learned += (size_t)params->list[i].rows * params->list[i].cols;
  return learned;
}

static void init_uniform(real *values, size_t count, real bound, FovRng *rng) {
  for (size_t i = 0; i < count; i++) values[i] = bound * (2 * fov_rng_uniform(rng) - 1);
}

static void init_param(real *values, const FovParam *param, FovRng *rng) {
  size_t count = (size_t)param->rows * param->cols;
  memset(values, 0, count * sizeof *values);
  switch (param->init) {
  case FOV_INIT_ZERO:
    break;
  case FOV_INIT_ONE:
    for (size_t i = 0; i < count; i++) values[i] = param->scale;
    break;
  case FOV_INIT_UNIFORM:
    init_uniform(values, count, param->scale / (real)sqrt(param->cols), rng);
    break;
  case FOV_INIT_HE:
    init_uniform(values, count, param->scale * (real)sqrt(6.0 / param->cols), rng);
    break;
  case FOV_INIT_IDENTITY:
    for (int i = 0; i < param->rows && i < param->cols; i++)
      values[(size_t)i * param->cols + i] = param->scale;
    break;
  case FOV_INIT_FORGET:
    for (size_t i = count / 4; i < count / 2; i++) values[i] = param->scale;
    break;
  }
}

void fov_params_init(real *values, const FovParams *params, uint64_t seed) {
  for (int i = 0; i < params->count; i++) {
    FovRng rng = fov_rng_stream(seed, FOV_STREAM_INIT, (uint64_t)params->list[i].stream);
    init_param(values + params->list[i].offset, &params->list[i], &rng);
  }
}

real *fov_params_block(const FovParams *params) {
  size_t bytes = params->size * sizeof(real);
  real *block = aligned_alloc(ALIGNMENT, bytes);
  if (block) memset(block, 0, bytes);
  return block;
}

/** y = xᵀ in squares, of which each row is one cache line. x: [rows, cols] */
FOV_KERNEL static void transpose(real *restrict y, const real *restrict x, int rows, int cols) {
  enum { SIDE = 64 / sizeof(real) };
  for (int i = 0; i < rows; i += SIDE)
    for (int j = 0; j < cols; j += SIDE)
      for (int b = j; b < j + SIDE && b < cols; b++)
        for (int a = i; a < i + SIDE && a < rows; a++)
          y[(size_t)b * rows + a] = x[(size_t)a * cols + b];
}

void fov_param_transpose(real *transposed, const real *values, const FovParam *param) {
  transpose(transposed + param->offset, values + param->offset, param->rows, param->cols);
}

const char *fov_params_name_at(const FovParams *params, size_t index) {
  int i = params->count - 1;
  while (i > 0 && params->list[i].offset > index) i--;
  return params->list[i].name;
}
