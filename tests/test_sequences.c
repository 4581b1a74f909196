/** Sequences of symbols: what comes after the end of one changes nothing, and is not read; the
 * answer before; what becomes of them in training. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "learn/categorical.h"
#include "learn/rollout/beam.h"
#include "tensor/ops.h"
#include "toy_play.h"

enum { SETTINGS = 512, LANES = 2 };

/** Settings of every attention that reads symbols, with a recurrent layer and with blocks. */
static void for_each(void (*check)(const char *settings)) {
  for (const FovAttention *const *a = fov_attentions; *a; a++)
    for (int blocks = 0; blocks < 2 && (*a)->symbols; blocks++) {
      char settings[SETTINGS];
      snprintf(settings, sizeof settings, TOY_SEQUENCE "attention = %s\n%s%s", (*a)->plugin.name,
               (*a)->scores ? "policy = sites\nfirst = learned\n" : "policy = centre\n",
               blocks ? TOY_BLOCKS : TOY_RNN "core = gru\n");
      check(settings);
    }
}

/* ---- padding ---- */

/** A case of `toy_letters` with so many symbols. */
static int64_t case_of(int length) {
  return 3 * TOY_LETTERS + length - 1;
}

/** Plays a case beside one with `length` symbols. */
static void play_beside(ToyPlay *play, const Toy *toy, const real *values, real *gradient,
                        int length) {
  toy_play_begin(play, toy, values, gradient, 0, LANES);
  int64_t *cases = FOV_NEW(&play->arena, int64_t, LANES);
  cases[0] = case_of(2), cases[1] = case_of(length);
  play->plan.cases = cases;
  play->plan.deterministic = true;
  toy_play_run(play, toy);
}

static void assert_same_row(const FovVar *a, const FovVar *b, const char *settings,
                            const char *what) {
  assert_int_equal(a != NULL, b != NULL);
  if (a && memcmp(a->value, b->value, (size_t)a->cols * sizeof(real)) != 0)
    fail_msg("%s: padding changes %s", settings, what);
}

static void check_neighbour(const char *settings) {
  Toy toy;
  ToyPlay plays[2];
  toy_create(&toy, settings);
  real *values = toy_lively_values(&toy), *gradient = toy_copy(&toy, values);
  // With a gradient, so that all values are made.
  for (int i = 0; i < 2; i++) play_beside(&plays[i], &toy, values, gradient, i ? TOY_LETTERS : 2);
  for (int t = 1; t <= 3; t++) {
    const FovTimeStep *a = &plays[0].rollout.at[t], *b = &plays[1].rollout.at[t];
    assert_int_equal(a->count, LANES);
    assert_int_equal(b->count, LANES);
    assert_same_row(a->logits, b->logits, settings, "an answer");
    assert_same_row(a->location, b->location, settings, "a place");
    for (int c = 0; c < FOV_COLUMNS; c++)
      assert_same_row(a->read[c], b->read[c], settings, "what is recorded");
  }
  for (int i = 0; i < 2; i++) toy_play_finish(&plays[i]);
  free(values), free(gradient);
  toy_finish(&toy);
}

static void test_a_longer_neighbour_changes_no_bit(void **state) {
  (void)state;
  for_each(check_neighbour);
}

/** Places after the end have the vector of symbol 0, which is not in this sequence: encoders, in
 * both directions and of blocks, do not read it. */
static void check_padding(const char *settings) {
  Toy toy;
  ToyPlay plays[2];
  toy_create(&toy, settings);
  real *values = toy_lively_values(&toy), *gradient = toy_copy(&toy, values);
  const FovParam *table = toy_param(&toy, "tiles.symbols");
  for (int i = 0; i < 2; i++) {
    play_beside(&plays[i], &toy, values, gradient, 2);
    for (int j = 0; j < table->cols; j++) values[table->offset + (size_t)j] += 1;
  }
  for (int t = 1; t <= 3; t++)
    assert_same_row(plays[0].rollout.at[t].logits, plays[1].rollout.at[t].logits, settings,
                    "an answer");
  for (int i = 0; i < 2; i++) toy_play_finish(&plays[i]);
  free(values), free(gradient);
  toy_finish(&toy);
}

static void test_padding_changes_no_bit(void **state) {
  (void)state;
  for_each(check_padding);
}

