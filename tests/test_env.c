/** The contract of env.h, asked of every environment in the table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "env.h"

enum { GUARD = 64, GUARD_BYTE = 0xa5, LONGEST = 100000 };

/** A lane with a fence on both sides of its image and of its state. */
typedef struct Pen {
  FovEnvLane lane;
  uint8_t *image, *state;
  size_t image_size, state_size;
} Pen;

static bool has_option(const FovEnvType *type, const char *name) {
  for (const FovOption *o = type->plugin.options; o && o->name; o++)
    if (!strcmp(o->name, name)) return true;
  return false;
}

/** Creates an environment as the command line would, on the shipped data if it needs any. */
static FovStatus create(FovEnv *env, const FovEnvType *type, FovSplit split, const char *setting) {
  FovSlot slot = {
      .key = "env", .table = (const FovPlugin *const *)fov_envs, .fallback = type->plugin.name};
  FovConfig config = {.slots = &slot, .slot_count = 1};
  FovSettings *settings;
  char data[FOV_STRING_SIZE];
  const char *subset = getenv("FOVEA_SUBSET");
  snprintf(data, sizeof data, "env.data=%s", subset ? subset : "envs/mnist-subset");
  *env = (FovEnv){0};
  FovStatus status = fov_settings_create(&settings);
  if (status == FOV_OK && has_option(type, "data")) status = fov_settings_add(settings, data);
  if (status == FOV_OK && setting) status = fov_settings_add(settings, setting);
  if (status == FOV_OK) status = fov_config_resolve(&config, settings);
  if (status == FOV_OK) status = fov_env_create(env, type, slot.values, split);
  fov_config_finish(&config);
  fov_settings_destroy(settings);
  return status;
}

static FovEnv create_or_fail(const FovEnvType *type, FovSplit split) {
  FovEnv env;
  if (create(&env, type, split, NULL) != FOV_OK)
    fail_msg("%s: %s", type->plugin.name, fov_error_message());
  return env;
}

/** All of a pen's memory starts as `filling`, so what a reset forgets to write shows. */
static Pen make_pen(const FovEnv *env, int filling) {
  const FovEnvSpec *s = &env->spec;
  Pen pen = {.image_size = (size_t)s->height * (size_t)s->width * (size_t)s->channels,
             .state_size = s->state_size};
  pen.image = malloc(pen.image_size + 2 * GUARD);
  pen.state = malloc(pen.state_size + 2 * GUARD);
  assert_non_null(pen.image);
  assert_non_null(pen.state);
  memset(pen.image, GUARD_BYTE, pen.image_size + 2 * GUARD);
  memset(pen.state, GUARD_BYTE, pen.state_size + 2 * GUARD);
  memset(pen.image + GUARD, filling, pen.image_size);
  memset(pen.state + GUARD, filling, pen.state_size);
  pen.lane = (FovEnvLane){.image = pen.image + GUARD,
                          .state = pen.state + GUARD,
                          .label = filling,
                          .reward = -1,
                          .terminated = true,
                          .truncated = true,
                          .taken = filling};
  return pen;
}

static void assert_fenced(const uint8_t *memory, size_t size) {
  for (int i = 0; i < GUARD; i++) {
    assert_int_equal(memory[i], GUARD_BYTE);
    assert_int_equal(memory[GUARD + size + (size_t)i], GUARD_BYTE);
  }
}

static void free_pen(Pen *pen) {
  assert_fenced(pen->image, pen->image_size);
  assert_fenced(pen->state, pen->state_size);
  assert_ptr_equal(pen->lane.image, pen->image + GUARD);
  assert_ptr_equal(pen->lane.state, pen->state + GUARD);
  free(pen->image);
  free(pen->state);
}

static void assert_same_moment(const Pen *a, const Pen *b) {
  assert_memory_equal(a->lane.image, b->lane.image, a->image_size);
  if (a->state_size) assert_memory_equal(a->lane.state, b->lane.state, a->state_size);
  assert_int_equal(a->lane.label, b->lane.label);
  assert_true(a->lane.reward == b->lane.reward);
  assert_int_equal(a->lane.terminated, b->lane.terminated);
  assert_int_equal(a->lane.truncated, b->lane.truncated);
}

static FovRng case_rng(int64_t index) {
  return fov_rng_stream(11, FOV_STREAM_ENV, (uint64_t)index);
}

static void reset(const FovEnv *env, Pen *pen, int64_t index, FovRng *rng) {
  *rng = case_rng(index);
  fov_env_reset(env, &pen->lane, index, rng);
}

static bool ended(const Pen *pen) {
  return pen->lane.terminated || pen->lane.truncated;
}

/** Some action for every step, the same whenever asked. */
static int some_action(const FovEnv *env, int64_t index, int step) {
  return (int)((index * 7 + step * 3) % env->spec.actions);
}

static void is_complete(const FovEnvType *type) {
  assert_true(strlen(type->plugin.name) > 0);
  assert_true(strlen(type->plugin.help) > 0);
  assert_ptr_equal(fov_plugin_find((const FovPlugin *const *)fov_envs, type->plugin.name), type);
  assert_true(type->create && type->destroy && type->reset && type->step);
  type->destroy(NULL);
}

static void has_cases_in_every_split(const FovEnvType *type) {
  for (FovSplit split = FOV_SPLIT_TRAIN; split <= FOV_SPLIT_TEST; split++) {
    FovEnv env = create_or_fail(type, split);
    assert_true(env.spec.cases > 0);
    fov_env_finish(&env);
    fov_env_finish(&env);
  }
}

