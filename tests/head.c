#include "head.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "base/rng.h"

void head_create(Head *head, const FovHead *plugin, const void *options) {
  *head = (Head){.layout = calloc(1, plugin->layout_size + 1)};
  assert_non_null(head->layout);
  if (plugin->build) plugin->build(head->layout, &head->params, options, HEAD_STATE);
  // One more parameter, which nothing depends on, so that a block is never empty.
  fov_params_add(&head->params, "test.unused", 1, 1, FOV_INIT_ZERO, 0);
  head->values = fov_params_block(&head->params);
  assert_non_null(head->values);
  for (size_t i = 0; i < head->params.size; i++) head->values[i] = (real)0.5 * head_noise(i);
}

void head_finish(Head *head) {
  free(head->layout);
  free(head->values);
  fov_params_finish(&head->params);
}

FovVar *head_states(FovTape *tape, int first, int step, int lanes) {
  FovVar *h = fov_constant(tape, lanes, HEAD_STATE);
  for (int i = 0; i < lanes; i++)
    for (int j = 0; j < HEAD_STATE; j++)
      h->value[i * h->stride + j] =
          head_noise(1000000 + (uint64_t)(first + i * step) * HEAD_STATE + (uint64_t)j);
  return h;
}

real head_noise(uint64_t i) {
  FovRng rng = fov_rng_stream(17, FOV_STREAM_INIT, i);
  return fov_rng_normal(&rng);
}

double head_project(const Head *head, const real *gradient, int which) {
  double sum = 0;
  for (size_t i = 0; i < head->params.size; i++)
    sum += (double)gradient[i] * (double)head_noise((uint64_t)(which + 1) * 100000000 + i);
  return sum;
}

bool is_mean(double sum, double squares, int count, double expected) {
  double mean = sum / count, variance = squares / count - mean * mean;
  return fabs(mean - expected) <= 4 * sqrt(fmax(variance, 0) / count);
}

bool are_frequencies(const int *counts, const double *p, int n, int total) {
  enum { FEW = 10 };
  double chi = 0, rest_p = 1;
  int cells = 0, rest = total;
  for (int i = 0; i < n; i++) {
    if (p[i] * total < FEW) continue;
    chi += pow(counts[i] - p[i] * total, 2) / (p[i] * total);
    rest -= counts[i], rest_p -= p[i], cells++;
  }
  // Cells too small for the statistic: together, samples within chance.
  if (rest_p * total < FEW && rest > 4 * FEW) return false;
  if (rest_p * total >= FEW) chi += pow(rest - rest_p * total, 2) / (rest_p * total), cells++;
  double freedom = fmax(cells - 1, 1);
  // Wilson and Hilferty 1931: the cube root of a chi-square is nearly normal.
  double z = (cbrt(chi / freedom) - (1 - 2 / (9 * freedom))) / sqrt(2 / (9 * freedom));
  return cells > 1 && z < 4;
}
