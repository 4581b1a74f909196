/** The contract of every attention, with its own defaults, on toy environments of nine tiles: its
 * gradient, lanes, columns, what it looks at, copies of an image, threads and memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "allocations.h"
#include "check.h"
#include "model/sites.h"
#include "toy_play.h"

enum { SETTINGS = 512 };

/** For rounding, where the same sums may be made in another order. */
static const double ROUNDING = sizeof(real) == sizeof(double) ? 1e-12 : 2e-5;

/** An agent with this attention; its policy is that of fov_policy_for, if the default does not fit.
 */
static void settings_for(char settings[SETTINGS], const FovAttention *attention, const char *more) {
  snprintf(settings, SETTINGS, "%sattention = %s\ntiles.side = 3\ntiles.width = 6\n", more,
           attention->plugin.name);
}

/** Fails unless `check` passes for every attention. */
static void for_each(void (*check)(const FovAttention *attention)) {
  for (const FovAttention *const *a = fov_attentions; *a; a++) check(*a);
}

/* ---- read-outs without a core ---- */

enum { STEPS = 3, LANES = 6, WIDTH = 12, PIXELS = TOY_SIDE * TOY_SIDE, MOST = 128 };

/** What a lane shows and brings to each time step. */
typedef struct Lane {
  uint8_t pixels[STEPS][PIXELS];
  real state[STEPS][WIDTH], place[STEPS][2];
  FovRng rng;
} Lane;

/** What a lane got at a time step: g, rho, its place and its columns, one after another. */
typedef struct Seen {
  real numbers[MOST];
  int g, rho, count; /**< of g and rho, and of all numbers; 0: the lane had left */
  FovRng rng;
} Seen;

typedef struct Scene {
  Toy toy;
  real *values, *gradient;
  bool changed; /**< the images change; else they stay as at time step 0 */
  bool leaving; /**< lanes with an odd number leave after time step 0 */
  bool trained; /**< with a gradient */
  bool fixed;   /**< nobody chose the first place */
  int copies;
  int lanes;
  Lane *lane; /**< [lanes] */
} Scene;

static void draw_lane(Lane *lane, int seed) {
  FovRng rng = fov_rng_stream(11, FOV_STREAM_POLICY, (uint64_t)seed);
  lane->rng = rng;
  for (int t = 0; t < STEPS; t++) {
    for (int i = 0; i < PIXELS; i++) lane->pixels[t][i] = (uint8_t)fov_rng_u32(&rng);
    for (int j = 0; j < WIDTH; j++) lane->state[t][j] = 2 * fov_rng_normal(&rng);
    for (int j = 0; j < 2; j++) lane->place[t][j] = 2 * fov_rng_uniform(&rng) - 1;
  }
}

static void scene_create(Scene *scene, const FovAttention *attention, const char *more, int lanes) {
  char settings[SETTINGS];
  *scene = (Scene){.lanes = lanes, .lane = calloc((size_t)lanes, sizeof(Lane))};
  settings_for(settings, attention, more);
  toy_create(&scene->toy, settings);
  assert_int_equal(scene->toy.experiment.agent.width, WIDTH);
  scene->values = toy_lively_values(&scene->toy);
  scene->gradient = toy_copy(&scene->toy, scene->values);
  for (int b = 0; b < lanes; b++) draw_lane(&scene->lane[b], b);
}

static void scene_finish(Scene *scene) {
  free(scene->lane), free(scene->values), free(scene->gradient);
  toy_finish(&scene->toy);
}

static const char *name_of(const Scene *scene) {
  return scene->toy.experiment.agent.attention->plugin.name;
}

/** A view of lanes[0 … n−1] at time step t. */
static FovView view_of(const Scene *scene, FovTape *tape, const int *lanes, int n, int t) {
  FovImage *images = FOV_NEW(tape->arena, FovImage, n);
  FovView view = {.images = images,
                  .changed = scene->changed,
                  .location = fov_constant(tape, n, 2),
                  .fixed = scene->fixed && t == 0,
                  .copies = scene->copies,
                  .rng = FOV_NEW(tape->arena, FovRng, n),
                  .state = fov_constant(tape, n, WIDTH),
                  .lanes = n};
  for (int i = 0; i < n; i++) {
    const Lane *lane = &scene->lane[lanes[i]];
    images[i] = (FovImage){.bytes = lane->pixels[scene->changed ? t : 0],
                           .height = TOY_SIDE,
                           .width = TOY_SIDE,
                           .channels = 1};
    view.rng[i] = lane->rng;
    memcpy(fov_value_row(view.location, i), lane->place[t], sizeof lane->place[t]);
    memcpy(fov_value_row(view.state, i), lane->state[t], sizeof lane->state[t]);
  }
  return view;
}

