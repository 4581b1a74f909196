/**
 * The contract of env.h, checked on every environment in the table, on one for each other kind of
 * observation and answer, and on broken ones, each of which one clause must catch.
 *
 * A clause does not fail the test itself: a failed expectation becomes a report that starts with
 * the environment's name, and the runner goes on with the next environment.
 */
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
#include "kind_envs.h"
#include "learn/rollout/rollout.h"

enum { GUARD = 64, GUARD_BYTE = 0xa5, MOST_PENS = 64, MOST_ENVS = 8 };

/* ---- allocations, counted: see tests/meson.build ---- */

static long allocated; // blocks that are not freed yet; counted by one thread only

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
char *__real_strdup(const char *text);
void __real_free(void *block);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
char *__wrap_strdup(const char *text);
void __wrap_free(void *block);

static void *counted(void *block) {
  __atomic_fetch_add(&allocated, block != NULL, __ATOMIC_RELAXED);
  return block;
}

void *__wrap_malloc(size_t size) {
  return counted(__real_malloc(size));
}

void *__wrap_calloc(size_t count, size_t size) {
  return counted(__real_calloc(count, size));
}

void *__wrap_realloc(void *block, size_t size) {
  bool fresh = block == NULL;
  void *moved = __real_realloc(block, size);
  return fresh ? counted(moved) : moved;
}

void *__wrap_aligned_alloc(size_t alignment, size_t size) {
  return counted(__real_aligned_alloc(alignment, size));
}

char *__wrap_strdup(const char *text) {
  return counted(__real_strdup(text));
}

void __wrap_free(void *block) {
  __atomic_fetch_sub(&allocated, block != NULL, __ATOMIC_RELAXED);
  __real_free(block);
}

/* ---- one clause on one environment ---- */

/** An array between two fences. */
typedef struct Fenced {
  uint8_t *block; // GUARD bytes, the array, GUARD bytes
  size_t size;
} Fenced;

/** A lane whose arrays are fenced, and the answer that it gets next. */
typedef struct Pen {
  FovEnvLane lane;
  Fenced observation, cue, state, target, vector;
} Pen;

/** What the running clause uses; freed by the runner, whether the clause ends or fails. */
static struct {
  jmp_buf failed;
  const FovEnvType *type;
  char report[1024];
  FovEnv envs[MOST_ENVS];
  Pen pens[MOST_PENS];
  int env_count, pen_count;
} run;

/** Ends the clause with a report: the environment's name and the formatted text. */
__attribute__((format(printf, 1, 2))) _Noreturn static void give_up(const char *format, ...) {
  int length = snprintf(run.report, sizeof run.report, "%s: ", run.type->plugin.name);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(run.report + length, sizeof run.report - (size_t)length, format, arguments);
  va_end(arguments);
  longjmp(run.failed, 1);
}

#define expect(condition, ...)                                                                     \
  do {                                                                                             \
    if (!(condition)) give_up(__VA_ARGS__);                                                        \
  } while (0)

static void expect_fenced(const Fenced *array, const char *what) {
  for (size_t i = 0; array->block && i < GUARD; i++)
    expect(array->block[i] == GUARD_BYTE && array->block[GUARD + array->size + i] == GUARD_BYTE,
           "writes outside the %s", what);
}

static void expect_all_fenced(const Pen *pen) {
  expect_fenced(&pen->observation, "observation");
  expect_fenced(&pen->cue, "cue");
  expect_fenced(&pen->state, "state");
  expect_fenced(&pen->target, "target");
  expect(!pen->observation.size || pen->lane.observation == pen->observation.block + GUARD,
         "moves the observation");
}

static void free_all(void) {
  for (int i = 0; i < run.pen_count; i++) {
    const Pen *pen = &run.pens[i];
    free(pen->observation.block), free(pen->cue.block), free(pen->state.block);
    free(pen->target.block), free(pen->vector.block);
  }
  for (int i = 0; i < run.env_count; i++) fov_env_finish(&run.envs[i]);
  run.pen_count = run.env_count = 0;
}

/** Runs a clause on one environment; returns whether it holds. If not, run.report has the reason.
 */
static bool keeps(const FovEnvType *type, void (*clause)(const FovEnvType *)) {
  run.type = type;
  run.report[0] = '\0';
  if (setjmp(run.failed) == 0) {
    clause(type);
    for (int i = 0; i < run.pen_count; i++) expect_all_fenced(&run.pens[i]);
  }
  free_all();
  return run.report[0] == '\0';
}

/* ---- environments and lanes ---- */

static bool has_option(const FovEnvType *type, const char *name) {
  for (const FovOption *o = type->plugin.options; o && o->name; o++)
    if (!strcmp(o->name, name)) return true;
  return false;
}

