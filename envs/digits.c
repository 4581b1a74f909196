#include "envs/digits.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/file.h"
#include "base/real.h"

static FovStatus join(char path[PATH_MAX], const char *folder, const char *name,
                      const char *suffix) {
  int length = snprintf(path, PATH_MAX, "%s%s%s", folder, name, suffix);
  if (length >= 0 && length < PATH_MAX) return FOV_OK;
  return fov_fail(FOV_ERR_USAGE, "%.200s...: expected a path of less than %d bytes, found %d",
                  folder, PATH_MAX, length);
}

/** Where MNIST is looked for: where experiments/get-mnist puts it. */
static FovStatus find_folder(char folder[PATH_MAX], const char *chosen) {
  static const struct {
    const char *variable, *below;
  } places[] = {{"FOVEA_DATA", ""}, {"XDG_CACHE_HOME", "/fovea"}, {"HOME", "/.cache/fovea"}};
  if (*chosen) return join(folder, chosen, "", "");
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    const char *value = getenv(places[i].variable);
    if (value && *value) return join(folder, value, places[i].below, "");
  }
  return fov_fail(FOV_ERR_USAGE, "no folder to look for MNIST in: set env.data or FOVEA_DATA");
}

static FovStatus find_file(char path[PATH_MAX], const char *folder, const char *name) {
  FOV_TRY(join(path, folder, name, ""));
  if (fov_file_exists(path)) return FOV_OK;
  FOV_TRY(join(path, folder, name, ".gz"));
  if (fov_file_exists(path)) return FOV_OK;
  return fov_fail(FOV_ERR_IO,
                  "no MNIST in %s: expected %s or %s.gz, found neither: run experiments/get-mnist, "
                  "or set env.data = FOLDER (the shipped subset: envs/mnist-subset)",
                  folder, name + 1, name + 1);
}

/** Checksums of the whole files, pictures and labels. */
static uint64_t digest(const FovDigits *digits) {
  const FovIdx *images = &digits->images, *labels = &digits->labels;
  size_t pixels = (size_t)images->dims[0] * (size_t)images->dims[1] * (size_t)images->dims[2];
  uint64_t high = crc32_z(0, images->data, pixels);
  return high << 32 | crc32_z(0, labels->data, (size_t)labels->dims[0]);
}

static FovStatus load_pair(FovDigits *digits, const char *images, const char *labels, int classes) {
  FOV_TRY(fov_idx_read(&digits->images, images, 3));
  FOV_TRY(fov_idx_read(&digits->labels, labels, 1));
  int count = digits->images.dims[0];
  if (digits->labels.dims[0] != count)
    return fov_fail(FOV_ERR_FORMAT,
                    "%s: expected a label for each of the %d images of %s, found %d", labels, count,
                    images, digits->labels.dims[0]);
  for (int i = 0; i < count; i++)
    if (digits->labels.data[i] >= classes)
      return fov_fail(FOV_ERR_FORMAT, "%s: label %d: expected 0 to %d, found %d: set env.classes",
                      labels, i, classes - 1, digits->labels.data[i]);
  digits->count = count;
  digits->digest = digest(digits);
  return FOV_OK;
}

/** Leaves to the split its part of the train files; the last sixth is for validation. */
static FovStatus keep_part(FovDigits *digits, const char *path, FovSplit split) {
  int64_t held = digits->count / 6;
  if (held == 0)
    return fov_fail(FOV_ERR_FORMAT,
                    "%s: expected 6 digits or more, a sixth for validation, found %lld", path,
                    (long long)digits->count);
  int64_t first = split == FOV_SPLIT_VALID ? digits->count - held : 0;
  digits->count = split == FOV_SPLIT_VALID ? held : digits->count - held;
  fov_idx_keep(&digits->images, (int)first, (int)digits->count);
  fov_idx_keep(&digits->labels, (int)first, (int)digits->count);
  return FOV_OK;
}

static FovStatus load_split(FovDigits *digits, const FovDigitsOptions *options, FovSplit split) {
  bool test = split == FOV_SPLIT_TEST;
  char folder[PATH_MAX], images[PATH_MAX], labels[PATH_MAX];
  FOV_TRY(find_folder(folder, options->data));
  FOV_TRY(find_file(images, folder, test ? "/t10k-images-idx3-ubyte" : "/train-images-idx3-ubyte"));
  FOV_TRY(find_file(labels, folder, test ? "/t10k-labels-idx1-ubyte" : "/train-labels-idx1-ubyte"));
  FOV_TRY(load_pair(digits, images, labels, options->classes));
  return test ? FOV_OK : keep_part(digits, images, split);
}