/** Appends row i of a var, whose shape and numbers are checked. */
static void append(Seen *seen, const char *attention, const FovVar *x, int i, int width, int n) {
  if (!x || x->rows != n || x->cols != width || seen->count + width > MOST)
    fail_msg("%s: expected [%d, %d] after %d numbers, found [%d, %d]", attention, n, width,
             seen->count, x ? x->rows : 0, x ? x->cols : 0);
  for (int j = 0; j < width; j++) {
    if (!isfinite(fov_value_row(x, i)[j])) fail_msg("%s: a number is not finite", attention);
    seen->numbers[seen->count++] = fov_value_row(x, i)[j];
  }
}

/** What lane i of n got. */
static Seen collect(const Scene *scene, const FovReadout *readout, const FovView *view, int i) {
  const FovAgent *agent = &scene->toy.experiment.agent;
  FovColumn columns[FOV_COLUMNS];
  int n = view->lanes, count = fov_agent_columns(columns, agent);
  Seen seen = {.g = readout->g->cols, .rho = fov_glimpse_features(agent->glimpse)};
  append(&seen, name_of(scene), readout->g, i, seen.g, n);
  append(&seen, name_of(scene), readout->rho, i, seen.rho, n);
  append(&seen, name_of(scene), view->location, i, 2, n);
  for (int c = 0; c < count; c++)
    append(&seen, name_of(scene), readout->columns[c], i, columns[c].width, n);
  seen.rng = view->rng[i];
  return seen;
}

/** Asks for the scores from which a policy would choose, as a rollout does before lanes leave. */
static void ask_scores(const Scene *scene, FovTape *tape, void *state, const FovView *view) {
  const FovAgent *agent = &scene->toy.experiment.agent;
  FovView asked = *view;
  asked.location = NULL, asked.rng = NULL;
  if (agent->attention->scores)
    agent->attention->scores(state, agent->attention_layout, tape, &asked);
}

/** Lets lanes with an odd number leave. Returns how many stay. */
static int leave(const Scene *scene, FovTape *tape, void *state, int *lanes) {
  const FovAttention *attention = scene->toy.experiment.agent.attention;
  int kept[LANES], n = 0;
  assert_in_range(scene->lanes, 1, LANES);
  for (int b = 0; b < scene->lanes; b += 2) lanes[n] = kept[n] = b, n++;
  if (attention->keep) attention->keep(state, tape, scene->lanes, kept, n);
  return n;
}

/** Reads at all time steps: seen [STEPS, lanes]. */
static void look(Seen *seen, Scene *scene) {
  const FovAgent *agent = &scene->toy.experiment.agent;
  const FovAttention *attention = agent->attention;
  FovArena arena = {0};
  FovTape tape;
  fov_tape_begin(&tape, &arena, &agent->params, scene->values,
                 scene->trained ? scene->gradient : NULL);
  tape.steps = STEPS;
  int n = scene->lanes, *lanes = FOV_NEW(&arena, int, n);
  for (int b = 0; b < n; b++) lanes[b] = b;
  void *state = fov_arena_alloc(&arena, attention->state_size);
  attention->begin(state, agent->attention_layout, &tape, n, STEPS);
  memset(seen, 0, (size_t)(STEPS * n) * sizeof *seen);
  for (int t = 0; t < STEPS; t++) {
    FovView view = view_of(scene, &tape, lanes, n, t);
    if (t > 0) ask_scores(scene, &tape, state, &view);
    if (t == 1 && scene->leaving) {
      n = leave(scene, &tape, state, lanes);
      view = view_of(scene, &tape, lanes, n, t);
    }
    FovReadout readout = {.g = NULL};
    attention->read(&readout, state, agent->attention_layout, &tape, &view);
    for (int i = 0; i < n; i++)
      seen[t * scene->lanes + lanes[i]] = collect(scene, &readout, &view, i);
  }
  fov_arena_finish(&arena);
}

/** Fails unless two lanes got the same, except for rounding. */
static void assert_alike(const Scene *scene, const Seen *a, const Seen *b, const char *what) {
  assert_int_equal(a->count, b->count);
  for (int j = 0; j < a->count; j++)
    assert_near(a->numbers[j], b->numbers[j], ROUNDING * (1 + fabs((double)b->numbers[j])),
                "%s, %s: number %d", name_of(scene), what, j);
  assert_memory_equal(&a->rng, &b->rng, sizeof a->rng);
}

/** Calls `check` with and without a gradient, with images that stay and images that change. */
static void in_all_ways(void (*check)(Scene *scene), const FovAttention *attention,
                        const char *more) {
  for (int way = 0; way < 4; way++) {
    Scene scene;
    scene_create(&scene, attention, more, LANES);
    scene.changed = way % 2;
    scene.trained = way / 2;
    check(&scene);
    scene_finish(&scene);
  }
}

