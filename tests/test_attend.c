/** Operations of attention against numbers worked out by hand and against other operations, and
 * transformer blocks. Their gradients are in test_tensor.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "base/rng.h"
#include "check.h"
#include "model/transformer.h"

/** A tape of inference. */
typedef struct Bench {
  FovArena arena;
  FovParams params;
  real *values;
  FovTape tape;
} Bench;

/** Begins a tape over the parameters that have been added, zeros at first. */
static void begin(Bench *bench) {
  assert_non_null(bench->values = fov_params_block(&bench->params));
  fov_tape_begin(&bench->tape, &bench->arena, &bench->params, bench->values, NULL);
}

static void finish(Bench *bench) {
  free(bench->values);
  fov_params_finish(&bench->params);
  fov_arena_finish(&bench->arena);
}

static FovVar *randoms(FovTape *tape, int rows, int cols, uint64_t index) {
  FovRng rng = fov_rng_stream(3, FOV_STREAM_INIT, index);
  FovVar *x = fov_constant(tape, rows, cols);
  for (int b = 0; b < rows; b++)
    for (int j = 0; j < cols; j++) fov_value_row(x, b)[j] = fov_rng_normal(&rng);
  return x;
}

static void assert_row(const FovVar *x, int b, const FovVar *expected, int row) {
  for (int j = 0; j < x->cols; j++)
    assert_near(fov_value_row(x, b)[j], fov_value_row(expected, row)[j], 1e-12, "row %d, column %d",
                b, j);
}

/** Row i of every lane asks for itself, by the operations for one query a lane. */
static void test_self_attention_is_the_attention_of_every_row(void **state) {
  (void)state;
  enum { LANES = 3, N = 5, D = 8, HEADS = 2 };
  Bench bench = {0};
  begin(&bench);
  FovTape *tape = &bench.tape;
  FovVar *q = randoms(tape, LANES * N, D, 0), *k = randoms(tape, LANES * N, D, 1),
         *v = randoms(tape, LANES * N, D, 2);
  FovVar *all = fov_self_attention(tape, q, k, v, NULL, LANES, HEADS);
  for (int i = 0; i < N; i++) {
    FovVar *one = fov_gather(tape, q, (int[]){i, N + i, 2 * N + i}, LANES);
    FovVar *e = fov_dot_sites(tape, one, k, HEADS, 0.5); // 1 / √4
    FovVar *z = fov_weigh_sites(tape, fov_softmax(tape, e, HEADS), v, HEADS);
    for (int b = 0; b < LANES; b++) assert_row(all, b * N + i, z, b);
  }
  finish(&bench);
}

static void test_a_softmax_within_is_that_of_the_columns_inside(void **state) {
  (void)state;
  Bench bench = {0};
  begin(&bench);
  FovVar *x = fov_constant(&bench.tape, 1, 6), *inside = fov_zeros(&bench.tape, 1, 3);
  const real numbers[] = {log(3), 1e6, 0, -1e6, 7, -1e6 + log(4)};
  const real expected[] = {0.75, 0, 0.25, 0.2, 0, 0.8};
  memcpy(x->value, numbers, sizeof numbers);
  inside->value[0] = inside->value[2] = 1;
  FovVar *y = fov_softmax_within(&bench.tape, x, inside, 2);
  for (int i = 0; i < 6; i++) assert_near(y->value[i], expected[i], 1e-9, "column %d", i);
  assert_true(y->value[1] == 0 && y->value[4] == 0);
  finish(&bench);
}

/** Of 2 × 2 tiles, from the place (½, 2): tiles 0 and 2 have x = ½, tiles 0 and 1 y = ½. */
static void test_the_gaussian_of_tiles_falls_with_their_distance(void **state) {
  (void)state;
  Bench bench = {0};
  begin(&bench);
  FovVar *place = fov_constant(&bench.tape, 1, 2);
  place->value[0] = 0.5, place->value[1] = 2;
  FovVar *f = fov_tile_gaussian(&bench.tape, place, 2, 2, 0.5);
  const real squares[] = {2.25, 3.25, 0.25, 1.25}; // of the distances
  for (int i = 0; i < 4; i++) assert_near(f->value[i], exp(-2 * squares[i]), 1e-12, "tile %d", i);
  finish(&bench);
}

/** Where both halves of the blocks add zeros, only the last norm is left. */
static void test_blocks_add_to_their_input(void **state) {
  (void)state;
  enum { LANES = 2, N = 3, D = 4 };
  Bench bench = {0};
  FovTransformer transformer = {.count = 2, .heads = 2};
  fov_transformer_add(&transformer, &bench.params, "x", D, 5);
  begin(&bench);
  fov_params_init(bench.values, &bench.params, 1);
  for (int i = 0; i < transformer.count; i++) {
    const FovTransformerBlock *block = &transformer.blocks[i];
    memset(bench.tape.params[block->output.w].value, 0, D * D * sizeof(real));
    memset(bench.tape.params[block->down.w].value, 0, D * 5 * sizeof(real));
  }
  FovVar *x = randoms(&bench.tape, LANES * N, D, 4);
  FovVar *y = fov_transformer_apply(&transformer, &bench.tape, x, NULL, LANES);
  FovVar *norm = fov_layer_normalise(&bench.tape, x, transformer.last);
  for (int b = 0; b < LANES * N; b++) assert_row(y, b, norm, b);
  finish(&bench);
}

/** The first of two lanes alone, and its rows in another order. */
static void test_blocks_know_no_other_lane_and_no_order(void **state) {
  (void)state;
  enum { N = 3, D = 4 };
  Bench bench = {0};
  FovTransformer transformer = {.count = 2, .heads = 2};
  fov_transformer_add(&transformer, &bench.params, "x", D, 5);
  begin(&bench);
  fov_params_init(bench.values, &bench.params, 1);
  FovVar *x = randoms(&bench.tape, 2 * N, D, 4);
  FovVar *both = fov_transformer_apply(&transformer, &bench.tape, x, NULL, 2);
  FovVar *moved = fov_gather(&bench.tape, x, (int[]){2, 0, 1}, N);
  FovVar *alone = fov_transformer_apply(&transformer, &bench.tape, moved, NULL, 1);
  for (int i = 0; i < N; i++) assert_row(alone, i, both, (i + 2) % N);
  FovVar *first = fov_gather(&bench.tape, x, (int[]){2}, 1);
  FovVar *without = fov_transformer_apply(&transformer, &bench.tape, first, NULL, 1);
  assert_true(fabs(without->value[0] - alone->value[0]) > 1e-3); // rows of a lane matter
  finish(&bench);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_self_attention_is_the_attention_of_every_row),
      cmocka_unit_test(test_a_softmax_within_is_that_of_the_columns_inside),
      cmocka_unit_test(test_the_gaussian_of_tiles_falls_with_their_distance),
      cmocka_unit_test(test_blocks_add_to_their_input),
      cmocka_unit_test(test_blocks_know_no_other_lane_and_no_order),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
