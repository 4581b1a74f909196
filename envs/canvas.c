#include "envs/canvas.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/real.h"

enum { CROP = 8, GRID = 4 };

/** Notes the sizes of pictures: a training must not end with a test that is impossible. */
static void note_sizes(FovCanvas *canvas) {
  const FovPictures *p = canvas->pictures;
  const int own[2] = {p->height, p->width}, test[2] = {p->test_height, p->test_width};
  for (int j = 0; j < 2; j++) {
    canvas->least[j] = test[j] > 0 && test[j] < own[j] ? test[j] : own[j];
    canvas->most[j] = test[j] > own[j] ? test[j] : own[j];
  }
}

static FovStatus set_size(FovCanvas *canvas, const FovCanvasOptions *o) {
  note_sizes(canvas);
  const int *least = canvas->least, *most = canvas->most;
  int height = most[0], width = most[1], size = o->size;
  canvas->height = o->height ? o->height : size ? size : canvas->pictures->height;
  canvas->width = size ? size : canvas->pictures->width;
  canvas->channels = canvas->pictures->channels;
  bool fit = height <= canvas->height && width <= canvas->width;
  bool same = size || (least[1] == width && (o->height || least[0] == height));
  if (fit && same) return FOV_OK;
  if (fit)
    return fov_fail(FOV_ERR_USAGE,
                    "env.size = 0: expected test images as large as those of the training, %d x %d "
                    "pixels, found %d x %d: set env.size to %d or more",
                    width, height, canvas->pictures->test_width, canvas->pictures->test_height,
                    height > width ? height : width);
  if (o->height)
    return fov_fail(FOV_ERR_USAGE,
                    "env.size = %d, env.height = %d: expected a canvas on which images of %d x %d "
                    "pixels fit",
                    size, o->height, width, height);
  return fov_fail(FOV_ERR_USAGE,
                  "env.size = %d: expected a canvas on which images of %d x %d pixels fit, the "
                  "largest of training and test: set it to %d or more",
                  size, width, height, height > width ? height : width);
}

static FovStatus check_pieces(const FovCanvas *canvas) {
  int height = canvas->least[0], width = canvas->least[1];
  if (canvas->pieces == 0 || (height >= CROP && width >= CROP)) return FOV_OK;
  return fov_fail(
      FOV_ERR_FORMAT,
      "clutter is cut in pieces of %d x %d pixels: expected images at least as large, found "
      "%d x %d: make them larger or set env.pieces = 0",
      CROP, CROP, width, height);
}

FovStatus fov_canvas_create(void **env, size_t bytes, FovEnvSpec *spec,
                            const FovCanvasOptions *options, FovSplit split) {
  FOV_CHECK(bytes >= sizeof(FovCanvas), "%zu bytes cannot start with a FovCanvas", bytes);
  *env = NULL;
  FovCanvas *canvas = calloc(1, bytes);
  if (!canvas) return fov_fail(FOV_ERR_MEMORY, "no memory for an environment of pictures");
  canvas->pieces = options->pieces;
  canvas->ground = options->ground;
  canvas->distort = split == FOV_SPLIT_TRAIN ? options->distort : 0;
  canvas->elastic = split == FOV_SPLIT_TRAIN ? options->elastic : 0;
  canvas->distort_pieces = options->distort_pieces;
  FovStatus status = fov_shared_pictures_take(&canvas->pictures, &options->pictures, split);
  if (status == FOV_OK) status = set_size(canvas, options);
  if (status == FOV_OK) status = check_pieces(canvas);
  if (status != FOV_OK) {
    fov_canvas_destroy(canvas);
    return status;
  }
  *env = canvas;
  *spec =
      (FovEnvSpec){.observation = fov_byte_image(canvas->height, canvas->width, canvas->channels),
                   .actions = canvas->pictures->classes,
                   .names = (const char *const *)canvas->pictures->names,
                   .steps = 1,
                   .cases = canvas->pictures->count,
                   .digest = canvas->pictures->digest};
  memcpy(spec->division, canvas->pictures->division, sizeof spec->division);
  return FOV_OK;
}

void fov_canvas_destroy(void *env) {
  FovCanvas *canvas = env;
  if (!canvas) return;
  fov_shared_pictures_release(canvas->pictures);
  free(canvas->names);
  free(canvas);
}

void fov_canvas_step(const void *env, FovEnvLane *lane, const FovAnswer *answer, FovRng *rng) {
  (void)env, (void)rng;
  lane->reward = answer->action == lane->label;
  lane->terminated = true;
}