/** Weights are 0 after the end of a sequence, and a choice falls before it. */
static void check_weights(const char *settings) {
  Toy toy;
  ToyPlay play;
  FovColumn columns[FOV_COLUMNS];
  toy_create(&toy, settings);
  real *values = toy_lively_values(&toy);
  toy_play(&play, &toy, values, 4 * TOY_LETTERS);
  if (fov_agent_columns(columns, &toy.experiment.agent) == 0) goto end; // repeat, first
  for (int t = 1; t < play.rollout.time_steps; t++) {
    const FovTimeStep *step = &play.rollout.at[t];
    for (int i = 0; i < step->count; i++) {
      int length = toy_letters_length(play.plan.cases[step->lanes[i]]);
      double sum = 0, place = ((double)fov_value_row(step->location, i)[0] + 1) / 2 * TOY_ROOM;
      for (int site = 0; site < TOY_ROOM; site++) {
        double w = (double)fov_value_row(step->read[0], i)[site];
        if (site >= length && w != 0) fail_msg("%s: weight %g after the end", settings, w);
        sum += w;
      }
      if (!strstr(settings, "local_p")) assert_near(sum, 1, 1e-5, "%s: sum of weights", settings);
      if (!(place >= 0 && place <= length))
        fail_msg("%s: read at %g of %d", settings, place, length);
      assert_true(fov_value_row(step->location, i)[1] == 0); // the middle of the row
    }
  }
end:
  toy_play_finish(&play);
  free(values);
  toy_finish(&toy);
}

static void test_nothing_is_read_after_the_end(void **state) {
  (void)state;
  for_each(check_weights);
}

/** Half of the probability is missing, as if by rounding. */
static void test_what_is_impossible_is_never_drawn(void **state) {
  (void)state;
  const real log_p[] = {(real)log(0.5), FOV_NEVER, FOV_NEVER};
  FovRng rng = fov_rng_stream(1, FOV_STREAM_POLICY, 0);
  for (int i = 0; i < 1000; i++) assert_int_equal(fov_sample(log_p, 3, &rng), 0);
}

/* ---- the answer before ---- */

/** In training the right answers are read, elsewhere the agent's own. */
static void test_the_right_answer_is_read_in_training_only(void **state) {
  (void)state;
  Toy toy;
  ToyPlay plays[2];
  toy_create(&toy, TOY_SEQUENCE TOY_RNN "attention = first\npolicy = centre\ncore = gru\n");
  real *values = toy_lively_values(&toy);
  const FovParam *table = toy_param(&toy, "previous");
  // All answers are 0: a row for this answer and another for the right one differ.
  const FovParam *bias = toy_param(&toy, "class.bias");
  values[bias->offset] = 100;
  assert_int_equal(table->rows, TOY_ACTIONS + 1);
  for (int teach = 0; teach < 2; teach++) {
    toy_play_begin(&plays[teach], &toy, values, NULL, 0, 1);
    int64_t *which = FOV_NEW(&plays[teach].arena, int64_t, 1);
    *which = 8; // symbols 3 0 3 …, of which some are odd
    plays[teach].plan.cases = which;
    plays[teach].plan.teach = teach;
    toy_play_run(&plays[teach], &toy);
  }
  bool differed = false;
  for (int t = 1; t < plays[0].rollout.time_steps; t++) {
    const FovTimeStep *own = &plays[0].rollout.at[t], *taught = &plays[1].rollout.at[t];
    bool same = memcmp(own->logits->value, taught->logits->value, TOY_ACTIONS * sizeof(real)) == 0;
    if (!differed) assert_true(same); // the first answers before are the same
    if (own->labels[0] != 0) {
      differed = true;
      continue;
    }
    if (differed) assert_false(same);
  }
  assert_true(differed);
  for (int i = 0; i < 2; i++) toy_play_finish(&plays[i]);
  free(values);
  toy_finish(&toy);
}

/* ---- alignment ---- */

/** The bits of an answer, by hand: the toy's letters are answered from the last one on. */
static uint8_t bits_of(const FovTimeStep *step, int lane, int64_t index, int turn) {
  const real *weights = fov_value_row(step->read[0], lane);
  int from = toy_letters_length(index) - 1 - turn, best = 0;
  for (int i = 1; i < TOY_ROOM; i++) best = weights[i] > weights[best] ? i : best;
  if (from < 0) return 0; // the end
  return best == from
             ? FOV_ALIGNED_PART | FOV_ALIGNED_SURE | FOV_ALIGNED_IN_PART | FOV_ALIGNED_IN_SURE
             : FOV_ALIGNED_PART | FOV_ALIGNED_SURE;
}

