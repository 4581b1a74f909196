/** The rules of each environment: the physics of catch; the images and labels of pairs, sequence,
 * circle_square and search; the patches of locate; the light of light_dark. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "check.h"
#include "config/config.h"
#include "env.h"
#include "sensor/sensor.h"

/* ---- digits for tests: n is a box of 4 x 3 pixels of brightness 10 + 11 n ---- */

enum { DIGITS = 10, H = 4, W = 3, MOST = 64 };

static char folder[256], images[300], labels[300];

static int write_digits(void **state) {
  (void)state;
  const char *tmp = getenv("TMPDIR");
  uint8_t bytes[16 + DIGITS * H * W] = {0, 0, 8, 3, 0, 0, 0, DIGITS, 0, 0, 0, H, 0, 0, 0, W};
  uint8_t names[8 + DIGITS] = {0, 0, 8, 1, 0, 0, 0, DIGITS};
  for (int n = 0; n < DIGITS; n++) {
    memset(bytes + 16 + n * H * W, 10 + 11 * n, H * W);
    names[8 + n] = (uint8_t)n;
  }
  snprintf(folder, sizeof folder, "%s/fovea-environments-XXXXXX", tmp ? tmp : "/tmp");
  if (!mkdtemp(folder)) return -1;
  snprintf(images, sizeof images, "%s/images", folder);
  snprintf(labels, sizeof labels, "%s/labels", folder);
  return fov_file_write(images, bytes, sizeof bytes) != FOV_OK ||
         fov_file_write(labels, names, sizeof names) != FOV_OK;
}

static int remove_digits(void **state) {
  (void)state;
  return unlink(images) || unlink(labels) || rmdir(folder);
}

static FovStatus create(FovEnv *env, const char *settings) {
  FovSlot slot = {.key = "env", .table = (const FovPlugin *const *)fov_envs, .fallback = "catch"};
  FovConfig config = {.slots = &slot, .slot_count = 1};
  FovSettings *parsed;
  char text[1024];
  bool digits =
      strncmp(settings, "env = pairs", 11) == 0 || strncmp(settings, "env = seq", 9) == 0 ||
      strncmp(settings, "env = images", 12) == 0 || strncmp(settings, "env = locate", 12) == 0;
  snprintf(text, sizeof text,
           digits ? "%s\nenv.images = %s\nenv.labels = %s\nenv.divide = no\n" : "%s\n", settings,
           images, labels);
  *env = (FovEnv){0};
  FovStatus status = fov_settings_create(&parsed);
  if (status == FOV_OK) status = fov_settings_parse(parsed, text, "the test");
  if (status == FOV_OK) status = fov_config_resolve(&config, parsed);
  if (status == FOV_OK)
    status = fov_env_create(env, (const FovEnvType *)slot.plugin, slot.values, FOV_SPLIT_TEST);
  fov_config_finish(&config);
  fov_settings_destroy(parsed);
  return status;
}

/** An environment, one lane of it, and the generator of the lane's episode. */
typedef struct World {
  FovEnv env;
  FovEnvLane lane;
  FovRng rng;
  uint8_t image[MOST * MOST];
  max_align_t state[32];
} World;

static World *make_world(const char *settings) {
  World *world = calloc(1, sizeof *world);
  assert_non_null(world);
  if (create(&world->env, settings) != FOV_OK) fail_msg("%s", fov_error_message());
  assert_true(world->env.spec.observation.width <= MOST &&
              world->env.spec.observation.height <= MOST);
  assert_true(world->env.spec.state_size <= sizeof world->state);
  world->lane = (FovEnvLane){.observation = world->image, .state = world->state};
  return world;
}

static void free_world(World *world) {
  fov_env_finish(&world->env);
  free(world);
}

static void assert_refused(const char *settings, const char *message) {
  FovEnv env;
  assert_int_equal(create(&env, settings), FOV_ERR_USAGE);
  if (!strstr(fov_error_message(), message))
    fail_msg("'%s' lacks '%s'", fov_error_message(), message);
  fov_env_finish(&env);
}

/** Starts episode `number`, on a case of its own. */
static void start(World *world, int number) {
  world->rng = fov_rng_stream(5, FOV_STREAM_ENV, (uint64_t)number);
  fov_env_reset(&world->env, &world->lane, number % world->env.spec.cases, &world->rng);
}

static void step(World *world, int action) {
  fov_env_step(&world->env, &world->lane, &(FovAnswer){.action = action}, &world->rng);
}

static uint8_t pixel(const World *world, int y, int x) {
  return world->image[y * world->env.spec.observation.width + x];
}

/** Σ (seen − expected)² / expected over equally likely outcomes. */
static double chi2_of(const int *seen, int outcomes) {
  double sum = 0, total = 0;
  for (int i = 0; i < outcomes; i++) total += seen[i];
  for (int i = 0; i < outcomes; i++) sum += pow(seen[i] - total / outcomes, 2) * outcomes / total;
  return sum;
}

/* ---- digits on a canvas ---- */

typedef struct Box {
  int digit, x, y;
} Box;

