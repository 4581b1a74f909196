#include "experiment/measure.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/gemm.h"
#include "base/memory.h"
#include "base/team.h"

enum { FEW_UPDATES = 3 };

/** Seconds of one repeat. */
static const double TRAINING = 0.6, EVALUATION = 0.3, PRODUCT = 0.1, PHASE = 0.2;

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

FovSpread fov_sample_spread(const FovSample *sample) {
  FovSample sorted = *sample;
  int n = sample->count;
  FOV_CHECK(n > 0, "nothing was measured");
  qsort(sorted.values, (size_t)n, sizeof *sorted.values, compare);
  double median = (sorted.values[(n - 1) / 2] + sorted.values[n / 2]) / 2;
  return (FovSpread){.median = median, .low = sorted.values[0], .high = sorted.values[n - 1]};
}

static void add(FovSample *sample, double value) {
  FOV_CHECK(sample->count < FOV_MAX_REPEATS, "more than %d repeats", FOV_MAX_REPEATS);
  sample->values[sample->count++] = value;
}

/* ---- what is measured ---- */

FovStatus fov_subject_load(FovSubject *subject, const char *file, const char *const *settings,
                           int count) {
  FovExperiment *experiment = &subject->experiment;
  FOV_TRY(fov_experiment_init(experiment));
  if (file) FOV_TRY(fov_settings_read(experiment->settings, file));
  for (int i = 0; i < count; i++) FOV_TRY(fov_settings_add(experiment->settings, settings[i]));
  FOV_TRY(fov_experiment_resolve(experiment));
  FOV_TRY(fov_experiment_env(&subject->env, experiment, FOV_SPLIT_TRAIN));
  FOV_TRY(fov_experiment_build(experiment, &subject->env.spec));
  subject->training = fov_experiment_training(experiment, &subject->env);
  return fov_task_check(&subject->training.task);
}

void fov_subject_finish(FovSubject *subject) {
  fov_env_finish(&subject->env);
  fov_experiment_finish(&subject->experiment);
}

/* ---- products ---- */

static void add_shape(FovShapes *shapes, const FovProduct *product, double flops) {
  int i = 0;
  while (i < shapes->count && memcmp(&shapes->list[i].product, product, sizeof *product) != 0) i++;
  if (i == FOV_MAX_PRODUCTS) return;
  if (i == shapes->count) shapes->list[shapes->count++].product = *product;
  shapes->list[i].share += flops;
}

