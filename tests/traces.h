/** A made-up trace for the tests of the viewer; include after cmocka.h. */
#ifndef FOV_TESTS_TRACES_H
#define FOV_TESTS_TRACES_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "record/trace.h"

enum { GLIMPSES = 4, CLASSES = 4, SIZE = 32, SIDE = 8, SCALES = 2 };

/** fontconfig keeps its cache until the process ends; the leak checker need not say so. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) {
  return "leak:libfontconfig";
}

static inline uint8_t made_up_pixel(int e, int x, int y, int c) {
  double d = hypot(x - 12 - e % 5, y - 16 - e % 3) - 8;
  return (uint8_t)(fmax(0, 1 - d * d / 6) * (c == e % 3 ? 255 : 120));
}

static inline void make_up_retina(FovTrace *trace, int e, int t) {
  int C = trace->channels;
  size_t moment = (size_t)e * GLIMPSES + t;
  for (int s = 0; s < SCALES; s++)
    for (int i = 0; i < SIDE * SIDE; i++)
      for (int c = 0; c < C; c++) {
        double left = round((trace->locations[2 * moment] + 1) / 2 * SIZE) - (SIDE << s) / 2;
        double top = round((trace->locations[2 * moment + 1] + 1) / 2 * SIZE) - (SIDE << s) / 2;
        int x = (int)left + ((i % SIDE) << s), y = (int)top + ((i / SIDE) << s);
        bool inside = x >= 0 && x < SIZE && y >= 0 && y < SIZE;
        trace->retina[((moment * SCALES + s) * SIDE * SIDE + i) * C + c] =
            inside ? made_up_pixel(e, x, y, c) : 0;
      }
}

/** Labels 0, 1, 2, 3, 0 …; every third episode, 2, 5, 8 …, is answered wrongly. */
static inline FovTrace make_up_trace(int episodes, int channels) {
  FovTrace trace = {.episodes = episodes,
                    .glimpses = GLIMPSES,
                    .height = SIZE,
                    .width = SIZE,
                    .channels = channels,
                    .actions = CLASSES,
                    .side = SIDE,
                    .scales = SCALES,
                    .update = 100};
  assert_int_equal(fov_trace_allocate(&trace), FOV_OK);
  for (int e = 0; e < episodes; e++) {
    trace.labels[e] = e % CLASSES;
    trace.answers[e] = (e + (e % 3 == 2)) % CLASSES;
    for (int i = 0; i < SIZE * SIZE * channels; i++)
      trace.images[(size_t)e * SIZE * SIZE * channels + i] =
          made_up_pixel(e, i / channels % SIZE, i / channels / SIZE, i % channels);
    for (int t = 0; t < GLIMPSES; t++) {
      size_t m = (size_t)e * GLIMPSES + t;
      trace.locations[2 * m] = 0.25f * (float)t - 0.5f;
      trace.locations[2 * m + 1] = t % 2 ? 0.3f : -0.2f;
      for (int j = 0; j < 2; j++) {
        trace.means[2 * m + j] = t == 0 ? NAN : trace.locations[2 * m + j] + 0.05f;
        trace.sigmas[2 * m + j] = t == 0 ? NAN : 0.1f;
      }
      for (int a = 0; a < CLASSES; a++)
        trace.probabilities[m * CLASSES + a] =
            a == trace.answers[e] ? 0.25f + 0.2f * (float)t : 0.25f - 0.2f / 3 * (float)t;
      trace.baselines[m] = 0.4f + 0.1f * (float)t;
      trace.rewards[m] = t == GLIMPSES - 1 && trace.labels[e] == trace.answers[e];
      make_up_retina(&trace, e, t);
    }
  }
  return trace;
}

#endif
