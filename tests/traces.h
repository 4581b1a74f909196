/** Made-up traces for the tests of the viewer; include after cmocka.h. */
#ifndef FOV_TESTS_TRACES_H
#define FOV_TESTS_TRACES_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/trace.h"

enum { GLIMPSES = 4, CLASSES = 4, SIZE = 32, SIDE = 8, SCALES = 2 };

/** fontconfig keeps its cache until the process ends; the leak checker ignores it. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) {
  return "leak:libfontconfig";
}

static inline uint8_t made_up_pixel(int e, int x, int y, int c) {
  double d = hypot(x - 12 - e % 5, y - 16 - e % 3) - 8;
  return (uint8_t)(fmax(0, 1 - d * d / 6) * (c == e % 3 ? 255 : 120));
}

/** The sizes of all made-up traces; frames: 1 or GLIMPSES. */
static inline FovTrace declare_trace(int episodes, int frames, int channels, int actions) {
  return (FovTrace){.episodes = episodes,
                    .glimpses = GLIMPSES,
                    .frames = frames,
                    .height = SIZE,
                    .width = SIZE,
                    .channels = channels,
                    .actions = actions,
                    .side = SIDE,
                    .scales = SCALES,
                    .update = 100};
}

static inline FovTrace begin_trace(int episodes, int frames, int channels, int actions) {
  FovTrace trace = declare_trace(episodes, frames, channels, actions);
  fov_trace_add_column(&trace, "policy.mean", 2);
  fov_trace_add_column(&trace, "policy.sigma", 2);
  assert_int_equal(fov_trace_allocate(&trace), FOV_OK);
  return trace;
}

static inline uint8_t *image_at(const FovTrace *trace, int e, int t) {
  size_t frame = (size_t)e * trace->frames + (trace->frames > 1 ? t : 0);
  return trace->images + frame * SIZE * SIZE * trace->channels;
}

static inline void make_up_retina(FovTrace *trace, int e, int t) {
  int C = trace->channels;
  size_t at = (size_t)e * GLIMPSES + t;
  const uint8_t *image = image_at(trace, e, t);
  for (int s = 0; s < SCALES; s++)
    for (int i = 0; i < SIDE * SIDE; i++)
      for (int c = 0; c < C; c++) {
        double left = round((trace->locations[2 * at] + 1) / 2 * SIZE) - (SIDE << s) / 2;
        double top = round((trace->locations[2 * at + 1] + 1) / 2 * SIZE) - (SIDE << s) / 2;
        int x = (int)left + ((i % SIDE) << s), y = (int)top + ((i / SIDE) << s);
        bool inside = x >= 0 && x < SIZE && y >= 0 && y < SIZE;
        trace->retina[((at * SCALES + s) * SIDE * SIDE + i) * C + c] =
            inside ? image[(y * SIZE + x) * C + c] : 0;
      }
}

/** `answer` becomes likelier, and the baseline higher. */
static inline void make_up_probabilities(FovTrace *trace, int e, int t, int answer) {
  size_t m = (size_t)e * GLIMPSES + t;
  int A = trace->actions;
  float even = 1 / (float)A, gain = 0.2f * (float)t;
  for (int a = 0; a < A; a++)
    trace->probabilities[m * A + a] = a == answer ? even + gain : even - gain / (float)(A - 1);
  trace->baselines[m] = 0.4f + 0.1f * (float)t;
}

/** Sets location, policy, probabilities and retina of glimpse t. */
static inline void make_up_glimpse(FovTrace *trace, int e, int t, int answer) {
  size_t m = (size_t)e * GLIMPSES + t;
  trace->locations[2 * m] = 0.25f * (float)t - 0.5f;
  trace->locations[2 * m + 1] = t % 2 ? 0.3f : -0.2f;
  bool gaussian = fov_trace_find_column(trace, "policy.mean");
  for (int j = 0; j < 2 && t > 0 && gaussian; j++) {
    trace->column[0].values[2 * m + j] = trace->locations[2 * m + j] + 0.05f;
    trace->column[1].values[2 * m + j] = 0.1f;
  }
  make_up_probabilities(trace, e, t, answer);
  make_up_retina(trace, e, t);
}

