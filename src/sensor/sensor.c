#include "sensor/sensor.h"

#include "base/error.h"
#include "sensor/ways.h"

static const char *const standardises[] = {"auto", "no", "yes", NULL};

const FovOption fov_sensor_options[] = {
    FOV_INT(FovSensor, side, "12", 1, FOV_MAX_SIDE, "G: cells of a patch each way"),
    FOV_INT(FovSensor, scales, "3", 1, FOV_MAX_SCALES,
            "S: patches, each twice as wide as the last"),
    FOV_REAL(FovSensor, gain, "1", 1, 4,
             "patch s is multiplied by gain^s; a cell is the mean of its pixels with 1, their sum "
             "with 4"),
    FOV_BOOL(
        FovSensor, bilinear, "no",
        "centre patches at the place itself, by bilinear interpolation; no: at the nearest edge "
        "between pixels"),
    FOV_BOOL(FovSensor, inside, "no", "keep the finest patch inside the image, wherever it looks"),
    FOV_BOOL(
        FovSensor, whole, "no",
        "see the whole image, wherever it looks; side, scales, gain and bilinear are not used"),
    FOV_CHOICE(
        FovSensor, standardise, "auto", standardises,
        "subtract the mean brightness of the training images and divide by its standard deviation; "
        "auto: with images, circle_square and locate"),
    FOV_REAL(FovSensor, contrast, "0", 0, 1,
             "training only: the contrast of each episode's images is multiplied by a number "
             "drawn from 1 - contrast to 1 + contrast, about a brightness of 1/2"),
    FOV_REAL(FovSensor, brightness, "0", 0, 1,
             "training only: a number drawn from -brightness to brightness is added to them; "
             "black is 0 and white 1"),
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

void fov_image_check(const FovImage *image) {
  FOV_CHECK(!image->bytes != !image->floats, "an image has bytes or floats, not %s",
            image->bytes ? "both" : "neither");
}

static void check_channels(int channels) {
  FOV_CHECK(channels == 1 || channels == 3, "%d channels", channels);
}

void fov_sensor_look(real *glimpse, const FovSensor *sensor, const FovImage *image, real x,
                     real y) {
  fov_image_check(image);
  if (sensor->whole) {
    fov_whole_look(glimpse, image);
  } else {
    check_channels(image->channels);
    fov_retina_look(glimpse, sensor, image, x, y);
  }
}

void fov_sensor_look_back(real *image, const real *glimpse, const FovSensor *sensor, real x, real y,
                          int height, int width, int channels) {
  if (sensor->whole) {
    fov_whole_look_back(image, glimpse, height, width, channels);
  } else {
    check_channels(channels);
    fov_retina_look_back(image, glimpse, sensor, x, y, height, width, channels);
  }
}
