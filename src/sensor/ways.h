/** The ways of looking that the sensor chooses among; arguments as in sensor.h. */
#ifndef FOV_SENSOR_WAYS_H
#define FOV_SENSOR_WAYS_H

#include "sensor/sensor.h"

/** A square retina at a place, retina.c. */
void fov_retina_look(real *glimpse, const FovSensor *sensor, const FovImage *image, real x, real y);
void fov_retina_look_back(real *image, const real *glimpse, const FovSensor *sensor, real x, real y,
                          int height, int width, int channels);

/** The whole image in the middle of a square of side max(H, W), whole.c. */
void fov_whole_look(real *glimpse, const FovImage *image);
void fov_whole_look_back(real *image, const real *glimpse, int height, int width, int channels);

#endif
