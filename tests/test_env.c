/** The contract of env.h, asked of every environment in the table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/team.h"
#include "check.h"
#include "config/config.h"
#include "env.h"

enum { GUARD = 64, GUARD_BYTE = 0xa5 };

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

static bool ended(const Pen *pen) {
  return fov_env_over(&pen->lane);
}

static void assert_same_moment(const Pen *a, const Pen *b) {
  assert_memory_equal(a->lane.image, b->lane.image, a->image_size);
  if (a->state_size) assert_memory_equal(a->lane.state, b->lane.state, a->state_size);
  assert_int_equal(a->lane.label, b->lane.label);
  assert_true(a->lane.reward == b->lane.reward);
  assert_int_equal(a->lane.terminated, b->lane.terminated);
  assert_int_equal(a->lane.truncated, b->lane.truncated);
  assert_int_equal(a->lane.taken, b->lane.taken);
}

/** What is promised of a lane between resets. */
static void assert_lane(const FovEnv *env, const Pen *pen) {
  const FovEnvLane *lane = &pen->lane;
  assert_true(isfinite(lane->reward));
  assert_false(lane->terminated && lane->truncated);
  assert_in_range(lane->taken, 0, env->spec.steps);
  assert_int_equal(lane->truncated, !lane->terminated && lane->taken == env->spec.steps);
  if (env->spec.control) assert_int_equal(lane->label, -1);
  if (!env->spec.control && !ended(pen)) assert_in_range(lane->label, 0, env->spec.actions - 1);
}

static FovRng case_rng(int64_t index) {
  return fov_rng_stream(11, FOV_STREAM_ENV, (uint64_t)index);
}