static void a_reset_is_a_pure_function(const FovEnvType *type) {
  FovEnv env = create_or_fail(type, FOV_SPLIT_TRAIN), again = create_or_fail(type, FOV_SPLIT_TRAIN);
  Pen a = make_pen(&env, 0x00), b = make_pen(&again, 0xff);
  for (int64_t k = 0; k < 20; k++) {
    FovRng rng_a, rng_b;
    int64_t index = k * (env.spec.cases - 1) / 19;
    reset(&env, &a, index, &rng_a);
    reset(&again, &b, index, &rng_b);
    assert_same_moment(&a, &b);
    assert_memory_equal(&rng_a, &rng_b, sizeof rng_a);
    assert_true(a.lane.reward == 0 && !ended(&a));
    assert_in_range(a.lane.label, 0, env.spec.actions - 1);
  }
  free_pen(&a), free_pen(&b);
  fov_env_finish(&env), fov_env_finish(&again);
}

static void cases_differ(const FovEnvType *type) {
  FovEnv env = create_or_fail(type, FOV_SPLIT_TRAIN);
  Pen a = make_pen(&env, 0), b = make_pen(&env, 0);
  for (int64_t index = 1; index < env.spec.cases && index < 10; index++) {
    FovRng rng;
    reset(&env, &a, index - 1, &rng);
    reset(&env, &b, index, &rng);
    assert_memory_not_equal(a.lane.image, b.lane.image, a.image_size);
  }
  free_pen(&a), free_pen(&b);
  fov_env_finish(&env);
}

static void every_episode_ends(const FovEnvType *type) {
  FovEnv env = create_or_fail(type, FOV_SPLIT_TEST);
  Pen pen = make_pen(&env, 0);
  for (int64_t index = 0; index < env.spec.cases && index < 50; index++) {
    FovRng rng;
    reset(&env, &pen, index, &rng);
    for (int step = 0; !ended(&pen); step++) {
      assert_in_range(step, 0, LONGEST);
      fov_env_step(&env, &pen.lane, some_action(&env, index, step), &rng);
      assert_true(pen.lane.reward == 0 || pen.lane.reward == 1);
    }
  }
  free_pen(&pen);
  fov_env_finish(&env);
}

static void the_label_alone_earns_the_reward(const FovEnvType *type) {
  FovEnv env = create_or_fail(type, FOV_SPLIT_TEST);
  Pen pen = make_pen(&env, 0);
  for (int action = 0; action < env.spec.actions; action++) {
    FovRng rng;
    reset(&env, &pen, 0, &rng);
    fov_env_step(&env, &pen.lane, action, &rng);
    assert_true(pen.lane.reward == (action == pen.lane.label));
  }
  free_pen(&pen);
  fov_env_finish(&env);
}

/** Two lanes stepped in turns go through the same moments as each of them alone. */
static void lanes_share_nothing(const FovEnvType *type) {
  FovEnv env = create_or_fail(type, FOV_SPLIT_TRAIN);
  Pen alone = make_pen(&env, 0), mine = make_pen(&env, 1), other = make_pen(&env, 2);
  FovRng rng_alone, rng_mine, rng_other;
  reset(&env, &mine, 0, &rng_mine);
  reset(&env, &other, env.spec.cases - 1, &rng_other);
  reset(&env, &alone, 0, &rng_alone);
  assert_same_moment(&alone, &mine);
  for (int step = 0; !ended(&alone); step++) {
    int action = some_action(&env, 0, step);
    if (ended(&other)) reset(&env, &other, 0, &rng_other);
    fov_env_step(&env, &other.lane, some_action(&env, 1, step), &rng_other);
    fov_env_step(&env, &mine.lane, action, &rng_mine);
    fov_env_step(&env, &alone.lane, action, &rng_alone);
    assert_same_moment(&alone, &mine);
  }
  free_pen(&alone), free_pen(&mine), free_pen(&other);
  fov_env_finish(&env);
}

static void refuses_missing_data(const FovEnvType *type) {
  if (!has_option(type, "data")) return;
  FovEnv env;
  assert_int_not_equal(create(&env, type, FOV_SPLIT_TRAIN, "env.data=/nonexistent"), FOV_OK);
  assert_null(env.impl);
  assert_non_null(strstr(fov_error_message(), "/nonexistent"));
  fov_env_finish(&env);
}

/** Runs the clause that is this test's initial state over the whole table. */
static void ask_all(void **state) {
  void (*clause)(const FovEnvType *) = *(void (**)(const FovEnvType *)) * state;
  assert_non_null(fov_envs[0]);
  for (const FovEnvType *const *type = fov_envs; *type; type++) clause(*type);
}

#define CLAUSE(name)                                                                               \
  {                                                                                                \
#name, ask_all, NULL, NULL, &(void (*[])(const FovEnvType *)) {                                \
      name                                                                                         \
    }                                                                                              \
  }

int main(void) {
  const struct CMUnitTest tests[] = {
      CLAUSE(is_complete),
      CLAUSE(has_cases_in_every_split),
      CLAUSE(a_reset_is_a_pure_function),
      CLAUSE(cases_differ),
      CLAUSE(every_episode_ends),
      CLAUSE(the_label_alone_earns_the_reward),
      CLAUSE(lanes_share_nothing),
      CLAUSE(refuses_missing_data),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
