#include "envs/datasets/pictures.h"

#include <stdlib.h>
#include <zlib.h>

#include "base/file.h"
#include "base/memory.h"
#include "envs/datasets/idx.h"
#include "envs/datasets/png_folder.h"
#include "envs/datasets/resize.h"

enum { MAX_PIXELS = 1 << 30 }; // bytes, of all splits of a folder, or all of an IDX file

/* ---- what all sources share ---- */

/** How pictures of up to that size are resized; channels: of the result. */
static FovResize make_resize(const FovPicturesOptions *options, int height, int width,
                             int channels) {
  return (FovResize){.height = options->picture ? options->picture : height,
                     .width = options->picture ? options->picture : width,
                     .channels = channels,
                     .largest_height = height,
                     .largest_width = width,
                     .each = options->fit == FOV_FIT_SCALE};
}

static size_t resized_bytes(const FovResize *resize) {
  return (size_t)resize->height * (size_t)resize->width * (size_t)resize->channels;
}

static FovStatus check_bytes(const FovResize *resize, size_t total, const char *source) {
  if (total <= MAX_PIXELS / resized_bytes(resize)) return FOV_OK;
  return fov_fail(FOV_ERR_FORMAT,
                  "%s: expected at most %d bytes of pixels, found %zu pictures, each %d x %d x %d "
                  "bytes: set env.picture, or take fewer",
                  source, MAX_PIXELS, total, resize->width, resize->height, resize->channels);
}

/** Allocates `count` of the `total` pictures of `source`; bounds the total first. */
static FovStatus allocate(FovPictures *pictures, const FovResize *resize, size_t count,
                          size_t total, const char *source) {
  size_t size = resized_bytes(resize);
  FOV_TRY(check_bytes(resize, total, source));
  pictures->pixels = fov_memory_calloc(count, size);
  pictures->labels = calloc(count, sizeof *pictures->labels);
  if (!pictures->pixels || !pictures->labels)
    return fov_fail(FOV_ERR_MEMORY, "%s: no memory for %zu pictures", source, count);
  pictures->height = resize->height;
  pictures->width = resize->width;
  pictures->channels = resize->channels;
  return FOV_OK;
}

/* ---- IDX ---- */

typedef struct Pair {
  FovIdx images, labels; // [N, H, W] and [N]
} Pair;

static void finish_pair(Pair *pair) {
  fov_idx_finish(&pair->images);
  fov_idx_finish(&pair->labels);
}

static FovStatus read_pair(Pair *pair, const char *images, const char *labels, int classes) {
  FOV_TRY(fov_idx_read(&pair->images, images, 3));
  FOV_TRY(fov_idx_read(&pair->labels, labels, 1));
  int count = pair->images.dims[0];
  if (pair->labels.dims[0] != count)
    return fov_fail(FOV_ERR_FORMAT,
                    "%s: expected a label for each of the %d images of %s, found %d", labels, count,
                    images, pair->labels.dims[0]);
  for (int i = 0; i < count; i++)
    if (pair->labels.data[i] >= classes)
      return fov_fail(FOV_ERR_FORMAT, "%s: label %d: expected 0 to %d, found %d: set env.classes",
                      labels, i, classes - 1, pair->labels.data[i]);
  return FOV_OK;
}

/** Sizes of the parts of a pair whose last `held` sixths do not train: the first of them validates,
 * the second tests. held 0: each part is all of the pair. */
static void divide(int64_t division[3], int64_t count, int held) {
  int64_t sixth = count / 6;
  division[FOV_SPLIT_TRAIN] = held ? count - held * sixth : count;
  division[FOV_SPLIT_VALID] = held ? sixth : count;
  division[FOV_SPLIT_TEST] = held == 0 ? count : held == 2 ? sixth : 0;
}

/** Keeps the split's part. */
static FovStatus keep_part(Pair *pair, const int64_t division[3], const char *path,
                           FovSplit split) {
  int first = 0, count = pair->images.dims[0];
  if (division[FOV_SPLIT_VALID] == 0)
    return fov_fail(FOV_ERR_FORMAT,
                    "%s: expected 6 pictures or more, a sixth for validation, found %d", path,
                    count);
  for (FovSplit before = FOV_SPLIT_TRAIN; before < split; before++) first += (int)division[before];
  fov_idx_keep(&pair->images, first, (int)division[split]);
  fov_idx_keep(&pair->labels, first, (int)division[split]);
  return FOV_OK;
}

static FovResize resize_of(const Pair *pair, const FovPicturesOptions *options) {
  const int *dims = pair->images.dims;
  return make_resize(options, dims[1], dims[2], options->colour == FOV_COLOUR_RGB ? 3 : 1);
}

/** Converts the pair, of `total` pictures before it was divided, to the size and colour that the
 * options ask for. */
