/** fovea bench: figures are collected first and printed, as text or JSON, after. */
#ifndef FOV_CLI_BENCH_H
#define FOV_CLI_BENCH_H

#include <jansson.h>

#include "experiment/gradient/gradient.h"
#include "experiment/measure.h"

/** What of an experiment is measured. */
typedef enum FovBenchPhase {
  FOV_BENCH_GEMM,    /**< matrix products at the shapes of a training */
  FOV_BENCH_GLIMPSE, /**< taking glimpses */
  FOV_BENCH_ENV,     /**< drawing images */
  FOV_BENCH_TRAIN,   /**< all of a training */
  FOV_BENCH_PHASES,
} FovBenchPhase;

enum { FOV_BENCH_THREADS = 2 }; /**< numbers of threads: one, and all of them */

/** The figures of one experiment; per number of threads where there are two entries. */
typedef struct FovBenchResult {
  const char *name;
  const FovSubject *subject;
  int threads[FOV_BENCH_THREADS], count; /**< numbers of threads, of which there are 1 or 2 */
  bool has[FOV_BENCH_PHASES];
  FovShapes shapes[FOV_BENCH_THREADS];                    /**< GEMM */
  FovRepeats glimpses[FOV_MAX_SCALES][FOV_BENCH_THREADS]; /**< GLIMPSE: a second */
  FovRepeats images[FOV_BENCH_THREADS];                   /**< ENV: a second */
  FovTrainRate train[FOV_BENCH_THREADS];                  /**< TRAIN */
  double flops, blocks, shards; /**< TRAIN: of a glimpse; bytes, see fov_training_memory */
} FovBenchResult;

/** Processes beside which training is measured as well: as many as the most threads; none
 * with several ranks. */
int fov_bench_busy(const FovBenchResult *result);

/** Measures the phases that are wanted. threads: the most; the result refers to `subject`. */
FovStatus fov_bench_collect(FovBenchResult *result, const FovSubject *subject, const char *name,
                            const bool wanted[FOV_BENCH_PHASES], int threads, int repeats);

void fov_bench_print(const FovBenchResult *result);

/** A new object with all figures. */
json_t *fov_bench_json(const FovBenchResult *result);

/** Repeats as [lowest, median, highest]. */
json_t *fov_bench_json_repeats(const FovRepeats *repeats);

/** Fails if a setting is one that fov_bench_size sets itself. */
FovStatus fov_bench_size_check(const char *const *settings, int count);

/** Measures an episode against the size of its image, up to `largest` pixels a side, with `count`
 * settings; adds the figures to `json`, or prints them if it is NULL, and draws them to `plot`
 * unless that is NULL. */
FovStatus fov_bench_size(json_t *json, const char *plot, const char *const *settings, int count,
                         int largest, int repeats);

/** Compares estimators of the gradient at a checkpoint; adds the figures to `json`, or prints them
 * if it is NULL, and draws them to `plot` unless that is NULL. */
FovStatus fov_bench_gradient(json_t *json, const char *plot, const FovGradientRequest *request);

enum { FOV_BENCH_SMALLEST = 28, FOV_BENCH_LARGEST = 2048 }; /**< sides of fov_bench_size */

#endif
