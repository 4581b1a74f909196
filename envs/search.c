/**
 * search: one bright T among distractors, on a canvas that is large for a glimpse; which way does
 * its stem point? After the visual search of Treisman and Gelade (1980).
 *
 * The canvas is divided into N × N tiles with an item each. An item is a T or an L of 3 × 3 blocks,
 * five of which are lit, so T and L look the same where they are not resolved; a block is `stroke`
 * pixels wide and high. Items are bright (1) or dim. One tile, the target's, has a bright T; the
 * distractors of the others point in random directions, too, so only the target has the answer:
 *
 *     feature       dim L's: the target is the only bright item
 *     conjunction   bright L's and dim T's, with equal probability
 *     shape         bright L's: the target is the only T
 *
 * The target's direction is the case's number modulo 4. A reset draws the target's tile; for each
 * tile by rows the distractor's kind (conjunction only) and direction, and the item's x and y; then
 * the noise. All are uniform.
 */
#include <stdlib.h>
#include <string.h>

#include "base/real.h"
#include "env.h"

enum { BLOCKS = 3, CASES = 10000, MOST_SIDE = 4096 };
enum { T, L, SHAPES };
enum { UP, RIGHT, DOWN, LEFT, DIRECTIONS };
enum { FEATURE, CONJUNCTION, SHAPE };
static const char *const kinds[] = {"feature", "conjunction", "shape", NULL};
static const char *const names[DIRECTIONS] = {"up", "right", "down", "left"};

static const char shapes[SHAPES][DIRECTIONS][BLOCKS][BLOCKS + 1] = {
    [T] = {[UP] = {".#.", ".#.", "###"},
           [RIGHT] = {"#..", "###", "#.."},
           [DOWN] = {"###", ".#.", ".#."},
           [LEFT] = {"..#", "###", "..#"}},
    [L] = {[UP] = {"#..", "#..", "###"},
           [RIGHT] = {"###", "#..", "#.."},
           [DOWN] = {"###", "..#", "..#"},
           [LEFT] = {"..#", "..#", "###"}},
};

typedef struct Options {
  int size, tiles, kind, stroke, noise, steps;
  double dim, jitter;
} Options;

typedef struct Item {
  int shape, direction;
  bool bright;
} Item;

static FovStatus check_size(const Options *o) {
  int side = o->size / o->tiles, item = BLOCKS * o->stroke;
  if (item <= side) return FOV_OK;
  return fov_fail(FOV_ERR_USAGE,
                  "env.stroke = %d: expected items that fit in a tile of %d x %d pixels, found "
                  "items of %d x %d; make env.size larger or env.tiles smaller",
                  o->stroke, side, side, item, item);
}

static FovStatus create(void **env, FovEnvSpec *spec, const void *options, FovSplit split) {
  (void)split; // each split's cases get other generators
  const Options *o = options;
  *env = NULL;
  FOV_TRY(check_size(o));
  Options *world = *env = malloc(sizeof *world);
  if (!world) return fov_fail(FOV_ERR_MEMORY, "no memory for an environment");
  *world = *o;
  *spec = (FovEnvSpec){.observation = fov_byte_image(o->size, o->size, 1),
                       .answer = FOV_ANSWER_CLASS,
                       .actions = DIRECTIONS,
                       .names = names,
                       .steps = o->steps,
                       .last = o->steps > 1,
                       .located = true,
                       .cases = CASES};
  return FOV_OK;
}

static Item draw_distractor(const Options *world, FovRng *rng) {
  bool dim_t = world->kind == CONJUNCTION && fov_rng_below(rng, 2);
  return (Item){.shape = dim_t ? T : L,
                .direction = (int)fov_rng_below(rng, DIRECTIONS),
                .bright = !dim_t && world->kind != FEATURE};
}

/** First pixel of an item along one axis of tile i. */
static int draw_place(const Options *world, int i, FovRng *rng) {
  int free = world->size / world->tiles - BLOCKS * world->stroke;
  int room = (int)(world->jitter * free);
  return i * world->size / world->tiles + (free - room) / 2 +
         (int)fov_rng_below(rng, (uint32_t)room + 1);
}