static inline void make_up_image(FovTrace *trace, int e) {
  int C = trace->channels;
  for (int i = 0; i < SIZE * SIZE * C; i++)
    image_at(trace, e, 0)[i] = made_up_pixel(e, i / C % SIZE, i / C / SIZE, i % C);
}

/** Labels 0, 1, 2, 3, 0 …; every third episode, 2, 5, 8 …, is answered wrongly. */
static inline FovTrace make_up_trace(int episodes, int channels) {
  FovTrace trace = begin_trace(episodes, 1, channels, CLASSES);
  for (int e = 0; e < episodes; e++) {
    int answer = (e + (e % 3 == 2)) % CLASSES, end = e * GLIMPSES + GLIMPSES - 1;
    make_up_image(&trace, e);
    for (int t = 0; t < GLIMPSES; t++) {
      make_up_glimpse(&trace, e, t, answer);
      trace.labels[e * GLIMPSES + t] = e % CLASSES;
    }
    trace.answers[end] = answer;
    trace.lengths[e] = GLIMPSES;
    trace.wrong[e] = e % 3 == 2;
    trace.rewards[end] = (float)!trace.wrong[e];
  }
  return trace;
}

/** A policy, or an attention that reads all, over K × K tiles, in a column of that name: all but
 * the first glimpse look at the middle of tile t, K + t …, which is the likeliest. */
static inline FovTrace make_up_tiles(int episodes, int K, const char *name) {
  FovTrace trace = declare_trace(episodes, 1, 1, CLASSES);
  fov_trace_add_column(&trace, name, K * K);
  assert_int_equal(fov_trace_allocate(&trace), FOV_OK);
  if (strncmp(name, "attention.", 10) == 0) trace.reach = FOV_REACH_ALL;
  for (int e = 0; e < episodes; e++) {
    make_up_image(&trace, e);
    trace.lengths[e] = GLIMPSES;
    for (int t = 0; t < GLIMPSES; t++) {
      int m = e * GLIMPSES + t, column = t % K, row = (t + 1) % K;
      make_up_glimpse(&trace, e, t, e % CLASSES);
      trace.labels[m] = e % CLASSES;
      for (int i = 0; i < K * K && t > 0; i++)
        trace.column[0].values[m * K * K + i] =
            0.4f / (float)(1 + abs(i % K - column) + 2 * abs(i / K - row));
      for (int j = 0; j < 2 && t > 0; j++)
        trace.locations[2 * m + j] = (2 * (float)(j ? row : column) + 1) / (float)K - 1;
      make_up_retina(&trace, e, t);
    }
    trace.answers[e * GLIMPSES + GLIMPSES - 1] = e % CLASSES;
  }
  return trace;
}

/** Soft attention over K × K tiles: head h weighs most the tiles around column h, later h + 1,
 * and the mean of the heads is recorded, too. */
static inline FovTrace make_up_heads(int episodes, int K, int heads) {
  FovTrace trace = declare_trace(episodes, 1, 1, CLASSES);
  int N = K * K;
  fov_trace_add_column(&trace, "attention.tiles", N);
  fov_trace_add_column(&trace, "attention.heads", heads * N);
  assert_int_equal(fov_trace_allocate(&trace), FOV_OK);
  snprintf(trace.attention, sizeof trace.attention, "soft");
  trace.reach = FOV_REACH_ALL;
  float *mean = trace.column[0].values, *each = trace.column[1].values;
  for (int e = 0; e < episodes; e++) {
    make_up_image(&trace, e);
    trace.lengths[e] = GLIMPSES;
    trace.answers[e * GLIMPSES + GLIMPSES - 1] = e % CLASSES;
    for (int t = 0; t < GLIMPSES; t++, mean += N) {
      make_up_glimpse(&trace, e, t, e % CLASSES);
      trace.labels[e * GLIMPSES + t] = e % CLASSES;
      memset(mean, 0, (size_t)N * sizeof *mean);
      for (int i = 0; i < heads * N; i++) {
        int right = i % K - (t / 2 + i / N) % K, down = i % N / K - (e + i / N) % K;
        float weight = 0.36f * powf(0.25f, (float)(abs(right) + abs(down)));
        *each++ = weight;
        mean[i % N] += weight / (float)heads;
      }
    }
  }
  return trace;
}