static FovStatus convert(FovPictures *pictures, const Pair *pair, size_t total,
                         const FovPicturesOptions *options, const char *path) {
  const int *dims = pair->images.dims;
  FovResize resize = resize_of(pair, options);
  FOV_TRY(allocate(pictures, &resize, (size_t)dims[0], total, path));
  size_t size = (size_t)dims[1] * (size_t)dims[2];
  for (size_t i = 0; i < (size_t)dims[0]; i++) {
    FovPicture picture = {pair->images.data + i * size, dims[1], dims[2], 1};
    fov_resize(pictures->pixels + i * resized_bytes(&resize), &resize, picture);
    pictures->labels[i] = pair->labels.data[i];
  }
  pictures->count = dims[0];
  pictures->classes = options->classes;
  return FOV_OK;
}

/** held: sixths that do not train; 0: each split is all of the pair. */
static FovStatus load_pair(FovPictures *pictures, const FovPicturesOptions *options,
                           const char *images, const char *labels, FovSplit split, int held) {
  Pair pair = {0};
  FovStatus status = read_pair(&pair, images, labels, options->classes);
  size_t total = (size_t)pair.images.dims[0];
  if (status == FOV_OK) {
    uint64_t high = crc32_z(0, pair.images.data, pair.images.size);
    pictures->digest = high << 32 | crc32_z(0, pair.labels.data, pair.labels.size);
    divide(pictures->division, pair.images.dims[0], held);
    if (held) status = keep_part(&pair, pictures->division, images, split);
  }
  if (status == FOV_OK) status = convert(pictures, &pair, total, options, images);
  finish_pair(&pair);
  return status;
}

/* ---- MNIST's files ---- */

/** The folder of MNIST: the chosen one, or the one where experiments/get-mnist puts it. */
static FovStatus find_folder(char folder[PATH_MAX], const char *chosen) {
  static const struct {
    const char *variable, *below;
  } places[] = {{"FOVEA_DATA", ""}, {"XDG_CACHE_HOME", "/fovea"}, {"HOME", "/.cache/fovea"}};
  if (*chosen) return fov_path_join(folder, chosen, "", "");
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    const char *value = getenv(places[i].variable);
    if (value && *value) return fov_path_join(folder, value, places[i].below, "");
  }
  return fov_fail(FOV_ERR_USAGE, "no folder to look for MNIST in: set env.data or FOVEA_DATA");
}

static FovStatus find_file(char path[PATH_MAX], const char *folder, const char *name) {
  FOV_TRY(fov_path_join(path, folder, name, ""));
  if (fov_file_exists(path)) return FOV_OK;
  FOV_TRY(fov_path_join(path, folder, name, ".gz"));
  if (fov_file_exists(path)) return FOV_OK;
  return fov_fail(FOV_ERR_IO,
                  "%s: no MNIST: expected %s or %s.gz, found neither: run experiments/get-mnist, "
                  "or set env.data = FOLDER (the shipped subset: envs/mnist-subset)",
                  folder, name + 1, name + 1);
}

static const char train_images[] = "/train-images-idx3-ubyte";
static const char train_labels[] = "/train-labels-idx1-ubyte";
static const char test_images[] = "/t10k-images-idx3-ubyte";
static const char test_labels[] = "/t10k-labels-idx1-ubyte";

/** Pictures in a file that this split does not need: 0 if it cannot be read. */
static int64_t count_others(const char *folder, const char *name) {
  char path[PATH_MAX];
  int count = 0;
  if (find_file(path, folder, name) == FOV_OK) (void)fov_idx_count(&count, path, 3);
  return count;
}

/** Fails if the test files are damaged or too large; notes the size of their pictures. A training
 * can do without them. */
static FovStatus check_test(FovPictures *trained, const FovPicturesOptions *options,
                            const char *folder) {
  char images[PATH_MAX], labels[PATH_MAX];
  if (find_file(images, folder, test_images) != FOV_OK) return FOV_OK;
  FOV_TRY(find_file(labels, folder, test_labels));
  Pair pair = {0};
  FovStatus status = read_pair(&pair, images, labels, options->classes);
  FovResize resize = resize_of(&pair, options);
  if (status == FOV_OK) status = check_bytes(&resize, (size_t)pair.images.dims[0], images);
  trained->test_height = resize.height;
  trained->test_width = resize.width;
  finish_pair(&pair);
  return status;
}

