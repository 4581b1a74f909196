/** Rollouts, the trainer and evaluation, on a toy world (tests/toy.h). Meant for both builds, float
 * and double; linked with malloc and its kin wrapped, so that allocations can be counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "toy.h"

/* ---- allocations of the code that is linked with --wrap ---- */

static atomic_int allocations;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

void *__wrap_malloc(size_t size) {
  allocations++;
  return __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size) {
  allocations++;
  return __real_calloc(count, size);
}

void *__wrap_realloc(void *memory, size_t size) {
  allocations++;
  return __real_realloc(memory, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size) {
  allocations++;
  return __real_aligned_alloc(alignment, size);
}

/* ---- helpers ---- */

#define assert_close(value, expected, tolerance)                                                   \
  assert_near(value, expected, tolerance, "%s", #value)

static real *copy_block(const Toy *toy, const real *block) {
  real *copy = fov_params_block(&toy->experiment.agent.params);
  assert_non_null(copy);
  return memcpy(copy, block, toy_block_bytes(toy));
}

static const FovParam *find_param(const Toy *toy, const char *name) {
  const FovParams *params = &toy->experiment.agent.params;
  for (int i = 0; i < params->count; i++)
    if (!strcmp(params->list[i].name, name)) return &params->list[i];
  fail_msg("no parameter %s", name);
  return NULL;
}

static size_t count_of(const FovParam *param) {
  return (size_t)param->rows * (size_t)param->cols;
}

static bool starts_with(const char *name, const char *prefix) {
  return !strncmp(name, prefix, strlen(prefix));
}

/** A step against the gradient; with PLAIN settings an update is exactly value −= gradient. */
#define DESCENT                                                                                    \
  "optimiser = sgd\noptimiser.momentum = 0\ntrain.schedule = constant\ntrain.warmup = 0\n"
#define PLAIN DESCENT "train.rate = 1\ntrain.clip = 0\n"

/** The gradient that a trainer of PLAIN settings steps by at `values`, on the episodes of its first
 * update, or of the update at which it stands if `go_on`. */
static void take_gradient(real *gradient, FovTrainer *trainer, const Toy *toy, const real *values,
                          bool go_on) {
  FovTrainerState *state = fov_trainer_state(trainer);
  if (!go_on) state->update = 0;
  state->sums = (FovSums){0};
  memcpy(state->value, values, toy_block_bytes(toy));
  memset(state->first, 0, toy_block_bytes(toy));
  toy_train(trainer, 1);
  for (size_t i = 0; i < toy->experiment.agent.params.size; i++)
    gradient[i] = values[i] - state->value[i];
}

/** Its weights at the start, made larger so that what is seen and where matters. */
static real *lively_values(const Toy *toy) {
  const FovParams *params = &toy->experiment.agent.params;
  real *values = fov_params_block(params);
  assert_non_null(values);
  fov_params_init(values, params, 5);
  FovRng rng = fov_rng_stream(5, FOV_STREAM_INIT, 1000);
  for (int i = 0; i < params->count; i++)
    for (size_t j = 0; j < count_of(&params->list[i]); j++)
      values[params->list[i].offset + j] += (real)0.4 * fov_rng_normal(&rng);
  return values;
}

/** Filters for the toy's glimpses of 4 x 4 pixels. */
#define SMALL_FILTERS "encoder.filters = 3\nencoder.side = 3\nencoder.stride = 1\n"

/** The agent of Ba et al. 2015, on a coarse view of 3 x 3 cells. */
#define TWO_LAYERS "layers = 2\ncontext.side = 3\ncontext.width = 7\n"

/* ---- rollouts ---- */

/** A rollout of the toy's first cases and all that it lives in. */
typedef struct Played {
  FovArena arena;
  FovTape tape;
  FovRollout rollout;
  FovPlan plan;
  FovRng start[FOV_SHARD]; /**< the policy's generators before they were moved on */
} Played;

static void play_from(Played *played, const Toy *toy, const real *values, int first, int lanes) {
  *played = (Played){0};
  fov_tape_begin(&played->tape, &played->arena, &toy->experiment.agent.params, values, NULL);
  FovPlan *plan = &played->plan;
  *plan = fov_plan_cases(&played->arena, first, lanes, 9, FOV_SPLIT_TRAIN, 0);
  plan->choice = fov_task_choice(&toy->task, 0, false);
  plan->predict = plan->every = true;
  memcpy(played->start, plan->policy_rng, (size_t)lanes * sizeof(FovRng));
  fov_rollout_run(&played->rollout, &played->tape, &toy->task, plan);
}

static void play(Played *played, const Toy *toy, const real *values, int lanes) {
  play_from(played, toy, values, 0, lanes);
}

/** log π is of the raw sample, even where the eye stays at the border. */
static void test_log_prob_belongs_to_the_raw_sample(void **state) {
  (void)state;
  Toy toy;
  Played p;
  toy_create(&toy, "policy.sigma = 8\nfirst = learned\n");
  real *values = lively_values(&toy);
  play(&p, &toy, values, 16);
  int cut = 0;
  // 8 of 20 pixels are 0.8 of the 2 units that the image is wide.
  for (int t = 0; t < p.rollout.time_steps - 1; t++)
    for (int b = 0; b < 16; b++) {
      const FovTimeStep *chosen = &p.rollout.at[t], *looked = chosen + 1;
      double log_prob = -log(2 * M_PI * 0.8 * 0.8);
      for (int j = 0; j < 2; j++) {
        double z = (double)fov_rng_normal(&p.start[b]);
        double raw = (double)chosen->mean->value[2 * b + j] + 0.8 * z;
        log_prob -= z * z / 2;
        assert_close(looked->location->value[2 * b + j], fmin(fmax(raw, -1), 1), 1e-6);
        cut += fabs(raw) > 1;
      }
      assert_close(chosen->log_look->value[b], log_prob, 1e-4);
    }
  assert_in_range(cut, 10, 80);
  fov_arena_finish(&p.arena);
  free(values);
  toy_finish(&toy);
}

static void test_a_rollout_sees_what_is_where_it_looks(void **state) {
  (void)state;
  Toy toy;
  Played p;
  toy_create(&toy, "reward = log_probability\n");
  real *values = lively_values(&toy);
  play(&p, &toy, values, 16);
  const FovRollout *r = &p.rollout;
  assert_int_equal(r->time_steps, 4);
  for (int t = 0; t < 4; t++)
    for (int b = 0; b < 16; b++) {
      const FovTimeStep *step = &r->at[t];
      // Everything is earned at the end, so every return is that.
      real earned = r->log_probabilities[TOY_ACTIONS * b + r->labels[b]];
      assert_true(r->rewards[16 * t + b] == (t == 3 ? earned : 0));
      assert_true(r->returns[16 * t + b] == earned);
      assert_int_equal(step->rho != NULL, t > 0);
      if (t == 0) continue;
      real glimpse[16];
      const FovImage image = {
          .bytes = step->frames[b], .height = TOY_SIDE, .width = TOY_SIDE, .channels = 1};
      const real *l = step->location->value + 2 * b;
      fov_sensor_look(glimpse, &toy.experiment.sensor, &image, l[0], l[1]);
      assert_memory_equal(glimpse, step->rho->value + 16 * b, sizeof glimpse);
    }
  fov_arena_finish(&p.arena);
  free(values);
  toy_finish(&toy);
}

static void test_the_first_glimpse_is_where_it_was_asked_for(void **state) {
  (void)state;
  const char *firsts[] = {"first = centre", "first = random", "first = learned"};
  for (int first = 0; first < 3; first++) {
    Toy toy;
    Played p;
    toy_create(&toy, firsts[first]);
    real *values = lively_values(&toy);
    play(&p, &toy, values, 16);
    for (int b = 0; b < 16; b++)
      for (int j = 0; j < 2; j++) {
        real uniform = 2 * fov_rng_uniform(&p.start[b]) - 1,
             l = p.rollout.at[1].location->value[2 * b + j];
        if (first == FOV_FIRST_CENTRE) assert_true(l == 0);
        if (first == FOV_FIRST_RANDOM) assert_true(l == uniform);
        // From h_0 = 0 the mean is the bias.
        if (first == FOV_FIRST_LEARNED)
          assert_true(p.rollout.at[0].mean->value[2 * b + j] ==
                      values[find_param(&toy, "location.bias")->offset + (size_t)j]);
      }
    assert_int_equal(p.rollout.at[0].mean != NULL, first == FOV_FIRST_LEARNED);
    assert_int_equal(p.rollout.at[0].log_look != NULL, first == FOV_FIRST_LEARNED);
    assert_int_equal(p.rollout.at[0].baseline != NULL, first == FOV_FIRST_LEARNED);
    for (int t = 1; t < 4; t++) assert_non_null(p.rollout.at[t].logits);
    fov_arena_finish(&p.arena);
    free(values);
    toy_finish(&toy);
  }
}

/** y = act(W x + b) by the parameters "name.w" and "name.bias". */
static void apply(double *y, const Toy *toy, const real *values, const char *name, const double *x,
                  double (*act)(double)) {
  char weight[32], bias[32];
  snprintf(weight, sizeof weight, "%s.w", name);
  snprintf(bias, sizeof bias, "%s.bias", name);
  const FovParam *w = find_param(toy, weight), *b = find_param(toy, bias);
  for (int i = 0; i < w->rows; i++) {
    double sum = (double)values[b->offset + (size_t)i];
    for (int j = 0; j < w->cols; j++)
      sum += (double)values[w->offset + (size_t)(i * w->cols + j)] * x[j];
    y[i] = act(sum);
  }
}

static double relu(double x) {
  return fmax(x, 0);
}

static double same(double x) {
  return x;
}

/** Before its first glimpse the agent looks and expects by what the context tells of the image,
 * which is where both parts of the second layer's state start. */
static void test_a_context_chooses_the_first_glimpse(void **state) {
  (void)state;
  Toy toy;
  Played p;
  toy_create(&toy, TWO_LAYERS "core = lstm\nfirst = learned\n");
  real *values = lively_values(&toy);
  play(&p, &toy, values, 16);
  for (int b = 0; b < 16; b++) {
    double coarse[9], hidden[7], start[12], mean[2], baseline[1];
    FovVar *view = fov_constant(&p.tape, 1, 9);
    fov_sensor_shrink(view->value, &(FovImage){p.rollout.at[0].frames[b], TOY_SIDE, TOY_SIDE, 1},
                      3);
    for (int i = 0; i < 9; i++) coarse[i] = (double)view->value[i];
    apply(hidden, &toy, values, "context", coarse, relu);
    apply(start, &toy, values, "start", hidden, tanh);
    apply(mean, &toy, values, "location", start, same);
    apply(baseline, &toy, values, "baseline", start, same);
    for (int j = 0; j < 2; j++) assert_close(p.rollout.at[0].mean->value[2 * b + j], mean[j], 1e-5);
    assert_close(p.rollout.at[0].baseline->value[b], baseline[0], 1e-5);
    FovAgentState begun = fov_agent_begin(&toy.experiment.agent, &p.tape, view, 1);
    assert_true(!begun.what.h && !begun.what.c);
    for (int i = 0; i < 12; i++) assert_close(begun.where.h->value[i], start[i], 1e-5);
    for (int i = 0; i < 12; i++) assert_close(begun.where.c->value[i], start[i], 1e-5);
  }
  fov_arena_finish(&p.arena);
  free(values);
  toy_finish(&toy);
}

/* ---- several turns, games, and an end to looking ---- */

/** Where lane b stands among those that play at a step, or −1. */
static int place_in(const FovTimeStep *step, int b) {
  for (int i = 0; i < step->count; i++)
    if (step->lanes[i] == b) return i;
  return -1;
}

static int likeliest_of(const real *p) {
  return p[0] >= p[1] && p[0] >= p[2] ? 0 : p[1] >= p[2] ? 1 : 2;
}

/** Turn k of lane b, answered at the step that `step` is. */
static void check_turn(const FovRollout *r, const FovTimeStep *step, int b, int k) {
  int i = place_in(step, b), at = b * TOY_TURNS + k;
  bool last = k + 1 == toy_turns_count(b);
  const real *log_p = r->log_probabilities + at * TOY_ACTIONS;
  assert_int_equal(r->labels[at], toy_turns_label(b, k));
  assert_int_equal(r->answers[at], likeliest_of(log_p));
  assert_int_equal(step->labels[i], r->labels[at]);
  assert_int_equal(step->actions[i], r->answers[at]);
  assert_int_equal(step->events[i], FOV_EVENT_ACT | (last ? 0 : FOV_EVENT_LOOK));
  assert_close(exp(log_p[0]) + exp(log_p[1]) + exp(log_p[2]), 1, 1e-5);
}

static void test_labels_are_answered_in_turn(void **state) {
  (void)state;
  enum { LANES = 24 };
  Toy toy;
  Played p;
  toy_create(&toy, "env = toy_turns\nglimpses = 2\n");
  real *values = lively_values(&toy);
  play(&p, &toy, values, LANES);
  const FovRollout *r = &p.rollout;
  assert_int_equal(fov_task_glimpses(&toy.task), 2 * TOY_TURNS);
  assert_int_equal(r->time_steps, 1 + 2 * TOY_TURNS);
  int all_wrong = 0, counted = 0;
  for (int b = 0; b < LANES; b++) {
    int count = toy_turns_count(b), wrong = 0;
    assert_int_equal(r->taken[b], count);
    assert_int_equal(r->glimpses[b], 2 * count);
    for (int t = 0; t < r->time_steps; t++)
      assert_int_equal(place_in(&r->at[t], b) >= 0, t <= 2 * count);
    real left = 0;
    for (int k = count - 1; k >= 0; k--) {
      const FovTimeStep *looks = &r->at[2 * k + 1];
      check_turn(r, &r->at[2 * k + 2], b, k);
      assert_int_equal(looks->events[place_in(looks, b)], FOV_EVENT_LOOK);
      assert_int_equal(looks->actions[place_in(looks, b)], -1);
      bool right = r->answers[b * TOY_TURNS + k] == r->labels[b * TOY_TURNS + k];
      assert_true(r->rewards[(2 * k + 1) * LANES + b] == 0);
      assert_true(r->rewards[(2 * k + 2) * LANES + b] == right);
      assert_true(r->returns[(2 * k + 2) * LANES + b] == (left += right));
      assert_true(r->returns[(2 * k + 1) * LANES + b] == left);
      wrong += !right;
    }
    for (int k = count; k < TOY_TURNS; k++)
      assert_true(r->labels[b * TOY_TURNS + k] == -1 && r->answers[b * TOY_TURNS + k] == -1);
    assert_int_equal(r->wrong[b], wrong > 0);
    all_wrong += wrong == count, counted += wrong > 0 && wrong < count;
  }
  // One wrong answer of several is enough to be wrong; that must have been tried.
  assert_true(counted > 0 && all_wrong < LANES);
  fov_arena_finish(&p.arena);
  free(values);
  toy_finish(&toy);
}

/** Whether a rollout's answers change with the parameters whose names start so. */
static bool answers_depend_on(const char *prefix, const char *settings) {
  Toy toy;
  Played before, after;
  toy_create(&toy, settings);
  real *values = lively_values(&toy);
  play(&before, &toy, values, 16);
  const FovParams *params = &toy.experiment.agent.params;
  for (int i = 0; i < params->count; i++)
    for (size_t j = 0; starts_with(params->list[i].name, prefix) && j < count_of(&params->list[i]);
         j++)
      values[params->list[i].offset + j] += (real)0.1;
  play(&after, &toy, values, 16);
  bool found = memcmp(before.rollout.log_probabilities, after.rollout.log_probabilities,
                      16 * TOY_ACTIONS * sizeof(real));
  fov_arena_finish(&before.arena), fov_arena_finish(&after.arena);
  free(values);
  toy_finish(&toy);
  return found;
}

static void test_context_and_second_layer_answer_by_the_eye_alone(void **state) {
  (void)state;
  const char *where[] = {"context.", "start.", "gaze.", "location."};
  for (int i = 0; i < 4; i++) {
    assert_true(answers_depend_on(where[i], TWO_LAYERS));
    assert_false(answers_depend_on(where[i], TWO_LAYERS "policy = random\n"));
  }
  assert_true(answers_depend_on("core.", TWO_LAYERS "policy = random\n"));
}

/** Plays a lane's actions again, without an agent; returns what they earn. */
static double replay(const Toy *toy, const FovRollout *r, int b, FovRng rng) {
  uint8_t image[TOY_SIDE * TOY_SIDE];
  int x;
  FovEnvLane lane = {.observation = image, .state = &x};
  double earned = 0;
  fov_env_reset(&toy->env, &lane, b, &rng);
  for (int t = 1; t < r->time_steps; t++) {
    const FovTimeStep *step = &r->at[t];
    int i = place_in(step, b);
    assert_int_equal(i >= 0, !fov_env_over(&lane));
    if (i < 0) continue;
    assert_int_equal(step->labels[i], -1);
    assert_memory_equal(step->frames[i], image, sizeof image);
    if (step->actions[i] < 0) continue;
    fov_env_step(&toy->env, &lane, &(FovAnswer){.action = step->actions[i]}, &rng);
    earned += (double)lane.reward;
    assert_true(r->rewards[t * r->lanes + b] == lane.reward);
  }
  assert_true(fov_env_over(&lane));
  assert_int_equal(lane.taken, r->taken[b]);
  return earned;
}

static void test_a_game_is_what_its_actions_make_of_it(void **state) {
  (void)state;
  enum { LANES = 48 };
  Toy toy;
  Played p = {0};
  toy_create(&toy, "env = toy_game\nglimpses = 2\n");
  real *values = lively_values(&toy);
  fov_tape_begin(&p.tape, &p.arena, &toy.experiment.agent.params, values, NULL);
  FovPlan plan = fov_plan_cases(&p.arena, 0, LANES, 9, FOV_SPLIT_TRAIN, 0);
  FovRng env_rng[LANES];
  memcpy(env_rng, plan.env_rng, sizeof env_rng);
  plan.choice = fov_task_choice(&toy.task, 0, false);
  plan.frames = true;
  fov_rollout_run(&p.rollout, &p.tape, &toy.task, &plan);
  const FovRollout *r = &p.rollout;
  int missed = 0;
  assert_null(r->log_probabilities);
  for (int b = 0; b < LANES; b++) {
    double earned = replay(&toy, r, b, env_rng[b]);
    assert_true(r->returns[b] == (real)earned);
    assert_int_equal(r->wrong[b], earned < 0.5);
    missed += r->wrong[b];
  }
  assert_in_range(missed, 1, LANES - 1);
  fov_arena_finish(&p.arena);
  free(values);
  toy_finish(&toy);
}

/** log π of an action is the logits' log-softmax there; a deterministic rollout takes the likeliest
 * and has none. */
static void test_moves_are_drawn_from_the_logits(void **state) {
  (void)state;
  Toy toy;
  toy_create(&toy, "env = toy_game\nglimpses = 1\n");
  real *values = lively_values(&toy);
  for (int deterministic = 0; deterministic < 2; deterministic++) {
    Played p = {0};
    fov_tape_begin(&p.tape, &p.arena, &toy.experiment.agent.params, values, NULL);
    FovPlan plan = fov_plan_cases(&p.arena, 0, 48, 9, FOV_SPLIT_TRAIN, 0);
    plan.choice = fov_task_choice(&toy.task, 0, deterministic);
    fov_rollout_run(&p.rollout, &p.tape, &toy.task, &plan);
    int other = 0;
    for (int t = 1; t < p.rollout.time_steps; t++) {
      const FovTimeStep *m = &p.rollout.at[t];
      for (int i = 0; i < m->count; i++) {
        const real *l = m->logits->value + i * m->logits->stride;
        double sum = exp((double)l[0]) + exp((double)l[1]) + exp((double)l[2]);
        other += m->actions[i] != likeliest_of(l);
        if (!deterministic)
          assert_close(m->log_act->value[i], (double)l[m->actions[i]] - log(sum), 1e-5);
      }
      assert_int_equal(m->log_act != NULL, !deterministic);
    }
    assert_int_equal(other > 20, !deterministic);
    fov_arena_finish(&p.arena);
  }
  free(values);
  toy_finish(&toy);
}

/** Every way to fall out of a batch at a step of one's own. */
static const char *const ragged[] = {
    "env = toy_turns\nglimpses = 2\n",
    "env = toy_game\nglimpses = 2\ncore = lstm\n",
    "env = toy\nglimpses = 6\nstop = confident\nstop.threshold = 0.8\n",
    "env = toy\nglimpses = 6\nstop = learned\nfirst = learned\n",
    "env = toy_turns\nglimpses = 3\nstop = learned\nstop.cost = 0.0625\n",
    "env = toy_turns\nglimpses = 3\nstop = confident\nstop.threshold = 0.6\npolicy = random\n",
    "env = toy_game\nglimpses = 3\nstop = learned\nfirst = random\ncore = lstm\n",
};
enum { RAGGED = sizeof ragged / sizeof *ragged };

static void assert_row(const FovVar *many, int i, const FovVar *one) {
  assert_int_equal(many != NULL, one != NULL);
  for (int j = 0; one && j < one->cols; j++)
    assert_close(many->value[i * many->stride + j], one->value[j],
                 1e-4 * (1 + fabs((double)one->value[j])));
}

static void assert_same_lane(const FovRollout *r, int b, const FovRollout *one) {
  assert_int_equal(r->glimpses[b], one->glimpses[0]);
  assert_int_equal(r->taken[b], one->taken[0]);
  assert_int_equal(r->wrong[b], one->wrong[0]);
  for (int t = 0; t < r->time_steps; t++) {
    const FovTimeStep *many = &r->at[t], *alone = &one->at[t];
    int i = place_in(many, b);
    assert_int_equal(i >= 0, t < one->time_steps);
    if (i < 0) continue;
    assert_int_equal(many->events[i], alone->events[0]);
    assert_int_equal(many->labels[i], alone->labels[0]);
    assert_int_equal(many->actions[i], alone->actions[0]);
    assert_true(r->rewards[t * r->lanes + b] == one->rewards[t]);
    assert_true(r->returns[t * r->lanes + b] == one->returns[t]);
    assert_row(many->location, i, alone->location);
    assert_row(many->rho, i, alone->rho);
    assert_row(many->logits, i, alone->logits);
    if (alone->events[0] & FOV_EVENT_LOOK) assert_row(many->mean, i, alone->mean);
    if (alone->events[0] & FOV_EVENT_LOOK) assert_row(many->log_look, i, alone->log_look);
    if (alone->events[0] & FOV_EVENT_ACT) assert_row(many->log_act, i, alone->log_act);
    if (alone->events[0] & FOV_EVENT_DECIDE) assert_row(many->log_stop, i, alone->log_stop);
  }
}

/** Closing ranks over who is done changes nothing: each lane is what it is when played alone. */
static void test_a_lane_is_the_same_alone(void **state) {
  (void)state;
  for (int k = 0; k < RAGGED; k++) {
    Toy toy;
    Played all, one;
    toy_create(&toy, ragged[k]);
    toy.env.spec.cases = 64;
    real *values = lively_values(&toy);
    play(&all, &toy, values, 64);
    int counts = 0;
    for (int t = 1; t < all.rollout.time_steps; t++)
      counts += all.rollout.at[t].count < all.rollout.at[t - 1].count;
    if (counts < 1) fail_msg("%s: nobody dropped out before the others", ragged[k]);
    for (int b = 0; b < 64; b++) {
      play_from(&one, &toy, values, b, 1);
      assert_same_lane(&all.rollout, b, &one.rollout);
      fov_arena_finish(&one.arena);
    }
    fov_arena_finish(&all.arena);
    free(values);
    toy_finish(&toy);
  }
}

/** A glimpse's cost is subtracted where it is taken. */
static void test_a_glimpse_has_its_cost(void **state) {
  (void)state;
  Toy toy;
  Played p;
  toy_create(&toy, "glimpses = 6\nstop = learned\nstop.cost = 0.125\n");
  real *values = lively_values(&toy);
  play(&p, &toy, values, 48);
  const FovRollout *r = &p.rollout;
  int early = 0;
  for (int b = 0; b < 48; b++) {
    int taken = r->glimpses[b];
    early += taken < 6;
    assert_true(r->returns[b] == (real)(!r->wrong[b] - 0.125 * taken));
    for (int t = 0; t < r->time_steps; t++) {
      double earned = t == taken && !r->wrong[b];
      assert_true(r->rewards[48 * t + b] == (real)(t == 0 || t > taken ? 0 : earned - 0.125));
    }
  }
  assert_in_range(early, 5, 48);
  fov_arena_finish(&p.arena);
  free(values);
  toy_finish(&toy);
}

/* ---- gradients ---- */

#ifdef FOV_DOUBLE // Single precision needs steps so long that they cross the kinks of ReLUs.

/** The loss whose gradient the trainer takes when nothing is drawn from a learned policy. */
static double loss_of(FovTrainer *trainer, const Toy *toy, const real *values, real *scratch) {
  take_gradient(scratch, trainer, toy, values, false);
  const FovSums *sums = &fov_trainer_state(trainer)->sums;
  // Half the square, at each of the two glimpses that are predicted; the sum is their mean.
  return (sums->class_loss + sums->baseline_loss) / (double)sums->episodes;
}

/** Each parameter's gradient along a random direction, against a central difference of the loss. */
static void check_gradient(const char *settings) {
  Toy toy;
  toy_create(&toy, settings);
  const FovParams *params = &toy.experiment.agent.params;
  FovTrainer *trainer = toy_trainer(&toy, 1);
  real *values = lively_values(&toy), *moved = copy_block(&toy, values);
  real *gradient = copy_block(&toy, values), *scratch = copy_block(&toy, values);
  take_gradient(gradient, trainer, &toy, values, false);
  const double h = 1e-6;
  for (int i = 0; i < params->count; i++) {
    const FovParam *param = &params->list[i];
    FovRng rng = fov_rng_stream(7, FOV_STREAM_INIT, (uint64_t)i);
    double slope = 0, loss[2];
    real direction[1024];
    assert_in_range(count_of(param), 1, 1024);
    for (size_t j = 0; j < count_of(param); j++) {
      direction[j] = fov_rng_normal(&rng) / (real)sqrt((double)count_of(param));
      slope += (double)direction[j] * (double)gradient[param->offset + j];
    }
    for (int side = 0; side < 2; side++) {
      memcpy(moved, values, toy_block_bytes(&toy));
      for (size_t j = 0; j < count_of(param); j++)
        moved[param->offset + j] += (real)(side ? h : -h) * direction[j];
      loss[side] = loss_of(trainer, &toy, moved, scratch);
    }
    double difference = (loss[1] - loss[0]) / (2 * h);
    if (!(fabs(slope - difference) <= 1e-6 * (1 + fabs(difference))))
      fail_msg("%s: gradient of %s is %.9g, difference %.9g", settings, param->name, slope,
               difference);
  }
  free(values), free(moved), free(gradient), free(scratch);
  fov_trainer_destroy(trainer);
  toy_finish(&toy);
}

#define NO_POLICY PLAIN "policy = random\nbaseline = learned\n"

static void test_the_whole_gradient_is_the_loss_s_difference(void **state) {
  (void)state;
  check_gradient(NO_POLICY "core = rnn\n");
  check_gradient(NO_POLICY "core = lstm\n");
  check_gradient(NO_POLICY "core = gru\n");
  check_gradient(NO_POLICY "core = none\n");
  check_gradient(NO_POLICY "core = rnn\nlayers = 2\n");
  check_gradient(NO_POLICY TWO_LAYERS "core = rnn\n");
  check_gradient(NO_POLICY TWO_LAYERS "core = lstm\n");
  check_gradient(NO_POLICY TWO_LAYERS "core = gru\n");
  check_gradient(NO_POLICY "encoder = conv\n" SMALL_FILTERS "sensor.scales = 2\n");
  check_gradient(NO_POLICY "encoder = conv\nencoder.filters = 3\nencoder.side = 2\n"
                           "encoder.stride = 1\nencoder.second = 2\nsensor.scales = 2\n");
}

/** The first update's plan of a trainer with one shard. */
static FovPlan plan_of(FovArena *arena, const Toy *toy) {
  uint64_t seed = toy->training.seed, cases = (uint64_t)toy->env.spec.cases;
  int lanes = toy->training.options.batch;
  int64_t *which = FOV_NEW(arena, int64_t, lanes);
  FovRng *env_rng = FOV_NEW(arena, FovRng, lanes), *policy_rng = FOV_NEW(arena, FovRng, lanes);
  for (int b = 0; b < lanes; b++) {
    uint64_t episode = (uint64_t)b;
    FovRng order = fov_rng_stream(seed, FOV_STREAM_DATA, episode / cases);
    which[b] = (int64_t)fov_rng_permute(episode % cases, cases, order.state);
    env_rng[b] = fov_rng_stream(seed, FOV_STREAM_ENV, episode);
    policy_rng[b] = fov_rng_stream(seed, FOV_STREAM_POLICY, episode);
  }
  return (FovPlan){.lanes = lanes, .cases = which, .env_rng = env_rng, .policy_rng = policy_rng};
}

/** −R log π of what lane i of step t chose, and the loss of its answer. */
static double loss_at(const FovRollout *r, int t, int i, bool control) {
  const FovTimeStep *m = &r->at[t];
  double R = r->returns[t * r->lanes + m->lanes[i]], loss = 0;
  if (m->log_stop && m->events[i] & FOV_EVENT_DECIDE) loss -= R * m->log_stop->value[i];
  if (m->log_act && m->events[i] & FOV_EVENT_ACT) loss -= R * m->log_act->value[i];
  if (!control && m->events[i] & FOV_EVENT_ACT) {
    const real *l = m->logits->value + i * m->logits->stride;
    loss += log(exp(l[0]) + exp(l[1]) + exp(l[2])) - l[m->labels[i]];
  }
  return loss;
}

/** The surrogate loss of a training without a baseline whose eye is led by chance: what is decided
 * and done stays the same under a small change of the weights, and so does what it earns. */
static double surrogate(const Toy *toy, const real *values) {
  FovArena arena = {0};
  FovTape tape;
  FovRollout r;
  double loss = 0;
  fov_tape_begin(&tape, &arena, &toy->experiment.agent.params, values, NULL);
  FovPlan plan = plan_of(&arena, toy);
  plan.choice = fov_task_choice(&toy->task, 0, false);
  fov_rollout_run(&r, &tape, &toy->task, &plan);
  for (int t = 1; t < r.time_steps; t++)
    for (int i = 0; i < r.at[t].count; i++)
      loss += loss_at(&r, t, i, toy->env.spec.answer == FOV_ANSWER_MOVE);
  fov_arena_finish(&arena);
  return loss / plan.lanes;
}

/** The trainer's gradient, number by number, of lanes that drop out as they choose to. */
static void check_surrogate(const char *settings) {
  Toy toy;
  char changed[512];
  snprintf(changed, sizeof changed, PLAIN "policy = random\nbaseline = none\n%s", settings);
  toy_create(&toy, changed);
  const FovParams *params = &toy.experiment.agent.params;
  FovTrainer *trainer = toy_trainer(&toy, 1);
  real *values = lively_values(&toy), *gradient = copy_block(&toy, values);
  take_gradient(gradient, trainer, &toy, values, false);
  const double h = 1e-6;
  for (int i = 0; i < params->count; i++)
    for (size_t j = 0; j < count_of(&params->list[i]); j += 1 + count_of(&params->list[i]) / 7) {
      size_t at = params->list[i].offset + j;
      real kept = values[at];
      values[at] = kept + h;
      double above = surrogate(&toy, values);
      values[at] = kept - h;
      double below = surrogate(&toy, values), difference = (above - below) / (2 * h);
      values[at] = kept;
      assert_near(gradient[at], difference, 1e-6 * (1 + fabs(difference)), "%s: %s[%zu]", settings,
                  params->list[i].name, j);
    }
  free(values), free(gradient);
  fov_trainer_destroy(trainer);
  toy_finish(&toy);
}

static void test_the_gradient_of_who_drops_out_is_the_surrogate_s(void **state) {
  (void)state;
  check_surrogate("env = toy_turns\nglimpses = 2\ncore = rnn\n");
  check_surrogate("env = toy_turns\nglimpses = 3\ncore = lstm\nstop = learned\n");
  check_surrogate("env = toy_game\nglimpses = 1\ncore = gru\n");
  check_surrogate("env = toy_game\nglimpses = 3\ncore = lstm\nstop = learned\nfirst = random\n");
  check_surrogate("env = toy\nglimpses = 6\ncore = none\nstop = confident\nstop.threshold=0.7\n");
}

#endif

/** A gradient that one lane alone has is what it adds to that of a batch, whoever else drops out.
 */
static void check_lanes_add_up(const char *settings) {
  enum { LANES = 24 };
  real *sum = NULL, *all = NULL, *values = NULL;
  size_t size = 0;
  for (int batch = LANES; batch >= 1; batch -= LANES - 1) {
    Toy toy;
    char changed[512];
    snprintf(changed, sizeof changed, PLAIN "estimator = gae\n%strain.batch = %d\n", settings,
             batch);
    toy_create(&toy, changed);
    size = toy.experiment.agent.params.size;
    FovTrainer *trainer = toy_trainer(&toy, 1);
    if (!values) values = lively_values(&toy);
    if (!all) all = copy_block(&toy, values), sum = fov_params_block(&toy.experiment.agent.params);
    real *gradient = batch == LANES ? all : copy_block(&toy, values);
    for (int i = 0; i < LANES / batch; i++) {
      fov_trainer_state(trainer)->update = i;
      take_gradient(gradient, trainer, &toy, values, true);
      for (size_t j = 0; batch == 1 && j < size; j++) sum[j] += gradient[j] / LANES;
    }
    if (batch == 1) free(gradient);
    fov_trainer_destroy(trainer);
    toy_finish(&toy);
  }
  const double rounding = sizeof(real) == sizeof(double) ? 1e-10 : 2e-4;
  for (size_t j = 0; j < size; j++)
    assert_near(all[j], sum[j], rounding * (1 + fabs((double)sum[j])), "%s: number %zu", settings,
                j);
  free(sum), free(all), free(values);
}

static void test_the_gradients_of_lanes_add_up(void **state) {
  (void)state;
  for (int k = 0; k < RAGGED; k++) check_lanes_add_up(ragged[k]);
}

/** The answer trained after every glimpse: the mean of the losses of as many trainings as there are
 * glimpses, each of which ends at one of them. */
static void test_answers_after_every_glimpse_weigh_the_same(void **state) {
  (void)state;
  real *gradients[4], *values = NULL;
  size_t size = 0;
  for (int i = 0; i < 4; i++) {
    Toy toy;
    char settings[512];
    snprintf(settings, sizeof settings,
             PLAIN "policy = random\nbaseline = none\nglimpses = %d\ntrain.answer = %s\n",
             i == 0 ? 3 : i, i == 0 ? "every" : "last");
    toy_create(&toy, settings);
    if (!values) values = lively_values(&toy);
    gradients[i] = copy_block(&toy, values);
    size = toy.experiment.agent.params.size;
    FovTrainer *trainer = toy_trainer(&toy, 1);
    take_gradient(gradients[i], trainer, &toy, values, false);
    fov_trainer_destroy(trainer);
    toy_finish(&toy);
  }
  for (size_t j = 0; j < size; j++)
    assert_close(gradients[0][j], (gradients[1][j] + gradients[2][j] + gradients[3][j]) / 3, 1e-6);
  for (int i = 0; i < 4; i++) free(gradients[i]);
  free(values);
}

/** The gradients of one update with some weights of the losses, all else being equal. */
static real *gradient_with(const char *more, const char *stop, double reinforce,
                           double regression) {
  Toy toy;
  char settings[512];
  snprintf(settings, sizeof settings,
           PLAIN "%sstop_gradient = %s\ntrain.reinforce = %g\ntrain.regression = %g\n", more, stop,
           reinforce, regression);
  toy_create(&toy, settings);
  FovTrainer *trainer = toy_trainer(&toy, 1);
  real *values = lively_values(&toy), *gradient = copy_block(&toy, values);
  take_gradient(gradient, trainer, &toy, values, false);
  free(values);
  fov_trainer_destroy(trainer);
  toy_finish(&toy);
  return gradient;
}

/** Whether two gradients differ in a parameter whose name starts so. */
static bool differs(const real *a, const real *b, const char *settings, const char *prefix) {
  Toy toy;
  toy_create(&toy, settings);
  const FovParams *params = &toy.experiment.agent.params;
  bool found = false;
  for (int i = 0; i < params->count; i++)
    for (size_t j = 0; starts_with(params->list[i].name, prefix) && j < count_of(&params->list[i]);
         j++)
      found = found || a[params->list[i].offset + j] != b[params->list[i].offset + j];
  toy_finish(&toy);
  return found;
}

/** Whether the location's and the baseline's gradients reach what is in `below`, of parameters that
 * `settings` make; they reach their own heads alone in any case. */
static void assert_reach(const char *settings, const char *stop, const char *const below[],
                         bool location, bool baseline) {
  real *all = gradient_with(settings, stop, 1, 1);
  real *no_policy = gradient_with(settings, stop, 0, 1);
  real *no_baseline = gradient_with(settings, stop, 1, 0);
  for (int j = 0; below[j]; j++) {
    assert_int_equal(differs(all, no_policy, settings, below[j]), location);
    assert_int_equal(differs(all, no_baseline, settings, below[j]), baseline);
  }
  assert_true(differs(all, no_policy, settings, "location."));
  assert_false(differs(all, no_policy, settings, "baseline."));
  assert_true(differs(all, no_baseline, settings, "baseline."));
  assert_false(differs(all, no_baseline, settings, "location."));
  assert_false(differs(all, no_policy, settings, "class."));
  assert_false(differs(all, no_baseline, settings, "class."));
  free(all), free(no_policy), free(no_baseline);
}

/** What the answer learns from, and what is there for the location network alone. */
static const char *const first_layer[] = {"core.", "glimpse.", "encoder.", "where.", NULL};
static const char *const second_layer[] = {"gaze.", "context.", "start.", NULL};

static void test_heads_reach_the_core_only_if_they_may(void **state) {
  (void)state;
  assert_reach("", "none", first_layer, true, true);
  assert_reach("", "baseline", first_layer, true, false);
  assert_reach("", "location", first_layer, false, true);
  assert_reach("", "both", first_layer, false, false);
}

static void test_heads_reach_the_first_layer_only_if_they_may(void **state) {
  (void)state;
  assert_reach(TWO_LAYERS, "none", first_layer, true, true);
  assert_reach(TWO_LAYERS, "none", second_layer, true, true);
  assert_reach(TWO_LAYERS, "baseline", first_layer, true, false);
  assert_reach(TWO_LAYERS, "baseline", second_layer, true, false);
  // What comes through the second layer stops between the two.
  assert_reach(TWO_LAYERS, "location", first_layer, false, false);
  assert_reach(TWO_LAYERS, "location", second_layer, true, true);
  assert_reach(TWO_LAYERS, "both", first_layer, false, false);
  assert_reach(TWO_LAYERS, "both", second_layer, true, false);
}

/** The context and the second layer do not learn from the answer, not even by a rounding. */
static void test_the_answer_s_gradient_stays_in_the_first_layer(void **state) {
  (void)state;
  Toy toy;
  toy_create(&toy, TWO_LAYERS);
  real *gradient = gradient_with(TWO_LAYERS, "none", 0, 0);
  real *zero = fov_params_block(&toy.experiment.agent.params);
  for (int i = 0; second_layer[i]; i++)
    assert_false(differs(gradient, zero, TWO_LAYERS, second_layer[i]));
  for (int i = 0; first_layer[i]; i++)
    assert_true(differs(gradient, zero, TWO_LAYERS, first_layer[i]));
  free(zero), free(gradient);
  toy_finish(&toy);
}

/** The answer's loss does not flow back through where it was looked. */
static void test_no_gradient_flows_through_the_sample(void **state) {
  (void)state;
  real *gradient = gradient_with("", "none", 0, 1);
  Toy toy;
  toy_create(&toy, "");
  real *zero = fov_params_block(&toy.experiment.agent.params);
  assert_false(differs(gradient, zero, "", "location."));
  assert_true(differs(gradient, zero, "", "where.") && differs(gradient, zero, "", "core."));
  free(zero), free(gradient);
  toy_finish(&toy);
}

/* ---- the policy's gradient, whole ---- */

/** Raw locations fall into CELLS × CELLS cells: those of the image, small enough for the eye to be
 * on one pixel in each, and what lies beyond its borders, where the eye stays at the border. */
enum { INNER = 80, CELLS = INNER + 2, REPEATS = 600 };
static const double sigma = 0.4;

static double edge(int cell) {
  return cell == 0 ? -INFINITY : cell == CELLS ? INFINITY : 2. * (cell - 1) / INNER - 1;
}

static double node(int cell) {
  return fmin(fmax((2. * cell - 1) / INNER - 1, -1), 1);
}

/** The normal's mass in a cell, and how it grows with the mean. */
static double mass_of(double *slope, int cell, double mean) {
  double low = (edge(cell) - mean) / sigma, high = (edge(cell + 1) - mean) / sigma;
  *slope = (exp(-low * low / 2) - exp(-high * high / 2)) / (sqrt(2 * M_PI) * sigma);
  return (erf(high / sqrt(2)) - erf(low / sqrt(2))) / 2;
}

/** A policy that looks at one row of cells, one of them in each lane. */
static int row;

static FovVar *choose_row(real *location, FovTape *tape, FovVar *mean, const FovChoice *choice,
                          FovRng *rng, int lanes) {
  (void)tape, (void)mean, (void)choice, (void)rng;
  for (int b = 0; b < lanes; b++) {
    location[2 * b] = (real)node(b);
    location[2 * b + 1] = (real)node(row);
  }
  return NULL;
}

/** Adds −dE[R]/dmean of one case with two glimpses: the sum of R over all cells. */
static void integrate(double gradient[2], const Toy *toy, const real *values, int64_t index) {
  const FovPolicy row_policy = {.learned = true, .choose = choose_row};
  FovTask task = toy->task;
  FovArena arena = {0};
  FovRng rng[CELLS] = {{0}};
  int64_t cases[CELLS];
  task.policy = &row_policy;
  for (int b = 0; b < CELLS; b++) cases[b] = index;
  for (row = 0; row < CELLS; row++) {
    FovTape tape;
    FovRollout r;
    FovPlan plan = {.lanes = CELLS, .cases = cases, .env_rng = rng, .policy_rng = rng};
    fov_arena_rewind(&arena);
    fov_tape_begin(&tape, &arena, &toy->experiment.agent.params, values, NULL);
    fov_rollout_run(&r, &tape, &task, &plan);
    const real *mean = r.at[1].mean->value;
    for (int b = 0; b < CELLS; b++) {
      double dx, dy, x = mass_of(&dx, b, (double)mean[0]), y = mass_of(&dy, row, (double)mean[1]);
      gradient[0] -= (double)r.returns[b] * dx * y;
      gradient[1] -= (double)r.returns[b] * x * dy;
    }
  }
  fov_arena_finish(&arena);
}

#define TWO_GLIMPSES "glimpses = 2\nenv.cases = 6\ntrain.batch = 96\n"

/** Weights that answer well where the pattern is seen, and look where it hardly is. */
static real *skilled_values(void) {
  Toy toy;
  toy_create(&toy, TWO_GLIMPSES "policy = random\nbaseline = none\ntrain.rate = 0.01\n");
  FovTrainer *trainer = toy_trainer(&toy, 1);
  toy_train(trainer, 300);
  real *values = copy_block(&toy, fov_trainer_state(trainer)->value);
  size_t bias = find_param(&toy, "location.bias")->offset;
  values[bias] = (real)0.3, values[bias + 1] = (real)0.3;
  fov_trainer_destroy(trainer);
  toy_finish(&toy);
  return values;
}

/** The trainer's own gradient of location.bias, averaged over many updates, is the exact one to
 * 99.9 %, and large enough for that to mean something. */
static void check_policy_gradient(const char *baseline, const char *reward, const real *values) {
  Toy toy;
  char settings[512];
  snprintf(settings, sizeof settings,
           PLAIN TWO_GLIMPSES "policy.sigma = 4\ntrain.copies = 4\nbaseline = %s\nreward = %s\n",
           baseline, reward);
  toy_create(&toy, settings);
  FovTrainer *trainer = toy_trainer(&toy, 1);
  size_t bias = find_param(&toy, "location.bias")->offset;
  real *gradient = copy_block(&toy, values);
  double exact[2] = {0}, sum[2] = {0}, squares[2] = {0};
  for (int64_t i = 0; i < 6; i++) integrate(exact, &toy, values, i);
  for (int i = 0; i < REPEATS; i++) {
    take_gradient(gradient, trainer, &toy, values, true);
    for (int j = 0; j < 2; j++) sum[j] += (double)gradient[bias + (size_t)j];
    for (int j = 0; j < 2; j++) squares[j] += pow((double)gradient[bias + (size_t)j], 2);
  }
  for (int j = 0; j < 2; j++) {
    double mean = sum[j] / REPEATS, wanted = exact[j] / 6;
    double error = sqrt((squares[j] / REPEATS - mean * mean) / REPEATS);
    if (!(fabs(mean - wanted) < 3.29 * error) || !(error < hypot(exact[0], exact[1]) / 12))
      fail_msg("%s, %s: %c is %g +- %g, expected %g", baseline, reward, "xy"[j], mean, error,
               wanted);
  }
  free(gradient);
  fov_trainer_destroy(trainer);
  toy_finish(&toy);
}

static void test_the_policy_gradient_is_exact_on_average(void **state) {
  (void)state;
  real *values = skilled_values();
  for (const FovBaseline *const *b = fov_baselines; *b; b++)
    for (const FovReward *const *r = fov_rewards; *r; r++)
      check_policy_gradient((*b)->plugin.name, (*r)->plugin.name, values);
  free(values);
}

/* ---- the trainer ---- */

/** Four shards, the last of them short, and more numbers than one task steps. */
#define MANY "train.batch = 200\ncore.width = 150\n"

static void check_threads(const char *settings) {
  Toy toy;
  char more[512];
  snprintf(more, sizeof more, MANY "%s", settings);
  toy_create(&toy, more);
  FovTrainer *alone = toy_trainer(&toy, 1);
  toy_train(alone, 4);
  for (int threads = 2; threads <= 4; threads++) {
    FovTrainer *together = toy_trainer(&toy, threads);
    toy_train(together, 4);
    assert_same_state(&toy, alone, together);
    fov_trainer_destroy(together);
  }
  fov_trainer_destroy(alone);
  toy_finish(&toy);
}

static void test_threads_do_not_change_a_bit(void **state) {
  (void)state;
  check_threads("");
  check_threads("env = toy_game\nestimator = gae\n");
  check_threads("optimiser = muon\nencoder.width = 40\nglimpse.width = 48\n");
  check_threads("env = toy_turns\n");
  check_threads("stop = learned\nglimpses = 6\n");
  check_threads(TWO_LAYERS "core = lstm\nfirst = learned\n");
}

static void test_the_seed_decides(void **state) {
  (void)state;
  Toy toy;
  toy_create(&toy, "");
  FovTrainer *one = toy_trainer(&toy, 1), *same = toy_trainer(&toy, 1);
  toy.training.seed++;
  FovTrainer *other = toy_trainer(&toy, 1);
  assert_memory_not_equal(fov_trainer_state(one)->value, fov_trainer_state(other)->value,
                          toy_block_bytes(&toy));
  // From the same weights, other episodes alone make the difference.
  memcpy(fov_trainer_state(other)->value, fov_trainer_state(one)->value, toy_block_bytes(&toy));
  toy_train(one, 1), toy_train(same, 1), toy_train(other, 1);
  assert_same_state(&toy, one, same);
  assert_memory_not_equal(fov_trainer_state(one)->value, fov_trainer_state(other)->value,
                          toy_block_bytes(&toy));
  fov_trainer_destroy(one), fov_trainer_destroy(same), fov_trainer_destroy(other);
  toy_finish(&toy);
}

static void test_every_case_comes_once_an_epoch(void **state) {
  (void)state;
  enum { CASES = 24, COPIES = 4 };
  Toy toy;
  toy_create(&toy, "env.cases = 24\ntrain.batch = 32\ntrain.copies = 4\n");
  FovTrainer *trainer = toy_trainer(&toy, 1);
  toy_resets = 0;
  toy_train(trainer, 6);
  assert_int_equal(toy_resets, 2 * CASES * COPIES);
  int64_t place[2][CASES], moved = 0;
  memset(place, -1, sizeof place);
  for (int image = 0; image < 2 * CASES; image++) {
    const ToyReset *copies = toy_log + image * COPIES;
    int64_t *seen = &place[image / CASES][copies[0].index];
    assert_int_equal(*seen, -1);
    *seen = image;
    for (int k = 1; k < COPIES; k++) assert_memory_equal(&copies[k], &copies[0], sizeof *copies);
  }
  for (int i = 0; i < CASES; i++) {
    moved += place[1][i] - CASES != place[0][i];
    // The same case, a second time: another order, another clutter.
    assert_int_not_equal(toy_log[place[0][i] * COPIES].draw, toy_log[place[1][i] * COPIES].draw);
  }
  assert_true(moved > CASES / 2);
  fov_trainer_destroy(trainer);
  toy_finish(&toy);
}

static void check_average(const char *settings) {
  Toy toy;
  toy_create(&toy, settings);
  FovTrainer *trainer = toy_trainer(&toy, 1);
  const FovTrainerState *s = fov_trainer_state(trainer);
  real *before = copy_block(&toy, s->average);
  assert_memory_equal(before, s->value, toy_block_bytes(&toy));
  // (1 + n) / (10 + n) while that is less than the decay asked for.
  const double decays[] = {0.1, 0.15, 0.15};
  for (int n = 0; n < 3; n++) {
    memcpy(before, s->average, toy_block_bytes(&toy));
    toy_train(trainer, 1);
    for (size_t i = 0; i < toy.experiment.agent.params.size; i++)
      assert_close(s->average[i], decays[n] * before[i] + (1 - decays[n]) * s->value[i], 1e-6);
  }
  assert_ptr_equal(fov_trainer_weights(trainer), s->average);
  free(before);
  fov_trainer_destroy(trainer);
  toy_finish(&toy);
}

static void test_the_average_follows_its_formula(void **state) {
  (void)state;
  check_average("train.average = 0.15\n");
  check_average("train.average = 0.15\noptimiser = muon\n");
}

static void test_without_an_average_the_parameters_are_evaluated(void **state) {
  (void)state;
  Toy toy;
  toy_create(&toy, "train.average = 0\n");
  FovTrainer *trainer = toy_trainer(&toy, 1);
  assert_ptr_equal(fov_trainer_weights(trainer), fov_trainer_state(trainer)->value);
  fov_trainer_destroy(trainer);
  toy_finish(&toy);
}

static void test_the_average_return_moves_slowly(void **state) {
  (void)state;
  Toy toy;
  toy_create(&toy, "");
  FovTrainer *trainer = toy_trainer(&toy, 1);
  const FovTrainerState *s = fov_trainer_state(trainer);
  double average = 0, before = 0;
  for (int n = 0; n < 4; n++) {
    toy_train(trainer, 1);
    double mean = (s->sums.reward - before) / toy.training.options.batch;
    average += (n ? 0.05 : 1) * (mean - average);
    before = s->sums.reward;
    assert_close(s->average_return, average, 1e-12);
  }
  fov_trainer_destroy(trainer);
  toy_finish(&toy);
}

/** The length of the first step at a rate of 1, and the gradient's norm as reported. */
static double step_length(double *norm, const char *settings) {
  Toy toy;
  toy_create(&toy, settings);
  FovTrainer *trainer = toy_trainer(&toy, 1);
  const FovTrainerState *s = fov_trainer_state(trainer);
  real *before = copy_block(&toy, s->value);
  toy_train(trainer, 1);
  double squares = 0;
  for (size_t i = 0; i < toy.experiment.agent.params.size; i++)
    squares += pow((double)s->value[i] - (double)before[i], 2);
  *norm = s->sums.gradient_norm;
  free(before);
  fov_trainer_destroy(trainer);
  toy_finish(&toy);
  return sqrt(squares);
}

static void test_the_gradient_is_clipped_to_its_norm(void **state) {
  (void)state;
  double norm, clipped_norm, loose_norm;
  double whole = step_length(&norm, PLAIN);
  assert_close(whole, norm, 1e-5 * norm);
  assert_true(norm > 0.1);
  assert_close(step_length(&clipped_norm, DESCENT "train.rate = 1\ntrain.clip = 0.05\n"), 0.05,
               1e-6);
  assert_true(clipped_norm == norm);
  assert_close(step_length(&loose_norm, DESCENT "train.rate = 1\ntrain.clip = 1000\n"), whole, 0);
}

static void test_rate_and_progress_follow_the_updates(void **state) {
  (void)state;
  Toy toy;
  toy_create(&toy, "train.episodes = 310\ntrain.batch = 32\ntrain.rate = 0.5\n"
                   "train.schedule = linear\ntrain.warmup = 0\n");
  FovTrainer *trainer = toy_trainer(&toy, 1);
  assert_int_equal(fov_trainer_updates_planned(trainer), 10);
  for (int i = 0; i < 10; i++) {
    assert_close(fov_trainer_progress(trainer), i / 10., 1e-12);
    assert_close(fov_trainer_rate(trainer), 0.5 * (1 - (i + 0.5) / 10), 1e-12);
    toy_train(trainer, 1);
  }
  const FovSums *sums = &fov_trainer_state(trainer)->sums;
  assert_int_equal(sums->episodes, 320);
  assert_int_equal(sums->updates, 10);
  assert_close(sums->reward, 320 - sums->wrong, 1e-9);
  fov_trainer_destroy(trainer);
  toy_finish(&toy);
}

static void assert_create_refuses(const char *settings, const char *message) {
  Toy toy;
  FovTrainer *trainer;
  toy_create(&toy, settings);
  assert_int_equal(fov_trainer_create(&trainer, &toy.training, 1), FOV_ERR_USAGE);
  assert_null(trainer);
  assert_message(message);
  toy_finish(&toy);
}

static void test_copies_that_do_not_fit_are_refused(void **state) {
  (void)state;
  assert_create_refuses("train.copies = 5\n", "train.copies = 5: expected a number that divides "
                                              "train.batch = 32 and 64");
  assert_create_refuses("train.batch = 48\ntrain.copies = 3\n", "train.copies = 3");
  assert_create_refuses("train.batch = 34\ntrain.copies = 4\n", "train.copies = 4");
  assert_create_refuses("baseline = leave_one_out\n",
                        "baseline = leave_one_out needs train.copies of 2 or more, found 1");
}

static void test_a_game_has_no_labels_to_be_rewarded_by(void **state) {
  (void)state;
  assert_create_refuses("env = toy_game\nreward = log_probability\n",
                        "reward = log_probability needs labels, and env = toy_game has none");
}

static void test_a_number_that_is_not_finite_stops_before_the_step(void **state) {
  (void)state;
  Toy toy;
  toy_create(&toy, "policy = random\nstop_gradient = both\n");
  FovTrainer *trainer = toy_trainer(&toy, 1), *well = toy_trainer(&toy, 1);
  toy_train(trainer, 2), toy_train(well, 2);
  real *poisoned = &fov_trainer_state(trainer)->value[find_param(&toy, "baseline.bias")->offset];
  real kept = *poisoned;
  *poisoned = NAN;
  assert_int_equal(fov_trainer_update(trainer), FOV_ERR_NUMBER);
  assert_message("update 3: the gradient of baseline.w is not finite");
  *poisoned = kept;
  assert_same_state(&toy, trainer, well);
  toy_train(trainer, 1), toy_train(well, 1);
  assert_same_state(&toy, trainer, well);
  fov_trainer_destroy(trainer), fov_trainer_destroy(well);
  toy_finish(&toy);
}

static void test_a_rate_too_high_is_told(void **state) {
  (void)state;
  Toy toy;
  toy_create(&toy, DESCENT "train.rate = 100\ntrain.clip = 0\n");
  FovTrainer *trainer = toy_trainer(&toy, 1);
  FovStatus status = FOV_OK;
  int done = -1;
  while (status == FOV_OK && done < 200) status = fov_trainer_update(trainer), done++;
  assert_int_equal(status, FOV_ERR_NUMBER);
  assert_int_equal(fov_trainer_state(trainer)->update, done);
  char message[64];
  snprintf(message, sizeof message, "update %d: ", done + 1);
  assert_message(message);
  assert_message("try a lower train.rate");
  fov_trainer_destroy(trainer);
  toy_finish(&toy);
}

static size_t blocks_of(FovTrainer *trainer) {
  const FovWorkspace *workspace = fov_trainer_workspace(trainer);
  size_t blocks = 0;
  for (int i = 0; i < workspace->count; i++) blocks += workspace->arenas[i].blocks;
  return blocks;
}

static void test_nothing_is_allocated_after_the_first_update(void **state) {
  (void)state;
  const char *networks[] = {MANY "core = rnn\n",
                            MANY "core = lstm\n",
                            MANY "core = gru\n",
                            MANY "encoder = conv\n" SMALL_FILTERS,
                            MANY "env = toy_turns\n",
                            MANY "env = toy_game\nestimator = gae\n",
                            MANY "stop = learned\nglimpses = 6\n",
                            MANY "optimiser = muon\n"};
  for (size_t i = 0; i < sizeof networks / sizeof *networks; i++) {
    Toy toy;
    toy_create(&toy, networks[i]);
    int before = allocations;
    FovTrainer *trainer = toy_trainer(&toy, 2);
    toy_train(trainer, 1);
    assert_true(allocations > before);
    before = allocations;
    size_t blocks = blocks_of(trainer);
    assert_true(blocks > 0);
    toy_train(trainer, 5);
    assert_int_equal(allocations, before);
    assert_int_equal(blocks_of(trainer), blocks);
    fov_trainer_destroy(trainer);
    toy_finish(&toy);
  }
}

/** A step that needs more than a shard finds it reserved as well. */
static void test_the_optimiser_s_memory_is_foreseen(void **state) {
  (void)state;
  Toy toy;
  toy_create(&toy, "optimiser = muon\noptimiser.turns = 1\ncore.width = 800\n");
  FovTrainer *trainer = toy_trainer(&toy, 1);
  toy_train(trainer, 1);
  assert_int_equal(blocks_of(trainer), 1);
  fov_trainer_destroy(trainer);
  toy_finish(&toy);
}

/* ---- evaluation ---- */

static FovEvalResult evaluate(const Toy *toy, const real *values, int rollouts, int threads) {
  FovWorkspace workspace;
  FovEvalResult result;
  assert_int_equal(fov_workspace_create(&workspace, threads), FOV_OK);
  const FovEvalRequest what = {.task = &toy->task,
                               .values = values,
                               .cases = toy->env.spec.cases,
                               .rollouts = rollouts,
                               .seed = 9,
                               .threads = threads};
  assert_int_equal(fov_evaluate(&result, &what, &workspace), FOV_OK);
  fov_workspace_finish(&workspace);
  return result;
}

static void test_evaluation_does_not_depend_on_the_threads(void **state) {
  (void)state;
  Toy toy;
  toy_create(&toy, "env.cases = 150\nreward = log_probability\n");
  real *values = lively_values(&toy);
  for (int rollouts = 1; rollouts <= 5; rollouts += 4) {
    FovEvalResult alone = evaluate(&toy, values, rollouts, 1);
    assert_int_equal(alone.cases, 150);
    for (int threads = 2; threads <= 4; threads++) {
      FovEvalResult together = evaluate(&toy, values, rollouts, threads);
      assert_memory_equal(&together, &alone, sizeof alone);
    }
  }
  free(values);
  toy_finish(&toy);
}

/** One rollout follows the mean, whatever sigma is; several are sampled. */
static void test_a_single_rollout_is_deterministic(void **state) {
  (void)state;
  const char *settings[] = {"reward = log_probability\npolicy.sigma = 1\n",
                            "reward = log_probability\npolicy.sigma = 9\n"};
  FovEvalResult once[2], often[2];
  for (int i = 0; i < 2; i++) {
    Toy toy;
    toy_create(&toy, settings[i]);
    real *values = lively_values(&toy);
    once[i] = evaluate(&toy, values, 1, 1);
    often[i] = evaluate(&toy, values, 3, 1);
    free(values);
    toy_finish(&toy);
  }
  assert_memory_equal(&once[0], &once[1], sizeof *once);
  assert_true(often[0].reward != often[1].reward && often[0].reward != once[0].reward);
}

/** Log-probabilities are summed over the rollouts before the answer is chosen (Ba et al. 2015). */
static void test_several_rollouts_answer_together(void **state) {
  (void)state;
  Toy toy;
  toy_create(&toy, "glimpses = 2\npolicy.sigma = 9\nreward = log_probability\n");
  real *values = skilled_values();
  enum { CASES = 48, ROLLOUTS = 4 };
  double log_p[CASES][TOY_ACTIONS] = {{0}}, reward = 0;
  int wrong = 0, alone[ROLLOUTS] = {0};
  for (int m = 0; m < ROLLOUTS; m++) {
    FovArena arena = {0};
    FovTape tape;
    FovRollout r;
    fov_tape_begin(&tape, &arena, &toy.experiment.agent.params, values, NULL);
    FovPlan plan = fov_plan_cases(&arena, 0, CASES, 9, FOV_SPLIT_TRAIN, m);
    plan.choice = fov_task_choice(&toy.task, 0, false);
    fov_rollout_run(&r, &tape, &toy.task, &plan);
    for (int b = 0; b < CASES; b++) {
      for (int i = 0; i < TOY_ACTIONS; i++)
        log_p[b][i] += (double)r.log_probabilities[b * TOY_ACTIONS + i];
      reward += (double)r.returns[b] / ROLLOUTS / CASES;
      alone[m] += r.answers[b] != r.labels[b];
    }
    fov_arena_finish(&arena);
  }
  for (int b = 0; b < CASES; b++) {
    const double *p = log_p[b];
    wrong += (p[0] >= p[1] && p[0] >= p[2] ? 0 : p[1] >= p[2] ? 1 : 2) != b % TOY_ACTIONS;
  }
  FovEvalResult result = evaluate(&toy, values, ROLLOUTS, 1);
  assert_int_equal(result.cases, CASES);
  assert_int_equal(result.wrong, wrong);
  assert_close(result.reward, reward, 1e-5);
  // Not what the last rollout alone would have answered.
  assert_int_not_equal(wrong, alone[ROLLOUTS - 1]);
  free(values);
  toy_finish(&toy);
}

/** Some wrong answer makes a case wrong, whether it is one rollout that answers or several that do
 * so together; rewards and glimpses are means of a rollout. */
static void test_several_answers_are_one_case(void **state) {
  (void)state;
  Toy toy;
  toy_create(&toy, "env = toy_turns\nglimpses = 2\npolicy.sigma = 9\nenv.cases = 40\n");
  real *values = lively_values(&toy);
  for (int rollouts = 1; rollouts <= 3; rollouts += 2) {
    double log_p[40][TOY_TURNS][TOY_ACTIONS] = {{{0}}}, reward = 0;
    for (int m = 0; m < rollouts; m++) {
      FovArena arena = {0};
      FovTape tape;
      FovRollout r;
      fov_tape_begin(&tape, &arena, &toy.experiment.agent.params, values, NULL);
      FovPlan plan = fov_plan_cases(&arena, 0, 40, 9, FOV_SPLIT_TRAIN, m);
      plan.choice = fov_task_choice(&toy.task, 0, rollouts == 1);
      fov_rollout_run(&r, &tape, &toy.task, &plan);
      for (int b = 0; b < 40; b++) reward += (double)r.returns[b] / rollouts / 40;
      for (int i = 0; i < 40 * TOY_TURNS * TOY_ACTIONS; i++)
        (**log_p)[i] += (double)r.log_probabilities[i];
      fov_arena_finish(&arena);
    }
    int wrong = 0, glimpses = 0, answers = 0;
    for (int b = 0; b < 40; b++) {
      int bad = 0;
      for (int k = 0; k < toy_turns_count(b); k++) {
        const double *p = log_p[b][k];
        int answer = p[0] >= p[1] && p[0] >= p[2] ? 0 : p[1] >= p[2] ? 1 : 2;
        bad += answer != toy_turns_label(b, k);
      }
      wrong += bad > 0, answers += bad, glimpses += 2 * toy_turns_count(b);
    }
    FovEvalResult result = evaluate(&toy, values, rollouts, 2);
    assert_int_equal(result.cases, 40);
    assert_int_equal(result.wrong, wrong);
    assert_close(result.reward, reward, 1e-5);
    assert_close(result.glimpses, glimpses / 40., 1e-9);
    // More answers are wrong than cases, of which some are right.
    assert_true(wrong < answers && wrong < 40);
  }
  free(values);
  toy_finish(&toy);
}

/** Rollouts of a control task are not averaged: each is a case, wrong where it missed the goal. */
static void test_rollouts_of_a_game_count_each(void **state) {
  (void)state;
  Toy toy;
  toy_create(&toy, "env = toy_game\nglimpses = 3\nstop = learned\nenv.cases = 40\n");
  real *values = lively_values(&toy);
  double reward = 0, glimpses = 0;
  int wrong = 0;
  for (int m = 0; m < 3; m++) {
    FovArena arena = {0};
    FovTape tape;
    FovRollout r;
    fov_tape_begin(&tape, &arena, &toy.experiment.agent.params, values, NULL);
    FovPlan plan = fov_plan_cases(&arena, 0, 40, 9, FOV_SPLIT_TRAIN, m);
    plan.choice = fov_task_choice(&toy.task, 0, false);
    fov_rollout_run(&r, &tape, &toy.task, &plan);
    for (int b = 0; b < 40; b++) {
      reward += (double)r.returns[b] / 120;
      glimpses += r.glimpses[b] / 120.;
      wrong += r.wrong[b];
    }
    fov_arena_finish(&arena);
  }
  FovEvalResult result = evaluate(&toy, values, 3, 2);
  assert_int_equal(result.cases, 120);
  assert_int_equal(result.wrong, wrong);
  assert_in_range(wrong, 1, 119);
  assert_close(result.reward, reward, 1e-5);
  assert_close(result.glimpses, glimpses, 1e-9);
  free(values);
  toy_finish(&toy);
}

/* ---- the plan of fixed cases, and memory ---- */

static int compare_draws(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

static void assert_distinct(uint32_t *draws, size_t count) {
  qsort(draws, count, sizeof *draws, compare_draws);
  for (size_t i = 1; i < count; i++)
    if (draws[i] == draws[i - 1]) fail_msg("%u is drawn twice", draws[i]);
}

enum { DRAWN = 64 };

/** Appends what the first cases of a split draw for the environment or the policy. */
static size_t draw_cases(uint32_t *draws, FovSplit split, int repeat, bool policy) {
  FovArena arena = {0};
  FovPlan plan = fov_plan_cases(&arena, 0, DRAWN, 9, split, repeat);
  for (int b = 0; b < DRAWN; b++)
    draws[b] = fov_rng_u32(policy ? &plan.policy_rng[b] : &plan.env_rng[b]);
  fov_arena_finish(&arena);
  return DRAWN;
}

/** Training, validation and test never show the same clutter, though their seeds be equal. */
static void test_no_two_splits_share_a_draw(void **state) {
  (void)state;
  enum { UPDATES = 4 };
  uint32_t draws[(UPDATES + 3) * DRAWN], same[DRAWN];
  size_t count = 0;
  Toy toy;
  toy_create(&toy, "seed = 9\ntrain.batch = 64\n");
  FovTrainer *trainer = toy_trainer(&toy, 1);
  toy_resets = 0;
  toy_train(trainer, UPDATES);
  assert_int_equal(toy_resets, UPDATES * DRAWN);
  for (int i = 0; i < toy_resets; i++) draws[count++] = toy_log[i].draw;
  for (FovSplit split = FOV_SPLIT_TRAIN; split <= FOV_SPLIT_TEST; split++) {
    count += draw_cases(draws + count, split, 0, false);
    // Another rollout of a case is another look at the same image.
    draw_cases(same, split, 5, false);
    assert_memory_equal(same, draws + count - DRAWN, sizeof same);
  }
  assert_distinct(draws, count);
  fov_trainer_destroy(trainer);
  toy_finish(&toy);
}

static void test_every_rollout_of_every_case_has_its_own_policy_draws(void **state) {
  (void)state;
  enum { ROLLOUTS = 3 };
  uint32_t draws[3 * ROLLOUTS * DRAWN];
  size_t count = 0;
  for (FovSplit split = FOV_SPLIT_TRAIN; split <= FOV_SPLIT_TEST; split++)
    for (int repeat = 0; repeat < ROLLOUTS; repeat++)
      count += draw_cases(draws + count, split, repeat, true);
  assert_distinct(draws, count);
}

/** What is foreseen is above what the arena of a training shard takes, and not by much. */
static void check_memory(const char *settings) {
  Toy toy;
  toy_create(&toy, settings);
  FovTrainer *trainer = toy_trainer(&toy, 1);
  toy_train(trainer, 1);
  const FovArena *arena = &fov_trainer_workspace(trainer)->arenas[0];
  double foreseen = fov_shard_bytes(&toy.task), taken = (double)arena->used;
  if (arena->blocks != 1) fail_msg("%s: took %zu blocks", settings, (size_t)arena->blocks);
  if (!(taken <= foreseen && taken >= foreseen / 12))
    fail_msg("%s: took %g bytes, foreseen were %g", settings, taken, foreseen);
  fov_trainer_destroy(trainer);
  toy_finish(&toy);
}

/** Every core with every encoder: of some width; of none to speak of; looking at the whole image
 * with filters all over it. */
static void test_a_shard_s_memory_is_foreseen(void **state) {
  (void)state;
  const char *const sizes[] = {
      "sensor.side = 16\nglimpse.width = 48\n",
      "sensor.side = 1\nglimpse.where = 1\nglimpse.width = 1\ntrain.answer = every\n",
      "sensor.whole = yes\nfirst = learned\nglimpse.width = 128\n"};
  const char *const cores[] = {"core.width = 64\n", "core.width = 1\n", "core.width = 128\n"};
  const char *const linear[] = {"width = 128\n", "width = 1\n", "width = 256\n"};
  const char *const conv[] = {"stride = 1\nencoder.second = 5\n", "side = 1\n",
                              "side = 4\nencoder.stride = 2\nencoder.second = 16\n"};
  for (const FovEncoder *const *encoder = fov_encoders; *encoder; encoder++)
    for (const FovCore *const *core = fov_cores; *core; core++)
      for (int i = 0; i < 3; i++) {
        bool filters = !strcmp((*encoder)->plugin.name, "conv");
        char settings[512];
        snprintf(settings, sizeof settings,
                 "train.batch = 64\ntrain.episodes = 64\nencoder = %s\nencoder.%score = %s\n%s%s",
                 (*encoder)->plugin.name, filters ? conv[i] : linear[i], (*core)->plugin.name,
                 (*core)->plugin.options ? cores[i] : "", sizes[i]);
        check_memory(settings);
      }
}

/** Every core that can be started: in two layers, on coarse views small and large. */
static void test_two_layers_memory_is_foreseen(void **state) {
  (void)state;
  const char *const contexts[] = {
      "core.width = 64\n", "core.width = 1\ncontext.side = 40\ncontext.width = 1\n",
      "core.width = 32\ncontext.side = 24\ncontext.width = 100\nfirst = learned\n"};
  for (const FovCore *const *core = fov_cores; *core; core++)
    for (int i = 0; i < 3 && !(*core)->memoryless; i++) {
      char settings[256];
      snprintf(settings, sizeof settings,
               "train.batch = 64\ntrain.episodes = 64\nlayers = 2\ncore = %s\n%s",
               (*core)->plugin.name, contexts[i]);
      check_memory(settings);
    }
}

/** Nor do lanes that drop out take more, whose number changes from step to step; not even if
 * every one of them leaves at a step of its own. */
static void test_who_drops_out_stays_within_what_is_foreseen(void **state) {
  (void)state;
  const char *const worlds[] = {"env = toy_turns\nglimpses = 4\n",
                                "env = toy_game\nglimpses = 2\nestimator = gae\n",
                                "env = toy_turns\nglimpses = 6\nstop = learned\n",
                                "env = toy_game\nglimpses = 2\nstop = learned\nfirst = learned\n",
                                "glimpses = 16\nstop = learned\nfirst = learned\n",
                                "glimpses = 16\nstop = confident\ntrain.answer = every\n"};
  for (size_t i = 0; i < sizeof worlds / sizeof *worlds; i++)
    for (const FovCore *const *core = fov_cores; *core; core++)
      for (int wide = 0; wide < 2; wide++) {
        char settings[512];
        snprintf(settings, sizeof settings, "train.batch = 64\ncore = %s\n%s%s",
                 (*core)->plugin.name, worlds[i],
                 !(*core)->plugin.options ? ""
                 : wide                   ? "core.width = 48\n"
                                          : "core.width = 1\n");
        check_memory(settings);
      }
}

/** Fails unless an agent of these settings is refused for images of a size, with that message. */
static void assert_agent_refuses(const char *settings, int height, int width, const char *message) {
  Toy toy;
  toy_create(&toy, "");
  FovExperiment *experiment = &toy.experiment;
  assert_int_equal(fov_settings_parse(experiment->settings, settings, "the test"), FOV_OK);
  assert_int_equal(fov_experiment_resolve(experiment), FOV_OK);
  const FovEnvSpec spec = {.observation = fov_byte_image(height, width, 1), .actions = 2};
  assert_int_equal(fov_experiment_build(experiment, &spec), FOV_ERR_USAGE);
  assert_message(message);
  toy_finish(&toy);
}

static void test_what_cannot_be_seen_is_refused(void **state) {
  (void)state;
  assert_agent_refuses("encoder = conv\n", 20, 20,
                       "encoder = conv: filters of encoder.side = 10 pixels do not fit in patches "
                       "of 4 x 4; make encoder.side smaller or the patches larger");
  assert_agent_refuses("encoder = conv\nencoder.side = 9\nsensor.whole = yes\n", 8, 8,
                       "do not fit in patches of 8 x 8");
  assert_agent_refuses("encoder = conv\n" SMALL_FILTERS "encoder.second = 2\n", 20, 20,
                       "encoder.second has filters of 3 x 3, which do not fit in maps of 2 x 2");
  assert_agent_refuses("sensor.whole = yes\n", 20, 8193,
                       "images of 8193 x 20 pixels, expected at most 8192");
  assert_agent_refuses("sensor.whole = yes\nencoder = conv\nencoder.filters = 1024\n"
                       "encoder.side = 1\nencoder.stride = 1\n",
                       8000, 20, "1024 filters make maps of 65536000000 numbers");
  assert_agent_refuses(TWO_LAYERS, 8193, 20,
                       "context.side: images of 20 x 8193 pixels, expected at most 8192 each way; "
                       "make them smaller or set context.side = 0");
}

static void test_a_context_that_starts_nothing_is_refused(void **state) {
  (void)state;
  assert_agent_refuses("context.side = 4\n", 20, 20,
                       "context.side = 4: the context starts a second layer, found layers = 1; set "
                       "layers = 2 or context.side = 0");
  assert_agent_refuses("layers = 2\ncontext.side = 4\ncore = none\n", 20, 20,
                       "context.side = 4: core = none has no memory that could start from the "
                       "context; choose another core or set context.side = 0");
}

/** Whether it is the batch, the weights or the glimpses that are too many. */
static void test_what_does_not_fit_is_refused_before_it_is_taken(void **state) {
  (void)state;
  const char *const huge[] = {
      "core = lstm\ncore.width = 8192\nglimpse.width = 8192\ntrain.batch = 65536\n",
      "core.width = 8192\nencoder.width = 8192\nglimpses = 64\ntrain.batch = 65536\n"};
  for (int i = 0; i < 2; i++) {
    Toy toy;
    FovTrainer *trainer;
    toy_create(&toy, huge[i]);
    int before = allocations;
    assert_int_equal(fov_trainer_create(&trainer, &toy.training, 1), FOV_ERR_MEMORY);
    assert_message("this training would take ");
    assert_message("make train.batch, env.size or the network smaller");
    assert_null(trainer);
    assert_int_equal(allocations, before);
    toy_finish(&toy);
  }
}

static void test_wilson_s_interval(void **state) {
  (void)state;
  const struct {
    int64_t wrong, cases;
    double low, high;
  } known[] = {{10, 100, 0.05523, 0.17437},
               {0, 50, 0, 0.07135},
               {50, 50, 0.92865, 1},
               {1, 1, 0.20654, 1},
               {5, 10, 0.23659, 0.76341}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    double low, high;
    fov_interval(&low, &high, known[i].wrong, known[i].cases);
    assert_close(low, known[i].low, 1e-5);
    assert_close(high, known[i].high, 1e-5);
  }
}

/* ---- learning ---- */

/** The share of wrong answers after training with some changes to the settings. */
static double train_and_test(const char *changes) {
  Toy toy;
  char settings[512];
  snprintf(settings, sizeof settings,
           "glimpses = 2\nenv.cases = 96\ntrain.batch = 64\n"
           "train.episodes = 96000\ntrain.rate = 0.005\ntrain.average = 0.99\n%s",
           changes);
  toy_create(&toy, settings);
  FovTrainer *trainer = toy_trainer(&toy, 1);
  toy_train(trainer, (int)fov_trainer_updates_planned(trainer));
  FovEvalResult result = evaluate(&toy, fov_trainer_weights(trainer), 1, 1);
  fov_trainer_destroy(trainer);
  toy_finish(&toy);
  return (double)result.wrong / (double)result.cases;
}

/** The pattern is seen only by an eye that follows the cue. */
static void test_where_to_look_is_learned(void **state) {
  (void)state;
  double learned = train_and_test("");
  double random = train_and_test("policy = random\n");
  double unrewarded = train_and_test("train.reinforce = 0\n");
  assert_true(learned < 0.1);
  assert_true(random > 0.4);
  assert_true(unrewarded > 0.4);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_log_prob_belongs_to_the_raw_sample),
      cmocka_unit_test(test_a_rollout_sees_what_is_where_it_looks),
      cmocka_unit_test(test_the_first_glimpse_is_where_it_was_asked_for),
      cmocka_unit_test(test_a_context_chooses_the_first_glimpse),
      cmocka_unit_test(test_context_and_second_layer_answer_by_the_eye_alone),
      cmocka_unit_test(test_labels_are_answered_in_turn),
      cmocka_unit_test(test_a_game_is_what_its_actions_make_of_it),
      cmocka_unit_test(test_moves_are_drawn_from_the_logits),
      cmocka_unit_test(test_a_lane_is_the_same_alone),
      cmocka_unit_test(test_a_glimpse_has_its_cost),
#ifdef FOV_DOUBLE
      cmocka_unit_test(test_the_whole_gradient_is_the_loss_s_difference),
      cmocka_unit_test(test_the_gradient_of_who_drops_out_is_the_surrogate_s),
#endif
      cmocka_unit_test(test_the_gradients_of_lanes_add_up),
      cmocka_unit_test(test_answers_after_every_glimpse_weigh_the_same),
      cmocka_unit_test(test_heads_reach_the_core_only_if_they_may),
      cmocka_unit_test(test_heads_reach_the_first_layer_only_if_they_may),
      cmocka_unit_test(test_the_answer_s_gradient_stays_in_the_first_layer),
      cmocka_unit_test(test_no_gradient_flows_through_the_sample),
      cmocka_unit_test(test_the_policy_gradient_is_exact_on_average),
      cmocka_unit_test(test_threads_do_not_change_a_bit),
      cmocka_unit_test(test_the_seed_decides),
      cmocka_unit_test(test_every_case_comes_once_an_epoch),
      cmocka_unit_test(test_the_average_follows_its_formula),
      cmocka_unit_test(test_without_an_average_the_parameters_are_evaluated),
      cmocka_unit_test(test_the_average_return_moves_slowly),
      cmocka_unit_test(test_the_gradient_is_clipped_to_its_norm),
      cmocka_unit_test(test_rate_and_progress_follow_the_updates),
      cmocka_unit_test(test_copies_that_do_not_fit_are_refused),
      cmocka_unit_test(test_a_game_has_no_labels_to_be_rewarded_by),
      cmocka_unit_test(test_a_number_that_is_not_finite_stops_before_the_step),
      cmocka_unit_test(test_a_rate_too_high_is_told),
      cmocka_unit_test(test_nothing_is_allocated_after_the_first_update),
      cmocka_unit_test(test_the_optimiser_s_memory_is_foreseen),
      cmocka_unit_test(test_evaluation_does_not_depend_on_the_threads),
      cmocka_unit_test(test_a_single_rollout_is_deterministic),
      cmocka_unit_test(test_several_rollouts_answer_together),
      cmocka_unit_test(test_several_answers_are_one_case),
      cmocka_unit_test(test_rollouts_of_a_game_count_each),
      cmocka_unit_test(test_no_two_splits_share_a_draw),
      cmocka_unit_test(test_every_rollout_of_every_case_has_its_own_policy_draws),
      cmocka_unit_test(test_a_shard_s_memory_is_foreseen),
      cmocka_unit_test(test_two_layers_memory_is_foreseen),
      cmocka_unit_test(test_who_drops_out_stays_within_what_is_foreseen),
      cmocka_unit_test(test_what_cannot_be_seen_is_refused),
      cmocka_unit_test(test_a_context_that_starts_nothing_is_refused),
      cmocka_unit_test(test_what_does_not_fit_is_refused_before_it_is_taken),
      cmocka_unit_test(test_wilson_s_interval),
      cmocka_unit_test(test_where_to_look_is_learned),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
