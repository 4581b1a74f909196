/** Tiles that attention chooses among: their part of a coarse view, and which of them are looked
 * at.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/gumbel.h"
#include "check.h"
#include "model/sites.h"
#include "plugin.h"
#include "toy_play.h"

/* ---- a coarse view ---- */

enum { IMAGES = 2, CHANNELS = 3, MOST = 12 };

/** Images with a pixel for each of side × side cells. */
static void paint(FovImage images[IMAGES], uint8_t bytes[IMAGES][MOST * MOST * CHANNELS],
                  int side) {
  for (int n = 0; n < IMAGES; n++) {
    for (int i = 0; i < side * side * CHANNELS; i++) bytes[n][i] = (uint8_t)(97 * n + 5 * i + 1);
    images[n] = (FovImage){.bytes = bytes[n], .height = side, .width = side, .channels = CHANNELS};
  }
}

/** Number j of c_i: of `count` × `count` cells from (left, top) on. */
static double cell_at(const FovImage *image, int left, int top, int count, int j) {
  int x = left + j / CHANNELS % count, y = top + j / CHANNELS / count;
  bool inside = x >= 0 && x < image->width && y >= 0 && y < image->height;
  return inside ? image->bytes[(y * image->width + x) * CHANNELS + j % CHANNELS] / 255. : 0;
}

/** u_i = c_i + w l_i + ½ for a W_c of 1 and W_l = w (1 10) in every row. margin: cells on each side
 * of a tile. */
static void check_view(int K, int m, int margin, real w) {
  int count = m + 2 * margin, D = count * count * CHANNELS, N = K * K;
  FovParams params = {0};
  FovArena arena = {0};
  FovTape tape;
  FovCoarseTiles coarse;
  FovImage images[IMAGES];
  uint8_t bytes[IMAGES][MOST * MOST * CHANNELS];
  const FovAttentionParts parts = {.glimpse.shape.channels = CHANNELS,
                                   .height = K * m,
                                   .width = K * m,
                                   .tiles = {.side = K, .cells = m, .width = D}};
  assert_int_equal(fov_coarse_tiles_build(&coarse, &params, &parts), FOV_OK);
  real *values = fov_params_block(&params);
  const FovParam *cells_w = &params.list[coarse.cells_w], *place_w = &params.list[coarse.place_w];
  assert_int_equal(cells_w->cols, D);
  for (int j = 0; j < D; j++) {
    values[cells_w->offset + (size_t)j * (size_t)(D + 1)] = 1;
    values[place_w->offset + 2 * (size_t)j] = w;
    values[place_w->offset + 2 * (size_t)j + 1] = 10 * w;
    values[params.list[coarse.bias].offset + (size_t)j] = (real)0.5 + 11 * w;
  }
  paint(images, bytes, K * m);
  fov_tape_begin(&tape, &arena, &params, values, NULL);
  FovVar *places = fov_constant(&tape, IMAGES * N, 2);
  for (int i = 0; i < IMAGES * N; i++)
    fov_tile_middle(fov_value_row(places, i), i % N, (FovGrid){K, K});
  const FovVar *u = fov_coarse_tiles_see(&tape, &coarse, images, places);
  for (int i = 0; i < IMAGES * N; i++)
    for (int j = 0; j < D; j++) {
      const real *l = fov_value_row(places, i);
      double cell =
          cell_at(&images[i / N], i % N % K * m - margin, i % N / K * m - margin, count, j);
      assert_near(fov_value_row(u, i)[j],
                  cell + 0.5 + (double)w * ((double)l[0] + 10 * (double)l[1] + 11), 1e-5,
                  "%d x %d cells, row %d, number %d", m, m, i, j);
    }
  fov_arena_finish(&arena);
  fov_params_finish(&params);
  free(values);
}

static void test_a_tile_has_its_cells_and_those_around_it(void **state) {
  (void)state;
  check_view(3, 1, 0, 0);
  check_view(3, 2, 1, 0);
  check_view(2, 3, 1, 1);
  check_view(3, 4, 2, 1);
}

/* ---- looking at one tile ---- */

/** Fails unless numbers of one rollout are those of another. Matrix products of floats may round
 * differently with another number of rows. */
static void assert_same(const FovVar *a, const FovVar *b, const char *settings) {
  const double rounding = sizeof(real) == sizeof(double) ? 1e-13 : 1e-5;
  assert_int_equal(a != NULL, b != NULL);
  if (!a) return;
  assert_int_equal(a->rows, b->rows);
  for (int i = 0; i < a->rows; i++)
    for (int j = 0; j < a->cols; j++) {
      double one = (double)fov_value_row(a, i)[j], all = (double)fov_value_row(b, i)[j];
      assert_near(one, all, rounding * (1 + fabs(all)), "%s: lane %d, number %d", settings, i, j);
    }
}

