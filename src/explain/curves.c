#include "explain/curves.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/** A pixel in a ranking. */
typedef struct Ranked {
  double number;
  uint32_t tie; // random
  int pixel;    // of all pictures of the episode
} Ranked;

typedef struct Measuring {
  const FovMethod *method;
  const void *options;
  double blank;
  double *areas[FOV_CURVE_KINDS];
  double *curves; // [E, kinds, points]: means have one order
} Measuring;

/** The largest first. */
static int compare(const void *a, const void *b) {
  const Ranked *x = a, *y = b;
  if (x->number != y->number) return x->number < y->number ? 1 : -1;
  return (x->tie > y->tie) - (x->tie < y->tie);
}

/** Ranks the pixels of lane b. map: its own. */
static void rank(Ranked *ranking, const real *map, const FovExplained *explained, int b,
                 int count) {
  const FovHeld *held = explained->held;
  FovRng rng = fov_rng_stream(explained->seed + 1, FOV_STREAM_EXPLAIN, (uint64_t)held->cases[b]);
  for (int i = 0; i < count; i++) {
    ranking[i] = (Ranked){.tie = fov_rng_u32(&rng), .pixel = i};
    for (int c = 0; c < held->channels; c++)
      ranking[i].number += (double)map[(size_t)i * held->channels + (size_t)c];
  }
  qsort(ranking, (size_t)count, sizeof *ranking, compare);
}

/** The request's target, or what it has a probability of. */
static FovTarget probability_of(const FovTarget *target) {
  bool named = target->kind == FOV_TARGET_LOGIT || target->kind == FOV_TARGET_LOG_P;
  return (FovTarget){.kind = FOV_TARGET_LOG_P,
                     .output = named ? target->output : FOV_CLASS_ANSWER,
                     .time = named ? target->time : 0};
}

/** Pixels that are changed at a point of a curve. */
static int changed_at(int point, int count) {
  return (int)((int64_t)point * count / (FOV_CURVE_POINTS - 1));
}

/** One curve of every lane. pixels: [B, F, H, W, C], as they are before the first change; becomes
 * `goal`. curves: [B, kinds, points] from the kind on. */
static void draw_curves(double *curves, float *pixels, const float *goal, const Ranked *rankings,
                        const FovExplained *explained) {
  const FovHeld *held = explained->held;
  int C = held->channels, count = (int)(fov_held_pixels(held) / (size_t)C);
  double *log_p = FOV_NEW(explained->arena, double, held->lanes);
  for (int k = 0; k < FOV_CURVE_POINTS; k++) {
    for (int b = 0; b < held->lanes && k > 0; b++)
      for (int i = changed_at(k - 1, count); i < changed_at(k, count); i++) {
        size_t at = ((size_t)b * count + (size_t)rankings[(size_t)b * count + i].pixel) * (size_t)C;
        memcpy(pixels + at, goal + at, (size_t)C * sizeof *pixels);
      }
    fov_explained_values(log_p, explained, pixels);
    for (int b = 0; b < held->lanes; b++)
      curves[(size_t)b * FOV_CURVE_KINDS * FOV_CURVE_POINTS + (size_t)k] = exp(log_p[b]);
  }
}

/** The area under a curve, by the trapezoidal rule, over shares 0 … 1. */
static double area_of(const double *curve) {
  double sum = (curve[0] + curve[FOV_CURVE_POINTS - 1]) / 2;
  for (int k = 1; k < FOV_CURVE_POINTS - 1; k++) sum += curve[k];
  return sum / (FOV_CURVE_POINTS - 1);
}