static void check_inference(const FovAttention *attention) {
  Seen trained[STEPS * LANES], inferred[STEPS * LANES];
  for (int changed = 0; changed < 2; changed++) {
    Scene scene;
    scene_create(&scene, attention, "", LANES);
    scene.changed = changed;
    look(inferred, &scene);
    scene.trained = true;
    look(trained, &scene);
    for (int i = 0; i < STEPS * LANES; i++)
      assert_alike(&scene, &trained[i], &inferred[i], "with a gradient");
    scene_finish(&scene);
  }
}

static void test_a_gradient_changes_nothing_of_what_is_read(void **state) {
  (void)state;
  for_each(check_inference);
}

/* ---- lanes ---- */

enum { OTHER = 1 };

/** What a lane has of its own. */
static const char *const parts[] = {"image", "place", "generator", "state", NULL};

static void change_part(Lane *lane, int part) {
  Lane other;
  draw_lane(&other, 100 + part);
  if (part == 0) memcpy(lane->pixels, other.pixels, sizeof lane->pixels);
  if (part == 1) memcpy(lane->place, other.place, sizeof lane->place);
  if (part == 2) lane->rng = other.rng;
  if (part == 3) memcpy(lane->state, other.state, sizeof lane->state);
}

static void check_neighbours(Scene *scene) {
  Seen before[STEPS * LANES], after[STEPS * LANES];
  look(before, scene);
  for (int part = 0; parts[part]; part++) {
    Lane kept = scene->lane[OTHER];
    change_part(&scene->lane[OTHER], part);
    look(after, scene);
    for (int i = 0; i < STEPS * LANES; i++)
      if (i % LANES != OTHER && memcmp(&before[i], &after[i], sizeof before[i]))
        fail_msg("%s: the %s of lane %d changed lane %d", name_of(scene), parts[part], OTHER,
                 i % LANES);
    scene->lane[OTHER] = kept;
  }
}

static void check_alone(Scene *scene) {
  Seen together[STEPS * LANES], alone[STEPS];
  Lane lanes[LANES];
  scene->leaving = true;
  look(together, scene);
  memcpy(lanes, scene->lane, sizeof lanes);
  scene->lanes = 1;
  for (int b = 0; b < LANES; b++) {
    scene->lane[0] = lanes[b];
    look(alone, scene);
    for (int t = 0; t < STEPS; t++)
      if (t == 0 || b % 2 == 0)
        assert_alike(scene, &together[t * LANES + b], &alone[t], "a lane alone");
  }
}

static void check_lanes(const FovAttention *attention) {
  in_all_ways(check_neighbours, attention, "");
  in_all_ways(check_alone, attention, "");
}

static void test_lanes_are_independent(void **state) {
  (void)state;
  for_each(check_lanes);
}

/* ---- copies of an image ---- */

static void check_copies_of(Scene *scene) {
  enum { COPIES = 3 };
  Seen apart[STEPS * LANES], together[STEPS * LANES];
  for (int b = 0; b < LANES; b++)
    memcpy(scene->lane[b].pixels[0], scene->lane[b - b % COPIES].pixels[0], PIXELS);
  for (int way = 0; way < 4; way++) {
    scene->leaving = way % 2;
    scene->fixed = way / 2;
    scene->copies = 0;
    look(apart, scene);
    scene->copies = COPIES;
    look(together, scene);
    for (int i = 0; i < STEPS * LANES; i++)
      assert_alike(scene, &together[i], &apart[i], "copies of an image");
  }
}

/** Also where one tile is read and the keys need no values, which are then made when they are
 * needed, or of three tiles for three copies. */
static void check_copies(const FovAttention *attention) {
  in_all_ways(check_copies_of, attention, "");
  if (!attention->scores) return;
  in_all_ways(check_copies_of, attention, "tiles.keys = coarse\n");
  in_all_ways(check_copies_of, attention, "score = location\ntiles.down = 1\n");
}

static void test_copies_of_an_image_are_read_like_others(void **state) {
  (void)state;
  for_each(check_copies);
}

/* ---- columns ---- */

/** Numbers of the column, or NULL. */
static const real *column_of(const Scene *scene, const Seen *seen, const char *name) {
  FovColumn columns[FOV_COLUMNS];
  int count = fov_agent_columns(columns, &scene->toy.experiment.agent);
  const real *numbers = seen->numbers + seen->g + seen->rho + 2;
  for (int c = 0; c < count; numbers += columns[c].width, c++)
    if (!strcmp(columns[c].name, name)) return numbers;
  return NULL;
}

/** Where it says that the lane looked. */
static const real *place_of(const Seen *seen) {
  return seen->numbers + seen->g + seen->rho;
}

static int sites_of(const Scene *scene) {
  const FovAgent *agent = &scene->toy.experiment.agent;
  if (!agent->attention->sites) return 0;
  FovGrid grid = agent->attention->sites(agent->attention_layout);
  return grid.across * grid.down;
}

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

