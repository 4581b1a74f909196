#include "toy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

_Thread_local ToyReset toy_log[TOY_LOG];
_Thread_local int toy_resets;

typedef struct Options {
  int cases;
} Options;

enum { PATCH = 4, CENTRE = TOY_SIDE / 2, REACH = 6 };

static FovStatus create(void **env, FovEnvSpec *spec, const void *options, FovSplit split) {
  (void)split;
  *env = NULL;
  *spec = (FovEnvSpec){.height = TOY_SIDE,
                       .width = TOY_SIDE,
                       .channels = 1,
                       .actions = TOY_ACTIONS,
                       .steps = 1,
                       .cases = ((const Options *)options)->cases};
  return FOV_OK;
}

static void destroy(void *env) {
  (void)env;
}

/** Draws a patch around column x of the middle row: full, or with every other column or row. */
static void draw_patch(uint8_t *image, int x, int pattern) {
  for (int i = 0; i < PATCH; i++)
    for (int j = 0; j < PATCH; j++)
      if (pattern == 0 || (pattern == 1 ? j : i) % 2 == 0)
        image[(CENTRE - PATCH / 2 + i) * TOY_SIDE + x - PATCH / 2 + j] = 255;
}

/** The label is a pattern that stands left or right; a cue in the centre says on which side. */
static void reset(const void *env, FovEnvLane *lane, int64_t index, FovRng *rng) {
  (void)env;
  bool right = index / TOY_ACTIONS % 2;
  lane->label = (int)(index % TOY_ACTIONS);
  memset(lane->image, 0, TOY_SIDE * TOY_SIDE);
  draw_patch(lane->image, CENTRE + (right ? REACH : -REACH), lane->label);
  if (right) draw_patch(lane->image, CENTRE, 0);
  uint32_t draw = fov_rng_u32(rng);
  lane->image[0] = (uint8_t)draw;
  if (toy_resets < TOY_LOG) toy_log[toy_resets] = (ToyReset){.index = index, .draw = draw};
  toy_resets++;
}

static void step(const void *env, FovEnvLane *lane, int action, FovRng *rng) {
  (void)env, (void)rng;
  lane->reward = action == lane->label;
  lane->terminated = true;
}

static const FovOption options_table[] = {
    FOV_INT(Options, cases, "48", 1, 100000, "distinct cases"), FOV_OPTIONS_END};

static const FovEnvType toy_env = {
    .plugin = {"toy", "a pattern on the side that a cue tells", options_table, sizeof(Options)},
    .create = create,
    .destroy = destroy,
    .reset = reset,
    .step = step};

const FovEnvType *const fov_envs[] = {&toy_env, NULL};

static const char base[] = "glimpses = 3\n"
                           "core.width = 12\n"
                           "sensor.side = 4\n"
                           "sensor.scales = 1\n"
                           "encoder.width = 8\n"
                           "glimpse.where = 8\n"
                           "glimpse.width = 12\n"
                           "train.episodes = 10000\n"
                           "train.batch = 32\n";

void assert_message(const char *part) {
  if (!strstr(fov_error_message(), part)) fail_msg("'%s' lacks '%s'", fov_error_message(), part);
}

static void assert_ok(FovStatus status) {
  if (status != FOV_OK) fail_msg("%s", fov_error_message());
}

void toy_create(Toy *toy, const char *settings) {
  FovExperiment *experiment = &toy->experiment;
  assert_ok(fov_experiment_init(experiment));
  experiment->slots[FOV_SLOT_ENV].fallback = toy_env.plugin.name;
  assert_ok(fov_settings_parse(experiment->settings, base, "the toy"));
  assert_ok(fov_settings_parse(experiment->settings, settings, "the test"));
  assert_ok(fov_experiment_resolve(experiment));
  assert_ok(fov_experiment_env(&toy->env, experiment, FOV_SPLIT_TRAIN));
  assert_ok(fov_experiment_build(experiment, &toy->env.spec));
  toy->task = fov_experiment_task(experiment, &toy->env);
  toy->training = fov_experiment_training(experiment, &toy->env);
}

void toy_finish(Toy *toy) {
  fov_env_finish(&toy->env);
  fov_experiment_finish(&toy->experiment);
}

FovTrainer *toy_trainer(const Toy *toy, int threads) {
  FovTrainer *trainer;
  assert_ok(fov_trainer_create(&trainer, &toy->training, threads));
  return trainer;
}

void toy_train(FovTrainer *trainer, int updates) {
  for (int i = 0; i < updates; i++) assert_ok(fov_trainer_update(trainer));
}

size_t toy_block_bytes(const Toy *toy) {
  return toy->experiment.agent.params.size * sizeof(real);
}

void assert_same_state(const Toy *toy, FovTrainer *a, FovTrainer *b) {
  const FovTrainerState *x = fov_trainer_state(a), *y = fov_trainer_state(b);
  assert_memory_equal(x->value, y->value, toy_block_bytes(toy));
  assert_memory_equal(x->first, y->first, toy_block_bytes(toy));
  assert_memory_equal(x->second, y->second, toy_block_bytes(toy));
  assert_memory_equal(x->average, y->average, toy_block_bytes(toy));
  assert_memory_equal(&x->sums, &y->sums, sizeof x->sums);
  assert_int_equal(x->update, y->update);
  assert_true(x->average_return == y->average_return);
}