static void measure_shard(void *context, const FovExplained *explained, int64_t first) {
  const Measuring *m = context;
  const FovHeld *held = explained->held;
  FovArena *arena = explained->arena;
  size_t all = fov_explained_pixels(explained), numbers = fov_held_pixels(held);
  int count = (int)(numbers / (size_t)held->channels);
  real *map = fov_arena_zeros(arena, all * sizeof *map);
  float *pixels = FOV_NEW(arena, float, all), *blank = FOV_NEW(arena, float, all);
  Ranked *rankings = FOV_NEW(arena, Ranked, (size_t)held->lanes * count);
  FovExplained probable = *explained;
  probable.target = probability_of(&explained->target);
  m->method->map(map, explained, m->options);
  bool *sound = FOV_NEW(arena, bool, held->lanes);
  for (int b = 0; b < held->lanes; b++) {
    real *of_lane = map + (size_t)b * numbers;
    sound[b] = true;
    for (size_t i = 0; i < numbers; i++) sound[b] = sound[b] && isfinite(of_lane[i]);
    if (!sound[b]) memset(of_lane, 0, numbers * sizeof *of_lane); // see check_areas
    rank(rankings + (size_t)b * count, of_lane, explained, b, count);
  }
  double *curves = m->curves + (size_t)first * FOV_CURVE_KINDS * FOV_CURVE_POINTS;
  for (size_t i = 0; i < all; i++) blank[i] = (float)m->blank;
  memcpy(pixels, held->pixels, all * sizeof *pixels);
  draw_curves(curves, pixels, blank, rankings, &probable);
  draw_curves(curves + FOV_CURVE_POINTS, pixels, held->pixels, rankings, &probable);
  for (int i = 0; i < held->lanes * FOV_CURVE_KINDS; i++)
    m->areas[i % FOV_CURVE_KINDS][first + i / FOV_CURVE_KINDS] =
        sound[i / FOV_CURVE_KINDS] ? area_of(curves + (size_t)i * FOV_CURVE_POINTS) : NAN;
}

static FovStatus allocate(FovFaithfulness *f, Measuring *m, const FovExplainRequest *request) {
  size_t E = (size_t)request->count;
  bool complete = (m->curves = calloc(E, FOV_CURVE_KINDS * FOV_CURVE_POINTS * sizeof(double)));
  for (int kind = 0; kind < FOV_CURVE_KINDS; kind++)
    complete = (m->areas[kind] = f->areas[kind] = calloc(E, sizeof(double))) && complete;
  return complete ? FOV_OK : fov_fail(FOV_ERR_MEMORY, "no memory for %zu curves", E);
}

static void average(FovFaithfulness *f, const double *curves, int64_t episodes) {
  enum { ALL = FOV_CURVE_KINDS * FOV_CURVE_POINTS };
  for (int64_t e = 0; e < episodes; e++)
    for (int i = 0; i < ALL; i++)
      f->mean[i / FOV_CURVE_POINTS][i % FOV_CURVE_POINTS] +=
          curves[(size_t)e * ALL + (size_t)i] / (double)episodes;
}

/** Pixels are ranked by numbers of the type int. */
static FovStatus check_pixels(const FovTask *task) {
  FovImage image = fov_observed(&task->env->spec.observation, NULL);
  double pixels = (double)fov_held_frames(task) * image.height * image.width;
  if (pixels <= INT_MAX) return FOV_OK;
  return fov_fail(FOV_ERR_USAGE,
                  "deletion and insertion: expected at most %d pixels of an episode, found %.0f",
                  INT_MAX, pixels);
}

/** Huge weights can have maps or probabilities that are not finite. */
static FovStatus check_areas(const FovFaithfulness *f, int64_t episodes) {
  for (int kind = 0; kind < FOV_CURVE_KINDS; kind++)
    for (int64_t e = 0; e < episodes; e++)
      if (!isfinite(f->areas[kind][e]))
        return fov_fail(FOV_ERR_NUMBER,
                        "deletion and insertion: the map or a probability of episode %lld is not "
                        "finite: the agent's weights are too large",
                        (long long)e);
  return FOV_OK;
}

FovStatus fov_faithfulness_measure(FovFaithfulness *f, const FovExplainRequest *request,
                                   const FovMethod *method, const void *options, double blank) {
  Measuring m = {.method = method, .options = options, .blank = blank};
  FovTarget target = probability_of(&request->target);
  *f = (FovFaithfulness){.areas = {NULL}};
  if (request->task->env->spec.answer == FOV_ANSWER_VECTOR)
    return fov_fail(
        FOV_ERR_USAGE,
        "deletion and insertion: expected answers with probabilities, and env = %s asks "
        "for a vector",
        request->task->env->type->plugin.name);
  FOV_TRY(fov_target_check(&target, request->task));
  FOV_TRY(fov_method_check(method, request->task, request->through));
  FOV_TRY(check_pixels(request->task));
  FovStatus status = allocate(f, &m, request);
  size_t maps = 4 + sizeof(Ranked) / sizeof(real); // of measure_shard and of the method
  if (status == FOV_OK) status = fov_explain_each(request, measure_shard, &m, maps, 0);
  if (status == FOV_OK) status = check_areas(f, request->count);
  if (status == FOV_OK) average(f, m.curves, request->count);
  free(m.curves);
  return status;
}

void fov_faithfulness_finish(FovFaithfulness *f) {
  for (int kind = 0; kind < FOV_CURVE_KINDS; kind++) free(f->areas[kind]);
  *f = (FovFaithfulness){.areas = {NULL}};
}