static void assert_same_rollouts(const FovRollout *a, const FovRollout *b, const char *settings) {
  assert_int_equal(a->time_steps, b->time_steps);
  for (int t = 0; t < a->time_steps; t++) {
    const FovTimeStep *x = &a->at[t], *y = &b->at[t];
    assert_int_equal(x->count, y->count);
    assert_memory_equal(x->events, y->events, (size_t)x->count);
    for (int i = 0; i < x->count; i++) {
      size_t at = (size_t)(t * a->lanes + x->lanes[i]);
      assert_int_equal(a->choices.places[at].index, b->choices.places[at].index);
    }
    if (t > 0) assert_same(x->location, y->location, settings);
    assert_same(x->rho, y->rho, settings);
    assert_same(x->logits, y->logits, settings);
    for (int c = 0; c < FOV_COLUMNS; c++) assert_same(x->read[c], y->read[c], settings);
  }
}

/** An attention without a gradient, against one whose gradient needs all values. */
static void check_alone(const char *attention, const char *with_gradient, const char *more) {
  enum { LANES = 24 };
  Toy toys[2];
  ToyPlay plays[2];
  char settings[2][512];
  real *values[2], *gradient = NULL;
  for (int all = 0; all < 2; all++) {
    snprintf(settings[all], sizeof *settings, "attention = %s\npolicy = sites\ntiles.side = 4\n%s",
             all ? with_gradient : attention, more);
    toy_create(&toys[all], settings[all]);
    values[all] = toy_lively_values(&toys[all]);
    if (all) gradient = toy_copy(&toys[all], values[all]);
    toy_play_begin(&plays[all], &toys[all], values[all], gradient, 0, LANES);
    toy_play_run(&plays[all], &toys[all]);
  }
  assert_same_rollouts(&plays[0].rollout, &plays[1].rollout, settings[0]);
  for (int all = 0; all < 2; all++) {
    toy_play_finish(&plays[all]);
    toy_finish(&toys[all]);
    free(values[all]);
  }
  free(gradient);
}

static void test_a_tile_that_is_looked_at_alone_has_the_same_value(void **state) {
  (void)state;
  const char *const worlds[] = {"first = centre\n",
                                "first = learned\nglimpses = 6\nstop = learned\n",
                                "first = random\nenv = toy_game\nstop = learned\n"};
  const char *const keys[] = {"score = location\n", "tiles.keys = coarse\n"};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 2; j++) {
      char more[256];
      snprintf(more, sizeof more, "%s%s", worlds[i], keys[j]);
      check_alone("sampled", "straight_through", more);
      check_alone("straight_through", "straight_through", more);
      check_alone("gumbel", "gumbel", more);
      check_alone("reinmax", "reinmax", more);
    }
}

/* ---- images that change ---- */

/** Scores of all tiles for one state, of two images one after the other, by a state that saw `seen`
 * images before. Returns the last scores. */
static const FovVar *scores_of(FovTape *tape, const Toy *toy, const FovImage *images, int seen,
                               bool changed) {
  const FovAgent *agent = &toy->experiment.agent;
  const FovVar *e = NULL;
  void *state = fov_arena_alloc(tape->arena, agent->attention->state_size);
  FovView view = {.changed = changed, .state = fov_zeros(tape, 1, agent->width), .lanes = 1};
  agent->attention->begin(state, agent->attention_layout, tape, 1, seen);
  for (int i = 0; i < seen; i++) {
    view.images = &images[i];
    e = agent->attention->scores(state, agent->attention_layout, tape, &view);
  }
  return e;
}

/** Whether all scores are the same. */
static bool are_same(const FovVar *a, const FovVar *b) {
  return !memcmp(a->value, b->value, (size_t)a->cols * sizeof(real));
}

