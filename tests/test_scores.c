/** The scores against their formulas: numbers worked out by hand, and what leaves them unchanged.
 * The contract of every score is in test_tensor.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "model/score.h"
#include "tensor/ops.h"

enum { HEADS = 2, D = 4, N = 2, PARAMS = 4 };

/** Scores of two sites by two heads of two numbers. */
typedef struct Worked {
  const char *score;
  real query[D], keys[N * D]; /**< the first two columns are of head 0 */
  struct {
    const char *name;
    real numbers[2 * D];
  } params[PARAMS];
  real e[HEADS * N]; /**< two sites of head 0, then of head 1 */
} Worked;

static const Worked worked[] = {
    // (1, 2)·(2, 0), (1, 2)·(−1, 1) | (3, −1)·(1, 1), (3, −1)·(0, 2)
    {"dot", {1, 2, 3, -1}, {2, 0, 1, 1, -1, 1, 0, 2}, .e = {2, 1, 2, -2}},
    // The same through √2.
    {"scaled_dot",
     {1, 2, 3, -1},
     {2, 0, 1, 1, -1, 1, 0, 2},
     .e = {1.414213562373095, 0.7071067811865475, 1.414213562373095, -1.414213562373095}},
    // W = (1 2; 0 1) gives qᵀW = (1, 4); W = (0 −1; 2 ½) gives (−2, −3½). Their transposes are
    // stored.
    {"general",
     {1, 2, 3, -1},
     {2, 0, 1, 1, -1, 1, 0, 2},
     {{"score.w", {1, 0, 2, 1, 0, 2, -1, 0.5}}},
     {2, 3, -5.5, -7}},
    // A row of W for each site: (1, 0), (−1, 2) on (1, 2) | (½, 1), (2, 2) on (3, −1).
    {"location",
     {1, 2, 3, -1},
     {9, 9, 9, 9, 9, 9, 9, 9},
     {{"score.w", {1, 0, -1, 2, 0.5, 1, 2, 2}}},
     {1, 3, 0.5, 4}},
    // Head 0: W_q q + b = (1.1, 0.8), W_k k = (1, 0) and (−½, 1): 2 tanh 2.1 − tanh 0.8 and
    // 2 tanh 0.6 − tanh 1.8. Head 1: (−1, 2½), (1, 1) and (0, 4): tanh 3.5 and −½ tanh 1 +
    // tanh 6.5.
    {"additive",
     {1, 2, 3, -1},
     {2, 0, 1, 1, -1, 1, 0, 2},
     {{"score.query", {1, 0, 0, 0.5, 0, 1, 1, 1}},
      {"score.key", {0.5, 0, 0, 1, 1, 0, -1, 2}},
      {"score.bias", {0.1, -0.2, 0, 0.5}},
      {"score.v", {2, -1, 0.5, 1}}},
     {1.2768671029590586, 0.1272931211498023, 0.9981778976111987, 0.6191984013735218}},
    // Cosines 24/25, 63/65 | 0, −1. w·q + b is 0, so β = log 2 | log(e² − 1), so β = 2.
    {"content",
     {3, 4, -8, 6},
     {4, 3, 6, 8, 5, 12, 4, -3},
     {{"score.strength.w", {0.2, 0.1, -0.25, 0.5}},
      {"score.strength.bias", {-1, 1.854586542131141 - 5}}},
     {0.6654212933375475, 0.6718195750360341, 0, -2}},
};

enum { WORKED = sizeof worked / sizeof *worked };

/** A score that is built, on a tape of inference. */
typedef struct Built {
  const FovScore *score;
  void *layout;
  FovParams params;
  real *values;
  FovArena arena;
  FovTape tape;
} Built;

static const FovScore *find(const char *name) {
  for (const FovScore *const *score = fov_scores; *score; score++)
    if (strcmp((*score)->plugin.name, name) == 0) return *score;
  fail_msg("no score %s", name);
  return NULL;
}

static void built_begin(Built *b, const char *name) {
  *b = (Built){.score = find(name)};
  b->layout = calloc(1, b->score->layout_size + 1);
  assert_non_null(b->layout);
  if (b->score->build)
    assert_int_equal(b->score->build(b->layout, &b->params, NULL, D, HEADS, N), FOV_OK);
  b->values = fov_params_block(&b->params);
  assert_non_null(b->values);
  fov_params_init(b->values, &b->params, 1);
  fov_tape_begin(&b->tape, &b->arena, &b->params, b->values, NULL);
}

static void built_finish(Built *b) {
  free(b->values), free(b->layout);
  fov_params_finish(&b->params);
  fov_arena_finish(&b->arena);
}

static FovVar *constant(Built *b, const real *numbers, int rows) {
  FovVar *x = fov_constant(&b->tape, rows, D);
  for (int i = 0; i < rows; i++)
    memcpy(fov_value_row(x, i), numbers + (size_t)i * D, D * sizeof(real));
  return x;
}