/** Asks for what covers height × width pixels from (x, y) on. */
static void assert_asks_for(const FovEnv *env, const FovEnvLane *lane, int x, int y, int width,
                            int height) {
  const FovObservation *o = &env->spec.observation;
  assert_true(env->spec.located);
  assert_near(lane->where[0], (x + width / 2.) / o->width * 2 - 1, 1e-6, "column %d", x);
  assert_near(lane->where[1], (y + height / 2.) / o->height * 2 - 1, 1e-6, "row %d", y);
}

/** Removes the first digit from the canvas, column by column; it must be complete. digit: −1: there
 * is none. */
static Box take_box(World *world) {
  int width = world->env.spec.observation.width, height = world->env.spec.observation.height;
  for (int x = 0; x < width; x++)
    for (int y = 0; y < height; y++) {
      int value = pixel(world, y, x);
      if (value == 0) continue;
      assert_true(x + W <= width && y + H <= height && (value - 10) % 11 == 0);
      for (int i = 0; i < H * W; i++) {
        assert_int_equal(pixel(world, y + i / W, x + i % W), value);
        world->image[(y + i / W) * width + x + i % W] = 0;
      }
      return (Box){(value - 10) / 11, x, y};
    }
  return (Box){.digit = -1};
}

/* ---- pairs ---- */

/** Every label is the name of the two digits, the lower first; all 55 occur. */
static void pairs_have_a_name_each(void **state) {
  (void)state;
  World *world = make_world("env = pairs\nenv.size = 20");
  bool seen[55] = {false};
  assert_int_equal(world->env.spec.actions, 55);
  assert_int_equal(world->env.spec.steps, 1);
  for (int number = 0; number < 4000; number++) {
    start(world, number);
    Box a = take_box(world), b = take_box(world);
    char name[16];
    assert_int_equal(take_box(world).digit, -1);
    // One of the two is the picture of the case.
    assert_true(a.digit == number % DIGITS || b.digit == number % DIGITS);
    snprintf(name, sizeof name, "%d %d", a.digit < b.digit ? a.digit : b.digit,
             a.digit < b.digit ? b.digit : a.digit);
    assert_string_equal(world->env.spec.names[world->lane.label], name);
    seen[world->lane.label] = true;
  }
  for (int i = 0; i < 55; i++) {
    assert_true(seen[i]);
    for (int j = 0; j < i; j++)
      assert_string_not_equal(world->env.spec.names[i], world->env.spec.names[j]);
  }
  free_world(world);
}

static void pairs_may_be_summed(void **state) {
  (void)state;
  World *world = make_world("env = pairs\nenv.size = 20\nenv.answer = sum");
  assert_int_equal(world->env.spec.actions, 19);
  assert_null(world->env.spec.names);
  for (int number = 0; number < 200; number++) {
    start(world, number);
    assert_int_equal(world->lane.label, take_box(world).digit + take_box(world).digit);
  }
  free_world(world);
}

/** Pixels that both digits cover. */
static int overlap_of(const World *world) {
  int lit = 0;
  for (int i = 0; i < world->env.spec.observation.height * world->env.spec.observation.width; i++)
    lit += world->image[i] != 0;
  return 2 * H * W - lit;
}

static void pairs_overlap_only_if_allowed(void **state) {
  (void)state;
  World *apart = make_world("env = pairs\nenv.size = 8"), *any = NULL;
  any = make_world("env = pairs\nenv.size = 8\nenv.apart = no\nenv.answer = sum");
  int overlapping = 0;
  for (int number = 0; number < 1000; number++) {
    start(apart, number), start(any, number);
    assert_int_equal(overlap_of(apart), 0);
    int light = 0, overlap = overlap_of(any);
    for (int i = 0; i < 8 * 8; i++) light += any->image[i];
    assert_int_equal(light, H * W * (20 + 11 * any->lane.label));
    assert_in_range(overlap, 0, H * W);
    overlapping += overlap > 0;
  }
  assert_in_range(overlapping, 400, 999);
  assert_refused("env = pairs\nenv.size = 5",
                 "expected a canvas on which two images of 3 x 4 pixels");
  // A canvas of 6 x 6 has space for two side by side, but not for one above the other.
  free_world(make_world("env = pairs\nenv.size = 6"));
  free_world(make_world("env = pairs\nenv.size = 5\nenv.apart = no"));
  free_world(apart), free_world(any);
}

/* ---- images ---- */

static void pictures_may_be_anywhere(void **state) {
  (void)state;
  World *world = make_world("env = images\nenv.size = 8\nenv.place = anywhere");
  int places[5 * 6] = {0};
  for (int number = 0; number < 4000; number++) {
    start(world, number);
    Box box = take_box(world);
    assert_int_equal(box.digit, world->lane.label);
    assert_asks_for(&world->env, &world->lane, box.x, box.y, W, H);
    places[6 * box.y + box.x]++;
  }
  assert_true(chi2_of(places, 5 * 6) < 58.3); // 29 degrees of freedom: once in a thousand
  free_world(world);
}

/* ---- sequence ---- */

