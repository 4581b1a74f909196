/**
 * catch: a paddle is moved under falling balls (Mnih et al. 2014, section 4.2).
 *
 * A ball of one pixel starts in the top row, in a column and a direction drawn uniformly: it drifts
 * by −1 to 1 columns a row, and bounces off the sides. A step moves the paddle, which lies in the
 * bottom row, by at most one column; then the ball falls. A ball that reaches the bottom row over
 * the paddle is caught, for a reward of 1. Each frame has new distracting pixels, lit anywhere.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "env.h"

enum { LEFT, STAY, RIGHT, ACTIONS };
static const char *const names[ACTIONS] = {[LEFT] = "left", [STAY] = "stay", [RIGHT] = "right"};

enum { CASES = 10000 };

typedef struct Options {
  int size, speed, paddle, distractors, balls;
} Options;

typedef struct State {
  float x, drift; // column of the ball, and its change with each row
  int row, paddle, balls;
} State;

static FovStatus create(void **env, FovEnvSpec *spec, const void *options, FovSplit split) {
  (void)split; // each split's cases get other generators
  const Options *o = options;
  *env = NULL;
  if (o->paddle > o->size)
    return fov_fail(FOV_ERR_USAGE, "env.paddle = %d: expected at most env.size = %d", o->paddle,
                    o->size);
  Options *game = malloc(sizeof *game);
  if (!game) return fov_fail(FOV_ERR_MEMORY, "no memory for a game");
  *env = game;
  *game = *o;
  int fall = (o->size - 1 + o->speed - 1) / o->speed;
  *spec = (FovEnvSpec){.observation = fov_byte_image(o->size, o->size, 1),
                       .answer = FOV_ANSWER_MOVE,
                       .actions = ACTIONS,
                       .names = names,
                       .steps = fall * o->balls,
                       .goal = (float)o->balls,
                       .changes = true,
                       .located = true,
                       .cases = CASES,
                       .state_size = sizeof(State)};
  return FOV_OK;
}

static void draw(const Options *game, FovEnvLane *lane, FovRng *rng) {
  const State *state = lane->state;
  uint8_t *image = fov_lane_pixels(lane);
  size_t size = (size_t)game->size, pixels = size * size;
  memset(image, 0, pixels);
  for (int i = 0; i < game->distractors; i++) image[fov_rng_below(rng, (uint32_t)pixels)] = 255;
  int column = (int)lroundf(state->x);
  image[(size_t)state->row * size + (size_t)column] = 255;
  lane->where[0] = fov_location_of(column, 1, game->size);
  lane->where[1] = fov_location_of(state->row, 1, game->size);
  memset(image + (size - 1) * size + state->paddle, 255, (size_t)game->paddle);
}

static void drop_ball(const Options *game, State *state, FovRng *rng) {
  state->row = 0;
  state->x = (float)fov_rng_below(rng, (uint32_t)game->size);
  state->drift = 2 * fov_rng_uniform(rng) - 1;
}

static void reset(const void *env, FovEnvLane *lane, int64_t index, FovRng *rng) {
  (void)index; // the generator differs from case to case
  const Options *game = env;
  State *state = memset(lane->state, 0, sizeof(State));
  state->paddle = (game->size - game->paddle) / 2;
  state->balls = game->balls;
  drop_ball(game, state, rng);
  draw(game, lane, rng);
}

static void move_paddle(const Options *game, State *state, int action) {
  int to = state->paddle + action - STAY, most = game->size - game->paddle;
  state->paddle = to < 0 ? 0 : to > most ? most : to;
}

static void fall_one_row(const Options *game, State *state) {
  float last = (float)(game->size - 1);
  state->row++;
  state->x += state->drift;
  if (state->x >= 0 && state->x <= last) return;
  state->x = state->x < 0 ? -state->x : 2 * last - state->x;
  state->drift = -state->drift;
}

static void step(const void *env, FovEnvLane *lane, const FovAnswer *answer, FovRng *rng) {
  const Options *game = env;
  State *state = lane->state;
  move_paddle(game, state, answer->action);
  for (int i = 0; i < game->speed && state->row < game->size - 1; i++) fall_one_row(game, state);
  if (state->row == game->size - 1) {
    long column = lroundf(state->x);
    lane->reward = column >= state->paddle && column < state->paddle + game->paddle;
    lane->terminated = --state->balls == 0;
    if (!lane->terminated) drop_ball(game, state, rng);
  }
  draw(game, lane, rng);
}

static const FovOption options_table[] = {
    FOV_INT(Options, size, "24", 4, 1024, "side of the screen, pixels"),
    FOV_INT(Options, speed, "1", 1, 64, "rows that a ball falls in a step"),
    FOV_INT(Options, paddle, "2", 1, 1024, "width of the paddle, pixels"),
    FOV_INT(Options, distractors, "0", 0, 100000, "distracting pixels lit anywhere in each frame"),
    FOV_INT(Options, balls, "1", 1, 64, "balls in an episode, one after another"),
    FOV_OPTIONS_END,
};

const FovEnvType fov_env_catch = {
    .plugin = {"catch", "a paddle under falling balls", options_table, sizeof(Options)},
    .create = create,
    .destroy = free,
    .reset = reset,
    .step = step,
};
