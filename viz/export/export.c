#include "viz/export/export.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gif_lib.h>

#include "draw.h"
#include "viz/export/film.h"
#include "viz/scene/alignment.h"
#include "viz/scene/attention.h"
#include "viz/scene/cache.h"
#include "viz/scene/drawing.h"
#include "viz/scene/episode.h"
#include "viz/scene/part_alignment.h"

enum { MAX_SIDE = 8192 }; // pixels per side of a picture: bounds its memory
// How long a GIF shows a frame, in hundredths of a second: a glimpse, the last one, and each of
// the GLIDES frames between two glimpses.
enum { REST_DELAY = 40, LAST_DELAY = 150, GLIDE_DELAY = 5, GLIDES = 6 };
enum { BINS = 1 << 15, COLOURS = 256 }; // 5 bits per channel; the palette of a GIF

/** The pixels of a frame that share a coarse colour. */
typedef struct Bin {
  uint32_t count;
  uint64_t sum[3];    // of red, green, blue
  GifPixelType index; // in the palette
} Bin;

/** A GIF that is written frame by frame, in constant memory. */
typedef struct Gif {
  FovReplace file;
  GifFileType *gif;
  cairo_surface_t *surface;
  int width, height;
  int left, top, right, bottom; // the box in which the frame differs from the last
  Bin *bins;                    // [BINS]
  Bin **popular;                // [BINS], those in use, most pixels first
  GifPixelType *line;           // [width]
  uint32_t *before;             // [height, width]: the frame before
} Gif;

static uint32_t *surface_row(const Gif *g, int y) {
  size_t stride = cairo_image_surface_get_stride(g->surface);
  return (uint32_t *)(void *)(cairo_image_surface_get_data(g->surface) + y * stride);
}

static Bin *bin_of(const Gif *g, uint32_t rgb) {
  return &g->bins[(rgb >> 9 & 0x7c00) | (rgb >> 6 & 0x3e0) | (rgb >> 3 & 0x1f)];
}

/** Finds the box that has changed, at least a pixel, and keeps the frame for the next time. */
static void find_change(Gif *g) {
  g->left = g->width - 1;
  g->top = g->height - 1;
  g->right = g->bottom = 0;
  for (int y = 0; y < g->height; y++)
    for (int x = 0; x < g->width; x++) {
      uint32_t *before = &g->before[(size_t)y * g->width + x], now = surface_row(g, y)[x];
      if (*before == now) continue;
      *before = now;
      if (x < g->left) g->left = x;
      if (x >= g->right) g->right = x + 1;
      if (y < g->top) g->top = y;
      g->bottom = y + 1;
    }
  if (g->right <= g->left) g->right = g->left + 1;
  if (g->bottom <= g->top) g->bottom = g->top + 1;
}

static void count_colours(Gif *g) {
  memset(g->bins, 0, BINS * sizeof *g->bins);
  for (int y = g->top; y < g->bottom; y++)
    for (int x = g->left; x < g->right; x++) {
      uint32_t rgb = surface_row(g, y)[x];
      Bin *bin = bin_of(g, rgb);
      bin->count++;
      for (int c = 0; c < 3; c++) bin->sum[c] += rgb >> (16 - 8 * c) & 255;
    }
}

static GifColorType mean_colour(const Bin *bin) {
  uint32_t n = bin->count;
  return (GifColorType){(GifByteType)((bin->sum[0] + n / 2) / n),
                        (GifByteType)((bin->sum[1] + n / 2) / n),
                        (GifByteType)((bin->sum[2] + n / 2) / n)};
}

static int more_pixels(const void *a, const void *b) {
  const Bin *x = *(Bin *const *)a, *y = *(Bin *const *)b;
  if (x->count != y->count) return x->count < y->count ? 1 : -1;
  return (x > y) - (x < y); // the same order on every machine
}

static GifPixelType nearest_colour(const GifColorType palette[COLOURS], GifColorType colour) {
  int best = 0, best_distance = INT32_MAX;
  for (int i = 0; i < COLOURS; i++) {
    int r = colour.Red - palette[i].Red, g = colour.Green - palette[i].Green;
    int b = colour.Blue - palette[i].Blue, distance = 3 * r * r + 6 * g * g + b * b;
    if (distance >= best_distance) continue;
    best_distance = distance;
    best = i;
  }
  return (GifPixelType)best;
}

/** Fills the palette with the most frequent colours and maps the others to the nearest of these:
 * flat areas and text stay exact, only soft edges are approximated. */