static void sequences_are_read_from_left_to_right(void **state) {
  (void)state;
  World *world = make_world("env = sequence\nenv.size = 20\nenv.length = 4\nenv.least = 2");
  const FovEnvSpec *spec = &world->env.spec;
  int counts[3] = {0};
  assert_int_equal(spec->actions, 11);
  assert_int_equal(spec->steps, 5);
  assert_string_equal(spec->names[3], "3");
  assert_string_equal(spec->names[10], "end");
  for (int number = 0; number < 3000; number++) {
    start(world, number);
    int count = 0;
    for (Box box; (box = take_box(world)).digit >= 0; count++) {
      if (count == 0) assert_int_equal(box.digit, number % DIGITS);
      assert_int_equal(world->lane.label, box.digit);
      assert_asks_for(&world->env, &world->lane, box.x, box.y, W, H);
      // A wrong answer does not end the episode.
      bool right = (number + count) % 2;
      step(world, right ? box.digit : 10);
      assert_true(world->lane.reward == right && !fov_env_over(&world->lane));
    }
    assert_int_equal(world->lane.label, 10);
    assert_true(isnan(world->lane.where[0]));
    step(world, 10);
    assert_true(world->lane.reward == 1 && world->lane.terminated);
    assert_int_equal(world->lane.taken, count + 1);
    assert_in_range(count, 2, 4);
    counts[count - 2]++;
  }
  assert_true(chi2_of(counts, 3) < 13.8); // 2 degrees of freedom: exceeded once in a thousand
  free_world(world);
}

static void sequences_are_uniform_over_the_free_space(void **state) {
  (void)state;
  // Two columns are free, before, between or after the digits; each digit draws one of 3 places.
  World *world = make_world("env = sequence\nenv.size = 8\nenv.length = 2");
  int columns[9] = {0}, rows[5 * 5] = {0};
  for (int number = 0; number < 9000; number++) {
    start(world, number);
    Box a = take_box(world), b = take_box(world);
    int first = a.x, second = b.x - W;
    assert_true(first >= 0 && first <= second && second <= 2);
    // A combination with two orders is twice as likely.
    bool swapped = number % 2 && first != second;
    columns[swapped ? 3 * second + first : 3 * first + second]++;
    rows[5 * a.y + b.y]++;
  }
  assert_true(chi2_of(columns, 9) < 26.1); // 8 degrees of freedom
  assert_true(chi2_of(rows, 25) < 51.2);   // 24
  free_world(world);
}

static void sequences_that_do_not_fit_are_refused(void **state) {
  (void)state;
  assert_refused("env = sequence\nenv.size = 11\nenv.length = 4", "12 or more");
  assert_refused("env = sequence\nenv.size = 20\nenv.length = 2\nenv.least = 3",
                 "env.least = 3: expected at most env.length = 2");
  free_world(make_world("env = sequence\nenv.size = 12\nenv.length = 4"));
}

/* ---- catch ---- */

enum { LEFT, STAY, RIGHT };

/** Column of the paddle's left end, while the ball is above its row. */
static int find_paddle(const World *world, int width) {
  int side = world->env.spec.observation.width;
  for (int x = 0; x + width <= side; x++) {
    int lit = 0;
    for (int i = 0; i < width; i++) lit += pixel(world, side - 1, x + i) == 255;
    if (lit == width) return x;
  }
  fail_msg("no paddle");
  return -1;
}

/** Column of the one lit pixel in a row above the bottom. */
static int find_ball(const World *world, int row) {
  int side = world->env.spec.observation.width, found = -1;
  for (int i = 0; i < side * (side - 1); i++) {
    if (world->image[i] == 0) continue;
    assert_int_equal(world->image[i], 255);
    assert_int_equal(i / side, row);
    assert_int_equal(found, -1);
    found = i % side;
  }
  return found;
}

/** Column of a ball after some rows: a straight line, reflected at the sides. */
static double fold(double x, double drift, int rows, int side) {
  double last = side - 1, at = fmod(x + drift * rows, 2 * last);
  if (at < 0) at += 2 * last;
  return at > last ? 2 * last - at : at;
}

/** The first draws of a reset: a column and a drift, both uniform. */
static void draw_ball(double *x, double *drift, FovRng *rng, int side) {
  *x = fov_rng_below(rng, (uint32_t)side);
  *drift = 2 * (double)fov_rng_uniform(rng) - 1;
}

static int clamp(int x, int most) {
  return x < 0 ? 0 : x > most ? most : x;
}

/** One episode, move by move: the ball falls `speed` rows a step along its line, the paddle moves a
 * column and stays on the screen, and the final reward depends on the pixel under the ball. */
static void check_fall(World *world, int number, int speed, int width) {
  int side = world->env.spec.observation.width, row = 0, paddle = (side - width) / 2;
  double x, drift;
  FovRng rng = fov_rng_stream(5, FOV_STREAM_ENV, (uint64_t)number);
  draw_ball(&x, &drift, &rng, side);
  start(world, number);
  while (!fov_env_over(&world->lane)) {
    int ball = find_ball(world, row);
    assert_near(ball, fold(x, drift, row, side), 0.5001, "row %d", row);
    assert_asks_for(&world->env, &world->lane, ball, row, 1, 1);
    assert_int_equal(find_paddle(world, width), paddle);
    assert_true(world->lane.reward == 0);
    // Into a corner and back.
    int action = number % 3 == 0 ? (row * 7 + number) % 3 : number % 2 ? LEFT : RIGHT;
    paddle = clamp(paddle + action - 1, side - width);
    step(world, action);
    row = clamp(row + speed, side - 1);
  }
  assert_int_equal(row, side - 1);
  double end = fold(x, drift, row, side);
  bool near_edge = fabs(end - floor(end) - 0.5) < 1e-3;
  int column = (int)floor(end + 0.5);
  bool over = column >= paddle && column < paddle + width;
  if (!near_edge) assert_true(world->lane.reward == over);
  for (int i = 0; i < side; i++) {
    bool lit = (i >= paddle && i < paddle + width) || i == column;
    if (!near_edge) assert_int_equal(pixel(world, side - 1, i), lit ? 255 : 0);
  }
}