static void check_names(const Scene *scene) {
  FovColumn columns[FOV_COLUMNS];
  int count = fov_agent_columns(columns, &scene->toy.experiment.agent);
  assert_in_range(count, 0, FOV_COLUMNS);
  for (int c = 0; c < count; c++) {
    const char *name = columns[c].name;
    assert_in_range(columns[c].width, 1, FOV_COLUMN_WIDTH);
    assert_in_range(strlen(name), 1, 31);
    assert_in_range(strspn(name, LETTERS), 1, 31);
    assert_int_equal(strspn(name, LETTERS "0123456789_"), strlen(name));
    if (!strcmp(name, "tiles")) assert_int_equal(columns[c].width, sites_of(scene));
    if (!strcmp(name, "window")) assert_int_equal(columns[c].width, 4);
    for (int i = 0; i < c; i++)
      if (!strcmp(name, columns[i].name)) fail_msg("%s: two columns %s", name_of(scene), name);
  }
}

/** Whether weights of tiles need not sum to 1: local_p multiplies them by a Gaussian. */
static bool may_lose_weight(const Scene *scene) {
  return !strcmp(name_of(scene), "local_p");
}

/** Weights of tiles are shares, and the heads' mean. */
static void check_tiles(const Scene *scene, const Seen *seen, int heads) {
  const real *tiles = column_of(scene, seen, "tiles"), *all = column_of(scene, seen, "heads");
  double sum = 0;
  int N = sites_of(scene);
  if (!tiles) return;
  assert_int_equal(all != NULL, heads > 1);
  for (int i = 0; i < N; i++) {
    double mean = heads > 1 ? 0 : (double)tiles[i];
    for (int h = 0; h < heads && all; h++) mean += (double)all[h * N + i] / heads;
    assert_true(tiles[i] >= 0);
    assert_near(tiles[i], mean, ROUNDING, "%s: tile %d", name_of(scene), i);
    sum += (double)tiles[i];
  }
  if (may_lose_weight(scene) ? sum <= 0 || sum > 1 + ROUNDING : fabs(sum - 1) > ROUNDING)
    fail_msg("%s: the weights of tiles sum to %g", name_of(scene), sum);
}

/** A place is in the image; a window is around it, no smaller than a pixel and not far larger than
 * the image. */
static void check_window(const Scene *scene, const Seen *seen) {
  const real *window = column_of(scene, seen, "window"), *place = place_of(seen);
  for (int j = 0; j < 2; j++)
    if (!(place[j] >= -1 && place[j] <= 1))
      fail_msg("%s: place %g", name_of(scene), (double)place[j]);
  for (int j = 0; window && j < 2; j++) {
    assert_true(window[j] == place[j]);
    assert_true(window[2 + j] > 2. / TOY_SIDE && window[2 + j] < 2 * 8);
  }
}

/** With one head, and with two if it may have them. */
static void check_columns(const FovAttention *attention) {
  Seen seen[STEPS * LANES];
  for (int heads = 1; heads <= (attention->without_policy && attention->sites ? 2 : 1); heads++) {
    Scene scene;
    scene_create(&scene, attention, heads > 1 ? "tiles.heads = 2\n" : "", LANES);
    check_names(&scene);
    look(seen, &scene);
    for (int i = 0; i < STEPS * LANES; i++) {
      check_tiles(&scene, &seen[i], heads);
      check_window(&scene, &seen[i]);
    }
    if (attention->sites) assert_non_null(column_of(&scene, seen, "tiles"));
    bool placed = !attention->without_policy || column_of(&scene, seen, "window");
    if ((attention->reach == FOV_REACH_GLIMPSE) != placed)
      fail_msg("%s: reach: expected %s, whose glimpses have %s place", name_of(&scene),
               placed ? "FOV_REACH_GLIMPSE" : "another one", placed ? "a" : "no");
    scene_finish(&scene);
  }
}

static void test_columns_are_what_they_are_declared_to_be(void **state) {
  (void)state;
  for_each(check_columns);
}

/* ---- what it looks at ---- */

/** Whether a patch around a place has pixel p. */
static bool has_pixel(const Scene *scene, const real *place, int p) {
  int side = scene->toy.experiment.sensor.side, at[] = {p % TOY_SIDE, p / TOY_SIDE};
  bool inside = true;
  for (int j = 0; j < 2; j++) {
    int first = (int)floor(((double)place[j] + 1) / 2 * TOY_SIDE + 0.5) - side / 2;
    inside = inside && at[j] >= first && at[j] < first + side;
  }
  return inside;
}

/** The greatest weight of the tiles whose patch has pixel p. */
static double weight_of(const Scene *scene, const real *tiles, int p) {
  double most = 0;
  int N = sites_of(scene), K = (int)lround(sqrt(N));
  for (int i = 0; i < N; i++) {
    real middle[2];
    fov_tile_middle(middle, i, (FovGrid){K, K});
    if (has_pixel(scene, middle, p)) most = fmax(most, (double)tiles[i]);
  }
  return most;
}

