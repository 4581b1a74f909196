#include "envs/digits.h"

#include <stdlib.h>
#include <string.h>

#include "base/real.h"

enum { CROP = 8 };

static FovStatus lay_canvas(FovDigits *digits, int size) {
  int height = digits->pictures.height, width = digits->pictures.width;
  digits->height = size ? size : height;
  digits->width = size ? size : width;
  digits->channels = digits->pictures.channels;
  if (height <= digits->height && width <= digits->width) return FOV_OK;
  return fov_fail(
      FOV_ERR_USAGE,
      "env.size = %d: expected a canvas that holds images of %d x %d pixels: set it to %d or more",
      size, width, height, height > width ? height : width);
}

static FovStatus check_pieces(const FovDigits *digits) {
  int height = digits->pictures.height, width = digits->pictures.width;
  if (digits->pieces == 0 || (height >= CROP && width >= CROP)) return FOV_OK;
  return fov_fail(FOV_ERR_FORMAT,
                  "clutter is cut in pieces of %d x %d pixels: expected images as large, found "
                  "%d x %d; make them larger or set env.pieces = 0",
                  CROP, CROP, width, height);
}

FovStatus fov_digits_create(void **env, size_t bytes, FovEnvSpec *spec,
                            const FovDigitsOptions *options, FovSplit split) {
  FOV_CHECK(bytes >= sizeof(FovDigits), "%zu bytes cannot start with a FovDigits", bytes);
  *env = NULL;
  FovDigits *digits = calloc(1, bytes);
  if (!digits) return fov_fail(FOV_ERR_MEMORY, "no memory for an environment of digits");
  digits->pieces = options->pieces;
  FovStatus status = fov_pictures_load(&digits->pictures, &options->pictures, split);
  if (status == FOV_OK) status = lay_canvas(digits, options->size);
  if (status == FOV_OK) status = check_pieces(digits);
  if (status != FOV_OK) {
    fov_digits_destroy(digits);
    return status;
  }
  *env = digits;
  *spec =
      (FovEnvSpec){.observation = fov_byte_image(digits->height, digits->width, digits->channels),
                   .actions = digits->pictures.classes,
                   .names = (const char *const *)digits->pictures.names,
                   .steps = 1,
                   .cases = digits->pictures.count,
                   .digest = digits->pictures.digest};
  return FOV_OK;
}

void fov_digits_destroy(void *env) {
  FovDigits *digits = env;
  if (!digits) return;
  fov_pictures_finish(&digits->pictures);
  free(digits->names);
  free(digits);
}

void fov_digits_step(const void *env, FovEnvLane *lane, const FovAnswer *answer, FovRng *rng) {
  (void)env, (void)rng;
  lane->reward = answer->action == lane->label;
  lane->terminated = true;
}

static void check_index(const FovDigits *digits, int64_t index) {
  FOV_CHECK(index >= 0 && index < digits->pictures.count, "digit %lld of %lld", (long long)index,
            (long long)digits->pictures.count);
}

FovPatch fov_digits_image(const FovDigits *digits, int64_t index) {
  check_index(digits, index);
  const FovPictures *pictures = &digits->pictures;
  int stride = pictures->width * pictures->channels;
  size_t offset = (size_t)index * (size_t)pictures->height * (size_t)stride;
  return (FovPatch){pictures->pixels + offset, pictures->height, pictures->width, stride};
}

int fov_digits_label(const FovDigits *digits, int64_t index) {
  check_index(digits, index);
  return digits->pictures.labels[index];
}

void fov_digits_clear(const FovDigits *digits, uint8_t *image) {
  memset(image, 0, (size_t)digits->height * (size_t)digits->width * (size_t)digits->channels);
}

/** Adds rows of `length` bytes, `from_stride` apart, to rows `stride` apart, clamped at 255. */
FOV_KERNEL static void add_bytes(uint8_t *restrict pixels, int stride, const uint8_t *restrict from,
                                 int from_stride, int rows, int length) {
  for (; rows > 0; rows--, pixels += stride, from += from_stride)
    for (int i = 0; i < length; i++) {
      uint16_t sum = (uint16_t)(pixels[i] + from[i]);
      pixels[i] = (uint8_t)(sum < 255 ? sum : 255);
    }
}

void fov_digits_paste(const FovDigits *digits, uint8_t *image, FovPatch patch, int x, int y) {
  FOV_CHECK(x >= 0 && y >= 0 && patch.width <= digits->width - x &&
                patch.height <= digits->height - y,
            "%d x %d at (%d, %d) leaves %d x %d", patch.width, patch.height, x, y, digits->width,
            digits->height);
  size_t corner = ((size_t)y * (size_t)digits->width + (size_t)x) * (size_t)digits->channels;
  add_bytes(image + corner, digits->width * digits->channels, patch.pixels, patch.stride,
            patch.height, patch.width * digits->channels);
}

void fov_digits_centre(const FovDigits *digits, uint8_t *image, FovPatch patch) {
  fov_digits_paste(digits, image, patch, (digits->width - patch.width) / 2,
                   (digits->height - patch.height) / 2);
}

void fov_digits_place(const FovDigits *digits, int *x, int *y, FovPatch patch, FovRng *rng) {
  *x = (int)fov_rng_below(rng, (uint32_t)(digits->width - patch.width + 1));
  *y = (int)fov_rng_below(rng, (uint32_t)(digits->height - patch.height + 1));
}

void fov_digits_scatter(const FovDigits *digits, uint8_t *image, FovPatch patch, FovRng *rng) {
  int x, y;
  fov_digits_place(digits, &x, &y, patch, rng);
  fov_digits_paste(digits, image, patch, x, y);
}

FovStatus fov_digits_name(FovDigits *digits, FovEnvSpec *spec,
                          void (*write)(char name[FOV_DIGITS_NAME], int answer, int classes)) {
  int count = spec->actions;
  // One block: the pointers, then what they point to.
  char **block = digits->names = malloc((size_t)count * (sizeof *block + FOV_DIGITS_NAME));
  if (!block) return fov_fail(FOV_ERR_MEMORY, "no memory for %d names", count);
  for (int i = 0; i < count; i++) {
    block[i] = (char *)(block + count) + (size_t)i * FOV_DIGITS_NAME;
    write(block[i], i, digits->pictures.classes);
  }
  spec->names = (const char *const *)block;
  return FOV_OK;
}

static FovPatch draw_piece(const FovDigits *digits, FovRng *rng) {
  FovPatch source = fov_digits_image(digits, fov_rng_below(rng, (uint32_t)digits->pictures.count));
  uint32_t x = fov_rng_below(rng, (uint32_t)(source.width - CROP + 1));
  uint32_t y = fov_rng_below(rng, (uint32_t)(source.height - CROP + 1));
  const uint8_t *corner =
      source.pixels + (size_t)y * (size_t)source.stride + x * (size_t)digits->channels;
  return (FovPatch){corner, CROP, CROP, source.stride};
}

void fov_digits_clutter(const FovDigits *digits, uint8_t *image, FovRng *rng) {
  for (int i = 0; i < digits->pieces; i++)
    fov_digits_scatter(digits, image, draw_piece(digits, rng), rng);
}
