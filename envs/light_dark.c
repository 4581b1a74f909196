/**
 * light_dark: where am I? The agent sees its position with noise, which vanishes near the light
 * (Schneider et al. 2026; LightDark in ap_gym). The question is asked after every glimpse.
 *
 * At place p the brightness is b(p) = h² / (‖p − light‖² + h²) with light = (0, −0.7) and h = 0.2.
 * What is seen is p plus Gaussian noise of deviation 0.3 (1 − b), clipped to [−2, 2]²; looking
 * draws its x, then its y. The answer is p. An answer y earns 1 − 3/2 ‖y − p‖², so that an agent
 * does not gain by leaving; once an answer has been given, a place on the edge of [−1, 1]² ends the
 * episode. The policy charges for the steps. Cases differ in their draws only.
 *
 * The agent must not choose its place: with policy = relative and first = random it does not know
 * where it is. With policy = centre or gaussian its places, and so the answers, are nearly
 * constant.
 */
#include <math.h>
#include <stdlib.h>

#include "env.h"

enum { CASES = 10000 };
static const float light[2] = {0, -0.7f}, height = 0.2f, darkest = 0.3f, farthest = 2;
static const float near = 0.2f; // √ of the mean squared distance that the goal allows

typedef struct Options {
  int steps;
} Options;

static FovStatus create(void **env, FovEnvSpec *spec, const void *options, FovSplit split) {
  (void)split; // each split's cases get other generators
  Options *world = malloc(sizeof *world);
  *env = world;
  if (!world) return fov_fail(FOV_ERR_MEMORY, "no memory for an environment");
  *world = *(const Options *)options;
  *spec = (FovEnvSpec){
      .observation = {.kind = FOV_OBSERVATION_VECTOR, .length = 2},
      .answer = FOV_ANSWER_VECTOR,
      .actions = 2,
      .steps = world->steps,
      .goal = (float)world->steps * (1 - (float)FOV_VECTOR_LOSS * near * near / 2),
      .place = {1, 1},
      .changes = true,
      .cases = CASES,
  };
  return FOV_OK;
}

/** The observation is 0 until the first look. */
static void reset(const void *env, FovEnvLane *lane, int64_t index, FovRng *rng) {
  (void)env, (void)index, (void)rng;
  float *seen = lane->observation;
  for (int j = 0; j < 2; j++) seen[j] = lane->target[j] = 0;
}

static float deviation(const float p[2]) {
  float dx = p[0] - light[0], dy = p[1] - light[1], square = height * height;
  return darkest * (1 - square / (dx * dx + dy * dy + square));
}

static void look(const void *env, FovEnvLane *lane, const float place[2], FovRng *rng) {
  (void)env;
  float *seen = lane->observation, sigma = deviation(place);
  for (int j = 0; j < 2; j++) {
    seen[j] = fmaxf(-farthest, fminf(farthest, place[j] + sigma * fov_rng_normal(rng)));
    lane->target[j] = place[j];
  }
  bool outside = fabsf(place[0]) >= 1 || fabsf(place[1]) >= 1;
  lane->terminated = outside && lane->taken > 0;
}

static void step(const void *env, FovEnvLane *lane, const FovAnswer *answer, FovRng *rng) {
  (void)rng;
  lane->reward = 1 - fov_vector_loss(answer->vector, lane->target, 2);
  lane->terminated = lane->taken + 1 == ((const Options *)env)->steps;
}

static const FovOption options_table[] = {
    FOV_INT(Options, steps, "50", 1, 1024, "answers of an episode, one after every glimpse"),
    FOV_OPTIONS_END,
};

const FovEnvType fov_env_light_dark = {
    .plugin = {"light_dark", "one's own place, seen clearly near a light (Schneider et al. 2026)",
               options_table, sizeof(Options)},
    .create = create,
    .destroy = free,
    .reset = reset,
    .step = step,
    .look = look,
};