/** Whether pixel p is in the outline of a window. */
static bool is_framed(const real *window, int p) {
  const double at[] = {p % TOY_SIDE, p / TOY_SIDE};
  bool inside = true;
  for (int j = 0; j < 2; j++) {
    double x = (2 * at[j] + 1) / TOY_SIDE - 1;
    inside = inside && fabs(x - (double)window[j]) <= (double)window[2 + j] / 2 + 1. / TOY_SIDE;
  }
  return inside;
}

/** Σ|a − b| of `count` numbers from number `from` on. */
static double distance(const Seen *a, const Seen *b, int from, int count) {
  double sum = 0;
  for (int j = from; j < from + count; j++) sum += fabs((double)(a->numbers[j] - b->numbers[j]));
  return sum;
}

/** How a glimpse and a read-out depend on the pixels of an image. */
typedef struct Footprint {
  double rho[PIXELS], g[PIXELS];
} Footprint;

/** What lane 1 + p, whose pixel p is another, got; all else is that of lane 0. */
static Footprint footprint_of(const Seen *seen) {
  Footprint print;
  for (int p = 0; p < PIXELS; p++) {
    print.g[p] = distance(&seen[0], &seen[1 + p], 0, seen->g);
    print.rho[p] = distance(&seen[0], &seen[1 + p], seen->g, seen->rho);
  }
  return print;
}

/** How much it says that pixel p counts: the weight of its tiles; where weights are only
 * probabilities, or there are none, whether the pixel is in the patch around the place. NaN: it
 * says nothing. */
static double recorded_weight(const Scene *scene, const Seen *seen, int p) {
  const real *tiles = column_of(scene, seen, "tiles");
  if (!scene->toy.experiment.agent.attention->without_policy)
    return has_pixel(scene, place_of(seen), p);
  return tiles ? weight_of(scene, tiles, p) : NAN;
}

/** Whether it reads at the first step only. */
static bool reads_once(const Scene *scene) {
  return strcmp(name_of(scene), "first") == 0;
}

/** It looks at the patches that it records, and at nothing else. */
static void check_patches(const Scene *scene, const Seen *seen, const Footprint *print) {
  enum { CLEARLY = 100 }; // times rounding: the pixel matters
  double largest = 0;
  for (int p = 0; p < PIXELS; p++) {
    double weight = recorded_weight(scene, seen, p);
    largest = fmax(largest, print->g[p]);
    if (weight == 0 && print->rho[p] + print->g[p] > 10 * ROUNDING)
      fail_msg("%s: read pixel %d", name_of(scene), p);
    if (weight > 0.01 && print->rho[p] < CLEARLY * ROUNDING)
      fail_msg("%s: did not look at pixel %d, weight %g", name_of(scene), p, weight);
  }
  if (largest < CLEARLY * ROUNDING && !reads_once(scene))
    fail_msg("%s: no pixel changes g", name_of(scene));
}

/** How far the pixels that count are apart, across (axis 0) or down, as a share of the image. */
static double extent_of(const double *rho, int axis) {
  int first = TOY_SIDE, last = 0;
  for (int p = 0; p < PIXELS; p++) {
    int at = axis ? p / TOY_SIDE : p % TOY_SIDE;
    if (rho[p] > 100 * ROUNDING && at < first) first = at;
    if (rho[p] > 100 * ROUNDING && at > last) last = at;
  }
  return (double)(last - first + 1) / TOY_SIDE;
}

/** Most of what a window's glimpse depends on is in its outline, since Gaussians have tails; an
 * outline that is in the image is mostly seen. */
static void check_outline(const Scene *scene, const real *window, const Footprint *print) {
  double inside = 0, outside = 0, read = 0;
  for (int p = 0; p < PIXELS; p++) {
    *(is_framed(window, p) ? &inside : &outside) += print->rho[p];
    read += print->g[p];
  }
  if (!(outside <= inside / 2 && read > 0))
    fail_msg("%s: pixels outside the window count %g, inside %g, in g %g", name_of(scene), outside,
             inside, read);
  for (int j = 0; j < 2; j++) {
    double half = (double)window[2 + j] / 2, extent = extent_of(print->rho, j);
    if (fabs((double)window[j]) + half <= 1 && extent < half / 2)
      fail_msg("%s: saw %g of the image, and recorded %g", name_of(scene), extent, half);
  }
}

static void check_footprint(Scene *scene, const Seen *seen) {
  const real *window = column_of(scene, seen, "window");
  const Footprint print = footprint_of(seen);
  if (window)
    check_outline(scene, window, &print);
  else
    check_patches(scene, seen, &print);
}

