/**
 * Occlusion (Zeiler and Fergus 2014): how much y falls when a square of pixels shows the baseline;
 * for each pixel the mean over all squares that cover it. Squares at the right and at the bottom
 * may end at the picture's edge. The square is the same in all pictures of an episode.
 */
#include <string.h>

#include "explain/method.h"

typedef struct Options {
  int side, stride;
  double baseline;
} Options;

static const FovOption options[] = {
    FOV_INT(Options, side, "6", 1, 65536, "of a square, pixels"),
    FOV_INT(Options, stride, "3", 1, 65536, "pixels from one square to the next"),
    FOV_BASELINE_OPTION(Options),
    FOV_OPTIONS_END,
};

/** Places of a square along an axis: enough to cover it, but none that starts beyond it. */
static int places(int extent, const Options *o) {
  int covering = extent > o->side ? (extent - o->side + o->stride - 1) / o->stride + 1 : 1;
  int starting = (extent + o->stride - 1) / o->stride;
  return covering < starting ? covering : starting;
}

/** A square, cut at the edge. */
typedef struct Square {
  int top, left, bottom, right;
} Square;

static Square square_at(const FovHeld *held, const Options *o, int row, int column) {
  Square s = {.top = row * o->stride, .left = column * o->stride};
  s.bottom = s.top + o->side < held->height ? s.top + o->side : held->height;
  s.right = s.left + o->side < held->width ? s.left + o->side : held->width;
  return s;
}

/** Pixel x of line y of picture `picture`, of all lanes' pictures. */
static size_t at(const FovHeld *held, size_t picture, int y, int x) {
  size_t line = picture * (size_t)held->height + (size_t)y;
  return (line * (size_t)held->width + (size_t)x) * (size_t)held->channels;
}

static void occlude(float *pixels, const FovHeld *held, Square s, float baseline) {
  for (int i = 0; i < held->lanes * held->frames; i++)
    for (int y = s.top; y < s.bottom; y++) {
      float *line = pixels + at(held, (size_t)i, y, s.left);
      for (int j = 0; j < (s.right - s.left) * held->channels; j++) line[j] = baseline;
    }
}

/** Adds what each lane's y lost to the pixels under the square. */
static void add_falls(real *map, const FovHeld *held, Square s, const double *y,
                      const double *occluded) {
  for (int i = 0; i < held->lanes * held->frames; i++) {
    real fall = (real)(y[i / held->frames] - occluded[i / held->frames]);
    for (int row = s.top; row < s.bottom; row++) {
      real *line = map + at(held, (size_t)i, row, s.left);
      for (int j = 0; j < (s.right - s.left) * held->channels; j++) line[j] += fall;
    }
  }
}

/** How many squares cover a place of an axis. */
static int covered(int place, int count, const Options *o) {
  int squares = 0;
  for (int k = 0; k < count; k++)
    squares += place >= k * o->stride && place < k * o->stride + o->side;
  return squares;
}

/** Divides each pixel by the number of its squares; 0 where strides leave a gap. */
static void divide(real *map, const FovHeld *held, const Options *o, int rows, int columns) {
  for (int y = 0; y < held->height; y++)
    for (int x = 0; x < held->width; x++) {
      int squares = covered(y, rows, o) * covered(x, columns, o);
      for (int i = 0; i < held->lanes * held->frames && squares > 0; i++)
        for (int c = 0; c < held->channels; c++)
          map[at(held, (size_t)i, y, x) + (size_t)c] /= (real)squares;
    }
}

static void map(real *map, const FovExplained *explained, const void *values) {
  const Options *o = values;
  const FovHeld *held = explained->held;
  size_t count = fov_explained_pixels(explained);
  int rows = places(held->height, o), columns = places(held->width, o);
  double *y = FOV_NEW(explained->arena, double, held->lanes);
  double *without = FOV_NEW(explained->arena, double, held->lanes);
  float *pixels = FOV_NEW(explained->arena, float, count);
  fov_explained_values(y, explained, NULL);
  for (int i = 0; i < rows * columns; i++) {
    Square s = square_at(held, o, i / columns, i % columns);
    memcpy(pixels, held->pixels, count * sizeof *pixels);
    occlude(pixels, held, s, (float)o->baseline);
    fov_explained_values(without, explained, pixels);
    add_falls(map, held, s, y, without);
  }
  divide(map, held, o, rows, columns);
}

const FovMethod fov_method_occlusion = {
    .plugin = {.name = "occlusion",
               .help = "what y loses when a square is covered (Zeiler and Fergus 2014)",
               .options = options,
               .options_size = sizeof(Options)},
    .map = map,
};
