#include "viz/viewer/picture.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cairo.h>

#include "base/file.h"

enum { MOST_PIXELS = 8192, HEADER = 24 }; // of a side; bytes of a PNG up to width and height

static uint32_t number_at(const unsigned char *bytes) {
  return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/** Checks the size before anything is allocated. */
static FovStatus check_header(const char *path) {
  unsigned char header[HEADER];
  int fd;
  FOV_TRY(fov_file_open(&fd, path));
  ssize_t bytes = TEMP_FAILURE_RETRY(read(fd, header, HEADER));
  close(fd);
  if (bytes < HEADER || memcmp(header, "\x89PNG\r\n\x1a\n", 8) != 0)
    return fov_fail(FOV_ERR_FORMAT, "%s: not a PNG", path);
  uint32_t width = number_at(header + 16), height = number_at(header + 20);
  if (width < 1 || width > MOST_PIXELS || height < 1 || height > MOST_PIXELS)
    return fov_fail(FOV_ERR_FORMAT, "%s: %u × %u pixels: at most %d × %d", path, width, height,
                    MOST_PIXELS, MOST_PIXELS);
  return FOV_OK;
}

/** Draws a picture into the middle of a black surface of another size. */
static void draw_into(cairo_surface_t *surface, cairo_surface_t *picture) {
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
  cairo_destroy(cr);
  cairo_surface_flush(surface);
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

FovStatus fov_picture_read(uint8_t *pixels, int height, int width, int channels, const char *path) {
  FOV_TRY(check_header(path));
  cairo_surface_t *picture = cairo_image_surface_create_from_png(path);
  cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height);
  cairo_status_t status = cairo_surface_status(picture);
  if (!status) status = cairo_surface_status(surface);
  if (!status) {
    draw_into(surface, picture);
    take_pixels(pixels, surface, channels);
  }
  cairo_surface_destroy(picture);
  cairo_surface_destroy(surface);
  if (!status) return FOV_OK;
  return fov_fail(FOV_ERR_FORMAT, "%s: cannot read: %s", path, cairo_status_to_string(status));
}

/* ---- the world ---- */

typedef struct World {
  const uint8_t *pixels;
  size_t size;
} World;

static void destroy(void *env) {
  free(env);
}

static void reset(const void *env, FovEnvLane *lane, int64_t index, FovRng *rng) {
  const World *world = env;
  (void)index, (void)rng;
  memcpy(lane->observation, world->pixels, world->size);
  lane->label = 0; // unknown, but an environment of classes has one
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
    return fov_fail(
        FOV_ERR_USAGE,
        "a picture: expected an agent that looks at single images and names their class");
  World *world = malloc(sizeof *world);
  if (!world) return fov_fail(FOV_ERR_MEMORY, "no memory for a picture");
  *world = (World){pixels, fov_observation_bytes(seen)};
  *env = (FovEnv){.type = &picture_type, .impl = world, .spec = *spec};
  env->spec.steps = 1;
  env->spec.cases = 1;
  env->spec.digest = 0;
  env->spec.state_size = 0;
  return FOV_OK;
}