static void test_what_is_read_most_is_compared_with_the_source(void **state) {
  (void)state;
  enum { PLAYED = 40 };
  Toy toy;
  ToyPlay play;
  int read = 0, known = 0;
  toy_create(&toy, TOY_SEQUENCE TOY_RNN "attention = soft\npolicy = centre\ncore = gru\n");
  real *values = toy_lively_values(&toy);
  toy_play_begin(&play, &toy, values, NULL, 0, PLAYED);
  toy_play_run(&play, &toy);
  const FovRollout *rollout = &play.rollout;
  for (int t = 1; t < rollout->time_steps; t++)
    for (int i = 0; i < rollout->at[t].count; i++) {
      int b = rollout->at[t].lanes[i];
      uint8_t found = rollout->aligned[b * rollout->turns + t - 1];
      assert_int_equal(found, bits_of(&rollout->at[t], i, b, t - 1));
      known += found != 0;
      read += (found & FOV_ALIGNED_IN_SURE) != 0;
    }
  assert_true(read > 0 && read < known);
  const FovEvalResult result = {
      .in_known_part = 6, .in_known_place = 4, .read_part = 4, .read_place = 1};
  assert_true(fov_alignment_error(&result) == 0.5);
  toy_play_finish(&play);
  free(values);
  toy_finish(&toy);
}

static void test_one_vector_of_everything_is_not_aligned(void **state) {
  (void)state;
  Toy toy;
  toy_create(&toy, TOY_SEQUENCE TOY_RNN "attention = repeat\npolicy = centre\ncore = gru\n");
  real *values = toy_lively_values(&toy);
  FovEvalResult result = toy_evaluate(&toy, values, 1, 1);
  assert_int_equal(result.in_known_part + result.in_known_place, 0);
  free(values);
  toy_finish(&toy);
}

/* ---- beam search ---- */

enum { CASES = 20 };

static void search(FovBeamed found[CASES], ToyPlay *play, const Toy *toy, const real *values,
                   int width) {
  toy_play_begin(play, toy, values, NULL, 0, CASES);
  fov_beam_search(found, &play->tape, &toy->task, &play->plan, width);
}

static void test_a_beam_of_one_is_greedy(void **state) {
  (void)state;
  Toy toy;
  ToyPlay greedy, beam;
  FovBeamed found[CASES];
  toy_create(&toy, TOY_SEQUENCE TOY_RNN "attention = soft\npolicy = centre\ncore = gru\n");
  real *values = toy_lively_values(&toy);
  toy_play_begin(&greedy, &toy, values, NULL, 0, CASES);
  greedy.plan.deterministic = true;
  toy_play_run(&greedy, &toy);
  search(found, &beam, &toy, values, 1);
  for (int b = 0; b < CASES; b++) {
    const int *answers = greedy.rollout.answers + (size_t)b * (size_t)greedy.rollout.turns;
    assert_int_equal(found[b].count, greedy.rollout.taken[b]);
    for (int i = 0; i < found[b].count; i++)
      assert_int_equal(found[b].labels[i], greedy.rollout.labels[b * greedy.rollout.turns + i]);
    for (int i = 0; i < found[b].count && i < found[b].length; i++)
      assert_int_equal(found[b].answers[i], answers[i]);
  }
  toy_play_finish(&greedy);
  toy_play_finish(&beam);
  free(values);
  toy_finish(&toy);
}

/** An environment where the first answer decides: 0 is the likeliest, but what follows it is
 * uncertain, and 1 leads to a certain end. The state is the read-out, which is 0 here, and the
 * vector of the answer before. */
static void set_trap(const Toy *toy, real *values) {
  memset(values, 0, toy_block_bytes(toy));
  const FovParam *w = toy_param(toy, "class.w"), *bias = toy_param(toy, "class.bias");
  const FovParam *table = toy_param(toy, "previous");
  int units = w->cols - table->cols; // of the read-out
  for (int j = 0; j < 3; j++) values[table->offset + (size_t)(j * table->cols + j)] = 1;
  const double after_0[] = {0, 0, 0}, after_1[] = {-20, -20, 0},
               first[] = {log(0.5), log(0.4), log(0.1)};
  for (int a = 0; a < 3; a++) {
    values[bias->offset + (size_t)a] = (real)first[a];
    values[w->offset + (size_t)(a * w->cols + units)] = (real)(after_0[a] - first[a]);
    values[w->offset + (size_t)(a * w->cols + units + 1)] = (real)(after_1[a] - first[a]);
  }
}