static void catch_follows_its_physics(void **state) {
  (void)state;
  const struct {
    const char *settings;
    int speed, width, steps;
  } known[] = {
      {"env = catch", 1, 2, 23},
      {"env = catch\nenv.speed = 5", 5, 2, 5},
      {"env = catch\nenv.speed = 64\nenv.paddle = 7", 64, 7, 1},
      {"env = catch\nenv.size = 4\nenv.paddle = 4", 1, 4, 3},
      {"env = catch\nenv.size = 60\nenv.paddle = 1\nenv.speed = 2", 2, 1, 30},
  };
  for (int k = 0; k < 5; k++) {
    World *world = make_world(known[k].settings);
    assert_int_equal(world->env.spec.steps, known[k].steps);
    for (int number = 0; number < 600; number++) {
      check_fall(world, number, known[k].speed, known[k].width);
      assert_int_equal(world->lane.taken, known[k].steps);
      assert_true(world->lane.terminated && !world->lane.truncated);
    }
    free_world(world);
  }
}

/** A paddle that moves towards the column where the ball will land arrives in time. */
static void catch_can_be_won(void **state) {
  (void)state;
  World *world = make_world("env = catch");
  for (int number = 0; number < 300; number++) {
    double x, drift;
    FovRng rng = fov_rng_stream(5, FOV_STREAM_ENV, (uint64_t)number);
    draw_ball(&x, &drift, &rng, 24);
    int goal = clamp((int)floor(fold(x, drift, 23, 24) + 0.5), 22), paddle = 11;
    start(world, number);
    while (!fov_env_over(&world->lane)) {
      int action = goal < paddle ? LEFT : goal > paddle ? RIGHT : STAY;
      paddle += action - 1;
      step(world, action);
    }
    assert_true(world->lane.reward == 1);
  }
  assert_true(world->env.spec.answer == FOV_ANSWER_MOVE && world->env.spec.goal == 1);
  assert_string_equal(world->env.spec.names[LEFT], "left");
  assert_string_equal(world->env.spec.names[STAY], "stay");
  assert_string_equal(world->env.spec.names[RIGHT], "right");
  free_world(world);
}

/** Balls fall one after another; each can earn 1, the last one ends the game. */
static void catch_has_the_requested_number_of_balls(void **state) {
  (void)state;
  World *world = make_world("env = catch\nenv.balls = 3\nenv.size = 12\nenv.paddle = 6");
  assert_int_equal(world->env.spec.steps, 3 * 11);
  assert_true(world->env.spec.goal == 3);
  int earned[4] = {0};
  for (int number = 0; number < 200; number++) {
    double total = 0;
    start(world, number);
    for (int moves = 1; moves <= 33; moves++) {
      assert_false(fov_env_over(&world->lane));
      step(world, STAY);
      if (moves % 11) assert_true(world->lane.reward == 0);
      total += (double)world->lane.reward;
      if (moves < 33) assert_true(find_ball(world, moves % 11) >= 0);
    }
    assert_true(world->lane.terminated);
    earned[(int)total]++;
  }
  // The paddle covers half of the columns.
  for (int i = 0; i < 4; i++) assert_in_range(earned[i], 5, 120);
  free_world(world);
}

/** Balls start in all columns equally often. */
static void catch_starts_anywhere(void **state) {
  (void)state;
  World *world = make_world("env = catch");
  int seen[24] = {0};
  for (int number = 0; number < 4800; number++) {
    start(world, number);
    seen[find_ball(world, 0)]++;
  }
  assert_true(chi2_of(seen, 24) < 49.7); // 23 degrees of freedom
  free_world(world);
}

/** Each frame has new distractors at random pixels; those on the same pixel count once. */
static void catch_has_distractors(void **state) {
  (void)state;
  enum { PIXELS = 24 * 24, LIGHTS = 50, FRAMES = 400 };
  World *world = make_world("env = catch\nenv.distractors = 50");
  uint8_t before[PIXELS] = {0};
  double lit = 0, moved = 0;
  start(world, 0);
  for (int frame = 0; frame < FRAMES; frame++) {
    int count = 0;
    for (int i = 0; i < PIXELS; i++) {
      count += world->image[i] == 255;
      moved += world->image[i] != before[i];
    }
    assert_in_range(count, 3, LIGHTS + 3);
    lit += count;
    memcpy(before, world->image, PIXELS);
    if (fov_env_over(&world->lane))
      start(world, frame);
    else
      step(world, STAY);
  }
  double dark = pow(1 - 1. / PIXELS, LIGHTS), expected = (PIXELS - 3) * (1 - dark) + 3;
  assert_near(lit / FRAMES, expected, 0.5, "lit pixels");
  assert_near(moved / FRAMES, 2 * (PIXELS - 3) * dark * (1 - dark), 3, "changed pixels");
  free_world(world);
}

