#include "toy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
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
  *spec = (FovEnvSpec){.observation = fov_byte_image(TOY_SIDE, TOY_SIDE, 1),
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

/** Logs the reset, with the generator's first number, which it returns. */
static uint32_t log_reset(int64_t index, FovRng *rng) {
  uint32_t draw = fov_rng_u32(rng);
  if (toy_resets < TOY_LOG) toy_log[toy_resets] = (ToyReset){.index = index, .draw = draw};
  toy_resets++;
  return draw;
}

/** Logs the reset, and sets the first pixel to the generator's first number. */
static void note_reset(FovEnvLane *lane, int64_t index, FovRng *rng) {
  fov_lane_pixels(lane)[0] = (uint8_t)log_reset(index, rng);
}

/** The label is a pattern on the left or the right; a cue in the centre shows the side. */
static void reset(const void *env, FovEnvLane *lane, int64_t index, FovRng *rng) {
  (void)env;
  bool right = index / TOY_ACTIONS % 2;
  lane->label = (int)(index % TOY_ACTIONS);
  memset(fov_lane_pixels(lane), 0, TOY_SIDE * TOY_SIDE);
  draw_patch(fov_lane_pixels(lane), CENTRE + (right ? REACH : -REACH), lane->label);
  if (right) draw_patch(fov_lane_pixels(lane), CENTRE, 0);
  note_reset(lane, index, rng);
}

static void step(const void *env, FovEnvLane *lane, const FovAnswer *answer, FovRng *rng) {
  (void)env, (void)rng;
  lane->reward = answer->action == lane->label;
  lane->terminated = true;
}

static const FovOption options_table[] = {
    FOV_INT(Options, cases, "48", 1, 100000, "distinct cases"), FOV_OPTIONS_END};

static const FovEnvType toy_env = {
    .plugin = {"toy", "a pattern on the side that a cue shows", options_table, sizeof(Options)},
    .create = create,
    .destroy = destroy,
    .reset = reset,
    .step = step};

/* ---- labels in turn ---- */

typedef struct Reader {
  int64_t index;
  int read;
} Reader;

int toy_turns_count(int64_t index) {
  return 1 + (int)(index % TOY_TURNS);
}

int toy_turns_label(int64_t index, int turn) {
  return (int)((index / TOY_TURNS + turn * (1 + index % 2)) % TOY_ACTIONS);
}

static FovStatus create_turns(void **env, FovEnvSpec *spec, const void *options, FovSplit split) {
  FovStatus status = create(env, spec, options, split);
  spec->steps = TOY_TURNS;
  spec->located = true;
  spec->state_size = sizeof(Reader);
  return status;
}

/** Sets the lane's next label, and where its pattern is. */
static void show_turn(FovEnvLane *lane, const Reader *reader) {
  lane->label = toy_turns_label(reader->index, reader->read);
  lane->where[0] = fov_location_of(CENTRE + (reader->read - 1) * REACH, 0, TOY_SIDE);
  lane->where[1] = fov_location_of(CENTRE, 0, TOY_SIDE);
}

/** All patterns are shown side by side, whatever the number of labels. */
static void reset_turns(const void *env, FovEnvLane *lane, int64_t index, FovRng *rng) {
  (void)env;
  memset(fov_lane_pixels(lane), 0, TOY_SIDE * TOY_SIDE);
  for (int turn = 0; turn < TOY_TURNS; turn++)
    draw_patch(fov_lane_pixels(lane), CENTRE + (turn - 1) * REACH, toy_turns_label(index, turn));
  memset(lane->state, 0, sizeof(Reader));
  ((Reader *)lane->state)->index = index;
  show_turn(lane, lane->state);
  note_reset(lane, index, rng);
}

static void step_turns(const void *env, FovEnvLane *lane, const FovAnswer *answer, FovRng *rng) {
  (void)env, (void)rng;
  Reader *reader = lane->state;
  lane->reward = answer->action == lane->label;
  lane->terminated = ++reader->read == toy_turns_count(reader->index);
  lane->label = -1;
  if (!lane->terminated) show_turn(lane, reader);
}

/* ---- a game ---- */

typedef struct Game {
  int x;
} Game;

static FovStatus create_game(void **env, FovEnvSpec *spec, const void *options, FovSplit split) {
  FovStatus status = create(env, spec, options, split);
  spec->steps = TOY_MOVES;
  spec->answer = FOV_ANSWER_MOVE;
  spec->changes = true;
  spec->goal = 0.5f;
  spec->state_size = sizeof(Game);
  return status;
}

static void draw_game(FovEnvLane *lane) {
  memset(fov_lane_pixels(lane), 0, TOY_SIDE * TOY_SIDE);
  draw_patch(fov_lane_pixels(lane), ((const Game *)lane->state)->x, 0);
}

static void reset_game(const void *env, FovEnvLane *lane, int64_t index, FovRng *rng) {
  (void)env;
  int distance = 2 + 2 * (int)(index / 2 % 3);
  *(Game *)lane->state = (Game){.x = CENTRE + (index % 2 ? distance : -distance)};
  draw_game(lane);
  note_reset(lane, index, rng);
}

/** Two columns left, none, two right; one move in four slips. A move costs 1/16, the middle pays.
 */
static void step_game(const void *env, FovEnvLane *lane, const FovAnswer *answer, FovRng *rng) {
  (void)env;
  Game *game = lane->state;
  int x = game->x + (fov_rng_below(rng, 4) == 0 ? 0 : 2 * (answer->action - 1));
  game->x = x < PATCH ? PATCH : x > TOY_SIDE - PATCH ? TOY_SIDE - PATCH : x;
  lane->terminated = game->x == CENTRE;
  lane->reward = (lane->terminated ? 1 : 0) - 0.0625f;
  draw_game(lane);
}

/* ---- vectors ---- */

static FovStatus create_find(void **env, FovEnvSpec *spec, const void *options, FovSplit split) {
  FovStatus status = create(env, spec, options, split);
  spec->cue = fov_byte_image(PATCH, PATCH, 1);
  spec->answer = FOV_ANSWER_VECTOR;
  spec->actions = 2;
  spec->steps = 2;
  spec->goal = -1;
  spec->place[0] = spec->place[1] = 0.5f;
  spec->state_size = sizeof(Reader);
  return status;
}

/** The numbers are the patch's column and pattern; cases with odd numbers ask twice. */
static void reset_find(const void *env, FovEnvLane *lane, int64_t index, FovRng *rng) {
  (void)env;
  int x = CENTRE + 2 * (int)(index % 5 - 2), pattern = (int)(index % TOY_ACTIONS);
  uint8_t *image = fov_lane_pixels(lane), *cue = lane->cue;
  memset(image, 0, TOY_SIDE * TOY_SIDE);
  draw_patch(image, x, pattern);
  for (int i = 0; i < PATCH * PATCH; i++)
    cue[i] = image[(CENTRE - PATCH / 2 + i / PATCH) * TOY_SIDE + x - PATCH / 2 + i % PATCH];
  *(Reader *)lane->state = (Reader){.index = index};
  lane->target[0] = (float)(x - CENTRE) / 5;
  lane->target[1] = (float)(pattern - 1);
  note_reset(lane, index, rng);
}

static void step_find(const void *env, FovEnvLane *lane, const FovAnswer *answer, FovRng *rng) {
  (void)env, (void)rng;
  lane->reward = -fov_vector_loss(answer->vector, lane->target, 2);
  lane->terminated = lane->taken == ((const Reader *)lane->state)->index % 2;
}

static FovStatus create_walk(void **env, FovEnvSpec *spec, const void *options, FovSplit split) {
  FovStatus status = create(env, spec, options, split);
  spec->observation = (FovObservation){.kind = FOV_OBSERVATION_VECTOR, .length = TOY_SEEN};
  spec->answer = FOV_ANSWER_VECTOR;
  spec->actions = 2;
  spec->steps = TOY_WALK;
  spec->goal = 1;
  spec->place[0] = spec->place[1] = 1;
  spec->changes = true;
  return status;
}

static void reset_walk(const void *env, FovEnvLane *lane, int64_t index, FovRng *rng) {
  (void)env;
  float *seen = lane->observation;
  log_reset(index, rng);
  for (int j = 0; j < TOY_SEEN; j++) seen[j] = -1;
  for (int j = 0; j < 2; j++) lane->target[j] = 0;
}

/** Shows x and y with a little noise, the answers so far and 0.5. */
static void look_walk(const void *env, FovEnvLane *lane, const float place[2], FovRng *rng) {
  (void)env;
  float *seen = lane->observation;
  for (int j = 0; j < 2; j++) {
    seen[j] = place[j] + 0.125f * fov_rng_uniform(rng);
    lane->target[j] = place[1 - j];
  }
  seen[2] = (float)lane->taken;
  seen[3] = 0.5f;
  lane->terminated = lane->taken > 0 && fabsf(place[0]) > (float)TOY_EDGE;
}

static void step_walk(const void *env, FovEnvLane *lane, const FovAnswer *answer, FovRng *rng) {
  (void)env, (void)rng;
  lane->reward = 1 - fov_vector_loss(answer->vector, lane->target, 2);
  lane->terminated = lane->taken + 1 == TOY_WALK;
}

/* ---- symbols ---- */

int toy_letters_length(int64_t index) {
  return 1 + (int)(index % TOY_LETTERS);
}

static FovStatus create_letters(void **env, FovEnvSpec *spec, const void *options, FovSplit split) {
  FovStatus status = create(env, spec, options, split);
  spec->observation =
      (FovObservation){.kind = FOV_OBSERVATION_TOKENS, .length = TOY_ROOM, .vocabulary = 4};
  spec->steps = TOY_LETTERS + 1;
  spec->state_size = sizeof(int);
  return status;
}

/** Shows what is to be answered next; `read` symbols have been. */
static void show_letter(FovEnvLane *lane, int read) {
  const int32_t *letters = lane->observation;
  int length = 0;
  while (length < TOY_LETTERS && letters[length] >= 0) length++;
  int at = length - 1 - read;
  *(int *)lane->state = read;
  lane->label = at < 0 ? 2 : letters[at] % 2;
  if (at >= 0) lane->from = (FovAlignment){.sure = at, .first = at, .last = at};
}

static void reset_letters(const void *env, FovEnvLane *lane, int64_t index, FovRng *rng) {
  (void)env;
  int32_t *letters = lane->observation;
  for (int i = 0; i < TOY_ROOM; i++)
    letters[i] =
        i < toy_letters_length(index) ? (int32_t)(index / TOY_LETTERS * (i + 1) + i) % 4 : -1;
  show_letter(lane, 0);
  log_reset(index, rng);
}

static void step_letters(const void *env, FovEnvLane *lane, const FovAnswer *answer, FovRng *rng) {
  (void)env, (void)rng;
  lane->reward = answer->action == lane->label;
  lane->terminated = lane->label == 2;
  if (!lane->terminated) show_letter(lane, *(int *)lane->state + 1);
}

#define TOY_WORLD(kind, label, text)                                                               \
  static const FovEnvType toy_##kind = {.plugin = {label, text, options_table, sizeof(Options)},   \
                                        .create = create_##kind,                                   \
                                        .destroy = destroy,                                        \
                                        .reset = reset_##kind,                                     \
                                        .step = step_##kind}

TOY_WORLD(turns, "toy_turns", "patterns to name in turn");
TOY_WORLD(game, "toy_game", "a patch to move to the middle");
TOY_WORLD(letters, "toy_letters", "odd symbols to find, from the last one on");
TOY_WORLD(find, "toy_find", "column and pattern of the patch that a cue shows");

static const FovEnvType toy_walk = {
    .plugin = {"toy_walk", "a place to guess", options_table, sizeof(Options)},
    .create = create_walk,
    .destroy = destroy,
    .reset = reset_walk,
    .step = step_walk,
    .look = look_walk};

const FovEnvType *const fov_envs[] = {&toy_env,  &toy_turns,   &toy_game, &toy_find,
                                      &toy_walk, &toy_letters, NULL};

static const char base[] = "glimpses = 3\n"
                           "core.width = 12\n"
                           "sensor.side = 4\n"
                           "sensor.scales = 1\n"
                           "encoder.width = 8\n"
                           "glimpse.where = 8\n"
                           "glimpse.width = 12\n"
                           "train.episodes = 10000\n"
                           "train.batch = 32\n";

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

real *toy_copy(const Toy *toy, const real *block) {
  real *copy = fov_params_block(&toy->experiment.agent.params);
  assert_non_null(copy);
  return memcpy(copy, block, toy_block_bytes(toy));
}

real *toy_lively_values(const Toy *toy) {
  const FovParams *params = &toy->experiment.agent.params;
  real *values = fov_params_block(params);
  assert_non_null(values);
  fov_params_init(values, params, 5);
  FovRng rng = fov_rng_stream(5, FOV_STREAM_INIT, 1000);
  for (int i = 0; i < params->count; i++)
    for (size_t j = 0; j < toy_count(&params->list[i]); j++)
      values[params->list[i].offset + j] += (real)0.4 * fov_rng_normal(&rng);
  return values;
}

const FovParam *toy_param(const Toy *toy, const char *name) {
  const FovParams *params = &toy->experiment.agent.params;
  for (int i = 0; i < params->count; i++)
    if (!strcmp(params->list[i].name, name)) return &params->list[i];
  fail_msg("no parameter %s", name);
  return NULL;
}

size_t toy_count(const FovParam *param) {
  return (size_t)param->rows * (size_t)param->cols;
}

bool toy_is_of(const FovParam *param, const char *prefix) {
  return !strncmp(param->name, prefix, strlen(prefix));
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