static void test_a_beam_finds_what_a_greedy_search_misses(void **state) {
  (void)state;
  Toy toy;
  ToyPlay play;
  FovBeamed found[CASES];
  toy_create(&toy, TOY_SEQUENCE "attention = first\npolicy = centre\ncore = none\n");
  real *values = toy_lively_values(&toy);
  set_trap(&toy, values);
  search(found, &play, &toy, values, 1);
  assert_int_equal(found[0].answers[0], 0);
  toy_play_finish(&play);
  // 1, end: log 0.4 in two symbols; whatever starts with 0 has log 0.5 + log ⅓ or less.
  search(found, &play, &toy, values, 3);
  for (int b = 0; b < CASES; b++) {
    assert_int_equal(found[b].length, 2);
    assert_int_equal(found[b].answers[0], 1);
    assert_int_equal(found[b].answers[1], 2);
  }
  toy_play_finish(&play);
  free(values);
  toy_finish(&toy);
}

/** A beam as wide as there are sequences finds the best: places that its first answers leave free
 * crowd nothing out. */
static void test_a_wider_beam_finds_no_worse(void **state) {
  (void)state;
  Toy toy;
  FovBeamed narrow[CASES], wide[CASES];
  toy_create(&toy, TOY_SEQUENCE TOY_RNN "attention = soft\npolicy = centre\ncore = gru\n");
  real *values = toy_lively_values(&toy);
  for (int width = 2; width <= 8; width++) {
    ToyPlay first, second;
    search(narrow, &first, &toy, values, width);
    search(wide, &second, &toy, values, 64);
    for (int b = 0; b < CASES; b++) {
      const FovBeamed *n = &narrow[b], *w = &wide[b];
      if (n->answers[n->length - 1] != TOY_ACTIONS - 1) continue; // it has no end
      assert_int_equal(w->answers[w->length - 1], TOY_ACTIONS - 1);
      assert_true(w->log_p / w->length >= n->log_p / n->length - 1e-9);
    }
    toy_play_finish(&first);
    toy_play_finish(&second);
  }
  free(values);
  toy_finish(&toy);
}

/** Cases with as many answers as there are: of `toy_letters` and of `toy_turns`. */
static const int64_t *longest_cases(FovArena *arena, const Toy *toy) {
  int64_t count = toy->env.spec.cases / (TOY_LETTERS * TOY_TURNS);
  int64_t *cases = FOV_NEW(arena, int64_t, CASES);
  for (int b = 0; b < CASES; b++) cases[b] = (b % count + 1) * TOY_LETTERS * TOY_TURNS - 1;
  return cases;
}

/** Answers as a search has answered. */
static void play_found(ToyPlay *play, const Toy *toy, const real *values,
                       const FovBeamed found[CASES]) {
  toy_play_begin(play, toy, values, NULL, 0, CASES);
  int glimpses = toy->task.options.glimpses, most = fov_task_glimpses(&toy->task) + 1;
  FovChoices forced = {.actions = FOV_NEW(&play->arena, int, most *CASES)};
  for (int i = 0; i < most * CASES; i++) {
    int turn = i / CASES / glimpses - 1;
    const FovBeamed *f = &found[i % CASES];
    forced.actions[i] = turn >= 0 && turn < f->length ? f->answers[turn] : 0;
  }
  play->plan.cases = longest_cases(&play->arena, toy);
  play->plan.forced = &forced;
  play->plan.deterministic = true;
  toy_play_run(play, toy);
}

/** Answers without an end: 0 is a little likelier, but after 1 it is certain, so that a hypothesis
 * overtakes another. Without a core, the answer before is an input of the answer. */
static void set_overtaking(const Toy *toy, real *values) {
  const FovParam *w = toy_param(toy, "class.w"), *bias = toy_param(toy, "class.bias");
  const FovParam *table = toy_param(toy, "previous");
  for (int a = 0; a < TOY_ACTIONS; a++) {
    values[bias->offset + (size_t)a] = (real)(a == 0 ? 0.1 : a == 1 ? 0 : -100);
    for (int j = 0; j < w->cols; j++) values[w->offset + (size_t)(a * w->cols + j)] *= (real)0.1;
    for (int j = 0; j < table->cols; j++)
      values[table->offset + (size_t)(a * table->cols + j)] = a == j;
  }
  if (strcmp(toy->experiment.agent.core->plugin.name, "none") == 0)
    values[w->offset + (size_t)(w->cols - table->cols + 1)] = 5;
}

