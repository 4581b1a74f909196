#include "base/memory.h"
#include "base/team.h"
#include "experiment/measure/parts.h"

static const double SECONDS = 0.2; // of one repeat

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
  } while (seconds < SECONDS);
  loop->rates[task] = (double)drawn / seconds;
}

static void loop_sensor(void *context, int task, int worker) {
  (void)worker;
  PhaseLoop *loop = context;
  const FovEnvSpec *spec = &loop->subject->env.spec;
  FovArena *arena = &loop->arenas[task];
  FovEnvLane lane = fov_env_lane(arena, spec);
  draw_case(&loop->subject->env, &lane, (uint64_t)task);
  FovImage image = fov_lane_image(&lane, spec);
  FovGlimpseShape shape =
      fov_sensor_glimpse(&loop->sensor, image.height, image.width, image.channels);
  real *glimpse = FOV_NEW(arena, real, fov_glimpse_features(shape));
  FovRng rng = fov_rng_stream(0, FOV_STREAM_POLICY, (uint64_t)task);
  double start = fov_now(), seconds;
  int64_t taken = 0;
  do {
    for (int i = 0; i < 16; i++, taken++)
      fov_sensor_look(glimpse, &loop->sensor, &image, 2 * fov_rng_uniform(&rng) - 1,
                      2 * fov_rng_uniform(&rng) - 1);
    seconds = fov_now() - start;
  } while (seconds < SECONDS);
  loop->rates[task] = (double)taken / seconds;
}

static FovStatus rate_phase(FovRepeats *rate, PhaseLoop *loop, FovWork *work, int threads,
                            int repeats) {
  const FovEnvSpec *spec = &loop->subject->env.spec;
  double lane = (double)fov_env_lane_bytes(spec);
  FOV_TRY(fov_memory_check(threads * lane, "this measurement", "--threads"));
  for (int r = 0; r < repeats; r++) {
    fov_team_run(threads, threads, work, loop);
    double sum = 0;
    for (int i = 0; i < threads; i++) {
      sum += loop->rates[i];
      fov_arena_finish(&loop->arenas[i]);
    }
    fov_repeats_add(rate, sum);
  }
  return FOV_OK;
}

FovStatus fov_measure_env(FovRepeats *rate, const FovSubject *subject, int threads, int repeats) {
  PhaseLoop loop = {.subject = subject};
  return rate_phase(rate, &loop, loop_env, threads, repeats);
}

FovStatus fov_measure_sensor(FovRepeats *rate, const FovSubject *subject, int scales, int threads,
                             int repeats) {
  PhaseLoop loop = {.subject = subject, .sensor = subject->experiment.sensor};
  if (subject->env.spec.observation.kind == FOV_OBSERVATION_TOKENS)
    return fov_fail(FOV_ERR_USAGE,
                    "bench glimpse: expected an environment of images or vectors, found env = %s, "
                    "which shows sequences",
                    subject->env.type->plugin.name);
  loop.sensor.scales = scales;
  // A vector has no patches.
  loop.sensor.whole = subject->env.spec.observation.kind == FOV_OBSERVATION_VECTOR;
  return rate_phase(rate, &loop, loop_sensor, threads, repeats);
}
