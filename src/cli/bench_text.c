#include <stdio.h>

#include "base/text.h"
#include "cli/bench.h"
#include "cli/cli.h"
#include "cli/print.h"

/** "  limit          98.1 (97.0-98.4)   196 (190-197) GFLOP/s": one figure for each number of
 * threads, in units of `unit`, with `decimals` decimals. */
static void print_row(const char *name, const FovRepeats *const figures[], int count, double unit,
                      int decimals, const char *what) {
  printf("  %-16s", name);
  for (int i = 0; i < count; i++) {
    FovSpread s = fov_spread_of(figures[i]);
    char text[128];
    int length = snprintf(text, sizeof text, "%.*f", decimals, s.median / unit);
    if (figures[i]->count > 1)
      snprintf(text + length, sizeof text - (size_t)length, " (%.*f-%.*f)", decimals, s.low / unit,
               decimals, s.high / unit);
    printf("  %-24s", text);
  }
  printf("  %s\n", what);
}

/** The same for an array with one figure for each number of threads. */
static void print_rates(const char *name, const FovRepeats rates[FOV_BENCH_THREADS], int count) {
  print_row(name, (const FovRepeats *const[]){&rates[0], &rates[1]}, count, 1, 0, "a second");
}

static void print_threads(const FovBenchResult *result) {
  printf("  %-16s", "");
  for (int i = 0; i < result->count; i++) {
    char text[32];
    int threads = result->threads[i];
    snprintf(text, sizeof text, "%d thread%s", threads, fov_plural(threads));
    printf("  %-24s", text);
  }
  printf("\n");
}

static void print_subject(const FovBenchResult *result) {
  const FovSubject *subject = result->subject;
  const FovExperiment *e = &subject->experiment;
  const FovObservation *shown = &subject->env.spec.observation;
  int glimpses = fov_task_glimpses(&subject->training.task);
  fov_print(stdout, "\n%s: ", result->name);
  fov_cli_print_input(glimpses, shown, &e->agent.glimpse);
  if (shown->kind != FOV_OBSERVATION_TOKENS) printf(" from %d x %d", shown->width, shown->height);
  printf(", core %s, %zu parameters, batch %d\n", e->slots[FOV_SLOT_CORE].plugin->name,
         fov_params_learned(&e->agent.params), e->train.batch);
}

static const char *kind_of(const FovProduct *p) {
  return p->a_transposed ? "Aᵀ B" : p->b_transposed ? "A Bᵀ" : "A B ";
}

static void print_shape(const FovShape *shape, double fastest) {
  const FovProduct *p = &shape->product;
  printf("  [%4d, %4d] = %s over %4d   %5.1f %% of the work   %6.1f GFLOP/s   %3.0f %%\n", p->m,
         p->n, kind_of(p), p->k, 100 * shape->share, shape->rate / 1e9,
         100 * shape->rate / fastest);
}

static void print_gemm(const FovBenchResult *result) {
  for (int i = 0; i < result->count; i++) {
    const FovShapes *shapes = &result->shapes[i];
    printf("  matrix products, %d at a time; the fastest is the limit\n", result->threads[i]);
    for (int j = 0; j < shapes->count; j++)
      if (shapes->list[j].rate > 0) print_shape(&shapes->list[j], fov_fastest(shapes)->rate);
  }
}

static void print_glimpse(const FovBenchResult *result) {
  print_threads(result);
  for (int scales = 1; scales <= FOV_MAX_SCALES; scales++) {
    char name[32];
    snprintf(name, sizeof name, "%d scale%s", scales, fov_plural(scales));
    print_rates(name, result->glimpses[scales - 1], result->count);
  }
}

static void print_env(const FovBenchResult *result) {
  print_threads(result);
  print_rates("images", result->images, result->count);
}