static void paint(uint8_t *image, const Options *world, const Item *item, int x, int y) {
  int stroke = world->stroke, value = item->bright ? 255 : (int)(255 * world->dim + 0.5);
  for (int row = 0; row < BLOCKS * stroke; row++)
    for (int block = 0; block < BLOCKS; block++)
      if (shapes[item->shape][item->direction][row / stroke][block] == '#')
        memset(image + (y + row) * world->size + x + block * stroke, value, (size_t)stroke);
}

/** Adds byte · (noise + 1) / 256, rounded down, to each pixel, clamped at 255. */
FOV_KERNEL static void add_noise_bytes(uint8_t *restrict image, const uint8_t *restrict bytes,
                                       int pixels, int noise) {
  for (int i = 0; i < pixels; i++) {
    uint16_t sum = (uint16_t)(image[i] + (bytes[i] * (noise + 1) >> 8));
    image[i] = (uint8_t)(sum < 255 ? sum : 255);
  }
}

/** Adds a number from 0 … noise to each pixel; a draw serves four of a row. */
static void add_noise(uint8_t *image, const Options *world, FovRng *rng) {
  uint8_t bytes[MOST_SIDE];
  for (int row = 0; row < world->size; row++) {
    for (int i = 0; i < world->size; i += 4) {
      uint32_t draw = fov_rng_u32(rng);
      for (int j = 0; j < 4; j++) bytes[i + j] = (uint8_t)(draw >> 8 * j);
    }
    add_noise_bytes(image + row * world->size, bytes, world->size, world->noise);
  }
}

static void reset(const void *env, FovEnvLane *lane, int64_t index, FovRng *rng) {
  const Options *world = env;
  int tiles = world->tiles, target = (int)fov_rng_below(rng, (uint32_t)(tiles * tiles));
  uint8_t *image = fov_lane_pixels(lane);
  memset(image, 0, (size_t)world->size * (size_t)world->size);
  lane->label = (int)(index % DIRECTIONS);
  for (int tile = 0; tile < tiles * tiles; tile++) {
    Item item = {.shape = T, .direction = lane->label, .bright = true};
    if (tile != target) item = draw_distractor(world, rng);
    int x = draw_place(world, tile % tiles, rng), y = draw_place(world, tile / tiles, rng);
    paint(image, world, &item, x, y);
    if (tile != target) continue;
    lane->where[0] = fov_location_of(x, BLOCKS * world->stroke, world->size);
    lane->where[1] = fov_location_of(y, BLOCKS * world->stroke, world->size);
  }
  if (world->noise) add_noise(image, world, rng);
}

static void step(const void *env, FovEnvLane *lane, const FovAnswer *answer, FovRng *rng) {
  (void)rng;
  lane->reward = answer->action == lane->label;
  lane->terminated = lane->taken + 1 == ((const Options *)env)->steps;
}

static const FovOption options_table[] = {
    FOV_INT(Options, size, "200", 9, MOST_SIDE, "side of the canvas, pixels"),
    FOV_INT(Options, tiles, "5", 1, 64, "N: items across and down"),
    FOV_CHOICE(Options, kind, "feature", kinds,
               "what the others are: dim L's; bright L's and dim T's; bright L's"),
    FOV_INT(Options, stroke, "3", 1, 256, "width of an item's lines, a third of its side, pixels"),
    FOV_REAL(Options, dim, "0.5", 0, 0.9, "brightness of dim items; of bright ones: 1"),
    FOV_REAL(Options, jitter, "1", 0, 1,
             "share of a tile's free space that its item is placed in; 0: all in the middle"),
    FOV_INT(Options, noise, "0", 0, 255, "most that is added to each pixel, of 255"),
    FOV_INT(Options, steps, "1", 1, 1024, "answers of an episode"),
    FOV_OPTIONS_END,
};

const FovEnvType fov_env_search = {
    .plugin = {"search", "the odd one of many items (Treisman and Gelade 1980)", options_table,
               sizeof(Options)},
    .create = create,
    .destroy = free,
    .reset = reset,
    .step = step,
};