static void choose_palette(GifColorType palette[COLOURS], Gif *g) {
  size_t used = 0;
  for (size_t i = 0; i < BINS; i++)
    if (g->bins[i].count > 0) g->popular[used++] = &g->bins[i];
  qsort(g->popular, used, sizeof *g->popular, more_pixels);
  memset(palette, 0, COLOURS * sizeof *palette);
  for (size_t i = 0; i < used; i++) {
    GifColorType colour = mean_colour(g->popular[i]);
    if (i < COLOURS) palette[i] = colour;
    g->popular[i]->index = i < COLOURS ? (GifPixelType)i : nearest_colour(palette, colour);
  }
}

static bool put_delay(Gif *g, int delay) {
  GraphicsControlBlock control = {
      .DisposalMode = DISPOSE_DO_NOT, .DelayTime = delay, .TransparentColor = NO_TRANSPARENT_COLOR};
  GifByteType bytes[4];
  size_t size = EGifGCBToExtension(&control, bytes);
  return EGifPutExtension(g->gif, GRAPHICS_EXT_FUNC_CODE, (int)size, bytes) == GIF_OK;
}

static bool put_frame(Gif *g, int delay) {
  GifColorType palette[COLOURS];
  find_change(g);
  count_colours(g);
  choose_palette(palette, g);
  int width = g->right - g->left, height = g->bottom - g->top;
  ColorMapObject *map = GifMakeMapObject(COLOURS, palette);
  bool ok = map && put_delay(g, delay) &&
            EGifPutImageDesc(g->gif, g->left, g->top, width, height, false, map) == GIF_OK;
  GifFreeMapObject(map);
  for (int y = g->top; ok && y < g->bottom; y++) {
    for (int x = 0; x < width; x++) g->line[x] = bin_of(g, surface_row(g, y)[g->left + x])->index;
    ok = EGifPutLine(g->gif, g->line, width) == GIF_OK;
  }
  return ok;
}

/** Writes the header and Netscape's extension for an endless loop. */
static bool put_header(Gif *g) {
  EGifSetGifVersion(g->gif, true);
  return EGifPutScreenDesc(g->gif, g->width, g->height, 8, 0, NULL) == GIF_OK &&
         EGifPutExtensionLeader(g->gif, APPLICATION_EXT_FUNC_CODE) == GIF_OK &&
         EGifPutExtensionBlock(g->gif, 11, "NETSCAPE2.0") == GIF_OK &&
         EGifPutExtensionBlock(g->gif, 3, (GifByteType[]){1, 0, 0}) == GIF_OK &&
         EGifPutExtensionTrailer(g->gif) == GIF_OK;
}

static bool put_scene(Gif *g, const FovScene *scene, int delay) {
  cairo_t *cr = cairo_create(g->surface);
  fov_scene_draw(cr, scene);
  bool drawn = cairo_status(cr) == CAIRO_STATUS_SUCCESS;
  cairo_destroy(cr);
  cairo_surface_flush(g->surface);
  return drawn && put_frame(g, delay);
}

/** Writes a frame of each glimpse, then those between it and the next. */
static bool put_episode(Gif *g, FovScene scene) {
  int last = fov_last_glimpse(scene.trace, scene.episode);
  bool ok = put_header(g);
  for (int t = 0; ok && t <= last; t++) {
    fov_scene_seek(&scene, t);
    ok = put_scene(g, &scene, t == last ? LAST_DELAY : REST_DELAY);
    for (int i = 1; ok && t < last && i <= GLIDES; i++) {
      fov_scene_seek(&scene, t + FOV_REST + (1 - FOV_REST) * i / (GLIDES + 1));
      ok = put_scene(g, &scene, GLIDE_DELAY);
    }
  }
  return ok;
}

static int write_gif(GifFileType *gif, const GifByteType *data, int size) {
  return (int)fwrite(data, 1, (size_t)size, gif->UserData);
}

static FovStatus gif_begin(Gif *g, const char *path) {
  g->surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, g->width, g->height);
  g->bins = calloc(BINS, sizeof *g->bins);
  g->popular = calloc(BINS, sizeof *g->popular);
  g->line = calloc((size_t)g->width, sizeof *g->line);
  g->before = malloc((size_t)g->width * g->height * sizeof *g->before);
  if (cairo_surface_status(g->surface) || !g->bins || !g->popular || !g->line || !g->before)
    return fov_fail(FOV_ERR_MEMORY, "%s: no memory for %d × %d pixels", path, g->width, g->height);
  memset(g->before, 0xff,
         (size_t)g->width * g->height * sizeof *g->before); // differs from every pixel
  FOV_TRY(fov_replace_begin(&g->file, path));
  g->gif = EGifOpen(g->file.stream, write_gif, NULL);
  return g->gif ? FOV_OK : fov_fail(FOV_ERR_MEMORY, "%s: no memory for a GIF", path);
}

static void gif_finish(Gif *g) {
  fov_replace_abort(&g->file); // does nothing after the commit
  cairo_surface_destroy(g->surface);
  free(g->bins);
  free(g->popular);
  free(g->line);
  free(g->before);
}

