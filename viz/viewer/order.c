#include "viz/viewer/order.h"

#include <math.h>
#include <stdlib.h>

#include "viz/scene/attention.h"
#include "viz/scene/episode.h"
#include "viz/scene/part_answer.h"

const char *const fov_order_names[FOV_ORDERS] = {
    [FOV_ORDER_NUMBER] = "number", [FOV_ORDER_ENTROPY] = "entropy",
    [FOV_ORDER_MARGIN] = "margin", [FOV_ORDER_LOSS] = "loss",
    [FOV_ORDER_PATH] = "path",     [FOV_ORDER_GLIMPSES] = "glimpses",
};

static double margin(const FovTrace *trace, size_t m) {
  const float *p = trace->probabilities + m * trace->actions;
  double first = 0, second = 0;
  for (int a = 0; a < trace->actions; a++) {
    if (p[a] > first) {
      second = first;
      first = p[a];
    } else if (p[a] > second) {
      second = p[a];
    }
  }
  return first - second;
}

static double loss(const FovTrace *trace, size_t m) {
  int label = trace->labels[m];
  return label < 0 ? NAN : -log(trace->probabilities[m * trace->actions + label]);
}

static double path_length(const FovTrace *trace, int episode) {
  double sum = 0, height = fov_trace_aspect(trace);
  if (!fov_has_places(trace)) return NAN;
  for (int t = 1; t < trace->lengths[episode]; t++) {
    const float *a = fov_gaze(trace, episode, t - 1), *b = fov_gaze(trace, episode, t);
    sum += hypot(b[0] - a[0], height * (b[1] - a[1]));
  }
  return sum;
}

/** The mean over the answers of an episode. */
static double mean_of_answers(const FovTrace *trace, int episode, FovOrder order) {
  double sum = 0;
  int count = 0;
  for (int t = 0; t < trace->lengths[episode]; t++) {
    size_t m = fov_glimpse_index(trace, episode, t);
    if (trace->answers[m] < 0) continue;
    sum += order == FOV_ORDER_ENTROPY  ? fov_entropy(trace, episode, t)
           : order == FOV_ORDER_MARGIN ? margin(trace, m)
                                       : loss(trace, m);
    count++;
  }
  return count > 0 ? sum / count : NAN;
}

double fov_order_value(const FovTrace *trace, int episode, FovOrder order) {
  switch (order) {
  case FOV_ORDER_NUMBER:
    return episode;
  case FOV_ORDER_PATH:
    return path_length(trace, episode);
  case FOV_ORDER_GLIMPSES:
    return trace->lengths[episode];
  default:
    if (order == FOV_ORDER_LOSS && trace->control) return -fov_return(trace, episode, 0);
    if (fov_answers_places(trace)) return NAN; // they have no probabilities
    return mean_of_answers(trace, episode, order);
  }
}

typedef struct Sort {
  const double *values;
  int sign;
} Sort;

static int compare(const void *a, const void *b, void *context) {
  const Sort *sort = context;
  int i = *(const int *)a, j = *(const int *)b;
  double x = sort->values[i], y = sort->values[j];
  if (isnan(x) != isnan(y)) return isnan(x) ? 1 : -1;
  if (x != y && !isnan(x)) return (x < y ? -1 : 1) * sort->sign;
  return (i > j) - (i < j);
}

void fov_order_sort(int *episodes, int count, const double *values, FovOrder order, bool reverse) {
  bool rising = order == FOV_ORDER_NUMBER || order == FOV_ORDER_MARGIN;
  Sort sort = {values, rising != reverse ? 1 : -1};
  qsort_r(episodes, (size_t)count, sizeof *episodes, compare, &sort);
}
