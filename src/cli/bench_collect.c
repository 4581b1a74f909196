#include "cli/bench.h"

static FovStatus collect_gemm(FovBenchResult *result, int repeats) {
  FovShapes shapes;
  FOV_TRY(fov_measure_shapes(&shapes, result->subject));
  for (int i = 0; i < result->count; i++) {
    result->shapes[i] = shapes;
    FOV_TRY(fov_measure_products(&result->shapes[i], result->threads[i], repeats));
  }
  return FOV_OK;
}

static FovStatus collect_glimpse(FovBenchResult *result, int repeats) {
  for (int scales = 1; scales <= FOV_MAX_SCALES; scales++)
    for (int i = 0; i < result->count; i++)
      FOV_TRY(fov_measure_sensor(&result->glimpses[scales - 1][i], result->subject, scales,
                                 result->threads[i], repeats));
  return FOV_OK;
}

static FovStatus collect_env(FovBenchResult *result, int repeats) {
  for (int i = 0; i < result->count; i++)
    FOV_TRY(fov_measure_env(&result->images[i], result->subject, result->threads[i], repeats));
  return FOV_OK;
}

/** The repeats of all numbers of threads take turns: a machine that slows down slows all of them.
 */
static FovStatus repeat_train(FovBenchResult *result, FovTrainMeter *meters[FOV_BENCH_THREADS],
                              const FovShapes *shapes, int repeats) {
  int busy = fov_bench_busy(result);
  for (int r = 0; r < repeats; r++)
    for (int i = 0; i < result->count; i++)
      FOV_TRY(fov_measure_train(&result->train[i], meters[i], shapes, busy));
  return FOV_OK;
}

int fov_bench_busy(const FovBenchResult *result) {
  // A fork may copy memory that MPI has given to a network card.
  if (fov_ranks_count(result->subject->training.ranks) > 1) return 0;
  return result->threads[result->count - 1];
}

static FovStatus collect_train(FovBenchResult *result, int repeats) {
  FovShapes shapes;
  FovTrainMeter *meters[FOV_BENCH_THREADS] = {NULL};
  FOV_TRY(fov_measure_shapes(&shapes, result->subject));
  FOV_TRY(fov_measure_products(&shapes, result->threads[result->count - 1], 1));
  FovStatus status = FOV_OK;
  for (int i = 0; i < result->count && status == FOV_OK; i++)
    status = fov_train_meter_create(&meters[i], result->subject, result->threads[i]);
  if (status == FOV_OK) status = repeat_train(result, meters, &shapes, repeats);
  for (int i = 0; i < result->count; i++) fov_train_meter_destroy(meters[i]);
  result->flops = shapes.flops;
  fov_training_memory(&result->blocks, &result->shards, &result->subject->training);
  return status;
}

FovStatus fov_bench_collect(FovBenchResult *result, const FovSubject *subject, const char *name,
                            const bool wanted[FOV_BENCH_PHASES], int threads, int repeats) {
  static FovStatus (*const collect[FOV_BENCH_PHASES])(FovBenchResult *, int) = {
      [FOV_BENCH_GEMM] = collect_gemm,
      [FOV_BENCH_GLIMPSE] = collect_glimpse,
      [FOV_BENCH_ENV] = collect_env,
      [FOV_BENCH_TRAIN] = collect_train,
  };
  bool several = fov_ranks_any(subject->training.ranks, threads > 1);
  bool sequences = subject->env.spec.observation.kind == FOV_OBSERVATION_TOKENS;
  *result = (FovBenchResult){
      .name = name, .subject = subject, .threads = {1, threads}, .count = several ? 2 : 1};
  for (int phase = 0; phase < FOV_BENCH_PHASES; phase++) {
    // Sequences have no glimpses: of all phases this one is left out.
    bool absent = sequences && phase == FOV_BENCH_GLIMPSE && wanted[FOV_BENCH_TRAIN];
    result->has[phase] = wanted[phase] && !absent;
    if (result->has[phase]) FOV_TRY(collect[phase](result, repeats));
  }
  return FOV_OK;
}