static void check_index(const FovCanvas *canvas, int64_t index) {
  FOV_CHECK(index >= 0 && index < canvas->pictures->count, "picture %lld of %lld", (long long)index,
            (long long)canvas->pictures->count);
}

FovCrop fov_canvas_picture(const FovCanvas *canvas, int64_t index) {
  check_index(canvas, index);
  const FovPictures *pictures = canvas->pictures;
  int stride = pictures->width * pictures->channels;
  size_t offset = (size_t)index * (size_t)pictures->height * (size_t)stride;
  return (FovCrop){pictures->pixels + offset, pictures->height, pictures->width, stride};
}

int fov_canvas_label(const FovCanvas *canvas, int64_t index) {
  check_index(canvas, index);
  return canvas->pictures->labels[index];
}

void fov_canvas_clear(const FovCanvas *canvas, uint8_t *image) {
  memset(image, canvas->ground,
         (size_t)canvas->height * (size_t)canvas->width * (size_t)canvas->channels);
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

/** The first byte of a crop on the canvas. */
static uint8_t *corner_of(const FovCanvas *canvas, uint8_t *image, FovCrop crop, int x, int y) {
  FOV_CHECK(x >= 0 && y >= 0 && crop.width <= canvas->width - x &&
                crop.height <= canvas->height - y,
            "%d x %d at (%d, %d) leaves %d x %d", crop.width, crop.height, x, y, canvas->width,
            canvas->height);
  return image + ((size_t)y * (size_t)canvas->width + (size_t)x) * (size_t)canvas->channels;
}

void fov_canvas_paste(const FovCanvas *canvas, uint8_t *image, FovCrop crop, int x, int y) {
  add_bytes(corner_of(canvas, image, crop, x, y), canvas->width * canvas->channels, crop.pixels,
            crop.stride, crop.height, crop.width * canvas->channels);
}

/** Channel c of a crop at column x, row y; 0 outside. */
static float pixel_at(FovCrop crop, int x, int y, int c, int channels) {
  if (x < 0 || y < 0 || x >= crop.width || y >= crop.height) return 0;
  return crop.pixels[(size_t)y * (size_t)crop.stride + (size_t)(x * channels + c)];
}

/** The same between pixels, bilinearly. */
static float sample(FovCrop crop, float x, float y, int c, int channels) {
  float left = floorf(x), top = floorf(y);
  int i = (int)left, j = (int)top;
  const float upper[] = {pixel_at(crop, i, j, c, channels), pixel_at(crop, i + 1, j, c, channels)};
  const float lower[] = {pixel_at(crop, i, j + 1, c, channels),
                         pixel_at(crop, i + 1, j + 1, c, channels)};
  return fov_canvas_between(upper, lower, x - left, y - top);
}

/** A rectangle of a picture. */
typedef struct Part {
  int left, top, height, width; // pixels
} Part;

/** Where the pixels of a distorted picture come from. */
typedef struct Distortion {
  float matrix[4];          /**< of places, from the picture's middle */
  float right[GRID * GRID]; /**< pixels, at points on each third of the picture */
  float down[GRID * GRID];
} Distortion;

static void draw_distortion(Distortion *distortion, const FovCanvas *canvas, FovRng *rng) {
  *distortion = (Distortion){.matrix = {1, 0, 0, 1}};
  float distort = (float)canvas->distort, elastic = (float)canvas->elastic;
  for (int i = 0; i < 4 && distort > 0; i++) distortion->matrix[i] += distort * fov_rng_normal(rng);
  for (int i = 0; i < GRID * GRID && elastic > 0; i++)
    distortion->right[i] = elastic * fov_rng_normal(rng);
  for (int i = 0; i < GRID * GRID && elastic > 0; i++)
    distortion->down[i] = elastic * fov_rng_normal(rng);
}

/** Moves a place by the shift at column j, row i of the picture, bilinear between the points. */
static void shift(float *x, float *y, const Distortion *distortion, FovCrop crop, int j, int i) {
  float across = (float)j * (GRID - 1) / (float)crop.width;
  float along = (float)i * (GRID - 1) / (float)crop.height;
  int left = (int)across, top = (int)along;
  const float *right = distortion->right + top * GRID + left;
  const float *down = distortion->down + top * GRID + left;
  across -= (float)left, along -= (float)top;
  *x += fov_canvas_between(right, right + GRID, across, along);
  *y += fov_canvas_between(down, down + GRID, across, along);
}

static void add_distorted(uint8_t *corner, const FovCanvas *canvas, FovCrop picture, Part part,
                          const Distortion *d) {
  float middle_x = 0.5f * (float)(picture.width - 1), middle_y = 0.5f * (float)(picture.height - 1);
  int channels = canvas->channels, stride = canvas->width * channels;
  for (int i = 0; i < part.height; i++)
    for (int j = 0; j < part.width; j++) {
      int column = part.left + j, row = part.top + i;
      float x = (float)column - middle_x, y = (float)row - middle_y;
      float from_x = d->matrix[0] * x + d->matrix[1] * y + middle_x;
      float from_y = d->matrix[2] * x + d->matrix[3] * y + middle_y;
      if (canvas->elastic > 0) shift(&from_x, &from_y, d, picture, column, row);
      for (int c = 0; c < channels; c++) {
        uint8_t *pixel = &corner[(size_t)i * (size_t)stride + (size_t)(j * channels + c)];
        int sum = *pixel + (int)(sample(picture, from_x, from_y, c, channels) + 0.5f);
        *pixel = (uint8_t)(sum < 255 ? sum : 255);
      }
    }
}

static FovCrop crop_of(const FovCanvas *canvas, FovCrop picture, Part part) {
  size_t offset = (size_t)part.top * (size_t)picture.stride;
  offset += (size_t)part.left * (size_t)canvas->channels;
  return (FovCrop){picture.pixels + offset, part.height, part.width, picture.stride};
}

static void draw_part(const FovCanvas *canvas, uint8_t *image, FovCrop picture, Part part, int x,
                      int y, bool distorted, FovRng *rng) {
  FovCrop crop = crop_of(canvas, picture, part);
  if (!distorted || (canvas->distort == 0 && canvas->elastic == 0)) {
    fov_canvas_paste(canvas, image, crop, x, y);
    return;
  }
  Distortion distortion;
  draw_distortion(&distortion, canvas, rng);
  add_distorted(corner_of(canvas, image, crop, x, y), canvas, picture, part, &distortion);
}

void fov_canvas_draw(const FovCanvas *canvas, uint8_t *image, FovCrop picture, int x, int y,
                     FovRng *rng) {
  Part all = {.height = picture.height, .width = picture.width};
  draw_part(canvas, image, picture, all, x, y, true, rng);
}

void fov_canvas_centre(const FovCanvas *canvas, uint8_t *image, FovCrop picture, FovRng *rng) {
  fov_canvas_draw(canvas, image, picture, (canvas->width - picture.width) / 2,
                  (canvas->height - picture.height) / 2, rng);
}

void fov_canvas_place(const FovCanvas *canvas, int *x, int *y, FovCrop crop, FovRng *rng) {
  *x = (int)fov_rng_below(rng, (uint32_t)(canvas->width - crop.width + 1));
  *y = (int)fov_rng_below(rng, (uint32_t)(canvas->height - crop.height + 1));
}

const char *fov_canvas_class(char number[12], const FovPictures *pictures, int class) {
  if (pictures->names) return pictures->names[class];
  snprintf(number, 12, "%d", class);
  return number;
}

FovStatus fov_canvas_name(FovCanvas *canvas, FovEnvSpec *spec, FovCanvasName *write) {
  int count = spec->actions;
  // One block: the pointers, then what they point to.
  char **block = canvas->names = malloc((size_t)count * (sizeof *block + FOV_CANVAS_NAME));
  if (!block) return fov_fail(FOV_ERR_MEMORY, "no memory for %d names", count);
  for (int i = 0; i < count; i++) {
    block[i] = (char *)(block + count) + (size_t)i * FOV_CANVAS_NAME;
    write(block[i], i, canvas->pictures);
  }
  spec->names = (const char *const *)block;
  return FOV_OK;
}

static Part choose_piece(FovCrop picture, FovRng *rng) {
  Part piece = {.height = CROP, .width = CROP};
  piece.left = (int)fov_rng_below(rng, (uint32_t)(picture.width - CROP + 1));
  piece.top = (int)fov_rng_below(rng, (uint32_t)(picture.height - CROP + 1));
  return piece;
}

void fov_canvas_clutter(const FovCanvas *canvas, uint8_t *image, FovRng *rng) {
  for (int i = 0; i < canvas->pieces; i++) {
    int x, y;
    FovCrop picture =
        fov_canvas_picture(canvas, fov_rng_below(rng, (uint32_t)canvas->pictures->count));
    Part piece = choose_piece(picture, rng);
    fov_canvas_place(canvas, &x, &y, crop_of(canvas, picture, piece), rng);
    draw_part(canvas, image, picture, piece, x, y, canvas->distort_pieces, rng);
  }
}
