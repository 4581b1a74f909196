/** What an evaluation costs: matrix products and pixels of every kind of attention, by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "check.h"
#include "experiment/tested.h"
#include "toy.h"

/** The sizes of the toy's agent (toy.c): glimpses, tiles, and what its layers multiply for one
 * image. Those of a glimpse of n numbers: content, place, and both together. */
enum { T = 3, N = 9, QUERY = 6, WIDTH = 12, ANSWER = WIDTH * TOY_ACTIONS };
#define GLIMPSE(n) ((n)*8 + 2 * 8 + (8 + 8) * 12)
/** W g_t in every time step, U h_{t−1} in all but the first. */
#define RNN(steps) (((steps) + (steps)-1) * WIDTH * WIDTH)

enum { ANY = -1 };

/** An agent, and what it does for an image. */
typedef struct Kind {
  const char *settings;
  int products;        /**< multiplications of all matrix products */
  int numbers, pixels; /**< ANY: as the places that it looks at */
} Kind;

static const Kind kinds[] = {
    // Gates r, z and n; the policy chooses all places but the first.
    {"core = gru\nsensor.scales = 2\n",
     (GLIMPSE(32) + 2 * 3 * WIDTH * WIDTH) * T + 2 * WIDTH *(T - 1) + ANSWER, 32 * T, ANY},
    {"sensor.scales = 2\npolicy = centre\n", GLIMPSE(32) * T + RNN(T) + ANSWER, 32 * T,
     (16 + 64) * T},
    // A third of the cases has one turn of two glimpses, a third two, a third three.
    {"env = toy_turns\nglimpses = 2\npolicy = centre\n", GLIMPSE(16) * 4 + RNN(4) + 2 * ANSWER,
     16 * 4, 16 * 4},
    {"sensor.whole = yes\npolicy = centre\n", GLIMPSE(400) * T + RNN(T) + ANSWER, 400 * T, 400 * T},
    // Three filters of 3 x 3 at 2 x 2 places; the second layer starts from nine cells.
    {"encoder = conv\npolicy = centre\n" TOY_SMALL_FILTERS TOY_TWO_LAYERS,
     (4 * 3 * 9 + 2 * 8 + (12 + 8) * 12) * T + RNN(T) + 2 * WIDTH *WIDTH *T + 9 * 7 + 7 * WIDTH +
         ANSWER,
     16 * T + 9, 16 * T + 400},
    // Each tile once: value, key, W_k k of two heads. Each time: query, W_q q, v·tanh, read-out.
    {TOY_SOFT "score = additive\ntiles.heads = 2\n",
     (GLIMPSE(16) + QUERY * WIDTH + QUERY * 3) * N +
         (QUERY * WIDTH + QUERY * 3 + N * QUERY + N * WIDTH) * T + RNN(T) + ANSWER,
     16 * N, 16 * N},
    // Two blocks: query, key, value, output; up and down; every tile reads every tile.
    {TOY_SOFT TOY_BLOCKS,
     (GLIMPSE(16) + 2 * (4 * WIDTH * WIDTH + 2 * 5 * WIDTH + 2 * N * WIDTH) + QUERY * WIDTH) * N +
         (QUERY * WIDTH + N * QUERY + N * WIDTH) * T + RNN(T) + ANSWER,
     16 * N, 16 * N},
    // All tiles are looked at; the place has a layer as wide as a query.
    {"attention = local_p\nscore = dot\n" TOY_TILES,
     (GLIMPSE(16) + QUERY * WIDTH) * N +
         (2 * QUERY * WIDTH + 2 * QUERY + N * QUERY + N * WIDTH) * T + RNN(T) + ANSWER,
     16 * N, 16 * N},
    // Patches of 8 x 8 at 3, 10 and 17 of 20 pixels: the outer ones have 7 pixels each way inside.
    {"attention = sampled\nscore = dot\nsensor.side = 8\n" TOY_SITES,
     (GLIMPSE(64) + QUERY * WIDTH) * N + (QUERY * WIDTH + N * QUERY) * T + RNN(T) + ANSWER, 64 * N,
     (7 + 8 + 7) * (7 + 8 + 7)},
    // Query and W q; without a gradient the read-out is the chosen value.
    {"attention = straight_through\nscore = general\n" TOY_SITES,
     (GLIMPSE(16) + QUERY * WIDTH) * N + (QUERY * WIDTH + QUERY * QUERY + N * QUERY) * T + RNN(T) +
         ANSWER,
     16 * N, 16 * N},
    // The core attends to 1, 2 and 3 read-outs; query, key, value, output; up and down.
    {"core = attention\ncore.heads = 2\ncore.hidden = 10\npolicy = centre\n",
     (GLIMPSE(16) + 5 * WIDTH * WIDTH + 2 * 10 * WIDTH) * T + (1 + 2 + 3) * 2 * WIDTH + ANSWER,
     16 * T, 16 * T},
};

static FovTested test_agent(const Toy *toy, real *values, int rollouts, int threads) {
  FovTested tested;
  const FovTrained trained = {.experiment = toy->experiment,
                              .env = toy->env,
                              .split = FOV_SPLIT_TRAIN,
                              .task = toy->task,
                              .values = values};
  assert_int_equal(fov_tested_run(&tested, &trained, rollouts, threads, 0), FOV_OK);
  fov_tested_finish(&tested);
  return tested;
}

static void assert_cost(const FovTested *tested, const Kind *kind) {
  const FovOutcomes *o = &tested->outcomes;
  assert_near(o->mflop, 2e-6 * kind->products, 1e-15, "MFLOP of %s", kind->settings);
  assert_near(o->input_numbers, kind->numbers, 0, "numbers of %s", kind->settings);
  if (kind->pixels != ANY)
    assert_near(o->input_pixels, kind->pixels, 0, "pixels of %s", kind->settings);
  assert_true(tested->milliseconds > 0);
}

/** 150 cases fill two shards and a part of a third. */
static void the_cost_is_that_of_its_layers(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    Toy toy;
    char settings[500];
    snprintf(settings, sizeof settings, "env.cases = 150\n%s", kinds[i].settings);
    toy_create(&toy, settings);
    real *values = toy_lively_values(&toy);
    for (int rollouts = 1; rollouts <= 4; rollouts += 3) {
      FovTested alone = test_agent(&toy, values, rollouts, 1);
      FovTested together = test_agent(&toy, values, rollouts, 3);
      assert_cost(&alone, &kinds[i]);
      assert_true(together.outcomes.mflop == alone.outcomes.mflop);
      assert_true(together.outcomes.input_numbers == alone.outcomes.input_numbers);
      assert_true(together.outcomes.input_pixels == alone.outcomes.input_pixels);
    }
    free(values);
    toy_finish(&toy);
  }
}

static double mflop_of(const char *settings) {
  Toy toy;
  toy_create(&toy, settings);
  real *values = toy_lively_values(&toy);
  FovTested tested = test_agent(&toy, values, 1, 1);
  free(values);
  toy_finish(&toy);
  return tested.outcomes.mflop;
}

static void local_attention_reads_a_sequence_once(void **state) {
  (void)state;
  assert_true(mflop_of(TOY_SEQUENCE "attention = local_m\n" TOY_RNN) ==
              mflop_of(TOY_SEQUENCE "attention = soft\n" TOY_RNN));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_cost_is_that_of_its_layers),
      cmocka_unit_test(local_attention_reads_a_sequence_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