static void reset(const FovEnv *env, Pen *pen, int64_t index, FovRng *rng) {
  *rng = case_rng(index);
  fov_env_reset(env, &pen->lane, index, rng);
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

static void promises_what_can_be_kept(const FovEnvType *type) {
  for (FovSplit split = FOV_SPLIT_TRAIN; split <= FOV_SPLIT_TEST; split++) {
    FovEnv env = create_or_fail(type, split);
    const FovEnvSpec *s = &env.spec;
    assert_true(s->height > 0 && s->width > 0 && (s->channels == 1 || s->channels == 3));
    assert_in_range(s->actions, 1, FOV_MAX_ACTIONS);
    assert_in_range(s->steps, 1, FOV_MAX_STEPS);
    assert_true(s->cases > 0 && isfinite(s->goal));
    for (int i = 0; s->names && i < s->actions; i++) assert_true(strlen(s->names[i]) > 0);
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
    assert_true(a.lane.reward == 0 && a.lane.taken == 0 && !ended(&a));
    assert_lane(&env, &a);
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
    // Two games may look alike at first; what is to come is in the state.
    assert_true(memcmp(a.lane.image, b.lane.image, a.image_size) != 0 ||
                memcmp(a.lane.state, b.lane.state, a.state_size) != 0);
  }
  free_pen(&a), free_pen(&b);
  fov_env_finish(&env);
}

/** The same case is the same episode under the same actions, whatever the memory held before. */
static void a_step_is_a_pure_function(const FovEnvType *type) {
  FovEnv env = create_or_fail(type, FOV_SPLIT_TRAIN), again = create_or_fail(type, FOV_SPLIT_TRAIN);
  Pen a = make_pen(&env, 0x00), b = make_pen(&again, 0xff);
  for (int64_t index = 0; index < env.spec.cases && index < 20; index++) {
    FovRng rng_a, rng_b;
    reset(&env, &a, index, &rng_a);
    reset(&again, &b, index, &rng_b);
    for (int step = 0; !ended(&a); step++) {
      fov_env_step(&env, &a.lane, some_action(&env, index, step), &rng_a);
      fov_env_step(&again, &b.lane, some_action(&env, index, step), &rng_b);
      assert_same_moment(&a, &b);
      assert_memory_equal(&rng_a, &rng_b, sizeof rng_a);
    }
  }
  free_pen(&a), free_pen(&b);
  fov_env_finish(&env), fov_env_finish(&again);
}

/** An end comes after N steps at the latest, by one of both; until then a label is due, unless the
 * task is about control. */
static void every_episode_ends(const FovEnvType *type) {
  FovEnv env = create_or_fail(type, FOV_SPLIT_TEST);
  Pen pen = make_pen(&env, 0);
  for (int64_t index = 0; index < env.spec.cases && index < 50; index++) {
    FovRng rng;
    reset(&env, &pen, index, &rng);
    for (int step = 0; !ended(&pen); step++) {
      assert_int_equal(pen.lane.taken, step);
      assert_lane(&env, &pen);
      fov_env_step(&env, &pen.lane, some_action(&env, index, step), &rng);
    }
    assert_lane(&env, &pen);
    assert_true(pen.lane.terminated != pen.lane.truncated);
  }
  free_pen(&pen);
  fov_env_finish(&env);
}

/** A step writes into the image only if that was said; what a game shows does change. */
static void an_image_changes_only_if_it_may(const FovEnvType *type) {
  FovEnv env = create_or_fail(type, FOV_SPLIT_TRAIN);
  Pen pen = make_pen(&env, 0);
  uint8_t *before = malloc(pen.image_size);
  bool changed = false;
  assert_non_null(before);
  for (int64_t index = 0; index < env.spec.cases && index < 20; index++) {
    FovRng rng;
    reset(&env, &pen, index, &rng);
    memcpy(before, pen.lane.image, pen.image_size);
    for (int step = 0; !ended(&pen); step++) {
      fov_env_step(&env, &pen.lane, some_action(&env, index, step), &rng);
      changed = changed || memcmp(before, pen.lane.image, pen.image_size) != 0;
    }
  }
  assert_int_equal(changed, env.spec.changes);
  free(before);
  free_pen(&pen);
  fov_env_finish(&env);
}

static const FovEnv *ended_env;
static FovEnvLane ended_lane;

static void step_ended_lane(void) {
  FovRng rng = case_rng(0);
  fov_env_step(ended_env, &ended_lane, 0, &rng);
}

/** An episode's end stays as it is: others may go on, and a further step is the caller's mistake.
 */
static void nothing_resets_itself(const FovEnvType *type) {
  FovEnv env = create_or_fail(type, FOV_SPLIT_TRAIN);
  Pen pen = make_pen(&env, 0), end = make_pen(&env, 1), other = make_pen(&env, 2);
  FovRng rng;
  reset(&env, &pen, 0, &rng);
  for (int step = 0; !ended(&pen); step++)
    fov_env_step(&env, &pen.lane, some_action(&env, 0, step), &rng);
  memcpy(end.lane.image, pen.lane.image, pen.image_size);
  memcpy(end.lane.state, pen.lane.state, pen.state_size);
  uint8_t *image = end.lane.image;
  void *memory = end.lane.state;
  end.lane = pen.lane, end.lane.image = image, end.lane.state = memory;
  reset(&env, &other, env.spec.cases - 1, &rng);
  for (int step = 0; !ended(&other); step++)
    fov_env_step(&env, &other.lane, some_action(&env, 1, step), &rng);
  assert_same_moment(&pen, &end);
  ended_env = &env, ended_lane = pen.lane;
  assert_true(aborts(step_ended_lane));
  free_pen(&pen), free_pen(&end), free_pen(&other);
  fov_env_finish(&env);
}

/** Of all answers to the first label due, that label alone earns the reward, of 1. */
static void the_label_alone_earns_the_reward(const FovEnvType *type) {
  FovEnv env = create_or_fail(type, FOV_SPLIT_TEST);
  Pen pen = make_pen(&env, 0);
  for (int action = 0; !env.spec.control && action < env.spec.actions; action++) {
    FovRng rng;
    reset(&env, &pen, 0, &rng);
    int label = pen.lane.label;
    fov_env_step(&env, &pen.lane, action, &rng);
    assert_true(pen.lane.reward == (action == label));
  }
  free_pen(&pen);
  fov_env_finish(&env);
}

/** Two lanes stepped in turns, of which one is reset in the middle of the other's episode, go
 * through the same moments as each of them alone. */
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
    if (ended(&other) || step % 3 == 2) reset(&env, &other, step % env.spec.cases, &rng_other);
    fov_env_step(&env, &other.lane, some_action(&env, 1, step), &rng_other);
    fov_env_step(&env, &mine.lane, action, &rng_mine);
    fov_env_step(&env, &alone.lane, action, &rng_alone);
    assert_same_moment(&alone, &mine);
  }
  free_pen(&alone), free_pen(&mine), free_pen(&other);
  fov_env_finish(&env);
}

