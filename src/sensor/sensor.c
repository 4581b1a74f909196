#include "sensor/sensor.h"

#include "base/error.h"

const FovOption fov_sensor_options[] = {
    FOV_INT(FovSensor, side, "12", 1, FOV_MAX_SIDE, "G: width of a patch as the agent gets it"),
    FOV_INT(FovSensor, scales, "3", 1, FOV_MAX_SCALES,
            "S: patches, each twice as wide as the last"),
    FOV_REAL(
        FovSensor, gain, "1", 1, 4,
        "factor on each patch after the first, to the power of its number; at 4 a bright pixel "
        "is as bright in all"),
    FOV_BOOL(FovSensor, whole, "no",
             "see the whole image, wherever it looks; side, scales and gain are not used"),
    FOV_OPTIONS_END,
};

FovGlimpseShape fov_sensor_glimpse(const FovSensor *sensor, int height, int width, int channels) {
  FovGlimpseShape glimpse = {.scales = sensor->scales, .side = sensor->side, .channels = channels};
  if (!sensor->whole) return glimpse;
  FOV_CHECK(height <= FOV_MAX_WHOLE && width <= FOV_MAX_WHOLE, "a whole image [%d, %d]", height,
            width);
  glimpse.scales = 1;
  glimpse.side = height > width ? height : width;
  return glimpse;
}

int fov_glimpse_features(FovGlimpseShape glimpse) {
  return glimpse.scales * glimpse.side * glimpse.side * glimpse.channels;
}

/** The pixels of one row or column that a patch covers: `cells` cells of `step` pixels from
 * `start`, cut to begin … end where it leaves the image. */
typedef struct Span {
  int64_t start, begin, end;
} Span;

static Span make_span(real location, int extent, int width) {
  // Far-away places are all the same black; the bound keeps their pixel number in range.
  double place = fmin(fmax((double)location, -1e6), 1e6);
  int64_t start = (int64_t)floor((place + 1) / 2 * extent + 0.5) - width / 2;
  int64_t begin = start < 0 ? 0 : start, end = start + width < extent ? start + width : extent;
  // A patch wholly outside covers nothing, from 0 on, so that no pointer leaves its array.
  return begin < end ? (Span){.start = start, .begin = begin, .end = end} : (Span){0};
}

/** Columns that are summed at a time: the widest strip of cells there is. */
enum { ROOM = 3 * FOV_MAX_SIDE << (FOV_MAX_SCALES - 1) };

/** sums: [strips, width], one strip of cells a row: adds up the `step` lines of pixels of each. At
 * most 128 lines of 255 fit in 16 bits. */
FOV_INLINE void add_lines(uint16_t *restrict sums, const FovImage *image, Span across, Span down,
                          int64_t top, int strips, int width, int step) {
  int channels = image->channels, covered = (int)(across.end - across.begin) * channels;
  memset(sums, 0, (size_t)strips * width * sizeof *sums);
  sums += (across.begin - across.start) * channels;
  for (int strip = 0; strip < strips; strip++, sums += width, top += step) {
    int64_t bottom = top + step < down.end ? top + step : down.end;
    for (int64_t y = top < down.begin ? down.begin : top; y < bottom; y++) {
      const uint8_t *line = image->bytes + (y * image->width + across.begin) * channels;
      for (int i = 0; i < covered; i++) sums[i] += line[i];
    }
  }
}

/** Defines the sums of neighbouring columns: `count` of them from twice as many. */
#define DEFINE_HALVE(name, Sum)                                                                    \
  FOV_INLINE void name(Sum *restrict half, const Sum *restrict sums, int count, int channels) {    \
    for (int i = 0; i < count; i++)                                                                \
      for (int c = 0; c < channels; c++)                                                           \
        half[i * channels + c] = sums[2 * i * channels + c] + sums[(2 * i + 1) * channels + c];    \
  }

DEFINE_HALVE(halve_shorts, uint16_t)
DEFINE_HALVE(halve_reals, real)

/** full: the sum of a cell's bytes that stands for 1. */
FOV_INLINE void look_patch(real *patch, const FovImage *image, Span across, Span down, int side,
                           int step, real full, int channels) {
  uint16_t shorts[2][ROOM];
  real reals[2][ROOM / 2]; // a pixel a cell at first, or halved once or more
  int width = side * step * channels, fitting = ROOM / width;
  for (int row = 0; row < side; row += fitting) {
    int strips = side - row < fitting ? side - row : fitting, count = strips * side * step, at = 0;
    int merged = 1; // columns in a sum
    add_lines(shorts[0], image, across, down, down.start + (int64_t)row * step, strips, width,
              step);
    for (; merged < step && 255 * step * merged * 2 <= UINT16_MAX; merged *= 2, at ^= 1)
      halve_shorts(shorts[at ^ 1], shorts[at], count /= 2, channels);
    for (int i = 0; i < count * channels; i++) reals[0][i] = shorts[at][i];
    for (at = 0; merged < step; merged *= 2, at ^= 1)
      halve_reals(reals[at ^ 1], reals[at], count /= 2, channels);
    for (int i = 0; i < count * channels; i++) *patch++ = reals[at][i] / full;
  }
}