/** Pixel (x, y) of case `index` on S x S pixels, as ap_gym defines it. */
static double shape_pixel(int S, bool gradient, int index, int x, int y) {
  double dx = x - index / 2 % S, dy = y - index / 2 / S, d = hypot(dx, dy);
  bool square = fabs(dx) <= 4 && fabs(dy) <= 4, circle = d <= 4;
  if (index % 2 == 0 ? square : circle) return 1;
  return gradient ? 1 - d / sqrt(2. * S * S) : 0;
}

static void check_shapes(const char *settings, int S, bool gradient, int steps) {
  FovEnv env;
  FovArena arena = {.first = NULL};
  FovRng rng = fov_rng_stream(1, FOV_STREAM_ENV, 0);
  assert_int_equal(create(&env, settings), FOV_OK);
  FovEnvLane lane = fov_env_lane(&arena, &env.spec);
  const float *image = lane.observation;
  assert_int_equal(env.spec.cases, 2 * S * S);
  assert_true(env.spec.last);
  for (int index = 0; index < 2 * S * S; index += 13) {
    fov_env_reset(&env, &lane, index, &rng);
    for (int i = 0; i < S * S; i++)
      assert_near(image[i], shape_pixel(S, gradient, index, i % S, i / S), 1e-7,
                  "case %d, pixel %d", index, i);
    assert_asks_for(&env, &lane, index / 2 % S, index / 2 / S, 1, 1);
    for (int t = 0; t < steps; t++) {
      assert_int_equal(lane.label, index % 2);
      fov_env_step(&env, &lane, &(FovAnswer){.action = t % 2}, &rng);
      assert_true(lane.reward == (t % 2 == index % 2));
      assert_int_equal(lane.terminated, t == steps - 1);
    }
  }
  fov_env_finish(&env);
  fov_arena_finish(&arena);
}

static void circles_and_squares_follow_their_definition(void **state) {
  (void)state;
  check_shapes("env = circle_square", 28, true, 16);
  check_shapes("env = circle_square\nenv.gradient = no\nenv.size = 15\nenv.steps = 1", 15, false,
               1);
}

/** Plays episode `index` of locate with S x S pixels and patches of G x G: the cue is the glimpse
 * of a sensor at the target, which is uniform, and an answer earns −3/2 of its squared distance. */
static void check_location(const FovEnv *env, FovEnvLane *lane, int index, int S, int G,
                           int steps) {
  FovRng rng = fov_rng_stream(5, FOV_STREAM_ENV, (uint64_t)index), drawn = rng;
  const FovSensor sensor = {.side = G, .scales = 1, .gain = 1, .bilinear = true, .inside = true};
  real glimpse[MOST * MOST], bound = 1 - (real)G / (real)S;
  fov_env_reset(env, lane, index % DIGITS, &rng);
  for (int j = 0; j < 2; j++) assert_true(lane->target[j] == 2 * fov_rng_uniform(&drawn) - 1);
  const FovImage image = {.bytes = lane->observation, .height = S, .width = S, .channels = 1};
  fov_sensor_look(glimpse, &sensor, &image, lane->target[0] * bound, lane->target[1] * bound);
  for (int i = 0; i < G * G; i++)
    assert_near(((float *)lane->cue)[i], glimpse[i], 1e-5, "case %d, pixel %d", index, i);
  for (int t = 0; t < steps; t++) {
    float x = lane->target[0], y = lane->target[1], error = 0.25f * (float)t;
    FovAnswer answer = {.action = -1, .vector = (float[]){x + error, y - 2 * error}};
    fov_env_step(env, lane, &answer, &rng);
    assert_near(lane->reward, -1.5 * 5 * (double)(error * error), 1e-4, "step %d", t);
    assert_int_equal(lane->terminated, t == steps - 1);
    assert_true(lane->target[0] == x && lane->target[1] == y);
  }
}

static void check_locations(const char *settings, int S, int G, int steps) {
  enum { EPISODES = 400 };
  FovEnv env;
  FovArena arena = {.first = NULL};
  double bright = 0, square = 0;
  assert_int_equal(create(&env, settings), FOV_OK);
  FovEnvLane lane = fov_env_lane(&arena, &env.spec);
  for (int j = 0; j < 2; j++) assert_near(env.spec.place[j], 1 - (double)G / S, 1e-6, "place");
  // A patch is as wide as 2 G / (S − G) of the places.
  assert_near(env.spec.goal, -1.5 * steps * pow(2. * G / (S - G), 2), 1e-4, "goal");
  for (int index = 0; index < EPISODES; index++) {
    check_location(&env, &lane, index, S, G, steps);
    for (int i = 0; i < G * G; i++) bright += ((float *)lane.cue)[i] > 0;
    square += (double)(lane.target[0] * lane.target[0]) / EPISODES;
  }
  assert_true(bright > 0);
  assert_near(square, 1. / 3, 0.05, "mean square of a target");
  fov_env_finish(&env);
  fov_arena_finish(&arena);
}

static void patches_come_from_the_place_that_is_asked_for(void **state) {
  (void)state;
  check_locations("env = locate", 28, 5, 16);
  check_locations("env = locate\nenv.size = 9\nenv.patch = 4\nenv.steps = 1", 9, 4, 1);
  assert_refused("env = locate\nenv.size = 9\nenv.patch = 5",
                 "env.patch = 5: expected at most 4, half of the image's side");
}