static void test_keys_change_with_the_image(void **state) {
  (void)state;
  const char *const keys[] = {"projected", "values", "coarse"};
  for (int k = 0; k < 3; k++) {
    Toy toy;
    FovArena arena = {0};
    FovTape tape;
    uint8_t bytes[2][TOY_SIDE * TOY_SIDE];
    FovImage images[2];
    char settings[256];
    snprintf(settings, sizeof settings, "attention = sampled\n" TOY_SITES "tiles.keys = %s\n",
             keys[k]);
    toy_create(&toy, settings);
    real *values = toy_lively_values(&toy);
    fov_tape_begin(&tape, &arena, &toy.experiment.agent.params, values, NULL);
    for (int n = 0; n < 2; n++) {
      for (int i = 0; i < TOY_SIDE * TOY_SIDE; i++) bytes[n][i] = (uint8_t)(i * (3 + 4 * n));
      images[n] =
          (FovImage){.bytes = bytes[n], .height = TOY_SIDE, .width = TOY_SIDE, .channels = 1};
    }
    const FovVar *first = scores_of(&tape, &toy, images, 1, true);
    const FovVar *second = scores_of(&tape, &toy, images + 1, 1, true);
    assert_false(are_same(first, second));
    assert_true(are_same(second, scores_of(&tape, &toy, images, 2, true)));
    // They are computed once if the images do not change.
    assert_true(are_same(first, scores_of(&tape, &toy, images, 2, false)));
    fov_arena_finish(&arena);
    free(values);
    toy_finish(&toy);
  }
}

/* ---- gradients of a choice ---- */

/** f(g) = Σ_d (curve_d g_d²/2 + slope_d g_d) of the value v_i of one of four tiles. */
enum { SITES = 4, DEPTH = 3 };
static const double site_values[SITES][DEPTH] = {
    {0.3, -1, 0.5}, {1.2, 0.4, -0.7}, {-0.6, 0.9, 1.1}, {0.1, 0.2, -1.3}};
static const double site_scores[SITES] = {0.4, -0.3, 0.9, 0};
static const double slopes[DEPTH] = {0.7, -0.4, 1.3}, curves[DEPTH] = {1.5, 0.8, -1.1};

static double site_p(int i) {
  double sum = 0;
  for (int j = 0; j < SITES; j++) sum += exp(site_scores[j]);
  return exp(site_scores[i]) / sum;
}

static double loss_of_site(int i, double curved) {
  double loss = 0;
  for (int d = 0; d < DEPTH; d++)
    loss += curved * curves[d] * pow(site_values[i][d], 2) / 2 + slopes[d] * site_values[i][d];
  return loss;
}

/** The tiles' values of one lane, as known from the images. */
static FovSitesState known_sites(FovTape *tape, FovVar *scores) {
  FovSitesState state = {.values = fov_constant(tape, SITES, DEPTH),
                         .rho = fov_zeros(tape, SITES, 1),
                         .places = fov_zeros(tape, SITES, 2),
                         .scores = scores};
  for (int i = 0; i < SITES; i++)
    for (int d = 0; d < DEPTH; d++) fov_value_row(state.values, i)[d] = (real)site_values[i][d];
  return state;
}

/** The gradient of f with respect to the scores if tile i is read; f is linear without `curved`. */
static void read_choice(double grad[SITES], const FovAttention *attention, const FovSites *sites,
                        FovView view, int i, double curved) {
  FovArena arena = {0};
  FovTape tape;
  FovParams none = {0};
  FovReadout readout = {0};
  real of_g[DEPTH];
  fov_tape_begin(&tape, &arena, &none, NULL, NULL);
  FovVar *scores = fov_input(&tape, 1, SITES);
  for (int j = 0; j < SITES; j++) scores->value[j] = (real)site_scores[j];
  FovSitesState state = known_sites(&tape, scores);
  view.location = fov_constant(&tape, 1, 2), view.lanes = 1;
  fov_tile_middle(view.location->value, i, sites->grid);
  attention->read(&readout, &state, sites, &tape, &view);
  for (int d = 0; d < DEPTH; d++) {
    assert_near((double)readout.g->value[d], site_values[i][d], 1e-6, "value of tile %d", i);
    of_g[d] = (real)(curved * curves[d] * (double)readout.g->value[d] + slopes[d]);
  }
  if (readout.g->wants_grad) fov_tape_add_grad(&tape, readout.g, of_g);
  fov_tape_backward(&tape);
  for (int j = 0; j < SITES; j++) grad[j] = scores->grad ? (double)scores->grad[j] : 0;
  fov_arena_finish(&arena);
}

/** The largest error of the mean gradient: exactly, over all choices. */
static double bias_of(const char *name, double curved) {
  double sum[SITES] = {0}, mean = 0, worst = 0;
  const FovAttention *attention = plugin_find(PLUGINS(fov_attentions), name);
  const FovSites sites = {.grid = {2, 2}, .count = SITES, .heads = 1, .width = DEPTH};
  for (int i = 0; i < SITES; i++) {
    double grad[SITES];
    read_choice(grad, attention, &sites, (FovView){.deterministic = true}, i, curved);
    for (int j = 0; j < SITES; j++) sum[j] += site_p(i) * grad[j];
  }
  for (int i = 0; i < SITES; i++) mean += site_p(i) * loss_of_site(i, curved);
  for (int i = 0; i < SITES; i++)
    worst = fmax(worst, fabs(sum[i] - site_p(i) * (loss_of_site(i, curved) - mean)));
  return worst;
}

