/**
 * circle_square: a circle or a square, which differ in a few pixels at the square's corners, on a
 * background whose brightness decreases with the distance to the object (Schneider et al. 2026;
 * ap_gym). The same question is asked after every glimpse.
 *
 * Case index = class + 2 (x + W y): the object's centre is pixel (x, y). Class 0 is the square,
 * |dx|, |dy| ≤ 4; class 1 the circle, d ≤ 4. The object is 1, the background 1 − d / √(H² + W²), or
 * 0. Nothing is random, and all splits have the same cases.
 */
#include <math.h>
#include <stdlib.h>

#include "env.h"

enum { SQUARE, CIRCLE, CLASSES };
static const char *const names[CLASSES] = {[SQUARE] = "square", [CIRCLE] = "circle"};

enum { RADIUS = 4 };

typedef struct Options {
  int size, steps;
  bool gradient;
} Options;

static FovStatus create(void **env, FovEnvSpec *spec, const void *options, FovSplit split) {
  (void)split;
  const Options *o = options;
  Options *world = malloc(sizeof *world);
  *env = world;
  if (!world) return fov_fail(FOV_ERR_MEMORY, "no memory for an environment");
  *world = *o;
  *spec = (FovEnvSpec){.observation = fov_byte_image(o->size, o->size, 1),
                       .answer = FOV_ANSWER_CLASS,
                       .actions = CLASSES,
                       .names = names,
                       .steps = o->steps,
                       .last = true,
                       .located = true,
                       .cases = (int64_t)CLASSES * o->size * o->size};
  spec->observation.floats = true;
  return FOV_OK;
}

static float brightness(const Options *world, int label, int dx, int dy) {
  double distance = sqrt(dx * dx + dy * dy);
  bool inside = label == SQUARE ? abs(dx) <= RADIUS && abs(dy) <= RADIUS : distance <= RADIUS;
  if (inside) return 1;
  return world->gradient ? (float)(1 - distance / (sqrt(2) * world->size)) : 0;
}

static void reset(const void *env, FovEnvLane *lane, int64_t index, FovRng *rng) {
  (void)rng;
  const Options *world = env;
  float *image = lane->observation;
  int size = world->size, place = (int)(index / CLASSES), x = place % size, y = place / size;
  lane->label = (int)(index % CLASSES);
  lane->where[0] = fov_location_of(x, 1, size);
  lane->where[1] = fov_location_of(y, 1, size);
  for (int row = 0; row < size; row++)
    for (int column = 0; column < size; column++)
      image[row * size + column] = brightness(world, lane->label, column - x, row - y);
}

static void step(const void *env, FovEnvLane *lane, const FovAnswer *answer, FovRng *rng) {
  (void)rng;
  lane->reward = answer->action == lane->label;
  lane->terminated = lane->taken + 1 == ((const Options *)env)->steps;
}

static const FovOption options_table[] = {
    FOV_INT(Options, size, "28", 1, 1024, "side of the image, pixels"),
    FOV_INT(Options, steps, "16", 1, 1024, "answers of an episode, one after every glimpse"),
    FOV_BOOL(Options, gradient, "yes", "the background is brighter near the object; no: black"),
    FOV_OPTIONS_END,
};

const FovEnvType fov_env_circle_square = {
    .plugin = {"circle_square", "circle or square on a bright background (Schneider et al. 2026)",
               options_table, sizeof(Options)},
    .standardise = true,
    .create = create,
    .destroy = free,
    .reset = reset,
    .step = step,
};