/** The deviation of the brightness in a sensor's patch at a place of [−1, 1]². */
static double detail_at(const FovImage *image, const FovSensor *sensor, const float place[2]) {
  real glimpse[MOST * MOST], bound = 1 - (real)sensor->side / (real)image->width;
  double sum = 0, squares = 0, count = sensor->side * sensor->side;
  fov_sensor_look(glimpse, sensor, image, place[0] * bound, place[1] * bound);
  for (int i = 0; i < count; i++) {
    sum += (double)glimpse[i];
    squares += (double)(glimpse[i] * glimpse[i]);
  }
  return sqrt(fmax(0, squares / count - sum / count * (sum / count)));
}

/** The target is the first place of the draws whose patch has enough detail; digit 0, whose
 * brightness is 10 of 255, has none. */
static void patches_without_detail_are_drawn_again(void **state) {
  (void)state;
  const FovSensor sensor = {.side = 5, .scales = 1, .gain = 1, .bilinear = true, .inside = true};
  FovEnv env;
  FovArena arena = {.first = NULL};
  int again = 0;
  assert_int_equal(create(&env, "env = locate\nenv.detail = 0.02"), FOV_OK);
  FovEnvLane lane = fov_env_lane(&arena, &env.spec);
  for (int index = 0; index < 60; index++) {
    FovRng rng = fov_rng_stream(5, FOV_STREAM_ENV, (uint64_t)index), drawn = rng;
    fov_env_reset(&env, &lane, index % DIGITS, &rng);
    const FovImage image = {.bytes = lane.observation, .height = 28, .width = 28, .channels = 1};
    bool blank = index % DIGITS == 0, fits = false;
    for (int draws = 0; draws < 1000 && !fits; draws++) {
      float place[2] = {2 * fov_rng_uniform(&drawn) - 1, 0};
      place[1] = 2 * fov_rng_uniform(&drawn) - 1;
      fits = detail_at(&image, &sensor, place) >= 0.02;
      again += !fits && !blank;
      if (fits || draws == 999) assert_memory_equal(place, lane.target, sizeof place);
    }
    if (fits == blank) fail_msg("digit %d: fits = %d", index % DIGITS, fits);
  }
  assert_true(again > 0);
  fov_env_finish(&env);
  fov_arena_finish(&arena);
}

/** What is seen at a place: the place and noise that the light takes away. */
static void check_light(const FovEnv *env, FovEnvLane *lane, const float place[2], FovRng *rng) {
  FovRng drawn = *rng;
  double dx = (double)place[0], dy = (double)place[1] + 0.7;
  double sigma = 0.3 * (1 - 0.04 / (dx * dx + dy * dy + 0.04));
  fov_env_look(env, lane, place, rng);
  for (int j = 0; j < 2; j++) {
    double seen = (double)place[j] + sigma * (double)fov_rng_normal(&drawn);
    assert_near(((float *)lane->observation)[j], fmin(2, fmax(-2, seen)), 1e-5, "number %d", j);
    assert_true(lane->target[j] == place[j]);
  }
}

static void positions_are_clear_near_the_light(void **state) {
  (void)state;
  enum { STEPS = 50, DRAWS = 20000 };
  FovEnv env;
  FovArena arena = {.first = NULL};
  FovRng rng = fov_rng_stream(5, FOV_STREAM_ENV, 0);
  int far = 0;
  assert_int_equal(create(&env, "env = light_dark"), FOV_OK);
  FovEnvLane lane = fov_env_lane(&arena, &env.spec);
  const float *seen = lane.observation;
  fov_env_reset(&env, &lane, 7, &rng);
  check_light(&env, &lane, (float[]){0, -0.7f}, &rng);
  assert_true(seen[0] == 0 && seen[1] == -0.7f);
  check_light(&env, &lane, (float[]){0.3f, -0.6f}, &rng);
  for (int i = 0; i < DRAWS; i++) {
    check_light(&env, &lane, (float[]){-1, 1}, &rng);
    assert_true(seen[0] >= -2 && seen[1] <= 2);
    far += (seen[0] == -2) + (seen[1] == 2);
  }
  assert_in_range(far, 1, DRAWS / 100);
  // A place on the edge ends an episode, but not its first glimpse.
  assert_false(lane.terminated);
  for (int t = 0; t < STEPS; t++) {
    float place[2] = {-0.04f * (float)t / 2, 0.5f};
    check_light(&env, &lane, place, &rng);
    FovAnswer answer = {.action = -1, .vector = (float[]){place[0] + 0.5f, place[1] - 1}};
    fov_env_step(&env, &lane, &answer, &rng);
    assert_near(lane.reward, 1 - 1.5 * 1.25, 1e-5, "step %d", t);
    assert_int_equal(lane.terminated, t == STEPS - 1);
  }
  for (int side = 0; side < 4; side++) {
    float place[2] = {0, 0};
    place[side / 2] = side % 2 ? 1 : -1;
    fov_env_reset(&env, &lane, side, &rng);
    check_light(&env, &lane, place, &rng);
    fov_env_step(&env, &lane, &(FovAnswer){.action = -1, .vector = place}, &rng);
    assert_true(lane.reward == 1 && !lane.terminated);
    check_light(&env, &lane, (float[]){0.99f, -0.99f}, &rng);
    assert_false(lane.terminated);
    check_light(&env, &lane, place, &rng);
    assert_true(lane.terminated);
  }
  fov_env_finish(&env);
  fov_arena_finish(&arena);
}