/** Patch `scale` of a glimpse through a window [x, y, width, height], from its nearest pixels. */
static inline void make_up_patch(FovTrace *trace, int e, int t, int scale, const float *window) {
  size_t at = ((size_t)e * GLIMPSES + t) * trace->scales + scale;
  const uint8_t *image = image_at(trace, e, t);
  for (int i = 0; i < SIDE * SIDE; i++) {
    double right = (i % SIDE + 0.5) / SIDE - 0.5, down = (i / SIDE + 0.5) / SIDE - 0.5;
    double x = floor((window[0] + ldexp(window[2], scale) * right + 1) / 2 * SIZE);
    double y = floor((window[1] + ldexp(window[3], scale) * down + 1) / 2 * SIZE);
    bool inside = x >= 0 && x < SIZE && y >= 0 && y < SIZE;
    trace->retina[at * SIDE * SIDE + i] = inside ? image[(int)y * SIZE + (int)x] : 0;
  }
}

/** Windows that begin with the whole image and become smaller as they move to the right. */
static inline FovTrace make_up_windows(int episodes, int scales) {
  FovTrace trace = declare_trace(episodes, 1, 1, CLASSES);
  trace.scales = scales;
  fov_trace_add_column(&trace, "attention.window", 4);
  assert_int_equal(fov_trace_allocate(&trace), FOV_OK);
  snprintf(trace.attention, sizeof trace.attention, "draw");
  for (int e = 0; e < episodes; e++) {
    make_up_image(&trace, e);
    trace.lengths[e] = GLIMPSES;
    trace.answers[e * GLIMPSES + GLIMPSES - 1] = e % CLASSES;
    for (int t = 0; t < GLIMPSES; t++) {
      size_t m = (size_t)e * GLIMPSES + t;
      float *window = trace.column[0].values + 4 * m, size = 2 * powf(0.6f, (float)t);
      memcpy(window, (float[]){0.08f * (float)t, -0.1f * (float)t, size, 0.8f * size},
             4 * sizeof *window);
      make_up_probabilities(&trace, e, t, e % CLASSES);
      memcpy(trace.locations + 2 * m, window, 2 * sizeof *window);
      trace.labels[m] = e % CLASSES;
      for (int s = 0; s < scales; s++) make_up_patch(&trace, e, t, s, window);
    }
  }
  return trace;
}

/** A game: a ball falls past the middle, a move to the right after each glimpse. Odd episodes end a
 * glimpse early, and reach the goal. */
static inline FovTrace make_up_game(int episodes) {
  static const char *const names[] = {"left", "stay", "right"};
  FovTrace trace = begin_trace(episodes, GLIMPSES, 1, 3);
  trace.control = true;
  assert_int_equal(fov_trace_set_names(&trace, names, NULL), FOV_OK);
  for (int e = 0; e < episodes; e++) {
    trace.lengths[e] = GLIMPSES - e % 2;
    trace.wrong[e] = e % 2 == 0;
    for (int t = 0; t < trace.lengths[e]; t++) {
      for (int y = 10 + 3 * t; y < 12 + 3 * t; y++)
        memset(image_at(&trace, e, t) + y * SIZE + 14, 255, 3);
      memset(image_at(&trace, e, t) + (SIZE - 1) * SIZE + 3 * t, 255, 6);
      make_up_glimpse(&trace, e, t, 2);
      trace.answers[e * GLIMPSES + t] = 2;
    }
    trace.rewards[e * GLIMPSES + trace.lengths[e] - 1] = (float)!trace.wrong[e];
  }
  return trace;
}

enum { SYMBOLS = 12, STRIP = 64, STRIP_TILES = 8 };

/** The weight that glimpse t of head h has for site i of n: the most at (t + h) n / GLIMPSES. */
static inline float made_up_weight(int t, int h, int i, int n) {
  return 0.8f * powf(0.2f, (float)abs(i - (t + h) * n / GLIMPSES % n));
}

/** Answers to a source of N sites, whose weights the columns have; episodes 1, 3, 5 … have a wrong
 * answer after glimpse 2. sites: [episodes], of each source */