static void
test_straight_through_is_exact_for_linear_losses_and_reinmax_for_quadratic_ones(void **state) {
  (void)state;
  assert_true(bias_of("straight_through", 0) < 1e-6);
  assert_true(bias_of("straight_through", 1) > 0.02);
  assert_true(bias_of("reinmax", 0) < 1e-6);
  assert_true(bias_of("reinmax", 1) < 1e-6);
}

/** The scores learn nothing from a first tile that nobody chose. */
static void test_a_fixed_tile_has_no_gradient(void **state) {
  (void)state;
  static const char *const names[] = {"straight_through", "gumbel", "reinmax"};
  const FovView view = {.deterministic = true, .fixed = true};
  for (int k = 0; k < 3; k++) {
    Toy toy;
    char settings[128];
    double grad[SITES];
    snprintf(settings, sizeof settings, "attention = %s\npolicy = sites\ntiles.side = 2\n",
             names[k]);
    toy_create(&toy, settings);
    const FovAgent *agent = &toy.experiment.agent;
    read_choice(grad, agent->attention, agent->attention_layout, view, 1, 1);
    for (int j = 0; j < SITES; j++) assert_true(grad[j] == 0);
    toy_finish(&toy);
  }
}

/** Σ_i s_i (slopes · v_i) of s = softmax((e + g) / τ). */
static double softened_loss(const double e[SITES], const real g[SITES], double tau) {
  double sum = 0, loss = 0;
  for (int i = 0; i < SITES; i++) {
    double share = exp((e[i] + (double)g[i]) / tau);
    sum += share;
    loss += share * loss_of_site(i, 0);
  }
  return loss / sum;
}

/** The gradient of a choice of gumbel against differences of the softened loss with its noise. */
static void check_softened(const Toy *toy, int index, double progress, double tau, bool noisy) {
  const FovAgent *agent = &toy->experiment.agent;
  const double h = 1e-5;
  FovRng rng = fov_rng_stream(3, FOV_STREAM_INIT, (uint64_t)index), same = rng;
  real noise[SITES] = {0}, scores[SITES];
  double grad[SITES];
  for (int j = 0; j < SITES; j++) scores[j] = (real)site_scores[j];
  if (noisy) fov_gumbel_given_argmax(noise, scores, SITES, index, &same);
  const FovView view = {.progress = progress, .deterministic = !noisy, .rng = &rng};
  read_choice(grad, agent->attention, agent->attention_layout, view, index, 0);
  for (int j = 0; j < SITES; j++) {
    double moved[2][SITES];
    for (int side = 0; side < 2; side++) {
      memcpy(moved[side], site_scores, sizeof site_scores);
      moved[side][j] += side ? h : -h;
    }
    double slope =
        (softened_loss(moved[1], noise, tau) - softened_loss(moved[0], noise, tau)) / (2 * h);
    assert_near(grad[j], slope, 1e-5, "tile %d at tau %g: score %d", index, tau, j);
  }
}

static void test_gumbel_has_the_gradient_of_a_softmax_with_noise_and_a_temperature(void **state) {
  (void)state;
  const struct {
    const char *temperatures;
    double tau[3]; // after no, half and all of the training
  } schedules[] = {
      {"", {1, 1, 1}},
      {"attention.temperature = 3\n", {3, 3, 3}},
      {"attention.temperature = 0.5\nattention.temperature_end = 2\n", {0.5, 1.25, 2}}};
  for (int s = 0; s < 3; s++) {
    Toy toy;
    char settings[256];
    snprintf(settings, sizeof settings, "attention = gumbel\npolicy = sites\ntiles.side = 2\n%s",
             schedules[s].temperatures);
    toy_create(&toy, settings);
    for (int index = 0; index < SITES; index++)
      for (int time = 0; time < 3; time++) {
        check_softened(&toy, index, time / 2., schedules[s].tau[time], true);
        check_softened(&toy, index, time / 2., schedules[s].tau[time], false);
      }
    toy_finish(&toy);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_tile_has_its_cells_and_those_around_it),
      cmocka_unit_test(test_a_tile_that_is_looked_at_alone_has_the_same_value),
      cmocka_unit_test(test_keys_change_with_the_image),
      cmocka_unit_test(
          test_straight_through_is_exact_for_linear_losses_and_reinmax_for_quadratic_ones),
      cmocka_unit_test(test_a_fixed_tile_has_no_gradient),
      cmocka_unit_test(test_gumbel_has_the_gradient_of_a_softmax_with_noise_and_a_temperature),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