static const struct {
  const char *name, *help;
} phases[FOV_PHASES + 1] = {
    [FOV_PHASE_MODEL] = {"model", "activations, gates, sampling, losses, tape"},
    [FOV_PHASE_PRODUCTS] = {"products", "matrix products"},
    [FOV_PHASE_ENV] = {"env", "drawing images"},
    [FOV_PHASE_SENSOR] = {"sensor", "taking glimpses"},
    [FOV_PHASE_REDUCE] = {"reduce", "adding the shards' gradients"},
    [FOV_PHASE_OPTIMISE] = {"optimiser", "the step, and the average of the weights"},
    [FOV_PHASES] = {"waiting", "for other threads and ranks"},
};

/** Prints how the threads' time is divided. */
static void print_phases(const FovTrainRate *one, const FovTrainRate *all, int count) {
  printf("  share of the threads' time\n");
  for (int i = 0; i <= FOV_PHASES; i++) {
    char name[32];
    snprintf(name, sizeof name, "  %s", phases[i].name);
    print_row(name, (const FovRepeats *const[]){&one->phases[i], &all->phases[i]}, count, 0.01, 1,
              phases[i].help);
  }
}

/** Prints evaluation against training, and all threads against one. */
static void print_ratios(const FovTrainRate *one, const FovTrainRate *all) {
  double training = fov_spread_of(&all->glimpses).median;
  printf("  evaluation is %.2f times as fast as training",
         fov_spread_of(&all->evaluated).median / training);
  if (all != one)
    printf(";\n  %d threads train %.2f times as fast as one, and multiply %.2f times as fast",
           all->threads, training / fov_spread_of(&one->glimpses).median,
           fov_spread_of(&all->limit).median / fov_spread_of(&one->limit).median);
  printf("\n");
}

static void print_train(const FovBenchResult *result) {
  int n = result->count;
  double flops = result->flops;
  const FovTrainRate *one = &result->train[0], *all = &result->train[n - 1];
  char beside[64];
  snprintf(beside, sizeof beside, "glimpses/s beside %d busy process%s", fov_bench_busy(result),
           fov_bench_busy(result) == 1 ? "" : "es");
  const struct {
    const char *name;
    const FovRepeats *one, *all;
    double unit;
    int decimals;
    const char *what;
  } rows[] = {
      {"gemm limit", &one->limit, &all->limit, 1e9, 1, "GFLOP/s"},
      {"training", &one->glimpses, &all->glimpses, 1, 0, "glimpses/s"},
      {"", &one->glimpses, &all->glimpses, 1e9 / flops, 1, "GFLOP/s"},
      {"of the limit", &one->share, &all->share, 0.01, 1, "%"},
      {"evaluation", &one->evaluated, &all->evaluated, 1, 0, "glimpses/s"},
      {"training", &one->beside, &all->beside, 1, 0, beside},
      {"sent", &one->sent, &all->sent, 1e6, 3, "MB an update, by the rank that sends most"},
      {"page faults", &one->faults, &all->faults, 1, 2, "an update"},
  };
  print_threads(result);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (rows[i].one->count > 0)
      print_row(rows[i].name, (const FovRepeats *const[]){rows[i].one, rows[i].all}, n,
                rows[i].unit, rows[i].decimals, rows[i].what);
  print_phases(one, all, n);
  print_ratios(one, all);
  printf("  one glimpse of training costs %.3f MFLOP: 2 m n k, summed over every matrix product of "
         "an\n  update and divided by its glimpses\n",
         flops / 1e6);
  printf("  memory: %.1f MiB of parameters, gradients and moments, %.1f MiB of episodes at most\n",
         result->blocks / 0x1p20, result->shards / 0x1p20);
}

void fov_bench_print(const FovBenchResult *result) {
  static void (*const print[FOV_BENCH_PHASES])(const FovBenchResult *) = {
      [FOV_BENCH_GEMM] = print_gemm,
      [FOV_BENCH_GLIMPSE] = print_glimpse,
      [FOV_BENCH_ENV] = print_env,
      [FOV_BENCH_TRAIN] = print_train,
  };
  print_subject(result);
  for (int phase = 0; phase < FOV_BENCH_PHASES; phase++)
    if (result->has[phase]) print[phase](result);
  fov_print_flush();
}