/** For several images, states and places. */
static void check_pixels(const FovAttention *attention) {
  enum { TRIALS = 8, ALL = PIXELS + 1 };
  Scene scene;
  Seen *seen = calloc(STEPS * ALL, sizeof *seen);
  scene_create(&scene, attention, "", ALL);
  for (int trial = 0; trial < TRIALS; trial++) {
    draw_lane(&scene.lane[0], trial);
    for (int p = 0; p < PIXELS; p++) {
      scene.lane[1 + p] = scene.lane[0];
      scene.lane[1 + p].pixels[0][p] ^= 0x80; // by a brightness of a half
    }
    look(seen, &scene);
    for (int t = 0; t < STEPS; t++) check_footprint(&scene, &seen[t * ALL]);
  }
  free(seen);
  scene_finish(&scene);
}

static void test_it_reads_the_pixels_that_it_records(void **state) {
  (void)state;
  for_each(check_pixels);
}

/** Lane 0 shows A at time step 0 and B later, lane 1 always B, lane 2 always A. An attention that
 * reads once goes on as in lane 2, others as in lane 1. */
static void check_changes_of(Scene *scene, Seen *seen) {
  Lane *lane = scene->lane;
  lane[1] = lane[2] = lane[0];
  memcpy(lane[0].pixels[2], lane[0].pixels[1], PIXELS);
  for (int t = 0; t < STEPS; t++) {
    memcpy(lane[1].pixels[t], lane[0].pixels[1], PIXELS);
    memcpy(lane[2].pixels[t], lane[0].pixels[0], PIXELS);
  }
  look(seen, scene);
  for (int t = 1; t < STEPS; t++) {
    const Seen *at = seen + t * scene->lanes;
    assert_alike(scene, &at[0], &at[reads_once(scene) ? 2 : 1], "an image that changes");
    if (distance(&at[0], &at[2], 0, at->g) < 1e-3 && !reads_once(scene))
      fail_msg("%s: the image changed, and g did not", name_of(scene));
  }
}

static void check_changes(const FovAttention *attention) {
  Seen seen[STEPS * LANES];
  for (int trained = 0; trained < 2; trained++) {
    Scene scene;
    scene_create(&scene, attention, "", LANES);
    scene.changed = true;
    scene.trained = trained;
    check_changes_of(&scene, seen);
    scene_finish(&scene);
  }
}

static void test_images_that_change_are_read_again(void **state) {
  (void)state;
  for_each(check_changes);
}

/* ---- gradients ---- */

/** Environments whose lanes leave one by one; in the second, images change. */
static const char *const worlds[] = {"env = toy_turns\nglimpses = 2\n",
                                     "env = toy_game\nglimpses = 2\n"};

/** The answer's loss after every glimpse, on some labels; with its gradient if the play has one. */
static double answer_loss(ToyPlay *play) {
  double sum = 0;
  for (int t = 1; t < play->rollout.time_steps; t++) {
    const FovTimeStep *step = &play->rollout.at[t];
    int labels[FOV_SHARD];
    real weights[FOV_SHARD];
    for (int i = 0; i < step->count; i++) {
      labels[i] = (step->lanes[i] + t) % TOY_ACTIONS;
      weights[i] = (real)(1 + (step->lanes[i] + t) % 2);
    }
    FovVar *loss = fov_cross_entropy(&play->tape, NULL, step->logits, labels);
    for (int i = 0; i < step->count; i++) sum += (double)(weights[i] * fov_value_row(loss, i)[0]);
    fov_tape_add_grad(&play->tape, loss, weights);
  }
  return sum;
}

enum { PLAYED = 12 };

/** Plays with the most likely choices, or those of another play. Returns the loss. */
static double play_answers(ToyPlay *play, const Toy *toy, const real *values, real *gradient,
                           const FovChoices *forced) {
  toy_play_begin(play, toy, values, gradient, 0, PLAYED);
  play->plan.deterministic = true;
  play->plan.forced = forced;
  toy_play_run(play, toy);
  double loss = answer_loss(play);
  if (gradient) fov_tape_backward(&play->tape);
  return loss;
}

/** Whether it has the option attention.gradient. */
static bool shares_gradient(const FovAttention *attention) {
  for (const FovOption *option = attention->plugin.options; option && option->name; option++)
    if (strcmp(option->name, "gradient") == 0) return true;
  return false;
}

#ifdef FOV_DOUBLE // In single precision the steps are so long that they cross the kinks of ReLUs.

/** Biased by design: the read-out of one tile has the gradient of a weighted sum. */
static bool is_biased(const FovAttention *attention) {
  return attention->through;
}

/** The loss with the same choices, where numbers of a parameter are moved. */
static double loss_with(const Toy *toy, const real *values, const FovChoices *choices) {
  ToyPlay play;
  double loss = play_answers(&play, toy, values, NULL, choices);
  toy_play_finish(&play);
  return loss;
}