enum { CROWD = 24 };

/** Lanes of one environment, each with a case of its own, and what became of them. */
typedef struct Crowd {
  const FovEnv *env;
  Pen pens[CROWD];
  FovRng rng[CROWD];
  double earned[CROWD];
} Crowd;

static void play_one(void *context, int lane, int worker) {
  (void)worker;
  Crowd *crowd = context;
  const FovEnv *env = crowd->env;
  Pen *pen = &crowd->pens[lane];
  int64_t index = lane % env->spec.cases;
  crowd->rng[lane] = case_rng(index);
  fov_env_reset(env, &pen->lane, index, &crowd->rng[lane]);
  for (int step = 0; !ended(pen); step++) {
    fov_env_step(env, &pen->lane, some_action(env, index, step), &crowd->rng[lane]);
    crowd->earned[lane] += (step + 1) * (double)pen->lane.reward;
  }
}

/** As many threads as there are may play lanes of one environment: the same ends as one by one. */
static void threads_do_not_meet(const FovEnvType *type) {
  FovEnv env = create_or_fail(type, FOV_SPLIT_TRAIN);
  Crowd crowds[2] = {{.env = &env}, {.env = &env}};
  for (int i = 0; i < CROWD; i++)
    crowds[0].pens[i] = make_pen(&env, 0), crowds[1].pens[i] = make_pen(&env, i);
  fov_team_run(1, CROWD, play_one, &crowds[0]);
  fov_team_run(4, CROWD, play_one, &crowds[1]);
  for (int i = 0; i < CROWD; i++) {
    assert_same_moment(&crowds[0].pens[i], &crowds[1].pens[i]);
    assert_memory_equal(&crowds[0].rng[i], &crowds[1].rng[i], sizeof(FovRng));
    assert_true(crowds[0].earned[i] == crowds[1].earned[i]);
    free_pen(&crowds[0].pens[i]), free_pen(&crowds[1].pens[i]);
  }
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

static void assert_setting_refused(const FovEnvType *type, const char *name, const char *value) {
  FovEnv env;
  char setting[128], key[64];
  snprintf(key, sizeof key, "env.%s", name);
  snprintf(setting, sizeof setting, "%s=%s", key, value);
  if (create(&env, type, FOV_SPLIT_TRAIN, setting) == FOV_OK)
    fail_msg("%s: %s is accepted", type->plugin.name, setting);
  if (!strstr(fov_error_message(), key)) fail_msg("'%s' lacks '%s'", fov_error_message(), key);
  fov_env_finish(&env);
}

/** Whatever the table lists has its range or its choices; whatever it does not list is unknown. */
static void refuses_what_no_option_allows(const FovEnvType *type) {
  assert_setting_refused(type, "nonsense", "1");
  for (const FovOption *o = type->plugin.options; o && o->name; o++) {
    char beyond[64];
    bool number =
        o->type == FOV_OPTION_INT || o->type == FOV_OPTION_LONG || o->type == FOV_OPTION_REAL;
    if (o->type != FOV_OPTION_STRING) assert_setting_refused(type, o->name, "nonsense");
    if (!number) continue;
    snprintf(beyond, sizeof beyond, "%.0f", o->min - 1);
    assert_setting_refused(type, o->name, beyond);
    snprintf(beyond, sizeof beyond, "%.0f", o->max + 1);
    assert_setting_refused(type, o->name, beyond);
  }
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

/* ---- what fov_env_step adds, on a world that never ends by itself ---- */

enum { ENOUGH = 5 };

static FovStatus create_endless(void **impl, FovEnvSpec *spec, const void *options,
                                FovSplit split) {
  (void)options, (void)split;
  *impl = NULL;
  *spec = (FovEnvSpec){
      .height = 1, .width = 1, .channels = 1, .actions = 2, .steps = ENOUGH, .cases = 3};
  return FOV_OK;
}

static void destroy_endless(void *impl) {
  (void)impl;
}

static void reset_endless(const void *impl, FovEnvLane *lane, int64_t index, FovRng *rng) {
  (void)impl, (void)index, (void)rng;
  lane->image[0] = 0;
  lane->label = 1;
}

/** Ends where the label is missed, which nobody does who answers 1. */
static void step_endless(const void *impl, FovEnvLane *lane, int action, FovRng *rng) {
  (void)impl, (void)rng;
  lane->terminated = action == 0;
}

static const FovEnvType endless_type = {.plugin = {.name = "endless", .help = "goes on"},
                                        .create = create_endless,
                                        .destroy = destroy_endless,
                                        .reset = reset_endless,
                                        .step = step_endless};

static FovEnv endless;
static FovRng endless_rng;
static uint8_t pixel;
static FovEnvLane endless_lane = {.image = &pixel};

static void step_beyond(void) {
  fov_env_step(&endless, &endless_lane, 1, &endless_rng);
}

static void act_beyond(void) {
  fov_env_step(&endless, &endless_lane, 2, &endless_rng);
}

static void reset_beyond(void) {
  fov_env_reset(&endless, &endless_lane, 3, &endless_rng);
}

static void forget_the_label(void) {
  endless.spec.control = true;
  fov_env_reset(&endless, &endless_lane, 0, &endless_rng);
}

static void an_endless_episode_is_truncated(void **state) {
  (void)state;
  assert_int_equal(fov_env_create(&endless, &endless_type, NULL, FOV_SPLIT_TRAIN), FOV_OK);
  for (int round = 0; round < 2; round++) {
    fov_env_reset(&endless, &endless_lane, 0, &endless_rng);
    for (int step = 1; step <= ENOUGH; step++) {
      assert_false(fov_env_over(&endless_lane));
      fov_env_step(&endless, &endless_lane, 1, &endless_rng);
      assert_int_equal(endless_lane.taken, step);
    }
    assert_true(endless_lane.truncated && !endless_lane.terminated);
    assert_true(aborts(step_beyond));
  }
  fov_env_finish(&endless);
}

static void an_end_at_the_last_step_is_no_cut(void **state) {
  (void)state;
  assert_int_equal(fov_env_create(&endless, &endless_type, NULL, FOV_SPLIT_TRAIN), FOV_OK);
  fov_env_reset(&endless, &endless_lane, 0, &endless_rng);
  for (int step = 1; step <= ENOUGH; step++)
    fov_env_step(&endless, &endless_lane, step < ENOUGH, &endless_rng);
  assert_true(endless_lane.terminated && !endless_lane.truncated);
  fov_env_finish(&endless);
}

static void a_callers_mistakes_abort(void **state) {
  (void)state;
  assert_int_equal(fov_env_create(&endless, &endless_type, NULL, FOV_SPLIT_TRAIN), FOV_OK);
  fov_env_reset(&endless, &endless_lane, 2, &endless_rng);
  assert_false(aborts(step_beyond));
  assert_true(aborts(act_beyond));
  assert_true(aborts(reset_beyond));
  assert_true(aborts(forget_the_label));
  fov_env_finish(&endless);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      CLAUSE(is_complete),
      CLAUSE(promises_what_can_be_kept),
      CLAUSE(a_reset_is_a_pure_function),
      CLAUSE(a_step_is_a_pure_function),
      CLAUSE(cases_differ),
      CLAUSE(every_episode_ends),
      CLAUSE(an_image_changes_only_if_it_may),
      CLAUSE(nothing_resets_itself),
      CLAUSE(the_label_alone_earns_the_reward),
      CLAUSE(lanes_share_nothing),
      CLAUSE(threads_do_not_meet),
      CLAUSE(refuses_missing_data),
      CLAUSE(refuses_what_no_option_allows),
      cmocka_unit_test(an_endless_episode_is_truncated),
      cmocka_unit_test(an_end_at_the_last_step_is_no_cut),
      cmocka_unit_test(a_callers_mistakes_abort),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