/** e of one lane: query [D] and keys [N, D]. */
static FovVar *scores_of(Built *b, const real *query, const real *keys) {
  FovVar *k = constant(b, keys, N);
  if (b->score->prepare) k = b->score->prepare(b->layout, &b->tape, k, HEADS);
  return b->score->score(b->layout, &b->tape, constant(b, query, 1), k, HEADS);
}

static void set_param(Built *b, const char *name, const real *numbers) {
  for (int i = 0; i < b->params.count; i++) {
    const FovParam *param = &b->params.list[i];
    if (strcmp(param->name, name) == 0)
      memcpy(b->values + param->offset, numbers, (size_t)param->rows * param->cols * sizeof(real));
  }
}

static void test_every_score_computes_its_formula(void **state) {
  (void)state;
  for (int i = 0; i < WORKED; i++) {
    const Worked *w = &worked[i];
    int params = 0;
    Built b;
    built_begin(&b, w->score);
    for (; params < PARAMS && w->params[params].name; params++)
      set_param(&b, w->params[params].name, w->params[params].numbers);
    assert_int_equal(params, b.params.count);
    const FovVar *e = scores_of(&b, w->query, w->keys);
    for (int j = 0; j < HEADS * N; j++)
      assert_near(e->value[j], w->e[j], 1e-8, "%s: e[%d]", w->score, j);
    built_finish(&b);
  }
}

static void test_every_score_has_worked_numbers(void **state) {
  (void)state;
  for (int s = 0; fov_scores[s]; s++) {
    const char *name = fov_scores[s]->plugin.name;
    bool found = false;
    for (int i = 0; i < WORKED; i++) found = found || strcmp(worked[i].score, name) == 0;
    if (!found) fail_msg("%s: expected a row of numbers that were worked out, found none", name);
  }
}

static const real some_query[D] = {0.3, -1.2, 0.8, 0.5};
static const real some_keys[N * D] = {1.5, 0.2, -0.7, 0.4, -0.3, 0.9, 1.1, -0.6};

static void test_content_does_not_change_with_the_length_of_a_key(void **state) {
  (void)state;
  Built b;
  built_begin(&b, "content");
  real longer[N * D];
  for (int j = 0; j < N * D; j++) longer[j] = some_keys[j] * (j < D ? 3 : 40);
  const FovVar *e = scores_of(&b, some_query, some_keys), *same = scores_of(&b, some_query, longer);
  for (int j = 0; j < HEADS * N; j++) assert_near(same->value[j], e->value[j], 1e-7, "e[%d]", j);
  built_finish(&b);
}

static void test_content_of_zeros_is_zero(void **state) {
  (void)state;
  Built b;
  built_begin(&b, "content");
  const real zeros[N * D] = {0};
  const FovVar *no_key = scores_of(&b, some_query, zeros), *none = scores_of(&b, zeros, some_keys);
  for (int j = 0; j < HEADS * N; j++) assert_true(no_key->value[j] == 0 && none->value[j] == 0);
  built_finish(&b);
}

/** qᵀ(k + c) adds the same to all scores of a head, which the softmax takes away. */
static void test_a_shift_of_all_keys_leaves_the_weights_of_products(void **state) {
  (void)state;
  const char *const products[] = {"dot", "scaled_dot", "general"};
  for (int i = 0; i < 3; i++) {
    Built b;
    built_begin(&b, products[i]);
    real shifted[N * D];
    for (int j = 0; j < N * D; j++) shifted[j] = some_keys[j] + 2 + j % D;
    FovVar *e = scores_of(&b, some_query, some_keys), *other = scores_of(&b, some_query, shifted);
    const FovVar *weights = fov_softmax(&b.tape, e, HEADS);
    const FovVar *same = fov_softmax(&b.tape, other, HEADS);
    for (int j = 0; j < HEADS * N; j++) {
      assert_true(fabs(other->value[j] - e->value[j]) > 1e-3);
      assert_near(same->value[j], weights->value[j], 1e-12, "%s: weight %d", products[i], j);
    }
    built_finish(&b);
  }
}

static void test_location_needs_the_number_of_sites_and_no_keys(void **state) {
  (void)state;
  Built b;
  built_begin(&b, "location");
  FovVar *query = constant(&b, some_query, 1);
  FovVar *e = b.score->score(b.layout, &b.tape, query, NULL, HEADS);
  assert_memory_equal(e->value, scores_of(&b, some_query, some_keys)->value,
                      HEADS * N * sizeof(real));
  FovParams params = {0};
  assert_int_equal(b.score->build(b.layout, &params, NULL, D, HEADS, 0), FOV_ERR_USAGE);
  assert_message("score = location: expected a fixed number of sites");
  assert_int_equal(params.count, 0);
  built_finish(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_score_computes_its_formula),
      cmocka_unit_test(test_every_score_has_worked_numbers),
      cmocka_unit_test(test_content_does_not_change_with_the_length_of_a_key),
      cmocka_unit_test(test_content_of_zeros_is_zero),
      cmocka_unit_test(test_a_shift_of_all_keys_leaves_the_weights_of_products),
      cmocka_unit_test(test_location_needs_the_number_of_sites_and_no_keys),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