/** The shipped text pairs: the source, then the target. */
static const char *numbers_setting(char text[FOV_STRING_SIZE], int target) {
  const char *root = getenv("FOVEA_SOURCE");
  snprintf(text, FOV_STRING_SIZE, "env.%s=%s/envs/numbers/%s.txt", target ? "target" : "source",
           root ? root : ".", target ? "digits" : "words");
  return text;
}

/** Creates an environment as the command line would, on the shipped data if it needs any. */
static FovStatus create(FovEnv *env, const FovEnvType *type, FovSplit split, const char *setting) {
  const FovPlugin *table[] = {&type->plugin, NULL};
  FovSlot slot = {.key = "env", .table = table, .fallback = type->plugin.name};
  FovConfig config = {.slots = &slot, .slot_count = 1};
  FovSettings *settings;
  char data[FOV_STRING_SIZE], text[FOV_STRING_SIZE];
  const char *subset = getenv("FOVEA_SUBSET");
  snprintf(data, sizeof data, "env.data=%s", subset ? subset : "envs/mnist-subset");
  *env = (FovEnv){0};
  FovStatus status = fov_settings_create(&settings);
  if (status == FOV_OK && has_option(type, "data")) status = fov_settings_add(settings, data);
  for (int i = 0; status == FOV_OK && has_option(type, "target") && i < 2; i++)
    status = fov_settings_add(settings, numbers_setting(text, i));
  if (status == FOV_OK && setting) status = fov_settings_add(settings, setting);
  if (status == FOV_OK) status = fov_config_resolve(&config, settings);
  if (status == FOV_OK) status = fov_env_create(env, type, slot.values, split);
  fov_config_finish(&config);
  fov_settings_destroy(settings);
  return status;
}

static const FovEnv *create_or_give_up(const FovEnvType *type, FovSplit split) {
  FovEnv *env = &run.envs[run.env_count];
  expect(create(env, type, split, NULL) == FOV_OK, "%s", fov_error_message());
  run.env_count++;
  return env;
}

/** Fills the array with `filling`, so that numbers which a reset does not write are found. */
static Fenced make_fenced(size_t size, int filling) {
  Fenced array = {.size = size};
  if (!size) return array;
  array.block = malloc(size + 2 * GUARD);
  expect(array.block, "no memory for the test");
  memset(array.block, GUARD_BYTE, size + 2 * GUARD);
  memset(array.block + GUARD, filling, size);
  return array;
}

static void *inside(const Fenced *array) {
  return array->block ? array->block + GUARD : NULL;
}

static Pen *make_pen(const FovEnv *env, int filling) {
  const FovEnvSpec *s = &env->spec;
  Pen *pen = &run.pens[run.pen_count++];
  size_t vector = s->answer == FOV_ANSWER_VECTOR ? (size_t)s->actions * sizeof(float) : 0;
  *pen = (Pen){.observation = make_fenced(fov_observation_bytes(&s->observation), filling)};
  pen->cue = make_fenced(fov_observation_bytes(&s->cue), filling);
  pen->state = make_fenced(s->state_size, filling);
  pen->target = make_fenced(vector, filling);
  pen->vector = make_fenced(vector, filling);
  pen->lane = (FovEnvLane){.observation = inside(&pen->observation),
                           .cue = inside(&pen->cue),
                           .state = inside(&pen->state),
                           .target = inside(&pen->target),
                           .label = filling,
                           .reward = -1,
                           .terminated = true,
                           .truncated = true,
                           .taken = filling};
  return pen;
}

static bool ended(const Pen *pen) {
  return fov_env_over(&pen->lane);
}

static void expect_same_array(const Fenced *a, const Fenced *b, const char *what, const char *why) {
  expect(!a->size || memcmp(inside(a), inside(b), a->size) == 0, "the %s differs %s", what, why);
}

/** A right answer is required only until the episode ends. */
static void expect_same(const Pen *a, const Pen *b, const char *why) {
  expect_same_array(&a->observation, &b->observation, "observation", why);
  expect_same_array(&a->cue, &b->cue, "cue", why);
  expect_same_array(&a->state, &b->state, "state", why);
  if (!ended(a)) expect_same_array(&a->target, &b->target, "target", why);
  expect(a->lane.label == b->lane.label, "the label differs %s", why);
  expect(memcmp(a->lane.where, b->lane.where, sizeof a->lane.where) == 0, "where differs %s", why);
  expect(a->lane.reward == b->lane.reward, "the reward differs %s", why);
  expect(a->lane.terminated == b->lane.terminated && a->lane.truncated == b->lane.truncated &&
             a->lane.taken == b->lane.taken,
         "the end differs %s", why);
}

static void expect_same_draws(const FovRng *a, const FovRng *b, const char *why) {
  expect(memcmp(a, b, sizeof *a) == 0, "the number of draws differs %s", why);
}

