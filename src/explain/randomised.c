#include "explain/randomised.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { CASCADE, ALONE, WAYS };

typedef struct Measuring {
  FovRandomised *result;
  const FovMethod *method;
  const void *options;
  real *values[WAYS][FOV_MOST_LAYERS]; // blocks
  double *correlations;                // [E, WAYS, layers]
  double *looked;                      // [E]
} Measuring;

/* ---- rank correlation ---- */

typedef struct Place {
  double number;
  int index;
} Place;

static int compare(const void *a, const void *b) {
  double x = ((const Place *)a)->number, y = ((const Place *)b)->number;
  return (x > y) - (x < y);
}

/** Ranks from 0; equal numbers have their mean rank. places: [count], room. */
static void rank(double *ranks, const double *x, int count, Place *places) {
  for (int i = 0; i < count; i++) places[i] = (Place){x[i], i};
  qsort(places, (size_t)count, sizeof *places, compare);
  for (int i = 0, end; i < count; i = end) {
    for (end = i + 1; end < count && places[end].number == places[i].number;) end++;
    for (int j = i; j < end; j++) ranks[places[j].index] = (i + end - 1) / 2.0;
  }
}

double fov_rank_correlation(const double *x, const double *y, int count, double *room) {
  _Static_assert(sizeof(Place) <= 2 * sizeof(double), "places fit into the room");
  double *a = room, *b = room + count, products = 0, squares[2] = {0}, mean = (count - 1) / 2.0;
  rank(a, x, count, (Place *)(room + 2 * count));
  rank(b, y, count, (Place *)(room + 2 * count));
  for (int i = 0; i < count; i++) {
    products += (a[i] - mean) * (b[i] - mean);
    squares[0] += (a[i] - mean) * (a[i] - mean);
    squares[1] += (b[i] - mean) * (b[i] - mean);
  }
  return squares[0] > 0 && squares[1] > 0 ? products / sqrt(squares[0] * squares[1]) : NAN;
}

/* ---- maps ---- */

/** Rank correlation of two maps of a lane, [numbers] each; infinite if one is not finite.
 * room: [6 · numbers]. */
static double correlate(const real *trained, const real *random, size_t numbers, double *room) {
  double *x = room, *y = room + numbers;
  int count = 0;
  for (size_t i = 0; i < numbers; i++) {
    if (!isfinite(trained[i]) || !isfinite(random[i])) return INFINITY;
    if (trained[i] == 0 && random[i] == 0) continue;
    x[count] = fabs((double)trained[i]);
    y[count++] = fabs((double)random[i]);
  }
  return fov_rank_correlation(x, y, count, room + 2 * numbers);
}

/** The map of where an agent looked; NULL: there is none. */
static const FovMethod *map_of_places(const FovTask *task, bool through) {
  if (fov_method_gaze.check(task, through) == FOV_OK) return &fov_method_gaze;
  return fov_method_weights.check(task, through) == FOV_OK ? &fov_method_weights : NULL;
}

/** Correlates trained maps with those of where it looked. map, room: as in measure_shard. */
static void compare_places(const Measuring *m, const FovExplained *explained, int64_t first,
                           const real *trained, real *map, double *room) {
  const FovHeld *held = explained->held;
  const FovMethod *places = map_of_places(&held->task, held->through);
  size_t numbers = fov_held_pixels(held);
  memset(map, 0, (size_t)held->lanes * numbers * sizeof *map);
  if (places) places->map(map, explained, NULL);
  for (int b = 0; b < held->lanes; b++)
    m->looked[first + b] =
        correlate(trained + (size_t)b * numbers, map + (size_t)b * numbers, numbers, room);
}

static void measure_shard(void *context, const FovExplained *explained, int64_t first) {
  const Measuring *m = context;
  FovHeld other = *explained->held;
  FovExplained randomised = *explained;
  size_t numbers = fov_held_pixels(&other), all = fov_explained_pixels(explained);
  real *trained = fov_arena_zeros(explained->arena, all * sizeof *trained);
  real *map = FOV_NEW(explained->arena, real, all);
  double *room = FOV_NEW(explained->arena, double, 6 * numbers);
  int L = m->result->count;
  randomised.held = &other;
  m->method->map(trained, explained, m->options);
  compare_places(m, explained, first, trained, map, room);
  for (int i = 0; i < WAYS * L; i++) {
    other.values = m->values[i / L][i % L];
    memset(map, 0, all * sizeof *map);
    m->method->map(map, &randomised, m->options);
    for (int b = 0; b < other.lanes; b++)
      m->correlations[(size_t)(first + b) * WAYS * L + (size_t)i] =
          correlate(trained + (size_t)b * numbers, map + (size_t)b * numbers, numbers, room);
  }
}

/* ---- layers ---- */

/** Bytes of a name up to its last part: those of its layer. */
static size_t layer_length(const char *name) {
  const char *dot = strrchr(name, '.');
  return dot ? (size_t)(dot - name) : strlen(name);
}

static bool is_of_layer(const FovParam *param, const char *layer) {
  size_t length = layer_length(param->name);
  return strlen(layer) == length && strncmp(param->name, layer, length) == 0;
}