/* ---- images ---- */

static void images_may_be_asked_for_several_times(void **state) {
  (void)state;
  World *once = make_world("env = images"), *world = make_world("env = images\nenv.steps = 3");
  assert_int_equal(once->env.spec.steps, 1);
  assert_false(once->env.spec.last);
  assert_int_equal(world->env.spec.steps, 3);
  assert_true(world->env.spec.last);
  start(once, 4), step(once, 4);
  assert_true(once->lane.terminated && once->lane.reward == 1);
  start(world, 4);
  for (int t = 0; t < 3; t++) {
    assert_false(world->lane.terminated);
    assert_int_equal(world->lane.label, 4);
    step(world, 3 + t);
    assert_true(world->lane.reward == (t == 1));
  }
  assert_true(world->lane.terminated);
  free_world(once), free_world(world);
}

/* ---- search ---- */

enum { UP, RIGHT_WARD, DOWN, LEFT_WARD, DIRECTIONS };
enum { TILES = 3, TILE = 20, STROKE = 2, ITEM = 3 * STROKE };

/** What a tile shows. x, y: of the item's top left corner in the tile. */
typedef struct Found {
  bool is_t;
  int direction, value, x, y;
} Found;

/** Nine blocks by rows, turned clockwise once. */
static int turn(int blocks) {
  int turned = 0;
  for (int i = 0; i < 9; i++)
    if (blocks >> i & 1) turned |= 1 << (i % 3 * 3 + 2 - i / 3);
  return turned;
}

/** The direction of an item that is `upright` turned clockwise; −1: it is not. */
static int direction_of(int blocks, int upright) {
  for (int d = 0; d < DIRECTIONS; d++, upright = turn(upright))
    if (blocks == upright) return d;
  return -1;
}

/** The item of a tile without noise; every other pixel of the tile must be black. */
static Found find_item(const World *world, int tile) {
  enum { T_UP = 0722, L_UP = 0711 }; // ".#. .#. ###" and "#.. #.. ###", the lowest bit first
  int left = tile % TILES * TILE, top = tile / TILES * TILE, lit = 0, blocks = 0;
  Found item = {.x = TILE, .y = TILE};
  for (int i = 0; i < TILE * TILE; i++) {
    int x = i % TILE, y = i / TILE, value = pixel(world, top + y, left + x);
    if (!value) continue;
    if (lit++) assert_int_equal(value, item.value);
    item.value = value;
    item.x = x < item.x ? x : item.x, item.y = y < item.y ? y : item.y;
  }
  assert_int_equal(lit, 5 * STROKE * STROKE);
  for (int i = 0; i < ITEM * ITEM; i++) {
    int x = i % ITEM, y = i / ITEM;
    if (pixel(world, top + item.y + y, left + item.x + x))
      blocks |= 1 << (y / STROKE * 3 + x / STROKE);
    else
      lit++; // each block is lit as a whole: 4 blocks of black pixels
  }
  assert_int_equal(lit, ITEM * ITEM);
  item.is_t = direction_of(blocks, T_UP) >= 0;
  item.direction = direction_of(blocks, item.is_t ? T_UP : L_UP);
  assert_true(item.direction >= 0);
  return item;
}

/** Whether a search has such distractors; dim_t counts the dim T's. */
static bool may_distract(const char *kind, const Found *item, int *dim_t) {
  bool bright = item->value == 255;
  *dim_t += item->is_t;
  if (!bright) assert_int_equal(item->value, 51);
  if (!strcmp(kind, "feature")) return !bright && !item->is_t;
  if (!strcmp(kind, "shape")) return bright && !item->is_t;
  return bright != item->is_t;
}

/** One target among distractors; its tile, all places and the distractors are uniform. */
static void check_search(const char *kind) {
  char settings[128];
  int targets[TILES * TILES] = {0}, dim_t = 0, others = 0;
  int turned[DIRECTIONS] = {0}, across[TILE - ITEM + 1] = {0}, down[TILE - ITEM + 1] = {0};
  snprintf(settings, sizeof settings,
           "env = search\nenv.size = 60\nenv.tiles = 3\nenv.stroke = 2\nenv.dim = 0.2\n"
           "env.kind = %s",
           kind);
  World *world = make_world(settings);
  for (int number = 0; number < 1800; number++) {
    start(world, number);
    assert_int_equal(world->lane.label, number % DIRECTIONS);
    int odd = 0;
    for (int tile = 0; tile < TILES * TILES; tile++) {
      Found item = find_item(world, tile);
      across[item.x]++, down[item.y]++;
      if (item.is_t && item.value == 255) {
        assert_int_equal(item.direction, world->lane.label);
        assert_asks_for(&world->env, &world->lane, tile % TILES * TILE + item.x,
                        tile / TILES * TILE + item.y, ITEM, ITEM);
        targets[tile]++, odd++;
        continue;
      }
      assert_true(may_distract(kind, &item, &dim_t));
      turned[item.direction]++, others++;
    }
    assert_int_equal(odd, 1);
  }
  bool mixed = !strcmp(kind, "conjunction");
  assert_near((double)dim_t / others, mixed ? 0.5 : 0, mixed ? 0.015 : 0, "dim T's");
  assert_true(chi2_of(targets, TILES * TILES) < 26.1); // 8 degrees of freedom: once in a thousand
  assert_true(chi2_of(turned, DIRECTIONS) < 16.3);     // 3
  assert_true(chi2_of(across, TILE - ITEM + 1) < 36.1 && chi2_of(down, TILE - ITEM + 1) < 36.1);
  free_world(world);
}