static inline void make_up_alignment(FovTrace *trace, const int *sites, int heads) {
  int N = trace->column[0].width;
  for (int e = 0; e < trace->episodes; e++) {
    trace->lengths[e] = GLIMPSES;
    trace->wrong[e] = e % 2;
    for (int t = 0; t < GLIMPSES; t++) {
      size_t m = (size_t)e * GLIMPSES + t;
      float *mean = trace->column[0].values + m * N;
      memset(mean, 0, (size_t)N * sizeof *mean);
      for (int i = 0; i < heads * N; i++) {
        float weight = i % N < sites[e] ? made_up_weight(t, i / N, i % N, sites[e]) : 0;
        mean[i % N] += weight / (float)heads;
        if (heads > 1) trace->column[1].values[m * N * heads + i] = weight;
      }
      trace->labels[m] = t == GLIMPSES - 1 ? CLASSES - 1 : (e + t) % (CLASSES - 1);
      trace->answers[m] =
          trace->wrong[e] && t == 2 ? (e + t + 1) % (CLASSES - 1) : trace->labels[m];
      make_up_probabilities(trace, e, t, trace->answers[m]);
      trace->baselines[m] = NAN;
    }
  }
}

static inline void add_weights(FovTrace *trace, int sites, int heads) {
  fov_trace_add_column(trace, "attention.tiles", sites);
  if (heads > 1) fov_trace_add_column(trace, "attention.heads", heads * sites);
  trace->tiles_across = sites;
  snprintf(trace->attention, sizeof trace->attention, "soft");
  trace->reach = FOV_REACH_ALL;
}

/** Sequences of 12, 10, 8, 12 … symbols a, b, space, word. */
static inline FovTrace make_up_symbols(int episodes, int heads) {
  static const char *const names[] = {"0", "1", "2", "end"}, *symbols[] = {"a", "b", " ", "word"};
  FovTrace trace = declare_trace(episodes, 1, 1, CLASSES);
  int sites[64];
  trace.vocabulary = 4;
  trace.height = trace.side = trace.scales = 1;
  trace.width = SYMBOLS;
  add_weights(&trace, SYMBOLS, heads);
  assert_int_equal(fov_trace_allocate(&trace), FOV_OK);
  assert_int_equal(fov_trace_set_names(&trace, names, symbols), FOV_OK);
  for (int e = 0; e < episodes; e++) {
    sites[e] = SYMBOLS - 2 * (e % 3);
    for (int i = 0; i < sites[e]; i++) trace.symbols[e * SYMBOLS + i] = i == 7 ? 3 : (e + i) % 3;
  }
  make_up_alignment(&trace, sites, heads);
  return trace;
}

/** Strips of 64 × 8 pixels, read in 8 columns. */
static inline FovTrace make_up_strip(int episodes, int heads) {
  FovTrace trace = declare_trace(episodes, 1, 1, CLASSES);
  int sites[64], pixels = STRIP * STRIP_TILES;
  trace.width = STRIP;
  trace.height = STRIP_TILES;
  add_weights(&trace, STRIP_TILES, heads);
  assert_int_equal(fov_trace_allocate(&trace), FOV_OK);
  for (int e = 0; e < episodes; e++) {
    sites[e] = STRIP_TILES;
    for (int i = 0; i < pixels; i++)
      trace.images[e * pixels + i] = (uint8_t)(i % STRIP / 9 % 2 == 0 ? 0 : 20 * (i / STRIP + 4));
  }
  make_up_alignment(&trace, sites, heads);
  return trace;
}

/** Two glimpses per turn: class e, then "end". In episodes 1, 3, 5 … the first is answered wrongly,
 * and the episode stops there. */
static inline FovTrace make_up_sequence(int episodes) {
  static const char *const names[] = {"0", "1", "2", "end"};
  FovTrace trace = begin_trace(episodes, 1, 1, CLASSES);
  assert_int_equal(fov_trace_set_names(&trace, names, NULL), FOV_OK);
  for (int e = 0; e < episodes; e++) {
    make_up_image(&trace, e);
    trace.wrong[e] = e % 2;
    trace.lengths[e] = e % 2 ? 2 : GLIMPSES;
    for (int t = 0; t < trace.lengths[e]; t++) {
      int label = t < 2 ? e % 3 : 3, answer = e % 2 ? (e + 1) % 3 : label;
      make_up_glimpse(&trace, e, t, answer);
      trace.labels[e * GLIMPSES + t] = label;
      if (t % 2) trace.answers[e * GLIMPSES + t] = answer;
      if (t % 2) trace.rewards[e * GLIMPSES + t] = answer == label;
    }
  }
  return trace;
}

#endif