static FovStatus write_all(Gif *g, const FovScene *scene, const char *path) {
  FOV_TRY(gif_begin(g, path));
  bool written = put_episode(g, *scene);
  if (EGifCloseFile(g->gif, NULL) == GIF_OK && written) return fov_replace_commit(&g->file);
  return fov_fail(FOV_ERR_IO, "%s: the GIF is not written whole: is the disk full?", path);
}

static FovStatus draw_gif(const char *path, FovScene scene) {
  Gif g = {.width = (int)scene.width, .height = (int)scene.height};
  scene.cache = fov_scene_cache_create();
  FovStatus status = write_all(&g, &scene, path);
  fov_scene_cache_destroy(scene.cache);
  gif_finish(&g);
  return status;
}

/** Draws the last glimpse or, of an alignment, the matrix of all glimpses alone. */
static FovStatus draw_picture(const char *path, FovScene scene) {
  FovCanvas canvas = {0};
  FOV_TRY(fov_canvas_begin(&canvas, path, scene.width, scene.height, 1));
  scene.glimpse = fov_last_glimpse(scene.trace, scene.episode);
  if (fov_shows_alignment(scene.trace))
    fov_draw_alignment_figure(canvas.cr, &scene);
  else
    fov_scene_draw(canvas.cr, &scene);
  return fov_canvas_commit(&canvas);
}

FovStatus fov_export(const char *path, const FovScene *scene) {
  if (fov_has_ending(path, ".gif")) return draw_gif(path, *scene);
  if (fov_has_ending(path, ".mp4")) return fov_export_mp4(path, scene);
  return draw_picture(path, *scene);
}

/** Finds the episode of that index, among all or among the wrong ones. */
static FovStatus find_episode(int *episode, const FovTrace *trace, const char *path,
                              const FovDrawEpisode *what) {
  int wrong = 0;
  for (int e = 0; what->wrong && e < trace->episodes; e++) {
    if (!trace->wrong[e]) continue;
    *episode = e;
    if (wrong++ == what->episode) return FOV_OK;
  }
  *episode = what->episode;
  if (!what->wrong && what->episode >= 0 && what->episode < trace->episodes) return FOV_OK;
  if (what->wrong && wrong == 0)
    return fov_fail(FOV_ERR_USAGE, "%s: no %s among its %d episodes", path,
                    trace->control ? "missed goal" : "wrong answer", trace->episodes);
  return fov_fail(FOV_ERR_USAGE, "%s: no %sepisode %d: it has %sepisodes 0 to %d", path,
                  what->wrong ? "wrong " : "", what->episode, what->wrong ? "wrong " : "",
                  (what->wrong ? wrong : trace->episodes) - 1);
}

static FovStatus check_size(int width, int height) {
  if (width >= FOV_SCENE_MIN_WIDTH && width <= MAX_SIDE && height >= FOV_SCENE_MIN_HEIGHT &&
      height <= MAX_SIDE)
    return FOV_OK;
  return fov_fail(FOV_ERR_USAGE, "a picture of %d × %d pixels: expected %d × %d to %d × %d", width,
                  height, FOV_SCENE_MIN_WIDTH, FOV_SCENE_MIN_HEIGHT, MAX_SIDE, MAX_SIDE);
}

static FovStatus draw_episode(const char *path, const FovTrace *trace, const char *trace_path,
                              const FovDrawEpisode *what) {
  int width = what->width ? what->width : FOV_SCENE_WIDTH;
  int height = what->height ? what->height : FOV_SCENE_HEIGHT;
  FOV_TRY(check_size(width, height));
  FOV_TRY(fov_scene_check(trace, trace_path));
  FOV_TRY(fov_check_head(trace, trace_path, what->head));
  FovScene scene =
      fov_scene(trace, width, height, what->light ? &fov_theme_light : &fov_theme_dark);
  scene.head = what->head;
  FOV_TRY(find_episode(&scene.episode, trace, trace_path, what));
  return fov_export(path, &scene);
}

FovStatus fov_draw_episode(const char *path, const char *trace_path, const FovDrawEpisode *what) {
  if (!fov_has_ending(path, ".png") && !fov_has_ending(path, ".svg") &&
      !fov_has_ending(path, ".gif") && !fov_has_ending(path, ".mp4"))
    return fov_fail(FOV_ERR_USAGE, "%s: expected a name that ends in .png, .svg, .gif or .mp4",
                    path);
  FovTrace trace = {0};
  FOV_TRY(fov_trace_read(&trace, trace_path));
  FovStatus status = draw_episode(path, &trace, trace_path, what);
  fov_trace_finish(&trace);
  return status;
}
