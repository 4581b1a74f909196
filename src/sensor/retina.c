/**
 * The retina of Mnih et al. 2014: patches of cells, each the mean of a square of pixels.
 *
 * Patch s has G×G cells of step×step pixels, step = 2^s. It is computed in two stages, so that the
 * inner loops run along lines of the image and are vectorised:
 *
 *     lines of pixels      1. column sums         2. cells
 *     a b c d
 *     e f g h         →    a+e b+f c+g d+h   →    (a+e)+(b+f)  (c+g)+(d+h)
 *
 * Stage 1 adds the `step` lines of each row of cells, here called a strip. Stage 2 adds
 * neighbouring columns, which halves their number, log2(step) times. Bytes are added in 16 bits as
 * long as no sum can exceed them, then as reals, which are exact up to 2^24; so only the final
 * quotient rounds. As many strips as fit into MAX_SUMS are processed together, since strips of
 * small patches are short.
 */
#include <string.h>

#include "base/profile.h"
#include "sensor/ways.h"

/** The pixels that a patch covers in one direction: it starts at pixel `start`, which may be
 * outside, and covers begin … end−1 of the image. */
typedef struct Span {
  int64_t start, begin, end;
} Span;

double fov_patch_start(const FovSensor *sensor, real location, int extent, double covered) {
  // All places far outside look the same; the bound keeps their pixel number in range.
  double place = fmin(fmax((double)location, -1e6), 1e6), middle = (place + 1) / 2 * extent;
  if (sensor->bilinear) return middle - covered / 2;
  // Rounded as a whole, so that the finest patch reaches both edges, however wide it is.
  if (sensor->inside) return floor(middle - covered / 2 + 0.5);
  return floor(middle + 0.5) - floor(covered / 2);
}

static Span make_span(int64_t start, int extent, int width) {
  int64_t begin = start < 0 ? 0 : start, end = start + width < extent ? start + width : extent;
  // A patch wholly outside covers nothing, from 0 on, so that no pointer leaves its array.
  return begin < end ? (Span){.start = start, .begin = begin, .end = end} : (Span){0};
}

/** Sums that are kept at a time: the strip of the widest patch. */
enum { MAX_SUMS = 3 * FOV_MAX_SIDE << (FOV_MAX_SCALES - 1) };

/** Defines stage 1 for pixels of one type. sums: [strips, width], overwritten; `step` lines of
 * pixels from `top` on for each strip. At most 128 lines of 255 fit in 16 bits. */
#define DEFINE_ADD_LINES(name, Sum, Pixel, pixels)                                                 \
  FOV_INLINE void name(Sum *restrict sums, const FovImage *image, Span across, Span down,          \
                       int64_t top, int strips, int width, int step) {                             \
    int channels = image->channels, covered = (int)(across.end - across.begin) * channels;         \
    memset(sums, 0, (size_t)strips *width * sizeof *sums);                                         \
    sums += (across.begin - across.start) * channels;                                              \
    for (int strip = 0; strip < strips; strip++, sums += width, top += step) {                     \
      int64_t bottom = top + step < down.end ? top + step : down.end;                              \
      for (int64_t y = top < down.begin ? down.begin : top; y < bottom; y++) {                     \
        const Pixel *line = image->pixels + (y * image->width + across.begin) * channels;          \
        for (int i = 0; i < covered; i++) sums[i] += line[i];                                      \
      }                                                                                            \
    }                                                                                              \
  }

DEFINE_ADD_LINES(add_byte_lines, uint16_t, uint8_t, bytes)
DEFINE_ADD_LINES(add_float_lines, real, float, floats)

/** Defines stage 2: the sums of neighbouring columns, `count` of them from twice as many. */
#define DEFINE_HALVE(name, Sum)                                                                    \
  FOV_INLINE void name(Sum *restrict half, const Sum *restrict sums, int count, int channels) {    \
    for (int i = 0; i < count; i++)                                                                \
      for (int c = 0; c < channels; c++)                                                           \
        half[i * channels + c] = sums[2 * i * channels + c] + sums[(2 * i + 1) * channels + c];    \
  }

DEFINE_HALVE(halve_shorts, uint16_t)
DEFINE_HALVE(halve_reals, real)

/** A patch of an image. `full`: the sum of a cell's pixels that stands for 1. */
typedef struct Patch {
  Span across, down;
  int side, step;
  real full;
} Patch;

/** The patches on whole pixels around patch s at a place, with their weights: four, or one if it
 * lies on whole pixels itself. */
typedef struct Around {
  Patch patch[4];
  real weight[4];
  int count;
  double pixels; // of the image that they cover together
} Around;

static Around patches_around(const FovSensor *sensor, int s, double full, real x, real y,
                             int height, int width) {
  int covered = sensor->side << s;
  double left = fov_patch_start(sensor, x, width, covered);
  double top = fov_patch_start(sensor, y, height, covered);
  int64_t column = (int64_t)floor(left), row = (int64_t)floor(top);
  double across = left - (double)column, down = top - (double)row;
  Span columns = make_span(column, width, covered + (across > 0));
  Span rows = make_span(row, height, covered + (down > 0));
  Around around = {.pixels = (double)((columns.end - columns.begin) * (rows.end - rows.begin))};
  for (int corner = 0; corner < 4; corner++) {
    int right = corner & 1, below = corner >> 1;
    double weight = (right ? across : 1 - across) * (below ? down : 1 - down);
    if (weight == 0) continue;
    around.patch[around.count] = (Patch){.across = make_span(column + right, width, covered),
                                         .down = make_span(row + below, height, covered),
                                         .side = sensor->side,
                                         .step = 1 << s,
                                         .full = (real)full};
    around.weight[around.count++] = (real)weight;
  }
  return around;
}

