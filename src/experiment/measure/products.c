#include <stdlib.h>
#include <string.h>

#include "base/gemm.h"
#include "base/team.h"
#include "experiment/measure/parts.h"

enum { COUNTED_UPDATES = 3 };

static const double SECONDS = 0.1; // of one repeat

static void add_shape(FovShapes *shapes, const FovProduct *product, double flops) {
  int i = 0;
  while (i < shapes->count && memcmp(&shapes->list[i].product, product, sizeof *product) != 0) i++;
  if (i == FOV_MAX_PRODUCTS) return;
  if (i == shapes->count) shapes->list[shapes->count++].product = *product;
  shapes->list[i].share += flops;
}

static int compare_shares(const void *a, const void *b) {
  double x = ((const FovShape *)a)->share, y = ((const FovShape *)b)->share;
  return (x < y) - (x > y);
}

/** Merges the shapes of all workers' profiles and computes their shares of the work; glimpses: how
 * many the profiles cover. */
static void gather_shapes(FovShapes *shapes, const FovProfile *profiles, double glimpses) {
  double flops = 0;
  *shapes = (FovShapes){0};
  for (int worker = 0; worker < FOV_MAX_THREADS; worker++) {
    const FovProfile *profile = &profiles[worker];
    flops += profile->flops;
    for (int i = 0; i < profile->shapes; i++) {
      const FovProduct *p = &profile->products[i];
      add_shape(shapes, p, 2.0 * p->m * p->n * p->k * (double)profile->calls[i]);
    }
  }
  for (int i = 0; i < shapes->count; i++) shapes->list[i].share /= flops;
  qsort(shapes->list, (size_t)shapes->count, sizeof *shapes->list, compare_shares);
  shapes->flops = flops / glimpses;
}

FovStatus fov_measure_shapes(FovShapes *shapes, const FovSubject *subject) {
  FovTrainer *trainer;
  FovTraining alone = subject->training;
  alone.ranks = NULL; // each rank counts the work of all
  FOV_TRY(fov_trainer_create(&trainer, &alone, 1));
  FovProfile *profiles = fov_profiles_create();
  FovStatus status = profiles ? FOV_OK : fov_fail(FOV_ERR_MEMORY, "no memory for profiles");
  if (status == FOV_OK) {
    fov_profile_into(profiles);
    for (int i = 0; i < COUNTED_UPDATES && status == FOV_OK; i++)
      status = fov_trainer_update(trainer);
    fov_profile_into(NULL);
    gather_shapes(shapes, profiles, (double)fov_trainer_state(trainer)->sums.glimpses);
  }
  free(profiles);
  fov_trainer_destroy(trainer);
  return status;
}

/** Repeats the product of one shape on every worker at once. */
typedef struct ProductLoop {
  const FovProduct *product;
  double rates[FOV_MAX_THREADS]; /**< FLOP/s of each worker; 0: it found no memory */
} ProductLoop;

static FovMatrix create_matrix(int rows, int cols, int stride) {
  size_t count = (size_t)rows * (size_t)stride, bytes = (count * sizeof(real) + 63) / 64 * 64;
  FovMatrix matrix = {.at = aligned_alloc(64, bytes), .rows = rows, .cols = cols, .stride = stride};
  for (size_t i = 0; matrix.at && i < count; i++) matrix.at[i] = (real)(i % 7) / 8;
  return matrix;
}

static double time_product(const FovProduct *p, FovMatrix c, FovMatrix a, FovMatrix b) {
  double start = fov_now(), seconds;
  int64_t calls = 0;
  do {
    fov_gemm(c, a, p->a_transposed, b, p->b_transposed, 0);
    calls++;
    seconds = fov_now() - start;
  } while (seconds < SECONDS);
  return 2.0 * p->m * p->n * p->k * (double)calls / seconds;
}

static void loop_product(void *context, int task, int worker) {
  (void)worker;
  ProductLoop *loop = context;
  const FovProduct *p = loop->product;
  FovMatrix c = create_matrix(p->m, p->n, p->stride_c);
  FovMatrix a =
      create_matrix(p->a_transposed ? p->k : p->m, p->a_transposed ? p->m : p->k, p->stride_a);
  FovMatrix b =
      create_matrix(p->b_transposed ? p->n : p->k, p->b_transposed ? p->k : p->n, p->stride_b);
  if (c.at && a.at && b.at) loop->rates[task] = time_product(p, c, a, b);
  free(c.at), free(a.at), free(b.at);
}

FovStatus fov_product_rate(double *rate, const FovProduct *product, int threads) {
  ProductLoop loop = {.product = product};
  fov_team_run(threads, threads, loop_product, &loop);
  *rate = 0;
  for (int i = 0; i < threads; i++) {
    if (loop.rates[i] == 0) return fov_fail(FOV_ERR_MEMORY, "no memory for a product's matrices");
    *rate += loop.rates[i];
  }
  return FOV_OK;
}

FovStatus fov_measure_products(FovShapes *shapes, int threads, int repeats) {
  for (int i = 0; i < shapes->count; i++) {
    FovShape *shape = &shapes->list[i];
    shape->rate = 0;
    for (int r = 0; r < repeats && shape->share >= 0.01; r++) {
      double rate;
      FOV_TRY(fov_product_rate(&rate, &shape->product, threads));
      if (rate > shape->rate) shape->rate = rate;
    }
  }
  return FOV_OK;
}

const FovShape *fov_fastest(const FovShapes *shapes) {
  const FovShape *fastest = &shapes->list[0];
  for (int i = 1; i < shapes->count; i++)
    if (shapes->list[i].rate > fastest->rate) fastest = &shapes->list[i];
  return fastest;
}