/** Lists the layers, from the last parameters to the first. */
static FovStatus list_layers(FovRandomised *result, const FovParams *params) {
  result->count = 0;
  for (int i = params->count - 1; i >= 0; i--) {
    const FovParam *param = &params->list[i];
    bool known = false;
    for (int l = 0; l < result->count; l++)
      known = known || is_of_layer(param, result->layers[l].name);
    if (known) continue;
    if (result->count == FOV_MOST_LAYERS)
      return fov_fail(FOV_ERR_USAGE, "--check weights: expected at most %d layers, found more",
                      FOV_MOST_LAYERS);
    memcpy(result->layers[result->count++].name, param->name, layer_length(param->name));
  }
  return FOV_OK;
}

static void copy_layer(real *to, const real *from, const FovParams *params, const char *layer) {
  for (int i = 0; i < params->count; i++) {
    const FovParam *p = &params->list[i];
    if (is_of_layer(p, layer))
      memcpy(to + p->offset, from + p->offset, (size_t)p->rows * p->cols * sizeof *to);
  }
}

/** Makes the blocks of both ways. random: initial values. */
static FovStatus randomise(Measuring *m, const FovExplainRequest *request, const real *random) {
  const FovParams *params = &request->task->agent->params;
  const FovRandomised *result = m->result;
  for (int i = 0; i < WAYS * result->count; i++) {
    int way = i / result->count, l = i % result->count;
    real *values = m->values[way][l] = fov_params_block(params);
    if (!values) return fov_fail(FOV_ERR_MEMORY, "no memory for %zu parameters", params->size);
    memcpy(values, request->values, params->size * sizeof *values);
    for (int k = way == CASCADE ? 0 : l; k <= l; k++)
      copy_layer(values, random, params, result->layers[k].name);
  }
  return FOV_OK;
}

/** The mean of numbers x[0], x[stride] … that are not NaN. */
static double mean_of(const double *x, int64_t count, int stride) {
  double sum = 0, numbers = 0;
  for (int64_t i = 0; i < count; i++)
    if (!isnan(x[i * stride])) sum += x[i * stride], numbers++;
  return numbers > 0 ? sum / numbers : NAN;
}

static void average(const Measuring *m, int64_t episodes) {
  FovRandomised *result = m->result;
  int L = result->count;
  for (int l = 0; l < L; l++) {
    result->layers[l].cascade = mean_of(m->correlations + CASCADE * L + l, episodes, WAYS * L);
    result->layers[l].alone = mean_of(m->correlations + ALONE * L + l, episodes, WAYS * L);
  }
  result->looked = mean_of(m->looked, episodes, 1);
}

/** Huge weights can have maps that are not finite. */
static FovStatus check_finite(const Measuring *m, int64_t episodes) {
  size_t each = (size_t)(WAYS * m->result->count);
  bool finite = true;
  for (size_t e = 0; e < (size_t)episodes; e++) {
    finite = finite && !isinf(m->looked[e]);
    for (size_t i = 0; i < each; i++) finite = finite && !isinf(m->correlations[e * each + i]);
    if (!finite)
      return fov_fail(FOV_ERR_NUMBER,
                      "randomised weights: a map of episode %zu is not finite: the agent's weights "
                      "are too large",
                      e);
  }
  return FOV_OK;
}

static FovStatus measure(Measuring *m, const FovExplainRequest *request) {
  const FovParams *params = &request->task->agent->params;
  size_t E = (size_t)request->count;
  real *random = fov_params_block(params);
  m->correlations = calloc(E, (size_t)(WAYS * m->result->count) * sizeof(double));
  m->looked = calloc(E, sizeof(double));
  double blocks = WAYS * m->result->count * (double)params->size * sizeof(real);
  FovStatus status = random && m->correlations && m->looked
                         ? fov_memory_check(blocks, "this check", "")
                         : fov_fail(FOV_ERR_MEMORY, "no memory for correlations");
  if (status == FOV_OK) {
    fov_params_init(random, params, request->weights_seed);
    status = randomise(m, request, random);
  }
  // Two and the six numbers of type double of measure_shard, and one of each call of a method.
  size_t maps = 2 + 6 * sizeof(double) / sizeof(real) + 2 + WAYS * (size_t)m->result->count;
  if (status == FOV_OK) status = fov_explain_each(request, measure_shard, m, maps, blocks);
  if (status == FOV_OK) status = check_finite(m, request->count);
  if (status == FOV_OK) average(m, request->count);
  free(random);
  return status;
}

FovStatus fov_randomised_measure(FovRandomised *result, const FovExplainRequest *request,
                                 const FovMethod *method, const void *options) {
  Measuring *m = calloc(1, sizeof *m);
  if (!m) return fov_fail(FOV_ERR_MEMORY, "no memory for random weights");
  *m = (Measuring){.result = result, .method = method, .options = options};
  *result = (FovRandomised){.count = 0};
  FovStatus status = list_layers(result, &request->task->agent->params);
  if (status == FOV_OK) status = fov_method_check(method, request->task, request->through);
  if (status == FOV_OK) status = measure(m, request);
  for (int l = 0; l < FOV_MOST_LAYERS; l++) free(m->values[CASCADE][l]), free(m->values[ALONE][l]);
  free(m->correlations), free(m->looked), free(m);
  return status;
}
