#include "sensor/sensor.h"

#include "base/error.h"

const FovOption fov_sensor_options[] = {
    FOV_INT(FovSensor, side, "12", 1, FOV_MAX_SIDE, "G: width of a patch as the agent gets it"),
    FOV_INT(FovSensor, scales, "3", 1, FOV_MAX_SCALES,
            "S: patches, each twice as wide as the last"),
    FOV_OPTIONS_END,
};

int fov_sensor_features(const FovSensor *sensor, int channels) {
  return sensor->scales * sensor->side * sensor->side * channels;
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

/**
 * Defines a function that averages one patch of pixels of `Pixel`, in two passes: image rows are
 * added into one wide row of cells' columns, which vectorises, then columns into cells.
 */
#define DEFINE_PATCH(name, Pixel, Sum)                                                             \
  FOV_KERNEL static void name(real *patch, Sum *columns, const Pixel *pixels, int image_width,     \
                              int channels, Span across, Span down, int side, int step,            \
                              real unit) {                                                         \
    int covered = (int)(across.end - across.begin) * channels, width = side * step * channels;     \
    Sum *inside = columns + (across.begin - across.start) * channels;                              \
    for (int row = 0; row < side; row++, patch += side * channels) {                               \
      int64_t top = down.start + (int64_t)row * step, bottom = top + step;                         \
      for (int i = 0; i < width; i++) columns[i] = 0;                                              \
      for (int64_t y = top < down.begin ? down.begin : top; y < bottom && y < down.end; y++) {     \
        const Pixel *line = pixels + (y * image_width + across.begin) * channels;                  \
        for (int i = 0; i < covered; i++) inside[i] += line[i];                                    \
      }                                                                                            \
      for (int column = 0; column < side; column++)                                                \
        for (int c = 0; c < channels; c++) {                                                       \
          Sum sum = 0;                                                                             \
          for (int i = 0; i < step; i++) sum += columns[(column * step + i) * channels + c];       \
          patch[column * channels + c] = (real)sum * unit;                                         \
        }                                                                                          \
    }                                                                                              \
  }

DEFINE_PATCH(look_bytes, uint8_t, uint32_t)
DEFINE_PATCH(look_floats, float, real)

void fov_sensor_look(real *glimpse, const FovSensor *sensor, const FovImage *image, real x,
                     real y) {
  FOV_CHECK(!image->bytes != !image->floats, "an image has bytes or floats");
  FOV_CHECK(image->channels == 1 || image->channels == 3, "%d channels", image->channels);
  enum { WIDEST = 3 * FOV_MAX_SIDE << (FOV_MAX_SCALES - 1) };
  union {
    uint32_t sums[WIDEST];
    real reals[WIDEST];
  } columns;
  for (int s = 0; s < sensor->scales; s++) {
    int step = 1 << s, width = sensor->side * step;
    Span across = make_span(x, image->width, width), down = make_span(y, image->height, width);
    real area = (real)step * step;
    if (image->bytes)
      look_bytes(glimpse, columns.sums, image->bytes, image->width, image->channels, across, down,
                 sensor->side, step, 1 / (255 * area));
    else
      look_floats(glimpse, columns.reals, image->floats, image->width, image->channels, across,
                  down, sensor->side, step, 1 / area);
    glimpse += sensor->side * sensor->side * image->channels;
  }
}
