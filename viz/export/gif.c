#include "viz/export/gif.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <gif_lib.h>

#include "viz/scene/cache.h"
#include "viz/scene/drawing.h"

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

struct FovGif {
  FovReplace file;
  GifFileType *gif; // NULL: closed
  FovScene scene;   // of the next frame
  int frame;        // its number
  cairo_surface_t *surface;
  int width, height;
  int left, top, right, bottom; // the box in which the frame differs from the last
  Bin *bins;                    // [BINS]
  Bin **popular;                // [BINS], those in use, most pixels first
  GifPixelType *line;           // [width]
  uint32_t *before;             // [height, width]: the frame before
};

static uint32_t *surface_row(const FovGif *g, int y) {
  size_t stride = cairo_image_surface_get_stride(g->surface);
  return (uint32_t *)(void *)(cairo_image_surface_get_data(g->surface) + y * stride);
}

static Bin *bin_of(const FovGif *g, uint32_t rgb) {
  return &g->bins[(rgb >> 9 & 0x7c00) | (rgb >> 6 & 0x3e0) | (rgb >> 3 & 0x1f)];
}

/** Finds the box that has changed, at least a pixel; of the first frame it is all. Keeps the frame
 * to compare the next one with. */
static void find_change(FovGif *g) {
  g->left = g->width - 1;
  g->top = g->height - 1;
  g->right = g->bottom = 0;
  for (int y = 0; y < g->height; y++)
    for (int x = 0; x < g->width; x++) {
      uint32_t *before = &g->before[(size_t)y * g->width + x], now = surface_row(g, y)[x];
      if (g->frame > 0 && *before == now) continue;
      *before = now;
      if (x < g->left) g->left = x;
      if (x >= g->right) g->right = x + 1;
      if (y < g->top) g->top = y;
      g->bottom = y + 1;
    }
  if (g->right <= g->left) g->right = g->left + 1;
  if (g->bottom <= g->top) g->bottom = g->top + 1;
}

static void count_colours(FovGif *g) {
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
static void choose_palette(GifColorType palette[COLOURS], FovGif *g) {
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

static bool put_delay(FovGif *g, int delay) {
  GraphicsControlBlock control = {
      .DisposalMode = DISPOSE_DO_NOT, .DelayTime = delay, .TransparentColor = NO_TRANSPARENT_COLOR};
  GifByteType bytes[4];
  size_t size = EGifGCBToExtension(&control, bytes);
  return EGifPutExtension(g->gif, GRAPHICS_EXT_FUNC_CODE, (int)size, bytes) == GIF_OK;
}

static bool put_frame(FovGif *g, int delay) {
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
static bool put_header(FovGif *g) {
  EGifSetGifVersion(g->gif, true);
  return EGifPutScreenDesc(g->gif, g->width, g->height, 8, 0, NULL) == GIF_OK &&
         EGifPutExtensionLeader(g->gif, APPLICATION_EXT_FUNC_CODE) == GIF_OK &&
         EGifPutExtensionBlock(g->gif, 11, "NETSCAPE2.0") == GIF_OK &&
         EGifPutExtensionBlock(g->gif, 3, (GifByteType[]){1, 0, 0}) == GIF_OK &&
         EGifPutExtensionTrailer(g->gif) == GIF_OK;
}

/** Sets the scene of a frame: of each glimpse one that stays, then those between it and the next.
 */
static void seek_frame(FovGif *g, int frame) {
  int t = frame / (GLIDES + 1), glide = frame % (GLIDES + 1);
  double part = glide ? FOV_REST + (1 - FOV_REST) * glide / (GLIDES + 1) : 0;
  fov_scene_seek(&g->scene, t + part);
  g->frame = frame;
}

static int delay_of(const FovGif *g) {
  if (g->frame % (GLIDES + 1)) return GLIDE_DELAY;
  return g->scene.glimpse == fov_scene_length(&g->scene) - 1 ? LAST_DELAY : REST_DELAY;
}

/** Draws the frame and writes it. */
static bool put_scene(FovGif *g) {
  cairo_t *cr = cairo_create(g->surface);
  fov_scene_draw(cr, &g->scene);
  bool drawn = cairo_status(cr) == CAIRO_STATUS_SUCCESS;
  cairo_destroy(cr);
  cairo_surface_flush(g->surface);
  return drawn && put_frame(g, delay_of(g));
}

static int write_gif(GifFileType *gif, const GifByteType *data, int size) {
  return (int)fwrite(data, 1, (size_t)size, gif->UserData);
}

static FovStatus allocate(FovGif *g, const char *path) {
  size_t pixels = (size_t)g->width * g->height;
  g->scene.cache = fov_scene_cache_create();
  g->surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, g->width, g->height);
  g->bins = calloc(BINS, sizeof *g->bins);
  g->popular = calloc(BINS, sizeof *g->popular);
  g->line = calloc((size_t)g->width, sizeof *g->line);
  g->before = malloc(pixels * sizeof *g->before);
  if (cairo_surface_status(g->surface) || !g->bins || !g->popular || !g->line || !g->before)
    return fov_fail(FOV_ERR_MEMORY, "%s: no memory for %d × %d pixels", path, g->width, g->height);
  return FOV_OK;
}

static FovStatus not_whole(const FovGif *g) {
  return fov_fail(FOV_ERR_IO, "%s: the GIF is not written whole: is the disk full?", g->file.path);
}

static FovStatus open_gif(FovGif *g, const char *path) {
  FOV_TRY(allocate(g, path));
  FOV_TRY(fov_replace_begin(&g->file, path));
  g->gif = EGifOpen(g->file.stream, write_gif, NULL);
  if (!g->gif) return fov_fail(FOV_ERR_MEMORY, "%s: no memory for a GIF", path);
  return put_header(g) ? FOV_OK : not_whole(g);
}

FovStatus fov_gif_begin(FovGif **gif, const char *path, const FovScene *scene) {
  *gif = calloc(1, sizeof **gif);
  if (!*gif) return fov_fail(FOV_ERR_MEMORY, "%s: no memory for a GIF", path);
  (*gif)->scene = *scene;
  (*gif)->width = (int)scene->width;
  (*gif)->height = (int)scene->height;
  seek_frame(*gif, 0);
  FovStatus status = open_gif(*gif, path);
  if (status != FOV_OK) fov_gif_destroy(*gif);
  return status;
}

FovScene *fov_gif_scene(FovGif *g) {
  return &g->scene;
}

FovStatus fov_gif_step(bool *done, FovGif *g) {
  int frames = (fov_scene_length(&g->scene) - 1) * (GLIDES + 1) + 1;
  *done = false;
  if (!put_scene(g)) return not_whole(g);
  *done = g->frame + 1 == frames;
  if (!*done) {
    seek_frame(g, g->frame + 1);
    return FOV_OK;
  }
  int closed = EGifCloseFile(g->gif, NULL);
  g->gif = NULL;
  return closed == GIF_OK ? fov_replace_commit(&g->file) : not_whole(g);
}

void fov_gif_destroy(FovGif *g) {
  if (!g) return;
  if (g->gif) EGifCloseFile(g->gif, NULL);
  fov_replace_abort(&g->file); // does nothing after the commit
  fov_scene_cache_destroy(g->scene.cache);
  cairo_surface_destroy(g->surface);
  free(g->bins);
  free(g->popular);
  free(g->line);
  free(g->before);
  free(g);
}