FOV_INLINE void look_bytes(real *cells, const FovImage *image, const Patch *p, int channels) {
  uint16_t shorts[2][MAX_SUMS];
  real reals[2][MAX_SUMS / 2]; // pixels at first, or sums of two or more
  int width = p->side * p->step * channels, fitting = MAX_SUMS / width;
  for (int row = 0; row < p->side; row += fitting) {
    int strips = p->side - row < fitting ? p->side - row : fitting;
    int count = strips * p->side * p->step, at = 0, merged = 1; // columns in a sum
    add_byte_lines(shorts[0], image, p->across, p->down, p->down.start + (int64_t)row * p->step,
                   strips, width, p->step);
    for (; merged < p->step && 255 * p->step * merged * 2 <= UINT16_MAX; merged *= 2, at ^= 1)
      halve_shorts(shorts[at ^ 1], shorts[at], count /= 2, channels);
    for (int i = 0; i < count * channels; i++) reals[0][i] = shorts[at][i];
    for (at = 0; merged < p->step; merged *= 2, at ^= 1)
      halve_reals(reals[at ^ 1], reals[at], count /= 2, channels);
    for (int i = 0; i < count * channels; i++) *cells++ = reals[at][i] / p->full;
  }
}

/** The same for floats, one strip at a time. */
FOV_INLINE void look_floats(real *cells, const FovImage *image, const Patch *p, int channels) {
  real sums[2][MAX_SUMS];
  int width = p->side * p->step * channels;
  for (int row = 0; row < p->side; row++) {
    int count = p->side * p->step, at = 0;
    add_float_lines(sums[0], image, p->across, p->down, p->down.start + (int64_t)row * p->step, 1,
                    width, p->step);
    for (; count > p->side; at ^= 1) halve_reals(sums[at ^ 1], sums[at], count /= 2, channels);
    for (int i = 0; i < count * channels; i++) *cells++ = sums[at][i] / p->full;
  }
}

/** With the channels known to the compiler. */
FOV_KERNEL static void look_at_bytes(real *cells, const FovImage *image, const Patch *patch) {
  if (image->channels == 1)
    look_bytes(cells, image, patch, 1);
  else
    look_bytes(cells, image, patch, 3);
}

FOV_KERNEL static void look_at_floats(real *cells, const FovImage *image, const Patch *patch) {
  if (image->channels == 1)
    look_floats(cells, image, patch, 1);
  else
    look_floats(cells, image, patch, 3);
}

static void look_at(real *cells, const FovImage *image, const Patch *patch) {
  if (image->floats)
    look_at_floats(cells, image, patch);
  else
    look_at_bytes(cells, image, patch);
}

/** The weighted mean of several patches. */
static void look_between(real *cells, const FovImage *image, const Around *around, int count) {
  real part[FOV_MAX_SIDE * FOV_MAX_SIDE * 3];
  memset(cells, 0, (size_t)count * sizeof *cells);
  for (int i = 0; i < around->count; i++) {
    look_at(part, image, &around->patch[i]);
    for (int j = 0; j < count; j++) cells[j] += around->weight[i] * part[j];
  }
}

void fov_retina_look(real *glimpse, const FovSensor *sensor, const FovImage *image, real x,
                     real y) {
  double unit = image->floats ? 1 : 255, gain = 1, pixels = 0;
  int cells = sensor->side * sensor->side * image->channels;
  for (int s = 0; s < sensor->scales; s++, gain *= sensor->gain, glimpse += cells) {
    double full = unit * (1 << 2 * s) / gain;
    Around around = patches_around(sensor, s, full, x, y, image->height, image->width);
    pixels += around.pixels;
    if (around.count == 1)
      look_at(glimpse, image, &around.patch[0]);
    else
      look_between(glimpse, image, &around, cells);
  }
  fov_profile_input(sensor->scales * cells, pixels);
}

/** The two stages in reverse: a cell's number goes to each of its columns, then to each line. */
FOV_KERNEL static void look_patch_back(real *image, const real *cells, const Patch *p,
                                       int image_width, int channels) {
  real columns[MAX_SUMS];
  int from = (int)(p->across.begin - p->across.start) * channels;
  int covered = (int)(p->across.end - p->across.begin) * channels;
  int64_t top = p->down.start;
  for (int row = 0; row < p->side; row++, top += p->step, cells += p->side * channels) {
    for (int j = 0; j < p->side * p->step; j++)
      for (int c = 0; c < channels; c++)
        columns[j * channels + c] = cells[j / p->step * channels + c] / p->full;
    int64_t bottom = top + p->step < p->down.end ? top + p->step : p->down.end;
    for (int64_t y = top < p->down.begin ? p->down.begin : top; y < bottom; y++) {
      real *line = image + (y * image_width + p->across.begin) * channels;
      for (int i = 0; i < covered; i++) line[i] += columns[from + i];
    }
  }
}

void fov_retina_look_back(real *image, const real *glimpse, const FovSensor *sensor, real x, real y,
                          int height, int width, int channels) {
  real part[FOV_MAX_SIDE * FOV_MAX_SIDE * 3];
  double gain = 1;
  int cells = sensor->side * sensor->side * channels;
  for (int s = 0; s < sensor->scales; s++, gain *= sensor->gain, glimpse += cells) {
    Around around = patches_around(sensor, s, (1 << 2 * s) / gain, x, y, height, width);
    for (int i = 0; i < around.count; i++) {
      for (int j = 0; j < cells; j++) part[j] = around.weight[i] * glimpse[j];
      look_patch_back(image, part, &around.patch[i], width, channels);
    }
  }
}
