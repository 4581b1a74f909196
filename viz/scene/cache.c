#include "viz/scene/cache.h"

#include <math.h>
#include <stdlib.h>

#include "viz/scene/pixels.h"
#include "viz/scene/reconstruction.h"

FovSceneCache *fov_scene_cache_create(void) {
  FovSceneCache *cache = calloc(1, sizeof *cache); // NULL: scenes are drawn without, more slowly
  if (cache) cache->beside = calloc(1, sizeof *cache->beside);
  return cache;
}

void fov_scene_cache_clear(FovSceneCache *cache) {
  if (!cache) return;
  cairo_surface_destroy(cache->ground); // all of which accept NULL
  cairo_surface_destroy(cache->reconstruction.seen);
  cairo_surface_destroy(cache->reconstruction.unseen);
  fov_scene_cache_clear(cache->beside);
  *cache = (FovSceneCache){.beside = cache->beside};
}

void fov_scene_cache_destroy(FovSceneCache *cache) {
  fov_scene_cache_clear(cache);
  if (cache) free(cache->beside);
  free(cache);
}

/* ---- the reconstruction ---- */

static uint32_t *row_of(cairo_surface_t *surface, int y) {
  size_t stride = (size_t)cairo_image_surface_get_stride(surface);
  return (uint32_t *)(void *)(cairo_image_surface_get_data(surface) + y * stride);
}

/** Pixels are ARGB32 with premultiplied alpha. */
static void fill(const FovReconstruction *made, const FovPixels *pixels, const float *areas) {
  const uint32_t opaque = 0xff000000, veil = 0xb8000000;
  for (int y = 0; y < pixels->height; y++) {
    uint32_t *seen = row_of(made->seen, y), *unseen = row_of(made->unseen, y);
    for (int x = 0; x < pixels->width; x++) {
      bool is_seen = isfinite(*areas++);
      seen[x] = is_seen ? opaque | fov_pixel_rgb(pixels, x, y) : 0;
      unseen[x] = is_seen ? 0 : veil;
    }
  }
  cairo_surface_mark_dirty(made->seen);
  cairo_surface_mark_dirty(made->unseen);
}

static FovReconstruction reconstruct(const FovScene *scene) {
  const FovTrace *trace = scene->trace;
  int w = trace->width, h = trace->height;
  size_t count = (size_t)w * h;
  FovReconstruction made = {cairo_image_surface_create(CAIRO_FORMAT_ARGB32, w, h),
                            cairo_image_surface_create(CAIRO_FORMAT_ARGB32, w, h)};
  uint8_t *bytes = calloc(count, (size_t)trace->channels);
  float *areas = malloc(count * sizeof *areas);
  bool failed = cairo_surface_status(made.seen) || cairo_surface_status(made.unseen);
  if (!bytes || !areas || failed) fov_no_memory(count * (sizeof *areas + sizeof(uint32_t)));
  fov_reconstruct(bytes, areas, trace, scene->episode, scene->glimpse);
  fill(&made, &(FovPixels){bytes, w, h, trace->channels}, areas);
  free(bytes);
  free(areas);
  return made;
}

FovReconstruction fov_scene_reconstruction(const FovScene *scene) {
  FovSceneCache *cache = scene->cache;
  if (!cache) return reconstruct(scene);
  bool same = cache->reconstruction.seen && cache->episode == scene->episode &&
              cache->glimpse == scene->glimpse;
  if (!same) {
    cairo_surface_destroy(cache->reconstruction.seen);
    cairo_surface_destroy(cache->reconstruction.unseen);
    cache->reconstruction = reconstruct(scene);
    cache->episode = scene->episode;
    cache->glimpse = scene->glimpse;
  }
  cairo_surface_reference(cache->reconstruction.seen);
  cairo_surface_reference(cache->reconstruction.unseen);
  return cache->reconstruction;
}