/** With the channels known to the compiler. */
FOV_KERNEL static void look(real *patch, const FovImage *image, Span across, Span down, int side,
                            int step, real full) {
  if (image->channels == 1)
    look_patch(patch, image, across, down, side, step, full, 1);
  else
    look_patch(patch, image, across, down, side, step, full, 3);
}

/** Bytes as brightnesses. */
FOV_KERNEL static void brighten(real *restrict to, const uint8_t *restrict bytes, size_t count) {
  for (size_t i = 0; i < count; i++) to[i] = bytes[i] / (real)255;
}

static void look_whole(real *glimpse, FovGlimpseShape shape, const FovImage *image) {
  size_t row = (size_t)shape.side * shape.channels, line = (size_t)image->width * shape.channels;
  size_t left = (size_t)((shape.side - image->width) / 2) * shape.channels;
  size_t above = (size_t)((shape.side - image->height) / 2);
  if (image->height != image->width) memset(glimpse, 0, (size_t)shape.side * row * sizeof *glimpse);
  glimpse += above * row + left;
  if (line == row)
    brighten(glimpse, image->bytes, (size_t)image->height * line);
  else
    for (int y = 0; y < image->height; y++)
      brighten(glimpse + (size_t)y * row, image->bytes + (size_t)y * line, line);
}

void fov_sensor_look(real *glimpse, const FovSensor *sensor, const FovImage *image, real x,
                     real y) {
  FOV_CHECK(image->channels == 1 || image->channels == 3, "%d channels", image->channels);
  if (sensor->whole) {
    look_whole(glimpse, fov_sensor_glimpse(sensor, image->height, image->width, image->channels),
               image);
    return;
  }
  double gain = 1;
  for (int s = 0; s < sensor->scales; s++, gain *= sensor->gain) {
    int step = 1 << s, width = sensor->side * step;
    Span across = make_span(x, image->width, width), down = make_span(y, image->height, width);
    look(glimpse, image, across, down, sensor->side, step, (real)(255 * step * step / gain));
    glimpse += sensor->side * sensor->side * image->channels;
  }
}

/** How much of a pixel lies in a cell, of `side` cells over `extent` pixels; in parts of 1 / side.
 */
static uint32_t share(int pixel, int cell, int extent, int side) {
  int begin = pixel * side, end = begin + side, low = cell * extent, high = low + extent;
  return (uint32_t)((end < high ? end : high) - (begin > low ? begin : low));
}

/** sums: [W, C]: the sum of the lines of pixels that a row of cells covers, each by its share. */
FOV_KERNEL static void add_shares(uint32_t *restrict sums, const FovImage *image, int cell,
                                  int side) {
  int height = image->height, numbers = image->width * image->channels;
  memset(sums, 0, (size_t)numbers * sizeof *sums);
  for (int y = cell * height / side; y * side < (cell + 1) * height; y++) {
    const uint8_t *line = image->bytes + (size_t)y * numbers;
    uint32_t weight = share(y, cell, height, side);
    for (int i = 0; i < numbers; i++) sums[i] += weight * line[i];
  }
}

/** What a cell of the row covers of one channel of those sums. sums: [W, C], from the channel. */
static uint64_t sum_shares(const uint32_t *sums, int cell, int width, int channels, int side) {
  uint64_t sum = 0;
  for (int x = cell * width / side; x * side < (cell + 1) * width; x++)
    sum += (uint64_t)share(x, cell, width, side) * sums[x * channels];
  return sum;
}

void fov_sensor_shrink(real *coarse, const FovImage *image, int side) {
  int H = image->height, W = image->width, C = image->channels;
  uint32_t sums[3 * FOV_MAX_WHOLE];
  FOV_CHECK(side >= 1 && side <= FOV_MAX_SIDE && H <= FOV_MAX_WHOLE && W <= FOV_MAX_WHOLE && C <= 3,
            "%d cells each way for an image [%d, %d, %d]", side, H, W, C);
  // The shares of a cell add up to H·W, and sums of bytes by them are exact.
  for (int row = 0; row < side; row++) {
    add_shares(sums, image, row, side);
    for (int column = 0; column < side; column++)
      for (int c = 0; c < C; c++)
        *coarse++ = (real)((double)sum_shares(sums + c, column, W, C, side) / (255.0 * H * W));
  }
}