static FovRng case_rng(int64_t index) {
  return fov_rng_stream(11, FOV_STREAM_ENV, (uint64_t)index);
}

/** Looks at a fixed place, before the first step (−1) or after step `step`, if the environment
 * depends on it; every ninth place is a corner. */
static FovStatus try_look(const FovEnv *env, Pen *pen, int64_t index, int step, FovRng *rng) {
  int64_t number = index * 5 + step + 1;
  float place[2] = {(float)(number % 9) / 4 - 1, (float)(number * 2 % 9) / 4 - 1};
  if (!env->type->look || fov_env_over(&pen->lane)) return FOV_OK;
  return fov_env_try_look(env, &pen->lane, place, rng);
}

static void reset(const FovEnv *env, Pen *pen, int64_t index, FovRng *rng) {
  *rng = case_rng(index);
  expect(fov_env_try_reset(env, &pen->lane, index, rng) == FOV_OK, "reset: %s",
         fov_error_message());
  expect(try_look(env, pen, index, -1, rng) == FOV_OK, "look: %s", fov_error_message());
}

/** A fixed answer for every step. */
static FovAnswer some_answer(const FovEnv *env, Pen *pen, int64_t index, int step) {
  int64_t number = index * 7 + step * 3;
  float *vector = inside(&pen->vector);
  for (int i = 0; vector && i < env->spec.actions; i++) vector[i] = (float)((number + i) % 5) - 2;
  return (FovAnswer){.action = vector ? -1 : (int)(number % env->spec.actions), .vector = vector};
}

static FovStatus try_step(const FovEnv *env, Pen *pen, int64_t index, int step, FovRng *rng) {
  FovAnswer answer = some_answer(env, pen, index, step);
  FOV_TRY(fov_env_try_step(env, &pen->lane, &answer, rng));
  return try_look(env, pen, index, step, rng);
}

static void step_some(const FovEnv *env, Pen *pen, int64_t index, int step, FovRng *rng) {
  expect(try_step(env, pen, index, step, rng) == FOV_OK, "step: %s", fov_error_message());
}

/* ---- the clauses ---- */

static void is_complete(const FovEnvType *type) {
  expect(strlen(type->plugin.name) > 0 && strlen(type->plugin.help) > 0, "has no name or help");
  expect(type->create && type->destroy && type->reset && type->step,
         "lacks create, destroy, reset or step");
  type->destroy(NULL);
}

static void has_a_valid_spec(const FovEnvType *type) {
  for (FovSplit split = FOV_SPLIT_TRAIN; split <= FOV_SPLIT_TEST; split++) {
    const FovEnvSpec *spec = &create_or_give_up(type, split)->spec;
    for (int i = 0; spec->names && i < spec->actions; i++)
      expect(strlen(spec->names[i]) > 0, "action %d has an empty name", i);
  }
}

static void frees_its_memory(const FovEnvType *type) {
  for (int i = 0; i < 3; i++) {
    FovEnv env;
    long before = allocated;
    expect(create(&env, type, FOV_SPLIT_TRAIN, NULL) == FOV_OK, "%s", fov_error_message());
    fov_env_finish(&env);
    fov_env_finish(&env);
    expect(allocated <= before, "%ld blocks are not freed by destroy", allocated - before);
  }
}

static void a_reset_is_a_pure_function(const FovEnvType *type) {
  const FovEnv *env = create_or_give_up(type, FOV_SPLIT_TRAIN);
  const FovEnv *again = create_or_give_up(type, FOV_SPLIT_TRAIN);
  Pen *a = make_pen(env, 0x00), *b = make_pen(again, 0xff);
  for (int64_t k = 0; k < 20; k++) {
    FovRng rng_a, rng_b;
    int64_t index = k * (env->spec.cases - 1) / 19;
    reset(env, a, index, &rng_a);
    reset(again, b, index, &rng_b);
    expect_same(a, b, "after two resets to one case");
    expect_same_draws(&rng_a, &rng_b, "in two resets to one case");
    expect(a->lane.reward == 0 && a->lane.taken == 0 && !ended(a), "a reset rewards or ends");
  }
}

static bool look_same(const Pen *a, const Pen *b) {
  return memcmp(inside(&a->observation), inside(&b->observation), a->observation.size) == 0 &&
         (!a->cue.size || memcmp(inside(&a->cue), inside(&b->cue), a->cue.size) == 0);
}