static FovStatus load_mnist(FovPictures *pictures, const FovPicturesOptions *options,
                            const char *folder, FovSplit split) {
  bool test = split == FOV_SPLIT_TEST;
  char images[PATH_MAX], labels[PATH_MAX];
  FOV_TRY(find_file(images, folder, test ? test_images : train_images));
  FOV_TRY(find_file(labels, folder, test ? test_labels : train_labels));
  FOV_TRY(load_pair(pictures, options, images, labels, split, test ? 0 : 1));
  if (test) divide(pictures->division, count_others(folder, train_images), 1);
  pictures->division[FOV_SPLIT_TEST] = test ? pictures->count : count_others(folder, test_images);
  // A training must not end with a test that is impossible.
  return split == FOV_SPLIT_TRAIN ? check_test(pictures, options, folder) : FOV_OK;
}

/* ---- PNGs ---- */

/** Reads one file and resizes it; buffer: for the largest picture, unscaled. */
static FovStatus read_file(uint8_t *out, uint8_t *buffer, const FovResize *resize,
                           const FovPngFile *file) {
  FOV_TRY(fov_png_read(buffer, &file->header, resize->channels, file->path));
  FovPicture picture = {buffer, file->header.height, file->header.width, resize->channels};
  fov_resize(out, resize, picture);
  return FOV_OK;
}

static FovStatus read_files(FovPictures *pictures, const FovPngFolder *folder,
                            const FovResize *resize, FovSplit split) {
  size_t largest = (size_t)folder->height * (size_t)folder->width * (size_t)resize->channels;
  uint8_t *buffer = malloc(largest), *spare = malloc(resized_bytes(resize));
  FovStatus status =
      buffer && spare ? FOV_OK : fov_fail(FOV_ERR_MEMORY, "no memory to read a picture");
  for (size_t i = 0; i < folder->count && status == FOV_OK; i++) {
    const FovPngFile *file = &folder->files[i];
    bool own = file->split == split;
    // As in load_mnist. The validation part is read anyway.
    if (!own && !(split == FOV_SPLIT_TRAIN && file->split == FOV_SPLIT_TEST)) continue;
    uint8_t *next = pictures->pixels + (size_t)pictures->count * resized_bytes(resize);
    status = read_file(own ? next : spare, buffer, resize, file);
    if (own) pictures->labels[pictures->count++] = (uint16_t)file->label;
  }
  free(buffer);
  free(spare);
  return status;
}

static FovStatus load_files(FovPictures *pictures, const FovPngFolder *folder,
                            const FovPicturesOptions *options, const char *path, FovSplit split) {
  bool rgb =
      options->colour == FOV_COLOUR_AUTO ? folder->colour : options->colour == FOV_COLOUR_RGB;
  FovResize resize = make_resize(options, folder->height, folder->width, rgb ? 3 : 1);
  for (size_t i = 0; i < folder->count; i++) pictures->division[folder->files[i].split]++;
  size_t count = (size_t)pictures->division[split];
  FOV_TRY(allocate(pictures, &resize, count, folder->count, path));
  FOV_TRY(read_files(pictures, folder, &resize, split));
  uint64_t high = crc32_z(0, pictures->pixels, count * resized_bytes(&resize));
  const void *labels = pictures->labels;
  pictures->digest = high << 32 | crc32_z(0, labels, count * sizeof *pictures->labels);
  return FOV_OK;
}

static FovStatus load_folder(FovPictures *pictures, const FovPicturesOptions *options,
                             const char *path, FovSplit split) {
  FovPngFolder folder;
  FOV_TRY(fov_png_folder_read(&folder, path));
  FovStatus status = load_files(pictures, &folder, options, path, split);
  pictures->names = folder.classes; // owned by pictures from now on
  pictures->classes = folder.class_count;
  folder.classes = NULL;
  fov_png_folder_finish(&folder);
  return status;
}

/* ---- any of them ---- */

static FovStatus load(FovPictures *pictures, const FovPicturesOptions *options, FovSplit split) {
  bool images = *options->images, labels = *options->labels;
  if (images != labels)
    return fov_fail(FOV_ERR_USAGE, "env.%s is set without env.%s: expected both or neither",
                    images ? "images" : "labels", images ? "labels" : "images");
  if (images)
    return load_pair(pictures, options, options->images, options->labels, split,
                     options->divide ? 2 : 0);
  char folder[PATH_MAX], path[PATH_MAX];
  FOV_TRY(find_folder(folder, options->data));
  bool mnist = !*options->data || find_file(path, folder, train_images) == FOV_OK;
  if (mnist) return load_mnist(pictures, options, folder, split);
  return load_folder(pictures, options, folder, split);
}

FovStatus fov_pictures_load(FovPictures *pictures, const FovPicturesOptions *options,
                            FovSplit split) {
  *pictures = (FovPictures){0};
  FovStatus status = load(pictures, options, split);
  if (status != FOV_OK) fov_pictures_finish(pictures);
  return status;
}

void fov_pictures_finish(FovPictures *pictures) {
  free(pictures->pixels);
  free(pictures->labels);
  fov_free_names(pictures->names, pictures->classes);
  *pictures = (FovPictures){0};
}