static FovStatus load(FovDigits *digits, const FovDigitsOptions *options, FovSplit split) {
  bool images = *options->images, labels = *options->labels;
  if (images != labels)
    return fov_fail(FOV_ERR_USAGE, "env.%s is set without env.%s: expected both or neither",
                    images ? "images" : "labels", images ? "labels" : "images");
  if (!images) return load_split(digits, options, split);
  FOV_TRY(load_pair(digits, options->images, options->labels, options->classes));
  return split == FOV_SPLIT_TEST ? FOV_OK : keep_part(digits, options->images, split);
}

static FovStatus lay_canvas(FovDigits *digits, int size) {
  int height = digits->images.dims[1], width = digits->images.dims[2];
  digits->height = size ? size : height;
  digits->width = size ? size : width;
  if (height <= digits->height && width <= digits->width) return FOV_OK;
  return fov_fail(
      FOV_ERR_USAGE,
      "env.size = %d: expected a canvas that holds images of %d x %d pixels: set it to %d or more",
      size, width, height, height > width ? height : width);
}

FovStatus fov_digits_create(void **env, size_t bytes, FovEnvSpec *spec,
                            const FovDigitsOptions *options, FovSplit split) {
  FOV_CHECK(bytes >= sizeof(FovDigits), "%zu bytes cannot start with a FovDigits", bytes);
  *env = NULL;
  FovDigits *digits = calloc(1, bytes);
  if (!digits) return fov_fail(FOV_ERR_MEMORY, "no memory for an environment of digits");
  FovStatus status = load(digits, options, split);
  if (status == FOV_OK) status = lay_canvas(digits, options->size);
  if (status != FOV_OK) {
    fov_digits_destroy(digits);
    return status;
  }
  *env = digits;
  *spec = (FovEnvSpec){.height = digits->height,
                       .width = digits->width,
                       .channels = 1,
                       .actions = options->classes,
                       .steps = 1,
                       .cases = digits->count,
                       .digest = digits->digest};
  return FOV_OK;
}

void fov_digits_destroy(void *env) {
  FovDigits *digits = env;
  if (!digits) return;
  fov_idx_finish(&digits->images);
  fov_idx_finish(&digits->labels);
  free(digits);
}

void fov_digits_step(const void *env, FovEnvLane *lane, int action, FovRng *rng) {
  (void)env, (void)rng;
  lane->reward = action == lane->label;
  lane->terminated = true;
}

FovPatch fov_digits_image(const FovDigits *digits, int64_t index) {
  FOV_CHECK(index >= 0 && index < digits->count, "digit %lld of %lld", (long long)index,
            (long long)digits->count);
  int height = digits->images.dims[1], width = digits->images.dims[2];
  size_t offset = (size_t)index * (size_t)height * (size_t)width;
  return (FovPatch){digits->images.data + offset, height, width, width};
}

int fov_digits_label(const FovDigits *digits, int64_t index) {
  FOV_CHECK(index >= 0 && index < digits->count, "digit %lld of %lld", (long long)index,
            (long long)digits->count);
  return digits->labels.data[index];
}

void fov_digits_clear(const FovDigits *digits, uint8_t *image) {
  memset(image, 0, (size_t)digits->height * (size_t)digits->width);
}

/** Adds a patch to pixels whose rows are `stride` apart, clamped at 255. */
FOV_KERNEL static void add_patch(uint8_t *restrict pixels, int stride, FovPatch patch) {
  for (int row = 0; row < patch.height; row++, pixels += stride, patch.pixels += patch.stride) {
    const uint8_t *restrict more = patch.pixels;
    for (int column = 0; column < patch.width; column++) {
      uint16_t sum = (uint16_t)(pixels[column] + more[column]);
      pixels[column] = (uint8_t)(sum < 255 ? sum : 255);
    }
  }
}

void fov_digits_paste(const FovDigits *digits, uint8_t *image, FovPatch patch, int x, int y) {
  FOV_CHECK(x >= 0 && y >= 0 && patch.width <= digits->width - x &&
                patch.height <= digits->height - y,
            "%d x %d at (%d, %d) leaves %d x %d", patch.width, patch.height, x, y, digits->width,
            digits->height);
  add_patch(image + (size_t)y * (size_t)digits->width + x, digits->width, patch);
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

FovStatus fov_digits_name(char ***names, int count,
                          void (*write)(char name[FOV_DIGITS_NAME], int answer, int classes),
                          int classes) {
  // One block: the pointers, then what they point to.
  size_t size = (size_t)count;
  char **block = *names = malloc(size * (sizeof *block + FOV_DIGITS_NAME));
  if (!block) return fov_fail(FOV_ERR_MEMORY, "no memory for %d names", count);
  for (int i = 0; i < count; i++) {
    block[i] = (char *)(block + count) + (size_t)i * FOV_DIGITS_NAME;
    write(block[i], i, classes);
  }
  return FOV_OK;
}