static void cases_differ(const FovEnvType *type) {
  const FovEnv *env = create_or_give_up(type, FOV_SPLIT_TRAIN);
  Pen *a = make_pen(env, 0), *b = make_pen(env, 0);
  for (int64_t index = 1; index < env->spec.cases && index < 10; index++) {
    FovRng rng;
    reset(env, a, index - 1, &rng);
    reset(env, b, index, &rng);
    // Two games may look alike at first and differ in the state.
    expect(!look_same(a, b) ||
               (a->state.size && memcmp(a->lane.state, b->lane.state, a->state.size) != 0),
           "cases %lld and %lld are the same", (long long)index - 1, (long long)index);
  }
}

static bool same_right_answer(const Pen *a, const Pen *b) {
  return a->target.size ? memcmp(a->lane.target, b->lane.target, a->target.size) == 0
                        : a->lane.label == b->lane.label;
}

/** Cases whose right answers differ must look different, even if all draws are the same. */
static void different_right_answers_look_different(const FovEnvType *type) {
  const FovEnv *env = create_or_give_up(type, FOV_SPLIT_TRAIN);
  Pen *a = make_pen(env, 0), *b = make_pen(env, 0);
  for (int64_t index = 1; index < env->spec.cases && index < 30; index++) {
    FovRng rng;
    reset(env, a, 0, &rng);
    rng = case_rng(0);
    expect(fov_env_try_reset(env, &b->lane, index, &rng) == FOV_OK, "%s", fov_error_message());
    expect(same_right_answer(a, b) || !look_same(a, b),
           "cases 0 and %lld have different right answers and look the same", (long long)index);
  }
}

/** The same case with the same answers gives the same episode, whatever the memory contained. */
static void a_step_is_a_pure_function(const FovEnvType *type) {
  const FovEnv *env = create_or_give_up(type, FOV_SPLIT_TRAIN);
  const FovEnv *again = create_or_give_up(type, FOV_SPLIT_TRAIN);
  Pen *a = make_pen(env, 0x00), *b = make_pen(again, 0xff);
  for (int64_t index = 0; index < env->spec.cases && index < 20; index++) {
    FovRng rng_a, rng_b;
    reset(env, a, index, &rng_a);
    reset(again, b, index, &rng_b);
    for (int step = 0; !ended(a); step++) {
      step_some(env, a, index, step, &rng_a);
      step_some(again, b, index, step, &rng_b);
      expect_same(a, b, "after the same steps from the same case");
      expect_same_draws(&rng_a, &rng_b, "in the same steps from the same case");
    }
  }
}

/** An episode ends after N steps at the latest; only episodes of moves are truncated. */
static void every_episode_ends(const FovEnvType *type) {
  const FovEnv *env = create_or_give_up(type, FOV_SPLIT_TEST);
  Pen *pen = make_pen(env, 0);
  for (int64_t index = 0; index < env->spec.cases && index < 50; index++) {
    FovRng rng;
    reset(env, pen, index, &rng);
    for (int step = 0; !ended(pen); step++) {
      expect(pen->lane.taken == step && step < env->spec.steps, "%d steps are counted as %d", step,
             pen->lane.taken);
      step_some(env, pen, index, step, &rng);
    }
    expect(pen->lane.terminated != pen->lane.truncated, "an episode ends in two ways");
    expect(env->spec.answer == FOV_ANSWER_MOVE || pen->lane.terminated,
           "case %lld does not end by itself within its %d steps", (long long)index,
           env->spec.steps);
  }
}

/** A step or a look writes the observation only if the spec declares it, and never the cue; an
 * observation that is declared to change does change. */
static void an_observation_changes_only_if_declared(const FovEnvType *type) {
  const FovEnv *env = create_or_give_up(type, FOV_SPLIT_TRAIN);
  Pen *pen = make_pen(env, 0), *before = make_pen(env, 0);
  bool changed = false;
  for (int64_t index = 0; index < env->spec.cases && index < 20; index++) {
    FovRng rng;
    reset(env, before, index, &rng);
    reset(env, pen, index, &rng);
    for (int step = 0; !ended(pen); step++) {
      step_some(env, pen, index, step, &rng);
      expect_same_array(&pen->cue, &before->cue, "cue", "after a step");
      changed = changed || !look_same(pen, before);
    }
  }
  expect(!changed || env->spec.changes,
         "a step changes the observation, but the spec does not declare it");
  expect(changed || !env->spec.changes, "declares observations that change, but never changes one");
}

static const FovEnv *ended_env;
static FovEnvLane ended_lane;
static FovAnswer ended_answer;

static void step_ended_lane(void) {
  FovRng rng = case_rng(0);
  fov_env_step(ended_env, &ended_lane, &ended_answer, &rng);
}

static void copy_pen(Pen *to, const Pen *from) {
  FovEnvLane lane = to->lane;
  memcpy(lane.observation, from->lane.observation, from->observation.size);
  if (from->cue.size) memcpy(lane.cue, from->lane.cue, from->cue.size);
  if (from->state.size) memcpy(lane.state, from->lane.state, from->state.size);
  to->lane = from->lane;
  to->lane.observation = lane.observation;
  to->lane.cue = lane.cue, to->lane.state = lane.state, to->lane.target = lane.target;
}