/** A parameter's gradient along a random direction, against a central difference of the loss. */
static void check_direction(const Toy *toy, real *values, const real *gradient,
                            const FovChoices *choices, int number) {
  const FovParam *param = &toy->experiment.agent.params.list[number];
  FovRng rng = fov_rng_stream(7, FOV_STREAM_INIT, (uint64_t)number);
  const double h = 1e-5;
  double slope = 0, loss[2];
  real *kept = toy_copy(toy, values), *direction = toy_copy(toy, values);
  for (size_t j = param->offset; j < param->offset + toy_count(param); j++) {
    direction[j] = fov_rng_normal(&rng) / (real)sqrt((double)toy_count(param));
    slope += (double)direction[j] * (double)gradient[j];
  }
  for (int side = 0; side < 2; side++) {
    for (size_t j = param->offset; j < param->offset + toy_count(param); j++)
      values[j] = kept[j] + (real)(side ? h : -h) * direction[j];
    loss[side] = loss_with(toy, values, choices);
  }
  memcpy(values, kept, toy_block_bytes(toy));
  free(kept), free(direction);
  double difference = (loss[1] - loss[0]) / (2 * h);
  assert_near(slope, difference, 1e-6 * (1 + fabs(difference)), "%s: gradient of %s",
              toy->experiment.agent.attention->plugin.name, param->name);
}

/** Makes the scores of tiles so large that one has all the weight: the gradient of the weighted
 * sum is then that of reading this tile. */
static void sharpen(const Toy *toy, real *values) {
  const FovParams *params = &toy->experiment.agent.params;
  int sharpened = 0;
  for (int i = 0; i < params->count; i++)
    for (size_t j = 0;
         toy_is_of(&params->list[i], "tiles.query.") && j < toy_count(&params->list[i]);
         j++, sharpened++)
      values[params->list[i].offset + j] *= (real)1e5;
  assert_true(sharpened > 0);
}

static void check_differences(const FovAttention *attention) {
  for (int world = 0; world < 2; world++) {
    Toy toy;
    ToyPlay play;
    char settings[SETTINGS];
    settings_for(settings, attention, worlds[world]);
    if (shares_gradient(attention)) strcat(settings, "attention.gradient = 1\n");
    if (attention->through) strcat(settings, "first = learned\n"); // every tile is a choice
    toy_create(&toy, settings);
    real *values = toy_lively_values(&toy);
    real *gradient = fov_params_block(&toy.experiment.agent.params);
    if (is_biased(attention)) sharpen(&toy, values);
    play_answers(&play, &toy, values, gradient, NULL);
    for (int i = 0; i < toy.experiment.agent.params.count; i++)
      check_direction(&toy, values, gradient, &play.rollout.choices, i);
    toy_play_finish(&play);
    free(values), free(gradient);
    toy_finish(&toy);
  }
}

static void test_the_gradient_of_the_answer_equals_differences(void **state) {
  (void)state;
  for_each(check_differences);
}

#endif

/** Whether a gradient reaches the parameters whose names start with the prefix: all of them, or
 * none. */
static void assert_reached(const Toy *toy, const real *gradient, const char *prefix, bool reached) {
  const FovParams *params = &toy->experiment.agent.params;
  for (int i = 0; i < params->count; i++) {
    const FovParam *param = &params->list[i];
    bool found = false;
    for (size_t j = 0; j < toy_count(param); j++) found |= gradient[param->offset + j] != 0;
    if (toy_is_of(param, prefix) && found != reached)
      fail_msg("%s: %s gradient of %s", toy->experiment.agent.attention->plugin.name,
               reached ? "no" : "a", param->name);
  }
}

/** What chooses by its weights, or lets the gradient through, learns where to look from the answer;
 * what samples does not. */
static void check_reach(const FovAttention *attention) {
  static const char *const where[] = {"tiles.", "window."};
  Toy toy;
  ToyPlay play;
  char settings[SETTINGS];
  settings_for(settings, attention, worlds[0]);
  toy_create(&toy, settings);
  real *values = toy_lively_values(&toy);
  real *gradient = fov_params_block(&toy.experiment.agent.params);
  play_answers(&play, &toy, values, gradient, NULL);
  assert_reached(&toy, gradient, "glimpse.", true);
  assert_reached(&toy, gradient, "core.", true);
  for (int i = 0; i < 2; i++)
    assert_reached(&toy, gradient, where[i], attention->without_policy || attention->through);
  toy_play_finish(&play);
  free(values), free(gradient);
  toy_finish(&toy);
}

static void test_the_answer_trains_where_to_look_if_nothing_is_sampled(void **state) {
  (void)state;
  for_each(check_reach);
}

/** The gradient of the answer after two glimpses, of which a share flows from a window into the
 * state. Owned by the caller. */
