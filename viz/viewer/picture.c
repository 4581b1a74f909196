#include "viz/viewer/picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cairo.h>

#include "base/file.h"

enum {
  MOST_PIXELS = 8192,   // of a side
  MOST_BYTES = 1 << 28, // of a file
  HEADER = 24           // of a PNG up to width and height
};

/** A file in memory, and how many of its bytes have been read. */
typedef struct File {
  char *bytes;
  size_t size, at;
} File;

static uint32_t number_at(const char *text) {
  const unsigned char *bytes = (const unsigned char *)text;
  return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/** Checks the size before pixels are allocated. */
static FovStatus check_header(const File *file, const char *path) {
  if (file->size < HEADER || memcmp(file->bytes, "\x89PNG\r\n\x1a\n", 8) != 0 ||
      memcmp(file->bytes + 12, "IHDR", 4) != 0)
    return fov_fail(FOV_ERR_FORMAT, "%s: not a PNG", path);
  uint32_t width = number_at(file->bytes + 16), height = number_at(file->bytes + 20);
  if (width < 1 || width > MOST_PIXELS || height < 1 || height > MOST_PIXELS)
    return fov_fail(FOV_ERR_FORMAT, "%s: %u × %u pixels: at most %d × %d", path, width, height,
                    MOST_PIXELS, MOST_PIXELS);
  return FOV_OK;
}

static cairo_status_t read_bytes(void *closure, unsigned char *data, unsigned length) {
  File *file = closure;
  if (length > file->size - file->at) return CAIRO_STATUS_READ_ERROR;
  memcpy(data, file->bytes + file->at, length);
  file->at += length;
  return CAIRO_STATUS_SUCCESS;
}

/** Draws a picture into the middle of a black surface of another size. */
static cairo_status_t draw_into(cairo_surface_t *surface, cairo_surface_t *picture) {
  double w = cairo_image_surface_get_width(picture), h = cairo_image_surface_get_height(picture);
  double width = cairo_image_surface_get_width(surface);
  double height = cairo_image_surface_get_height(surface), scale = fmin(width / w, height / h);
  cairo_t *cr = cairo_create(surface);
  cairo_translate(cr, (width - scale * w) / 2, (height - scale * h) / 2);
  cairo_scale(cr, scale, scale);
  cairo_set_source_surface(cr, picture, 0, 0);
  cairo_pattern_set_filter(cairo_get_source(cr),
                           scale == 1 ? CAIRO_FILTER_NEAREST : CAIRO_FILTER_BEST);
  cairo_paint(cr);
  cairo_status_t status = cairo_status(cr);
  cairo_destroy(cr);
  cairo_surface_flush(surface);
  return status;
}

static void take_pixels(uint8_t *pixels, cairo_surface_t *surface, int channels) {
  int width = cairo_image_surface_get_width(surface);
  int height = cairo_image_surface_get_height(surface);
  for (int i = 0; i < width * height; i++) {
    uint32_t rgb;
    memcpy(&rgb,
           cairo_image_surface_get_data(surface) +
               i / width * cairo_image_surface_get_stride(surface) + 4 * (i % width),
           sizeof rgb);
    uint32_t r = rgb >> 16 & 255, g = rgb >> 8 & 255, b = rgb & 255;
    if (channels == 1) {
      pixels[i] = (uint8_t)((299 * r + 587 * g + 114 * b + 500) / 1000);
    } else {
      pixels[3 * i] = (uint8_t)r;
      pixels[3 * i + 1] = (uint8_t)g;
      pixels[3 * i + 2] = (uint8_t)b;
    }
  }
}

static FovStatus decode(uint8_t *pixels, int height, int width, int channels, File *file,
                        const char *path) {
  FOV_TRY(check_header(file, path));
  cairo_surface_t *picture = cairo_image_surface_create_from_png_stream(read_bytes, file);
  cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height);
  cairo_status_t status = cairo_surface_status(picture);
  if (!status) status = cairo_surface_status(surface);
  if (!status) status = draw_into(surface, picture);
  if (!status) take_pixels(pixels, surface, channels);
  cairo_surface_destroy(picture);
  cairo_surface_destroy(surface);
  if (!status) return FOV_OK;
  return fov_fail(FOV_ERR_FORMAT, "%s: cannot read: %s", path, cairo_status_to_string(status));
}

FovStatus fov_picture_read(uint8_t *pixels, int height, int width, int channels, const char *path) {
  File file = {.at = 0};
  FOV_TRY(fov_file_read(&file.bytes, &file.size, path, MOST_BYTES));
  FovStatus status = decode(pixels, height, width, channels, &file, path);
  free(file.bytes);
  return status;
}

/* ---- the environment ---- */

typedef struct PictureEnv {
  const uint8_t *pixels;
  size_t size;
} PictureEnv;

static void destroy(void *env) {
  free(env);
}

static void reset(const void *env, FovEnvLane *lane, int64_t index, FovRng *rng) {
  const PictureEnv *impl = env;
  (void)index, (void)rng;
  memcpy(lane->observation, impl->pixels, impl->size);
  lane->label = 0; // classes need one; it is not known
}

static void step(const void *env, FovEnvLane *lane, const FovAnswer *answer, FovRng *rng) {
  (void)env, (void)answer, (void)rng;
  lane->terminated = true;
}

static const FovEnvType picture_type = {
    .plugin = {.name = "picture"}, .destroy = destroy, .reset = reset, .step = step};

FovStatus fov_picture_env(FovEnv *env, const FovEnvSpec *spec, const uint8_t *pixels) {
  const FovObservation *seen = &spec->observation;
  if (seen->kind != FOV_OBSERVATION_IMAGE || seen->floats || spec->changes ||
      spec->cue.kind != FOV_OBSERVATION_NONE || spec->answer != FOV_ANSWER_CLASS)
    return fov_fail(FOV_ERR_USAGE, "a picture: expected an agent that sees single images and names "
                                   "a class, found another one");
  PictureEnv *impl = malloc(sizeof *impl);
  if (!impl) return fov_fail(FOV_ERR_MEMORY, "no memory for a picture");
  *impl = (PictureEnv){pixels, fov_observation_bytes(seen)};
  *env = (FovEnv){.type = &picture_type, .impl = impl, .spec = *spec};
  env->spec.steps = 1;
  env->spec.cases = 1;
  env->spec.digest = 0;
  env->spec.state_size = 0;
  return FOV_OK;
}