static void play(const FovEnv *env, Pen *pen, int64_t index) {
  FovRng rng;
  reset(env, pen, index, &rng);
  for (int step = 0; !ended(pen); step++) step_some(env, pen, index, step, &rng);
}

/** An ended episode does not change when others go on; a further step is a bug of the caller. */
static void an_ended_episode_does_not_change(const FovEnvType *type) {
  const FovEnv *env = create_or_give_up(type, FOV_SPLIT_TRAIN);
  Pen *pen = make_pen(env, 0), *end = make_pen(env, 1), *other = make_pen(env, 2);
  play(env, pen, 0);
  copy_pen(end, pen);
  play(env, other, env->spec.cases - 1);
  expect_same(pen, end, "after another lane's episode");
  ended_env = env, ended_lane = pen->lane, ended_answer = some_answer(env, pen, 0, 0);
  expect(aborts(step_ended_lane), "steps an episode that is over");
}

/** Only the label earns the reward, which is 1. */
static void the_label_earns_one(const FovEnv *env, Pen *pen) {
  for (int action = 0; action < env->spec.actions; action++) {
    FovRng rng;
    reset(env, pen, 0, &rng);
    int label = pen->lane.label;
    FovStatus status = fov_env_try_step(env, &pen->lane, &(FovAnswer){.action = action}, &rng);
    expect(status == FOV_OK, "step: %s", fov_error_message());
    expect(pen->lane.reward == (action == label), "answer %d to label %d earns %g", action, label,
           (double)pen->lane.reward);
  }
}

/** The reward of the target plus `error`. */
static float earn(const FovEnv *env, Pen *pen, float error) {
  FovRng rng;
  reset(env, pen, 0, &rng);
  float *vector = inside(&pen->vector);
  for (int i = 0; i < env->spec.actions; i++) vector[i] = pen->lane.target[i] + error;
  FovAnswer answer = {.action = -1, .vector = vector};
  expect(fov_env_try_step(env, &pen->lane, &answer, &rng) == FOV_OK, "step: %s",
         fov_error_message());
  return pen->lane.reward;
}

static void the_right_answer_earns_most(const FovEnvType *type) {
  const FovEnv *env = create_or_give_up(type, FOV_SPLIT_TEST);
  Pen *pen = make_pen(env, 0);
  if (env->spec.answer == FOV_ANSWER_CLASS) the_label_earns_one(env, pen);
  if (env->spec.answer != FOV_ANSWER_VECTOR) return;
  float right = earn(env, pen, 0), wrong = earn(env, pen, 10);
  expect(right > wrong, "the target earns %g, far from it earns %g", (double)right, (double)wrong);
}

/** A lane that is stepped in turns with another one, which is also reset in the middle, goes
 * through the same states as alone. */
static void lanes_share_nothing(const FovEnvType *type) {
  const FovEnv *env = create_or_give_up(type, FOV_SPLIT_TRAIN);
  Pen *alone = make_pen(env, 0), *mine = make_pen(env, 1), *other = make_pen(env, 2);
  FovRng rng_alone, rng_mine, rng_other;
  reset(env, mine, 0, &rng_mine);
  reset(env, other, env->spec.cases - 1, &rng_other);
  reset(env, alone, 0, &rng_alone);
  expect_same(alone, mine, "if another lane is reset");
  for (int step = 0; !ended(alone); step++) {
    if (ended(other) || step % 3 == 2) reset(env, other, step % env->spec.cases, &rng_other);
    step_some(env, other, 1, step, &rng_other);
    step_some(env, mine, 0, step, &rng_mine);
    step_some(env, alone, 0, step, &rng_alone);
    expect_same(alone, mine, "if another lane is stepped");
  }
}

enum { CROWD = 24 };

/** Lanes of one environment, each with its own case, and their results. */
typedef struct Crowd {
  const FovEnv *env;
  Pen *pens[CROWD];
  FovRng rng[CROWD];
  double earned[CROWD];
  char failure[CROWD][256]; // a worker must not leave the clause
} Crowd;

static void play_one(void *context, int lane, int worker) {
  (void)worker;
  Crowd *crowd = context;
  const FovEnv *env = crowd->env;
  Pen *pen = crowd->pens[lane];
  FovRng *rng = &crowd->rng[lane];
  int64_t index = lane % env->spec.cases;
  *rng = case_rng(index);
  FovStatus status = fov_env_try_reset(env, &pen->lane, index, rng);
  if (status == FOV_OK) status = try_look(env, pen, index, -1, rng);
  for (int step = 0; status == FOV_OK && !ended(pen); step++) {
    status = try_step(env, pen, index, step, rng);
    crowd->earned[lane] += (step + 1) * (double)pen->lane.reward;
  }
  if (status != FOV_OK) snprintf(crowd->failure[lane], 256, "%s", fov_error_message());
}