static void searches_have_one_target(void **state) {
  (void)state;
  check_search("feature"), check_search("conjunction"), check_search("shape");
}

static void items_of_a_search_may_be_in_the_middle_of_their_tiles(void **state) {
  (void)state;
  World *world = make_world("env = search\nenv.size = 60\nenv.tiles = 3\nenv.stroke = 2\n"
                            "env.jitter = 0");
  start(world, 0);
  for (int tile = 0; tile < TILES * TILES; tile++) {
    Found item = find_item(world, tile);
    assert_true(item.x == (TILE - ITEM) / 2 && item.y == (TILE - ITEM) / 2);
  }
  free_world(world);
}

/** Noise changes nothing else: the same draws place the items before it. */
static void searches_have_noise(void **state) {
  (void)state;
  enum { SIDE = 43, NOISE = 9 };
  const char *clean = "env = search\nenv.size = 43\nenv.tiles = 3\nenv.dim = 0.9";
  World *without = make_world(clean), *with = NULL;
  with = make_world("env = search\nenv.size = 43\nenv.tiles = 3\nenv.dim = 0.9\nenv.noise = 9");
  int seen[NOISE + 1] = {0};
  for (int number = 0; number < 20; number++) {
    start(without, number), start(with, number);
    for (int i = 0; i < SIDE * SIDE; i++) {
      int added = with->image[i] - without->image[i];
      if (without->image[i] == 255) assert_int_equal(added, 0);
      assert_in_range(added, 0, NOISE);
      if (without->image[i] != 255) seen[added]++;
    }
  }
  // 256 bytes on 10 numbers: 25 or 26 bytes each, so the shares differ by 4 %.
  for (int i = 0; i <= NOISE; i++) assert_in_range(seen[i], 3300, 3900);
  free_world(without), free_world(with);
}

static void a_search_may_have_several_answers(void **state) {
  (void)state;
  World *world = make_world("env = search\nenv.size = 60\nenv.steps = 3");
  assert_true(world->env.spec.last);
  assert_string_equal(world->env.spec.names[DOWN], "down");
  start(world, 2);
  for (int t = 0; t < 3; t++) {
    assert_false(world->lane.terminated);
    step(world, t);
    assert_true(world->lane.reward == (t == 2));
  }
  assert_true(world->lane.terminated);
  free_world(world);
}

static void a_search_refuses_items_larger_than_their_tiles(void **state) {
  (void)state;
  assert_refused("env = search\nenv.size = 59\nenv.tiles = 5\nenv.stroke = 4",
                 "expected items that fit in a tile of 11 x 11 pixels, found items of 12 x 12");
  free_world(make_world("env = search\nenv.size = 60\nenv.tiles = 5\nenv.stroke = 4"));
}

static void catch_refuses_a_paddle_wider_than_its_screen(void **state) {
  (void)state;
  assert_refused("env = catch\nenv.size = 8\nenv.paddle = 9", "expected at most env.size = 8");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pairs_have_a_name_each),
      cmocka_unit_test(pairs_may_be_summed),
      cmocka_unit_test(pairs_overlap_only_if_allowed),
      cmocka_unit_test(pictures_may_be_anywhere),
      cmocka_unit_test(sequences_are_read_from_left_to_right),
      cmocka_unit_test(sequences_are_uniform_over_the_free_space),
      cmocka_unit_test(sequences_that_do_not_fit_are_refused),
      cmocka_unit_test(catch_follows_its_physics),
      cmocka_unit_test(catch_can_be_won),
      cmocka_unit_test(catch_has_the_requested_number_of_balls),
      cmocka_unit_test(catch_starts_anywhere),
      cmocka_unit_test(catch_has_distractors),
      cmocka_unit_test(catch_refuses_a_paddle_wider_than_its_screen),
      cmocka_unit_test(circles_and_squares_follow_their_definition),
      cmocka_unit_test(patches_come_from_the_place_that_is_asked_for),
      cmocka_unit_test(patches_without_detail_are_drawn_again),
      cmocka_unit_test(positions_are_clear_near_the_light),
      cmocka_unit_test(images_may_be_asked_for_several_times),
      cmocka_unit_test(searches_have_one_target),
      cmocka_unit_test(items_of_a_search_may_be_in_the_middle_of_their_tiles),
      cmocka_unit_test(searches_have_noise),
      cmocka_unit_test(a_search_may_have_several_answers),
      cmocka_unit_test(a_search_refuses_items_larger_than_their_tiles),
  };
  return cmocka_run_group_tests(tests, write_digits, remove_digits);
}