static int compare_shares(const void *a, const void *b) {
  return -compare(&((const FovShape *)a)->share, &((const FovShape *)b)->share);
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

/** Glimpses of all updates so far. */
static double glimpses_of(FovTrainer *trainer) {
  return (double)fov_trainer_state(trainer)->sums.glimpses;
}

FovStatus fov_measure_shapes(FovShapes *shapes, const FovSubject *subject) {
  FovTrainer *trainer;
  FOV_TRY(fov_trainer_create(&trainer, &subject->training, 1));
  FovProfile *profiles = fov_profiles_create();
  FovStatus status = profiles ? FOV_OK : fov_fail(FOV_ERR_MEMORY, "no memory for profiles");
  if (status == FOV_OK) {
    fov_profile_into(profiles);
    for (int i = 0; i < FEW_UPDATES && status == FOV_OK; i++) status = fov_trainer_update(trainer);
    fov_profile_into(NULL);
    gather_shapes(shapes, profiles, glimpses_of(trainer));
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
  } while (seconds < PRODUCT);
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

static FovStatus rate_product(double *rate, const FovProduct *product, int threads) {
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
      FOV_TRY(rate_product(&rate, &shape->product, threads));
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

/* ---- training ---- */

struct FovTrainMeter {
  const FovSubject *subject;
  FovTrainer *trainer;
  FovProfile *profiles;
  int threads;
};

FovStatus fov_train_meter_create(FovTrainMeter **meter, const FovSubject *subject, int threads) {
  FovTrainMeter *m = *meter = calloc(1, sizeof *m);
  if (!m) return fov_fail(FOV_ERR_MEMORY, "no memory for a measurement");
  *m = (FovTrainMeter){.subject = subject, .threads = threads, .profiles = fov_profiles_create()};
  if (!m->profiles) return fov_fail(FOV_ERR_MEMORY, "no memory for profiles");
  FOV_TRY(fov_trainer_create(&m->trainer, &subject->training, threads));
  for (int i = 0; i < FEW_UPDATES; i++) FOV_TRY(fov_trainer_update(m->trainer));
  return FOV_OK;
}

void fov_train_meter_destroy(FovTrainMeter *meter) {
  if (!meter) return;
  fov_trainer_destroy(meter->trainer);
  free(meter->profiles);
  free(meter);
}

static void add_phases(FovTrainRate *rate, const FovProfile *profiles, int threads,
                       double seconds) {
  double whole = seconds * threads, waiting = whole;
  for (int phase = 0; phase < FOV_PHASES; phase++) {
    double sum = 0;
    for (int worker = 0; worker < threads; worker++) sum += profiles[worker].seconds[phase];
    add(&rate->phases[phase], sum / whole);
    waiting -= sum;
  }
  add(&rate->phases[FOV_PHASES], waiting / whole);
}

/** Page faults of this process so far. */
static double faults(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (double)usage.ru_minflt;
}

static FovStatus time_training(double *glimpses, FovTrainRate *rate, FovTrainMeter *meter) {
  memset(meter->profiles, 0, FOV_MAX_THREADS * sizeof *meter->profiles);
  fov_profile_into(meter->profiles);
  FovStatus status = FOV_OK;
  double start = fov_now(), seconds = 0, pages = faults(), before = glimpses_of(meter->trainer);
  int updates = 0;
  for (; seconds < TRAINING && status == FOV_OK; updates++) {
    status = fov_trainer_update(meter->trainer);
    seconds = fov_now() - start;
  }
  fov_profile_into(NULL);
  add(&rate->faults, (faults() - pages) / updates);
  add_phases(rate, meter->profiles, meter->threads, seconds);
  *glimpses = (glimpses_of(meter->trainer) - before) / seconds;
  return status;
}

/** All cases, but at most `most`. */
static int64_t cases_of(const FovTask *task, int64_t most) {
  return most < task->env->spec.cases ? most : task->env->spec.cases;
}

static FovStatus time_evaluation(double *glimpses, FovTrainMeter *meter) {
  const FovTask *task = &meter->subject->training.task;
  int64_t cases = cases_of(task, 32 * FOV_SHARD);
  FovEvalRequest what = {.task = task,
                         .values = fov_trainer_weights(meter->trainer),
                         .cases = cases,
                         .rollouts = 1,
                         .split = FOV_SPLIT_TRAIN,
                         .threads = meter->threads};
  FovEvalResult result;
  double start = fov_now(), seconds, done = 0;
  do {
    FOV_TRY(fov_evaluate(&result, &what, fov_trainer_workspace(meter->trainer)));
    done += result.glimpses * (double)cases;
    seconds = fov_now() - start;
  } while (seconds < EVALUATION);
  *glimpses = done / seconds;
  return FOV_OK;
}

FovStatus fov_measure_train(FovTrainRate *rate, FovTrainMeter *meter, const FovShapes *shapes) {
  const FovProduct *fastest = &fov_fastest(shapes)->product;
  double before, after, glimpses, evaluated;
  rate->threads = meter->threads;
  FOV_TRY(rate_product(&before, fastest, meter->threads));
  FOV_TRY(time_training(&glimpses, rate, meter));
  FOV_TRY(rate_product(&after, fastest, meter->threads));
  FOV_TRY(time_evaluation(&evaluated, meter));
  double limit = (before + after) / 2;
  add(&rate->limit, limit);
  add(&rate->glimpses, glimpses);
  add(&rate->evaluated, evaluated);
  add(&rate->share, glimpses * shapes->flops / limit);
  return FOV_OK;
}

/* ---- phases by themselves ---- */

/** Repeats one phase on every worker at once, each with a lane of its own. */
typedef struct PhaseLoop {
  const FovSubject *subject;
  FovSensor sensor;
  FovArena arenas[FOV_MAX_THREADS];
  double rates[FOV_MAX_THREADS];
} PhaseLoop;

static void draw_case(const FovEnv *env, FovEnvLane *lane, uint64_t index) {
  FovRng rng = fov_rng_stream(0, FOV_STREAM_ENV, index);
  fov_env_reset(env, lane, (int64_t)fov_rng_below(&rng, (uint32_t)env->spec.cases), &rng);
}

static void loop_env(void *context, int task, int worker) {
  (void)worker;
  PhaseLoop *loop = context;
  const FovEnv *env = &loop->subject->env;
  FovEnvLane lane = fov_env_lane(&loop->arenas[task], &env->spec);
  double start = fov_now(), seconds;
  uint64_t drawn = 0;
  do {
    for (int i = 0; i < 16; i++) draw_case(env, &lane, ((uint64_t)task << 32) + drawn++);
    seconds = fov_now() - start;
  } while (seconds < PHASE);
  loop->rates[task] = (double)drawn / seconds;
}

static void loop_sensor(void *context, int task, int worker) {
  (void)worker;
  PhaseLoop *loop = context;
  const FovEnvSpec *spec = &loop->subject->env.spec;
  const FovObservation *shown = &spec->observation;
  FovArena *arena = &loop->arenas[task];
  FovEnvLane lane = fov_env_lane(arena, spec);
  draw_case(&loop->subject->env, &lane, (uint64_t)task);
  FovImage image = {.bytes = lane.observation,
                    .height = shown->height,
                    .width = shown->width,
                    .channels = shown->channels};
  FovGlimpseShape shape =
      fov_sensor_glimpse(&loop->sensor, shown->height, shown->width, shown->channels);
  real *glimpse = FOV_NEW(arena, real, fov_glimpse_features(shape));
  FovRng rng = fov_rng_stream(0, FOV_STREAM_POLICY, (uint64_t)task);
  double start = fov_now(), seconds;
  int64_t taken = 0;
  do {
    for (int i = 0; i < 16; i++, taken++)
      fov_sensor_look(glimpse, &loop->sensor, &image, 2 * fov_rng_uniform(&rng) - 1,
                      2 * fov_rng_uniform(&rng) - 1);
    seconds = fov_now() - start;
  } while (seconds < PHASE);
  loop->rates[task] = (double)taken / seconds;
}

static FovStatus rate_phase(FovSample *rate, PhaseLoop *loop, FovWork *work, int threads,
                            int repeats) {
  const FovEnvSpec *spec = &loop->subject->env.spec;
  double lane = (double)fov_env_lane_bytes(spec);
  FOV_TRY(fov_memory_check(threads * lane, "this measurement"));
  for (int r = 0; r < repeats; r++) {
    fov_team_run(threads, threads, work, loop);
    double sum = 0;
    for (int i = 0; i < threads; i++) {
      sum += loop->rates[i];
      fov_arena_finish(&loop->arenas[i]);
    }
    add(rate, sum);
  }
  return FOV_OK;
}

FovStatus fov_measure_env(FovSample *rate, const FovSubject *subject, int threads, int repeats) {
  PhaseLoop loop = {.subject = subject};
  return rate_phase(rate, &loop, loop_env, threads, repeats);
}

FovStatus fov_measure_sensor(FovSample *rate, const FovSubject *subject, int scales, int threads,
                             int repeats) {
  PhaseLoop loop = {.subject = subject, .sensor = subject->experiment.sensor};
  loop.sensor.scales = scales;
  loop.sensor.whole = false;
  return rate_phase(rate, &loop, loop_sensor, threads, repeats);
}

/* ---- an episode ---- */

static FovStatus time_episode(double *seconds, double *drawing, const FovEvalRequest *what,
                              FovWorkspace *workspace, FovProfile *profile) {
  FovEvalResult result;
  *seconds = *drawing = 0;
  int64_t episodes = 0;
  do {
    memset(profile, 0, sizeof *profile);
    fov_profile_into(profile);
    FovStatus status = fov_evaluate(&result, what, workspace);
    fov_profile_into(NULL);
    FOV_TRY(status);
    for (int phase = 0; phase < FOV_PHASES; phase++)
      *(phase == FOV_PHASE_ENV ? drawing : seconds) += profile->seconds[phase];
    episodes += what->cases;
  } while (*seconds < PHASE);
  *seconds /= (double)episodes;
  *drawing /= (double)episodes;
  return FOV_OK;
}

/** Repeats after a first time, which allocates. */
static FovStatus repeat_episode(FovSample *seconds, FovSample *drawing, const FovEvalRequest *what,
                                FovWorkspace *workspace, FovProfile *profile, int repeats) {
  double look, draw;
  FOV_TRY(time_episode(&look, &draw, what, workspace, profile));
  for (int r = 0; r < repeats; r++) {
    FOV_TRY(time_episode(&look, &draw, what, workspace, profile));
    add(seconds, look);
    add(drawing, draw);
  }
  return FOV_OK;
}

FovStatus fov_measure_episode(FovSample *seconds, FovSample *drawing, const FovSubject *subject,
                              int repeats) {
  const FovParams *params = &subject->experiment.agent.params;
  FOV_TRY(fov_memory_check((double)params->size * sizeof(real), "this agent"));
  real *values = fov_params_block(params);
  FovProfile *profile = fov_profiles_create();
  FovWorkspace workspace = {0};
  FovStatus status = values && profile ? fov_workspace_create(&workspace, 1)
                                       : fov_fail(FOV_ERR_MEMORY, "no memory for an agent");
  if (status == FOV_OK) {
    const FovTask *task = &subject->training.task;
    fov_params_init(values, params, 0);
    FovEvalRequest what = {.task = task,
                           .values = values,
                           .cases = cases_of(task, FOV_SHARD),
                           .rollouts = 1,
                           .split = FOV_SPLIT_TRAIN,
                           .threads = 1};
    status = repeat_episode(seconds, drawing, &what, &workspace, profile, repeats);
  }
  fov_workspace_finish(&workspace);
  free(profile);
  free(values);
  return status;
}