static void play_all(Crowd *crowd, int threads) {
  fov_team_run(threads, CROWD, play_one, crowd);
  for (int i = 0; i < CROWD; i++) expect(!*crowd->failure[i], "%s", crowd->failure[i]);
}

/** Four threads that play lanes of one environment give the same episodes as one thread. */
static void threads_change_nothing(const FovEnvType *type) {
  const FovEnv *env = create_or_give_up(type, FOV_SPLIT_TRAIN);
  static Crowd crowds[2];
  for (int k = 0; k < 2; k++) {
    crowds[k] = (Crowd){.env = env};
    for (int i = 0; i < CROWD; i++) crowds[k].pens[i] = make_pen(env, k * i);
  }
  play_all(&crowds[0], 1);
  play_all(&crowds[1], 4);
  for (int i = 0; i < CROWD; i++) {
    expect_same(crowds[0].pens[i], crowds[1].pens[i], "with four threads");
    expect_same_draws(&crowds[0].rng[i], &crowds[1].rng[i], "with four threads");
    expect(crowds[0].earned[i] == crowds[1].earned[i], "the return differs with four threads");
  }
}

static void refuses_missing_data(const FovEnvType *type) {
  if (!has_option(type, "data")) return;
  FovEnv env;
  FovStatus status = create(&env, type, FOV_SPLIT_TRAIN, "env.data=/nonexistent");
  bool left = env.impl != NULL;
  fov_env_finish(&env);
  expect(status != FOV_OK && !left, "accepts data that are missing");
  expect(strstr(fov_error_message(), "/nonexistent"), "'%s' lacks '/nonexistent'",
         fov_error_message());
}

static void expect_refused(const FovEnvType *type, const char *name, const char *value) {
  FovEnv env;
  char setting[128], key[64];
  snprintf(key, sizeof key, "env.%s", name);
  snprintf(setting, sizeof setting, "%s=%s", key, value);
  FovStatus status = create(&env, type, FOV_SPLIT_TRAIN, setting);
  fov_env_finish(&env);
  expect(status != FOV_OK, "accepts %s", setting);
  expect(strstr(fov_error_message(), key), "'%s' lacks '%s'", fov_error_message(), key);
}

/** Every option of the table has a range or choices; every other name is unknown. */
static void refuses_values_out_of_range(const FovEnvType *type) {
  expect_refused(type, "nonsense", "1");
  for (const FovOption *o = type->plugin.options; o && o->name; o++) {
    char beyond[64];
    bool number =
        o->type == FOV_OPTION_INT || o->type == FOV_OPTION_LONG || o->type == FOV_OPTION_REAL;
    if (o->type != FOV_OPTION_STRING) expect_refused(type, o->name, "nonsense");
    if (!number) continue;
    snprintf(beyond, sizeof beyond, "%.0f", o->min - 1);
    expect_refused(type, o->name, beyond);
    snprintf(beyond, sizeof beyond, "%.0f", o->max + 1);
    expect_refused(type, o->name, beyond);
  }
}

/* ---- running them ---- */

typedef struct Clause {
  const char *name;
  void (*check)(const FovEnvType *);
} Clause;