static void check_log_p(const char *settings) {
  Toy toy;
  ToyPlay searched, played;
  FovBeamed found[CASES];
  toy_create(&toy, settings);
  toy.env.spec.ends = true;
  real *values = toy_lively_values(&toy);
  set_overtaking(&toy, values);
  toy_play_begin(&searched, &toy, values, NULL, 0, CASES);
  searched.plan.cases = longest_cases(&searched.arena, &toy);
  fov_beam_search(found, &searched.tape, &toy.task, &searched.plan, 3);
  play_found(&played, &toy, values, found);
  for (int b = 0; b < CASES; b++) {
    const FovRollout *r = &played.rollout;
    double log_p = 0;
    assert_int_equal(r->taken[b], r->turns);
    assert_in_range(found[b].length, 2, r->turns);
    for (int turn = 0; turn < found[b].length; turn++) {
      size_t at = (size_t)b * (size_t)r->turns + (size_t)turn;
      log_p += (double)r->log_probabilities[at * TOY_ACTIONS + (size_t)found[b].answers[turn]];
    }
    assert_near(found[b].log_p, log_p, 1e-5, "%s: case %d", settings, b);
  }
  toy_play_finish(&searched);
  toy_play_finish(&played);
  free(values);
  toy_finish(&toy);
}

/** State and place go with a hypothesis to another lane: its log-probability is that of an agent
 * that answers so. */
static void test_a_hypothesis_has_the_probability_of_its_answers(void **state) {
  (void)state;
  for_each(check_log_p);
  check_log_p("env = toy_turns\nglimpses = 2\nprevious = 3\ncore = lstm\n");
  check_log_p("env = toy_turns\nglimpses = 2\nprevious = 3\ncore = none\npolicy = "
              "relative\nenv.cases = 300\n");
}

/** A greedy evaluation has as many answers as labels; a search counts those of what it found. */
static void test_a_search_counts_its_glimpses(void **state) {
  (void)state;
  Toy toy;
  FovWorkspace workspace;
  FovEvalResult result;
  toy_create(&toy, TOY_SEQUENCE "attention = first\npolicy = centre\ncore = none\n");
  toy.task.options.glimpses = 2;
  real *values = toy_lively_values(&toy);
  set_trap(&toy, values);
  const FovEvalRequest request = {
      .task = &toy.task, .values = values, .cases = CASES, .rollouts = 1, .beam = 3, .threads = 1};
  assert_int_equal(fov_workspace_create(&workspace, 1), FOV_OK);
  assert_int_equal(fov_evaluate(&result, &request, &workspace), FOV_OK);
  assert_true(result.glimpses == 4); // two before each answer, 1 and the end
  fov_workspace_finish(&workspace);
  free(values);
  toy_finish(&toy);
}

/* ---- training ---- */

static double error_after(const char *settings, int updates) {
  Toy toy;
  toy_create(&toy, settings);
  FovTrainer *trainer = toy_trainer(&toy, 1);
  toy_train(trainer, updates);
  FovEvalResult result = toy_evaluate(&toy, fov_trainer_state(trainer)->value, 1, 1);
  fov_trainer_destroy(trainer);
  toy_finish(&toy);
  return (double)result.wrong / (double)result.cases;
}

static void test_sequences_are_learned(void **state) {
  (void)state;
  const char *const rest = "baseline = none\ncore = gru\ntrain.rate = 0.02\ntrain.batch = 32\n";
  const char *const kinds[] = {"attention = soft\npolicy = centre\n",
                               "attention = straight_through\npolicy = sites\nfirst = learned\n"};
  for (int i = 0; i < 2; i++) {
    char settings[SETTINGS];
    snprintf(settings, sizeof settings, TOY_SEQUENCE TOY_RNN "%s%s", kinds[i], rest);
    double error = error_after(settings, 300);
    if (error > 0.1) fail_msg("%s: error %g", kinds[i], error);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_longer_neighbour_changes_no_bit),
      cmocka_unit_test(test_padding_changes_no_bit),
      cmocka_unit_test(test_nothing_is_read_after_the_end),
      cmocka_unit_test(test_what_is_impossible_is_never_drawn),
      cmocka_unit_test(test_the_right_answer_is_read_in_training_only),
      cmocka_unit_test(test_what_is_read_most_is_compared_with_the_source),
      cmocka_unit_test(test_one_vector_of_everything_is_not_aligned),
      cmocka_unit_test(test_a_beam_of_one_is_greedy),
      cmocka_unit_test(test_a_beam_finds_what_a_greedy_search_misses),
      cmocka_unit_test(test_a_wider_beam_finds_no_worse),
      cmocka_unit_test(test_a_hypothesis_has_the_probability_of_its_answers),
      cmocka_unit_test(test_a_search_counts_its_glimpses),
      cmocka_unit_test(test_sequences_are_learned),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
