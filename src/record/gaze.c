#include "record/gaze.h"

#include <math.h>

#include "sensor/sensor.h"

size_t fov_glimpse_index(const FovTrace *trace, int episode, int glimpse) {
  return (size_t)episode * trace->glimpses + glimpse;
}

const FovTraceColumn *fov_attention_tiles(const FovTrace *trace) {
  const FovTraceColumn *tiles = fov_trace_find_column(trace, "attention.tiles");
  if (!tiles || fov_trace_grid(trace, tiles->width).across == 0) return NULL;
  return trace->vocabulary == 0 || tiles->width == trace->width ? tiles : NULL;
}

bool fov_reads_several(const FovTrace *trace) {
  return trace->reach != FOV_REACH_GLIMPSE;
}

bool fov_has_places(const FovTrace *trace) {
  return trace->reach != FOV_REACH_ALL;
}

bool fov_has_window(const FovTrace *trace) {
  return fov_trace_column(trace, "attention.window", 4) != NULL;
}

/** The window of a glimpse: x, y of its middle, a location, then width and height in the same
 * units, > 0, of its finest patch. NULL: none was recorded, or one that has no area. */
static const float *window_of(const FovTrace *trace, int episode, int glimpse) {
  const float *windows = fov_trace_column(trace, "attention.window", 4);
  if (!windows) return NULL;
  const float *window = windows + 4 * fov_glimpse_index(trace, episode, glimpse);
  for (int i = 0; i < 4; i++)
    if (!isfinite(window[i])) return NULL;
  return window[2] > 0 && window[3] > 0 ? window : NULL;
}

const float *fov_gaze(const FovTrace *trace, int episode, int glimpse) {
  const float *window = window_of(trace, episode, glimpse);
  return window ? window : trace->locations + 2 * fov_glimpse_index(trace, episode, glimpse);
}

/** The area of an image that the sensor sees whole, centred. */
static FovPatchArea whole_patch(const FovTrace *trace) {
  int left = (trace->side - trace->width) / 2, above = (trace->side - trace->height) / 2;
  return (FovPatchArea){-left, -above, trace->side, trace->side};
}

static FovPatchArea window_patch(const FovTrace *trace, const float *window, int scale) {
  if (!window) return (FovPatchArea){0};
  double w = ldexp(window[2], scale) / 2 * trace->width,
         h = ldexp(window[3], scale) / 2 * trace->height;
  return (FovPatchArea){((double)window[0] + 1) / 2 * trace->width - w / 2,
                        ((double)window[1] + 1) / 2 * trace->height - h / 2, w, h};
}

FovPatchArea fov_patch_area(const FovTrace *trace, int episode, int glimpse, int scale) {
  if (trace->whole) return whole_patch(trace);
  if (fov_reads_several(trace)) return (FovPatchArea){0};
  if (fov_has_window(trace)) return window_patch(trace, window_of(trace, episode, glimpse), scale);
  const float *location = trace->locations + 2 * fov_glimpse_index(trace, episode, glimpse);
  const FovSensor sensor = {
      .side = trace->side, .bilinear = trace->bilinear, .inside = trace->inside};
  double side = ldexp(trace->side, scale);
  return (FovPatchArea){fov_patch_start(&sensor, (real)location[0], trace->width, side),
                        fov_patch_start(&sensor, (real)location[1], trace->height, side), side,
                        side};
}