#define CLAUSE(name)                                                                               \
  { #name, name }

static const Clause clauses[] = {CLAUSE(is_complete),
                                 CLAUSE(has_a_valid_spec),
                                 CLAUSE(frees_its_memory),
                                 CLAUSE(a_reset_is_a_pure_function),
                                 CLAUSE(a_step_is_a_pure_function),
                                 CLAUSE(cases_differ),
                                 CLAUSE(different_right_answers_look_different),
                                 CLAUSE(every_episode_ends),
                                 CLAUSE(an_observation_changes_only_if_declared),
                                 CLAUSE(an_ended_episode_does_not_change),
                                 CLAUSE(the_right_answer_earns_most),
                                 CLAUSE(lanes_share_nothing),
                                 CLAUSE(threads_change_nothing),
                                 CLAUSE(refuses_missing_data),
                                 CLAUSE(refuses_values_out_of_range)};
enum { CLAUSES = sizeof clauses / sizeof *clauses };

static int check_table(const FovEnvType *const *table, const Clause *clause) {
  int broken = 0;
  for (; *table; table++)
    if (!keeps(*table, clause->check)) {
      print_error("%s\n", run.report);
      broken++;
    }
  return broken;
}

/** Runs the clause that is this test's initial state on every environment, and names those that
 * break it. */
static void check_all(void **state) {
  const Clause *clause = *state;
  assert_non_null(fov_envs[0]);
  int broken = check_table(fov_envs, clause) + check_table(kind_envs, clause);
  if (broken) fail_msg("%d environments break the contract: %s", broken, clause->name);
}

static const Clause *find_clause(const char *name) {
  for (int i = 0; i < CLAUSES; i++)
    if (!strcmp(clauses[i].name, name)) return &clauses[i];
  fail_msg("no clause is called %s", name);
  return NULL;
}

static void planted_bugs_are_caught(void **state) {
  (void)state;
  for (const BrokenEnv *broken = broken_envs; broken->clause; broken++) {
    const char *name = broken->type.plugin.name;
    if (keeps(&broken->type, find_clause(broken->clause)->check))
      fail_msg("%s does not catch %s", broken->clause, name);
    if (strncmp(run.report, name, strlen(name)) != 0 || !strstr(run.report, broken->words))
      fail_msg("'%s' lacks '%s' or '%s'", run.report, name, broken->words);
  }
}

static void the_table_finds_environments_by_name(void **state) {
  (void)state;
  for (const FovEnvType *const *type = fov_envs; *type; type++)
    assert_ptr_equal(fov_plugin_find((const FovPlugin *const *)fov_envs, (*type)->plugin.name),
                     *type);
}

/* ---- observations and answers that agents support ---- */

/** Observations and cues alike; NULL: supported. */
static void refuses_observations_that_no_agent_supports(void **state) {
  (void)state;
  static const char *const found[] = {"an image of 6 x 6 x 5 floats", NULL,
                                      "3 tokens of a vocabulary of 7", NULL};
  for (int i = 0; kind_envs[i]; i++) {
    FovEnv env;
    const char *name = kind_envs[i]->plugin.name;
    assert_int_equal(fov_env_create(&env, kind_envs[i], NULL, FOV_SPLIT_TRAIN), FOV_OK);
    for (int cue = 0; cue < 2; cue++) {
      char message[256];
      snprintf(message, sizeof message,
               "env = %s: %s: expected an image of 1 or 3 channels%s, found %s", name,
               cue ? "cue" : "observation", cue ? " or a vector" : ", a vector or a sequence",
               found[i] ? found[i] : "");
      // An agent may read a sequence, but not as a cue.
      bool refused = found[i] && (cue || env.spec.observation.kind != FOV_OBSERVATION_TOKENS);
      assert_int_equal(fov_spec_check(&env.spec, name), refused ? FOV_ERR_USAGE : FOV_OK);
      if (refused) assert_string_equal(fov_error_message(), message);
      env.spec.cue = env.spec.observation;
      env.spec.observation = fov_byte_image(2, 2, 1);
    }
    fov_env_finish(&env);
  }
}

static void a_lane_has_all_its_arrays(void **state) {
  (void)state;
  static const size_t bytes[] = {6 * 6 * 5 * 4, 4 * 4, 3 * 4 + 3 * 4, 6 * 6 + 2 * 2 + 2 * 4};
  FovArena arena = {0};
  for (int i = 0; kind_envs[i]; i++) {
    FovEnv env;
    assert_int_equal(fov_env_create(&env, kind_envs[i], NULL, FOV_SPLIT_TRAIN), FOV_OK);
    assert_int_equal(fov_env_lane_bytes(&env.spec), bytes[i]);
    FovEnvLane lane = fov_env_lane(&arena, &env.spec);
    assert_int_equal(lane.cue != NULL, i == 3);
    assert_int_equal(lane.target != NULL, i == 3);
    assert_int_equal(lane.state != NULL, i == 2);
    FovRng rng = case_rng(1);
    fov_env_reset(&env, &lane, 1, &rng);
    fov_env_finish(&env);
  }
  fov_arena_finish(&arena);
}

/* ---- what fov_env_step adds, on an environment that never ends by itself ---- */

enum { ENOUGH = 5 };

static FovStatus create_endless(void **impl, FovEnvSpec *spec, const void *options,
                                FovSplit split) {
  (void)options, (void)split;
  *impl = NULL;
  *spec = (FovEnvSpec){
      .observation = fov_byte_image(1, 1, 1), .actions = 2, .steps = ENOUGH, .cases = 3};
  return FOV_OK;
}

static void destroy_endless(void *impl) {
  (void)impl;
}

static void reset_endless(const void *impl, FovEnvLane *lane, int64_t index, FovRng *rng) {
  (void)impl, (void)index, (void)rng;
  fov_lane_pixels(lane)[0] = 0;
  lane->label = 1;
}

/** Ends at a wrong answer; the test always answers 1. */
static void step_endless(const void *impl, FovEnvLane *lane, const FovAnswer *answer, FovRng *rng) {
  (void)impl, (void)rng;
  lane->terminated = answer->action == 0;
}

static const FovEnvType endless_type = {.plugin = {.name = "endless", .help = "goes on"},
                                        .create = create_endless,
                                        .destroy = destroy_endless,
                                        .reset = reset_endless,
                                        .step = step_endless};

static FovEnv endless;
static FovRng endless_rng;
static uint8_t pixel;
static FovEnvLane endless_lane = {.observation = &pixel};

static void step_beyond(void) {
  fov_env_step(&endless, &endless_lane, &(FovAnswer){.action = 1}, &endless_rng);
}

static void act_beyond(void) {
  fov_env_step(&endless, &endless_lane, &(FovAnswer){.action = 2}, &endless_rng);
}

static void reset_beyond(void) {
  fov_env_reset(&endless, &endless_lane, 3, &endless_rng);
}

static void answer_with_a_vector(void) {
  fov_env_step(&endless, &endless_lane, &(FovAnswer){.action = 1, .vector = &(float){0}},
               &endless_rng);
}

static void answer_vector_with(float number) {
  endless.spec.answer = FOV_ANSWER_VECTOR;
  endless_lane.label = -1;
  fov_env_step(&endless, &endless_lane, &(FovAnswer){.action = -1, .vector = (float[]){0, number}},
               &endless_rng);
}

static void look_beyond(void) {
  fov_env_look(&endless, &endless_lane, (float[]){0, 1.5f}, &endless_rng);
}

static void answer_with_nan(void) {
  answer_vector_with(NAN);
}

static void answer_with_class_too(void) {
  endless.spec.answer = FOV_ANSWER_VECTOR;
  fov_env_step(&endless, &endless_lane, &(FovAnswer){.action = 0, .vector = (float[]){0, 0}},
               &endless_rng);
}

static void forget_the_label(void) {
  endless.spec.answer = FOV_ANSWER_MOVE;
  fov_env_reset(&endless, &endless_lane, 0, &endless_rng);
}

static void an_endless_episode_is_truncated(void **state) {
  (void)state;
  assert_int_equal(fov_env_create(&endless, &endless_type, NULL, FOV_SPLIT_TRAIN), FOV_OK);
  for (int round = 0; round < 2; round++) {
    fov_env_reset(&endless, &endless_lane, 0, &endless_rng);
    for (int step = 1; step <= ENOUGH; step++) {
      assert_false(fov_env_over(&endless_lane));
      fov_env_step(&endless, &endless_lane, &(FovAnswer){.action = 1}, &endless_rng);
      assert_int_equal(endless_lane.taken, step);
    }
    assert_true(endless_lane.truncated && !endless_lane.terminated);
    assert_true(aborts(step_beyond));
  }
  fov_env_finish(&endless);
}

static void an_end_at_the_last_step_is_not_a_truncation(void **state) {
  (void)state;
  assert_int_equal(fov_env_create(&endless, &endless_type, NULL, FOV_SPLIT_TRAIN), FOV_OK);
  fov_env_reset(&endless, &endless_lane, 0, &endless_rng);
  for (int step = 1; step <= ENOUGH; step++)
    fov_env_step(&endless, &endless_lane, &(FovAnswer){.action = step < ENOUGH}, &endless_rng);
  assert_true(endless_lane.terminated && !endless_lane.truncated);
  fov_env_finish(&endless);
}

static void a_callers_bugs_abort(void **state) {
  (void)state;
  assert_int_equal(fov_env_create(&endless, &endless_type, NULL, FOV_SPLIT_TRAIN), FOV_OK);
  fov_env_reset(&endless, &endless_lane, 2, &endless_rng);
  assert_false(aborts(step_beyond));
  assert_true(aborts(act_beyond));
  assert_true(aborts(reset_beyond));
  assert_true(aborts(look_beyond));
  assert_true(aborts(forget_the_label));
  assert_true(aborts(answer_with_a_vector));
  assert_true(aborts(answer_with_nan));
  assert_true(aborts(answer_with_class_too));
  fov_env_finish(&endless);
}

int main(void) {
  struct CMUnitTest tests[CLAUSES + 7] = {
      cmocka_unit_test(planted_bugs_are_caught),
      cmocka_unit_test(the_table_finds_environments_by_name),
      cmocka_unit_test(refuses_observations_that_no_agent_supports),
      cmocka_unit_test(a_lane_has_all_its_arrays),
      cmocka_unit_test(an_endless_episode_is_truncated),
      cmocka_unit_test(an_end_at_the_last_step_is_not_a_truncation),
      cmocka_unit_test(a_callers_bugs_abort),
  };
  for (int i = 0; i < CLAUSES; i++)
    tests[7 + i] = (struct CMUnitTest){
        .name = clauses[i].name, .test_func = check_all, .initial_state = (void *)&clauses[i]};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