static real *gradient_with_share(const FovAttention *attention, double share, size_t *count) {
  Toy toy;
  ToyPlay play;
  char settings[SETTINGS], more[SETTINGS / 2];
  snprintf(more, sizeof more, "env = toy\nglimpses = 2\nattention.gradient = %g\n", share);
  settings_for(settings, attention, more);
  toy_create(&toy, settings);
  real *values = toy_lively_values(&toy);
  real *gradient = fov_params_block(&toy.experiment.agent.params);
  play_answers(&play, &toy, values, gradient, NULL);
  *count = toy_block_bytes(&toy) / sizeof(real);
  toy_play_finish(&play);
  free(values);
  toy_finish(&toy);
  return gradient;
}

/** The first window is placed by h_0 = 0, a constant. So with two glimpses the gradient of every
 * parameter is linear in the share. */
static void check_share(const FovAttention *attention) {
  if (!shares_gradient(attention)) return;
  size_t count;
  double flowed = 0;
  real *none = gradient_with_share(attention, 0, &count);
  real *half = gradient_with_share(attention, 0.5, &count);
  real *all = gradient_with_share(attention, 1, &count);
  for (size_t i = 0; i < count; i++) {
    double mean = ((double)none[i] + (double)all[i]) / 2;
    assert_near(half[i], mean, 1e-4 * (1 + fabs(mean)), "%s: number %zu of the gradient",
                attention->plugin.name, i);
    flowed = fmax(flowed, fabs((double)(all[i] - none[i])));
  }
  assert_true(flowed > 1e-2);
  free(none), free(half), free(all);
}

static void test_a_share_of_a_windows_gradient_flows_into_the_state(void **state) {
  (void)state;
  for_each(check_share);
}

/* ---- trainings ---- */

static void check_threads_of(const char *settings) {
  Toy toy;
  toy_create(&toy, settings);
  FovTrainer *alone = toy_trainer(&toy, 1);
  toy_train(alone, 3);
  for (int threads = 2; threads <= 3; threads++) {
    FovTrainer *together = toy_trainer(&toy, threads);
    toy_train(together, 3);
    assert_same_state(&toy, alone, together);
    fov_trainer_destroy(together);
  }
  fov_trainer_destroy(alone);
  toy_finish(&toy);
}

/** Three shards, the last of them short, and more numbers than one task steps. */
#define SHARDS "train.batch = 40\ntrain.shard = 16\ncore.width = 70\n"

/** In the first environment, and in the second, a game, unless labels are needed. */
static void check_trainings(void (*check)(const char *settings), const FovAttention *attention) {
  for (int world = 0; world < (attention->relaxes && !attention->control ? 1 : 2); world++) {
    char settings[SETTINGS], more[SETTINGS / 2];
    snprintf(more, sizeof more, SHARDS "%s", worlds[world]);
    settings_for(settings, attention, more);
    check(settings);
  }
}

static void check_threads(const FovAttention *attention) {
  check_trainings(check_threads_of, attention);
}

static void test_threads_do_not_change_a_bit(void **state) {
  (void)state;
  for_each(check_threads);
}

static void check_allocations(const FovAttention *attention) {
  check_trainings(assert_allocates_once, attention);
}

static void test_nothing_is_allocated_after_the_first_update(void **state) {
  (void)state;
  for_each(check_allocations);
}

/** Several heads, tiles and glimpses that attend to each other, and keys that need no values. */
static void test_forms_of_tiles_keep_their_bits_and_memory(void **state) {
  (void)state;
  static const char *const forms[] = {
      TOY_SOFT TOY_BLOCKS "tiles.heads = 3\n",
      TOY_SOFT TOY_BLOCKS "core = attention\ncore.heads = 2\n",
      "attention = sampled\nfirst = learned\n" TOY_SITES TOY_COARSE,
      "attention = straight_through\nfirst = learned\n" TOY_SITES TOY_COARSE};
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
    char settings[SETTINGS];
    snprintf(settings, sizeof settings, SHARDS "%s%s", worlds[i % 2], forms[i]);
    check_threads_of(settings);
    assert_allocates_once(settings);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
#ifdef FOV_DOUBLE
      cmocka_unit_test(test_the_gradient_of_the_answer_equals_differences),
#endif
      cmocka_unit_test(test_the_answer_trains_where_to_look_if_nothing_is_sampled),
      cmocka_unit_test(test_a_share_of_a_windows_gradient_flows_into_the_state),
      cmocka_unit_test(test_a_gradient_changes_nothing_of_what_is_read),
      cmocka_unit_test(test_lanes_are_independent),
      cmocka_unit_test(test_columns_are_what_they_are_declared_to_be),
      cmocka_unit_test(test_it_reads_the_pixels_that_it_records),
      cmocka_unit_test(test_images_that_change_are_read_again),
      cmocka_unit_test(test_copies_of_an_image_are_read_like_others),
      cmocka_unit_test(test_threads_do_not_change_a_bit),
      cmocka_unit_test(test_nothing_is_allocated_after_the_first_update),
      cmocka_unit_test(test_forms_of_tiles_keep_their_bits_and_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
