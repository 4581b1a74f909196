/** Every policy against its contract, with its own head on random states; and planted bugs that the
 * same checks must find. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "head.h"
#include "learn/policy.h"
#include "plugin.h"

enum { WIDTH = 24, HEIGHT = 16, SAMPLES = 20000, STATES = 3, LANES = 64 };

/** Places run from −bounds to bounds. */
static const double bounds[2] = {0.5, 0.25};

/* ---- choosing ---- */

/** A policy with options and a head. */
typedef struct Subject {
  const FovPolicy *policy;
  const char *name;
  const void *options;
  Head head;
} Subject;

/** Lane i is in state first + i·step and has generator first + i of `seed`. */
typedef struct Request {
  int lanes, first, step;
  uint64_t seed;
  const FovChoice *forced;
  bool deterministic;
  int glimpse;
} Request;

/** The choices, and the generators afterwards, with one more at either end. */
typedef struct Chosen {
  FovArena arena;
  FovTape tape;
  FovPolicyOutput output;
  FovRng *rng; /**< [lanes] */
} Chosen;

static FovRng generator(uint64_t seed, int i) {
  return fov_rng_stream(seed, FOV_STREAM_POLICY, (uint64_t)(i + 1));
}

/** The last glimpse's place in a state. */
static real last_place(int state, int j) {
  return (real)tanh((double)head_noise(2000000 + (uint64_t)(2 * state + j)));
}

static real *nans(FovArena *arena, size_t count) {
  real *x = FOV_NEW(arena, real, count);
  for (size_t i = 0; i < count; i++) x[i] = NAN;
  return x;
}

static int columns_of(FovColumn columns[FOV_COLUMNS], const Subject *s) {
  return s->policy->columns ? s->policy->columns(columns, s->options) : 0;
}

/** Calls the policy; its outputs are NaN before, and so is one number after each column. gradient:
 * a block, or NULL. */
static void choose(Chosen *c, const Subject *s, const Request *r, real *gradient) {
  int n = r->lanes;
  *c = (Chosen){.arena = {0}};
  FovArena *arena = &c->arena;
  fov_tape_begin(&c->tape, arena, &s->head.params, s->head.values, gradient);
  FovColumn columns[FOV_COLUMNS];
  for (int k = columns_of(columns, s); k-- > 0;)
    c->output.columns[k] = nans(arena, (size_t)n * (size_t)columns[k].width + 1);
  c->output.choices = FOV_NEW(arena, FovChoice, n);
  for (int i = 0; i < n; i++) c->output.choices[i] = (FovChoice){{NAN, NAN}, -2};
  c->output.places = nans(arena, 2 * (size_t)n);
  c->output.costs = memset(FOV_NEW(arena, real, n), 0, (size_t)n * sizeof(real));
  real *places = FOV_NEW(arena, real, 2 * n);
  for (int i = 0; i < 2 * n; i++) places[i] = last_place(r->first + i / 2 * r->step, i % 2);
  c->rng = FOV_NEW(arena, FovRng, n + 2) + 1;
  for (int i = -1; i <= n; i++) c->rng[i] = generator(r->seed, r->first + i);
  bool sites = s->policy->sites;
  FovVar *h = sites || s->policy->head.build ? head_states(&c->tape, r->first, r->step, n) : NULL;
  const FovPolicyInput input = {
      .h = sites ? NULL : h,
      .grid = {3, 3},
      .scores = sites ? fov_linear(&c->tape, h, &c->tape.params[0], NULL, FOV_LINEAR) : NULL,
      .places = places,
      .forced = r->forced,
      .rng = c->rng,
      .width = WIDTH,
      .height = HEIGHT,
      .bounds = {(real)bounds[0], (real)bounds[1]},
      .progress = 0.5,
      .glimpse = r->glimpse,
      .deterministic = r->deterministic,
      .lanes = n};
  s->policy->choose(&c->output, &c->tape, &input, s->head.layout, s->options);
}

static void finish(Chosen *c) {
  fov_arena_finish(&c->arena);
}

static bool same_choice(const FovChoice *a, const FovChoice *b, double tolerance) {
  if (a->index != b->index) return false;
  for (int j = 0; j < 2 && a->index < 0; j++)
    if (!(fabs((double)(a->sample[j] - b->sample[j])) <= tolerance)) return false;
  return true;
}

static bool has_log_prob(const Subject *s) {
  Chosen c;
  choose(&c, s, &(Request){.lanes = 1}, NULL);
  bool found = c.output.log_prob;
  finish(&c);
  return found;
}

/** log π of choices in a state; the caller frees it. */
static double *log_prob_of(const Subject *s, int state, const FovChoice *choices, int count) {
  Chosen c;
  choose(&c, s, &(Request){.lanes = count, .first = state, .forced = choices}, NULL);
  double *log_prob = calloc((size_t)count, sizeof *log_prob);
  assert_non_null(log_prob);
  assert_true(c.output.log_prob->rows == count && c.output.log_prob->cols == 1);
  for (int i = 0; i < count; i++)
    log_prob[i] = (double)c.output.log_prob->value[i * c.output.log_prob->stride];
  finish(&c);
  return log_prob;
}

/** Sites of a policy that chooses one by its index: a bound for all samples; 0: it chooses a
 * sample. */
static int sites_of(const Subject *s) {
  Chosen c;
  int sites = 0;
  choose(&c, s, &(Request){.lanes = SAMPLES, .step = 1}, NULL);
  for (int i = 0; i < SAMPLES; i++)
    if (c.output.choices[i].index >= sites) sites = c.output.choices[i].index + 1;
  finish(&c);
  return sites;
}

/* ---- checks: what is wrong, or NULL ---- */

typedef const char *Check(const Subject *s);

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define DIGITS "0123456789"

/** Columns have names that a trace can have, each its own, and a width. */
static const char *check_columns(const Subject *s) {
  FovColumn columns[FOV_COLUMNS];
  int count = columns_of(columns, s);
  if (count < 0 || count > FOV_COLUMNS) return "too many columns";
  for (int k = 0; k < count; k++) {
    const char *name = columns[k].name;
    if (strspn(name, LETTERS) == 0 || name[strspn(name, LETTERS DIGITS "_")] || strlen(name) > 31)
      return "a column's name";
    if (columns[k].width < 1 || columns[k].width > 4096) return "a column's width";
    for (int j = 0; j < k; j++)
      if (strcmp(columns[j].name, name) == 0) return "two columns of one name";
  }
  return NULL;
}

/** Figures have names that a CSV file can have, each its own in the 20 bytes that it keeps, and are
 * the same ones throughout a training. */
static const char *check_figures(const Subject *s) {
  FovFigure figures[FOV_POLICY_FIGURES], later[FOV_POLICY_FIGURES];
  if (!s->policy->figures) return NULL;
  int count = s->policy->figures(figures, s->options, 0);
  if (count < 0 || count > FOV_POLICY_FIGURES) return "too many figures";
  if (s->policy->figures(later, s->options, 1) != count) return "figures come and go";
  for (int k = 0; k < count; k++) {
    const char *name = figures[k].name;
    if (!*name || name[strspn(name, LETTERS DIGITS "_-.")]) return "a figure's name";
    if (strcmp(name, later[k].name) != 0) return "figures come and go";
    if (!isfinite(figures[k].value) || !isfinite(later[k].value)) return "a figure's value";
    for (int j = 0; j < k; j++)
      if (strncmp(figures[j].name, name, 20) == 0) return "two figures of one name";
  }
  return NULL;
}

/** Every declared number is written and finite, places too, and no more are written. */
static const char *check_outputs(const Subject *s) {
  const char *wrong = NULL;
  for (int deterministic = 0; deterministic < 2; deterministic++) {
    Chosen c;
    FovColumn columns[FOV_COLUMNS];
    int count = columns_of(columns, s);
    choose(&c, s, &(Request){.lanes = LANES, .step = 1, .deterministic = deterministic}, NULL);
    for (int i = 0; i < 2 * LANES; i++)
      if (!isfinite(c.output.places[i])) wrong = "a place is not written";
    for (int i = 0; i < LANES; i++)
      if (c.output.choices[i].index < -1) wrong = "a choice is not written";
    for (int k = 0; k < count; k++) {
      int size = LANES * columns[k].width;
      for (int i = 0; i < size; i++)
        if (!isfinite(c.output.columns[k][i])) wrong = columns[k].name;
      if (!isnan(c.output.columns[k][size])) wrong = "a column is wider than declared";
    }
    finish(&c);
  }
  return wrong;
}

/** Whether a forced sample is repeated that the policy did not draw. */
static bool repeats_another_sample(const Subject *s) {
  const FovChoice elsewhere = {.sample = {0.25f, -0.5f}, .index = -1};
  Chosen c;
  choose(&c, s, &(Request){.lanes = 1, .forced = &elsewhere}, NULL);
  bool same = same_choice(&c.output.choices[0], &elsewhere, 0);
  finish(&c);
  return same;
}

/** Forced to its own choices, with other generators, it repeats choices, places and log π. */
static const char *check_forced(const Subject *s) {
  Chosen free, again;
  const char *wrong = NULL;
  choose(&free, s, &(Request){.lanes = LANES, .step = 1, .seed = 1}, NULL);
  const FovPolicyOutput *a = &free.output, *b = &again.output;
  choose(&again, s, &(Request){.lanes = LANES, .step = 1, .seed = 2, .forced = a->choices}, NULL);
  for (int i = 0; i < LANES; i++) {
    if (!same_choice(&a->choices[i], &b->choices[i], 0)) wrong = "another choice";
    if (a->log_prob && a->log_prob->value[i] != b->log_prob->value[i]) wrong = "another log π";
  }
  if (memcmp(a->places, b->places, 2 * LANES * sizeof(real))) wrong = "another place";
  if (a->choices[0].index < 0 && !repeats_another_sample(s)) wrong = "another sample";
  finish(&free), finish(&again);
  return wrong;
}

/** Whether a lane alone records what lane i of a batch does. */
static bool same_columns(const FovPolicyOutput *alone, const FovPolicyOutput *batch, int i,
                         const Subject *s) {
  FovColumn columns[FOV_COLUMNS];
  for (int k = columns_of(columns, s); k-- > 0;)
    for (int j = 0, width = columns[k].width; j < width; j++)
      if (!(fabs((double)(alone->columns[k][j] - batch->columns[k][i * width + j])) <= 1e-4))
        return false;
  return true;
}

/** A lane alone chooses and records as in a batch, and advances no generator but its own. */
static const char *check_lanes(const Subject *s) {
  Chosen batch;
  const char *wrong = NULL;
  choose(&batch, s, &(Request){.lanes = 8, .step = 1, .seed = 3}, NULL);
  for (int i = 0; i < 8; i++) {
    Chosen alone;
    choose(&alone, s, &(Request){.lanes = 1, .first = i, .step = 1, .seed = 3}, NULL);
    const FovRng before = generator(3, i - 1), after = generator(3, i + 1);
    if (!same_choice(&alone.output.choices[0], &batch.output.choices[i], 1e-4))
      wrong = "a lane alone chooses otherwise";
    for (int j = 0; j < 2; j++)
      if (fabs((double)(alone.output.places[j] - batch.output.places[2 * i + j])) > 1e-4)
        wrong = "a lane alone looks elsewhere";
    if (memcmp(&alone.rng[0], &batch.rng[i], sizeof *alone.rng))
      wrong = "a lane alone draws otherwise";
    if (!same_columns(&alone.output, &batch.output, i, s)) wrong = "a lane alone records otherwise";
    if (memcmp(&alone.rng[-1], &before, sizeof before) ||
        memcmp(&alone.rng[1], &after, sizeof after))
      wrong = "a neighbour's generator moved";
    finish(&alone);
  }
  finish(&batch);
  return wrong;
}

/** E[∇ log π] = 0, along random directions of the parameters. */
static const char *check_mean_gradient(const Subject *s) {
  enum { GROUPS = 200, DIRECTIONS = 4 };
  const char *wrong = NULL;
  if (!has_log_prob(s)) return NULL;
  real *gradient = fov_params_block(&s->head.params), ones[LANES];
  assert_non_null(gradient);
  for (int i = 0; i < LANES; i++) ones[i] = 1;
  for (int state = 0; state < STATES; state++) {
    double sum[DIRECTIONS] = {0}, squares[DIRECTIONS] = {0};
    for (int g = 0; g < GROUPS; g++) {
      Chosen c;
      memset(gradient, 0, s->head.params.size * sizeof *gradient);
      choose(&c, s, &(Request){.lanes = LANES, .first = state, .seed = (uint64_t)(10 + g)},
             gradient);
      fov_tape_add_grad(&c.tape, c.output.log_prob, ones);
      fov_tape_backward(&c.tape);
      for (int d = 0; d < DIRECTIONS; d++) {
        double slope = head_project(&s->head, gradient, d);
        sum[d] += slope, squares[d] += slope * slope;
      }
      finish(&c);
    }
    for (int d = 0; d < DIRECTIONS; d++) {
      if (squares[d] == 0) wrong = "log π has no gradient";
      if (!is_mean(sum[d], squares[d], GROUPS, 0)) wrong = "the mean of ∇ log π is not 0";
    }
  }
  free(gradient);
  return wrong;
}

/** Whether the frequencies of sites match log π. */
static bool sites_fit(const Subject *s, int state, const FovChoice *samples, int sites) {
  FovChoice *all = calloc((size_t)sites, sizeof *all);
  double *p = NULL, total = 0;
  int *counts = calloc((size_t)sites, sizeof *counts);
  assert_true(all && counts);
  for (int k = 0; k < sites; k++) all[k].index = k;
  for (int i = 0; i < SAMPLES; i++) counts[samples[i].index]++;
  p = log_prob_of(s, state, all, sites);
  for (int k = 0; k < sites; k++) total += p[k] = exp(p[k]);
  bool fit = fabs(total - 1) < 1e-3 && are_frequencies(counts, p, sites, SAMPLES);
  free(all), free(p), free(counts);
  return fit;
}

/** Mean and standard deviation of the samples. */
typedef struct Box {
  double mean[2], sd[2];
} Box;

static Box cover(const FovChoice *samples) {
  Box box = {{0}, {0}};
  for (int j = 0; j < 2; j++) {
    double squares = 0;
    for (int i = 0; i < SAMPLES; i++) {
      box.mean[j] += (double)samples[i].sample[j] / SAMPLES;
      squares += pow((double)samples[i].sample[j], 2) / SAMPLES;
    }
    box.sd[j] = sqrt(squares - box.mean[j] * box.mean[j]);
  }
  return box;
}

/** Cells of a histogram over ±3 standard deviations, and points of Gauss's rule in a cell. */
enum { CELLS = 12, POINTS = 4, NODES = CELLS * POINTS };

/** Node i of an axis, in cell i / POINTS, and its share of the cell's width. */
static double node_of(double *weight, double mean, double sd, int i) {
  static const double at[POINTS] = {-0.8611363115940526, -0.3399810435848563, 0.3399810435848563,
                                    0.8611363115940526};
  static const double share[POINTS] = {0.1739274225687269, 0.3260725774312731, 0.3260725774312731,
                                       0.1739274225687269};
  double width = 6 * sd / CELLS;
  *weight = share[i % POINTS] * width;
  return mean - 3 * sd + width * (i / POINTS + (1 + at[i % POINTS]) / 2);
}

/** p [CELLS · CELLS]: the integral of exp(log π) over each cell. */
static void integrate(double *p, const Subject *s, int state, const Box *box) {
  FovChoice *nodes = calloc(NODES * NODES, sizeof *nodes);
  double x_weight, y_weight;
  assert_non_null(nodes);
  for (int i = 0; i < NODES * NODES; i++) {
    double x = node_of(&x_weight, box->mean[0], box->sd[0], i % NODES);
    double y = node_of(&y_weight, box->mean[1], box->sd[1], i / NODES);
    nodes[i] = (FovChoice){{(real)x, (real)y}, -1};
  }
  double *log_prob = log_prob_of(s, state, nodes, NODES * NODES);
  memset(p, 0, CELLS * CELLS * sizeof *p);
  for (int i = 0; i < NODES * NODES; i++) {
    int cell = i / NODES / POINTS * CELLS + i % NODES / POINTS;
    node_of(&x_weight, box->mean[0], box->sd[0], i % NODES);
    node_of(&y_weight, box->mean[1], box->sd[1], i / NODES);
    p[cell] += x_weight * y_weight * exp(log_prob[i]);
  }
  free(nodes), free(log_prob);
}

/** The cell of a sample; −1: beyond the histogram. */
static int cell_of(const Box *box, const FovChoice *choice) {
  int cell[2];
  for (int j = 0; j < 2; j++) {
    double at = ((double)choice->sample[j] - box->mean[j]) / (6 * box->sd[j]) + 0.5;
    if (!(at >= 0 && at < 1)) return -1;
    cell[j] = (int)(at * CELLS);
  }
  return cell[1] * CELLS + cell[0];
}

/** Whether the samples' histogram matches log π. */
static bool samples_fit(const Subject *s, int state, const FovChoice *samples) {
  Box box = cover(samples);
  double p[CELLS * CELLS];
  int counts[CELLS * CELLS] = {0};
  integrate(p, s, state, &box);
  for (int i = 0; i < SAMPLES; i++) {
    int cell = cell_of(&box, &samples[i]);
    if (cell >= 0) counts[cell]++;
  }
  return are_frequencies(counts, p, CELLS * CELLS, SAMPLES);
}

/** Sites of the attention of a policy that chooses by scores. */
enum { SITES = 9 };

/** The number of choices that a policy declares is that of those it makes. */
static const char *check_count(const Subject *s) {
  if (!s->policy->count) return NULL;
  return s->policy->count(s->options, s->policy->sites ? SITES : 0) == sites_of(s)
             ? NULL
             : "the number of choices";
}

/** Choices have the frequencies of log π, which is computed by forcing them. */
static const char *check_frequencies(const Subject *s) {
  const char *wrong = NULL;
  if (!has_log_prob(s)) return NULL;
  int sites = sites_of(s);
  for (int state = 0; state < STATES; state++) {
    Chosen c;
    choose(&c, s, &(Request){.lanes = SAMPLES, .first = state, .seed = 4}, NULL);
    bool fit = sites ? sites_fit(s, state, c.output.choices, sites)
                     : samples_fit(s, state, c.output.choices);
    if (!fit) wrong = "choices do not have the frequencies of log π";
    finish(&c);
  }
  return wrong;
}

/** Choices that the most likely one is compared with: samples and its own neighbours. */
static int rivals_of(FovChoice rivals[], const FovChoice *samples, int count, FovChoice best) {
  Box box = cover(samples);
  static const double steps[] = {0.01, 0.1, 1};
  memcpy(rivals, samples, (size_t)count * sizeof *rivals);
  for (int k = 0; best.index < 0 && k < 12; k++) {
    rivals[count] = best;
    rivals[count++].sample[k % 2] += (real)((k % 4 < 2 ? 1 : -1) * steps[k / 4] * box.sd[k % 2]);
  }
  return count;
}

/** The deterministic choice has the highest log π. */
static const char *check_deterministic(const Subject *s) {
  enum { RIVALS = 4000 };
  static FovChoice rivals[RIVALS + 12];
  const char *wrong = NULL;
  if (!has_log_prob(s)) return NULL;
  for (int state = 0; state < STATES; state++) {
    Chosen best, samples;
    choose(&best, s, &(Request){.lanes = 1, .first = state, .deterministic = true}, NULL);
    choose(&samples, s, &(Request){.lanes = SAMPLES, .first = state, .seed = 5}, NULL);
    int count = rivals_of(rivals, samples.output.choices, RIVALS, best.output.choices[0]);
    double *highest = log_prob_of(s, state, best.output.choices, 1);
    double *others = log_prob_of(s, state, rivals, count);
    for (int i = 0; i < count; i++)
      if (!(others[i] <= *highest + 1e-5 * (1 + fabs(*highest))))
        wrong = "the deterministic choice is not the most likely one";
    free(highest), free(others);
    finish(&best), finish(&samples);
  }
  return wrong;
}

/** An entropy is the mean of −log π, and is given where it has a weight. */
static const char *check_entropy(const Subject *s) {
  const char *wrong = NULL;
  bool weighed = s->policy->entropy && s->policy->entropy(s->options) > 0;
  for (int state = 0; state < STATES; state++) {
    Chosen c;
    double sum = 0, squares = 0;
    choose(&c, s, &(Request){.lanes = SAMPLES, .first = state, .seed = 6}, NULL);
    const FovVar *entropy = c.output.entropy, *log_prob = c.output.log_prob;
    for (int i = 0; entropy && i < SAMPLES; i++) {
      double x = -(double)log_prob->value[i * log_prob->stride];
      sum += x, squares += x * x;
    }
    if ((entropy != NULL) != weighed)
      wrong = "an entropy without a weight, or a weight without one";
    if (entropy && !is_mean(sum, squares, SAMPLES, (double)entropy->value[0]))
      wrong = "the entropy is not the mean of −log π";
    finish(&c);
  }
  return wrong;
}

#ifdef FOV_DOUBLE // single precision is too coarse for differences

/** Weights of both signs, different for each lane. */
static real weight_of(int i) {
  return (real)sin(1 + 3 * i);
}

/** The weighted sum of log π or of the entropy over lanes with forced choices; adds its gradient to
 * a block, unless that is NULL. false: there is none. */
static bool weigh(double *sum, const Subject *s, bool entropy, const FovChoice *forced,
                  real *gradient) {
  enum { N = 8 };
  Chosen c;
  real weights[N];
  *sum = 0;
  choose(&c, s, &(Request){.lanes = N, .step = 1, .forced = forced}, gradient);
  FovVar *y = entropy ? c.output.entropy : c.output.log_prob;
  for (int i = 0; y && i < N; i++) *sum += (weights[i] = weight_of(i)) * y->value[i * y->stride];
  if (y && gradient) {
    fov_tape_add_grad(&c.tape, y, weights);
    fov_tape_backward(&c.tape);
  }
  finish(&c);
  return y;
}

/** The gradients of log π and entropy equal differences. */
static const char *check_gradient(const Subject *s) {
  const double h = 1e-6;
  const char *wrong = NULL;
  Chosen c;
  Subject moved = *s;
  size_t size = s->head.params.size;
  real *gradient = fov_params_block(&s->head.params);
  moved.head.values = fov_params_block(&s->head.params);
  assert_true(gradient && moved.head.values);
  choose(&c, s, &(Request){.lanes = 8, .step = 1, .seed = 7}, NULL);
  for (int entropy = 0; entropy < 2; entropy++) {
    double sums[2];
    memset(gradient, 0, size * sizeof *gradient);
    if (!weigh(&sums[0], s, entropy, c.output.choices, gradient)) continue;
    for (size_t at = 0; at < size; at += 1 + size / 64) {
      for (int side = 0; side < 2; side++) {
        memcpy(moved.head.values, s->head.values, size * sizeof *gradient);
        moved.head.values[at] += side ? h : -h;
        weigh(&sums[side], &moved, entropy, c.output.choices, NULL);
      }
      double difference = (sums[1] - sums[0]) / (2 * h);
      if (!(fabs(gradient[at] - difference) <= 1e-6 * (1 + fabs(difference))))
        wrong = entropy ? "the entropy's gradient" : "the gradient of log π";
    }
  }
  finish(&c);
  free(gradient), free(moved.head.values);
  return wrong;
}

#endif

/* ---- every policy ---- */

/** What the attention would give a policy that chooses by scores: Linear(h). */
static void build_scores(void *layout, FovParams *params, const void *options, int inputs) {
  (void)layout, (void)options;
  assert_int_equal(fov_params_add(params, "scores.w", SITES, inputs, FOV_INIT_UNIFORM, 1), 0);
}

static const FovHead scores_head = {.layout_size = 1, .build = build_scores};

static void create_subject(Subject *s, const FovPolicy *policy, const FovSlot *slot) {
  *s = (Subject){.policy = policy, .name = slot->plugin->name, .options = slot->values};
  head_create(&s->head, policy->sites ? &scores_head : &policy->head, slot->values);
}

/** Runs a check of a policy with some options, or of `made` instead. */
static const char *check_policy(FovSlot slot, const FovPolicy *made, Check *check) {
  Subject s;
  create_subject(&s, made ? made : (const FovPolicy *)slot.plugin, &slot);
  const char *wrong = check(&s);
  head_finish(&s.head);
  free(slot.values);
  return wrong;
}

/** Options other than the defaults. */
static const char *const variants[] = {"plugin = gaussian\nplugin.mean = tanh\nplugin.sigma = 2\n",
                                       "plugin = tiles\nplugin.side = 3\n",
                                       "plugin = relative\nplugin.sigma = 1.5\n",
                                       "plugin = gaussian\nplugin.adaptive = yes\n"
                                       "plugin.entropy = 0.1\n",
                                       "plugin = relative\nplugin.adaptive = yes\n"
                                       "plugin.entropy = 0.1\n"};
enum { VARIANTS = sizeof variants / sizeof *variants };

static void check_every_policy(Check *check) {
  for (const FovPolicy *const *p = fov_policies; *p; p++) {
    const char *wrong =
        check_policy(plugin_default(PLUGINS(fov_policies), &(*p)->plugin), NULL, check);
    if (wrong) fail_msg("%s: %s", (*p)->plugin.name, wrong);
  }
  for (int i = 0; i < VARIANTS; i++) {
    const char *wrong =
        check_policy(plugin_choose(PLUGINS(fov_policies), variants[i]), NULL, check);
    if (wrong) fail_msg("%s: %s", variants[i], wrong);
  }
}

static void test_every_policy_declares_names_and_widths(void **state) {
  (void)state;
  check_every_policy(check_columns);
  check_every_policy(check_figures);
}

static void test_every_policy_writes_what_it_declares(void **state) {
  (void)state;
  check_every_policy(check_outputs);
}

static void test_every_policy_repeats_forced_choices(void **state) {
  (void)state;
  check_every_policy(check_forced);
}

static void test_no_two_lanes_share_a_generator(void **state) {
  (void)state;
  check_every_policy(check_lanes);
}

static void test_the_mean_gradient_of_log_prob_is_zero(void **state) {
  (void)state;
  check_every_policy(check_mean_gradient);
}

static void test_choices_have_the_frequencies_of_log_prob(void **state) {
  (void)state;
  check_every_policy(check_count);
  check_every_policy(check_frequencies);
}

static void test_the_deterministic_choice_is_the_most_likely(void **state) {
  (void)state;
  check_every_policy(check_deterministic);
}

static void test_an_entropy_is_the_mean_of_minus_log_prob(void **state) {
  (void)state;
  check_every_policy(check_entropy);
}

#ifdef FOV_DOUBLE
static void test_log_prob_and_entropy_have_their_gradients(void **state) {
  (void)state;
  check_every_policy(check_gradient);
}
#endif

/* ---- mistakes ---- */

/** The policy that a mistake is made in. */
static const FovPolicy *honest;

/** Copies the lanes' choices, which can then be forced. */
static FovChoice *copy_choices(FovTape *tape, const FovPolicyOutput *output, int lanes) {
  return memcpy(FOV_NEW(tape->arena, FovChoice, lanes), output->choices,
                (size_t)lanes * sizeof(FovChoice));
}

static void swap_axes(FovPolicyOutput *output, FovTape *tape, const FovPolicyInput *input,
                      const void *layout, const void *options) {
  honest->choose(output, tape, input, layout, options);
  for (int i = 0; i < input->lanes && !input->forced; i++) {
    real *sample = output->choices[i].sample, x = sample[0];
    sample[0] = sample[1], sample[1] = x;
  }
}

/** log π is that of the swapped sample: only the draw is wrong. */
static void draw_with_swapped_axes(FovPolicyOutput *output, FovTape *tape,
                                   const FovPolicyInput *input, const void *layout,
                                   const void *options) {
  swap_axes(output, tape, input, layout, options);
  FovPolicyInput again = *input;
  again.forced = input->forced ? input->forced : copy_choices(tape, output, input->lanes);
  honest->choose(output, tape, &again, layout, options);
}

static void take_log_prob_of_another_sample(FovPolicyOutput *output, FovTape *tape,
                                            const FovPolicyInput *input, const void *layout,
                                            const void *options) {
  honest->choose(output, tape, input, layout, options);
  FovChoice *choices = copy_choices(tape, output, input->lanes);
  real *places = FOV_NEW(tape->arena, real, 2 * input->lanes);
  memcpy(places, output->places, 2 * (size_t)input->lanes * sizeof *places);
  honest->choose(output, tape, input, layout, options);
  memcpy(output->choices, choices, (size_t)input->lanes * sizeof *choices);
  memcpy(output->places, places, 2 * (size_t)input->lanes * sizeof *places);
}

static void take_a_neighbours_generator(FovPolicyOutput *output, FovTape *tape,
                                        const FovPolicyInput *input, const void *layout,
                                        const void *options) {
  FovPolicyInput shifted = *input;
  shifted.rng = input->rng + 1;
  honest->choose(output, tape, &shifted, layout, options);
}

/** Draws with σ², while log π has σ. */
static void draw_with_variance(FovPolicyOutput *output, FovTape *tape, const FovPolicyInput *input,
                               const void *layout, const void *options) {
  honest->choose(output, tape, input, layout, options);
  if (input->forced || input->deterministic) return;
  FovPolicyInput again = *input;
  FovChoice *choices = copy_choices(tape, output, input->lanes);
  for (int i = 0; i < 2 * input->lanes; i++) {
    real mean = output->columns[0][i], *x = &choices[i / 2].sample[i % 2];
    *x = mean + output->columns[1][i] * (*x - mean);
  }
  again.forced = choices;
  honest->choose(output, tape, &again, layout, options);
}

static void ignore_forced(FovPolicyOutput *output, FovTape *tape, const FovPolicyInput *input,
                          const void *layout, const void *options) {
  FovPolicyInput deaf = *input;
  deaf.forced = NULL;
  honest->choose(output, tape, &deaf, layout, options);
}

static void miscount_sites(FovPolicyOutput *output, FovTape *tape, const FovPolicyInput *input,
                           const void *layout, const void *options) {
  honest->choose(output, tape, input, layout, options);
  for (int i = 0; i < input->lanes && !input->forced; i++)
    output->choices[i].index = (output->choices[i].index + 1) % 9;
}

static void negate_entropy(FovPolicyOutput *output, FovTape *tape, const FovPolicyInput *input,
                           const void *layout, const void *options) {
  honest->choose(output, tape, input, layout, options);
  if (!output->entropy) return;
  FovVar *minus = fov_constant(tape, input->lanes, 1);
  for (int i = 0; i < input->lanes; i++) minus->value[i * minus->stride] = -1;
  output->entropy = fov_multiply(tape, output->entropy, minus);
}

static void forget_a_column(FovPolicyOutput *output, FovTape *tape, const FovPolicyInput *input,
                            const void *layout, const void *options) {
  honest->choose(output, tape, input, layout, options);
  output->columns[0][input->lanes - 1] = NAN;
}

static void take_a_sample_for_the_mode(FovPolicyOutput *output, FovTape *tape,
                                       const FovPolicyInput *input, const void *layout,
                                       const void *options) {
  FovPolicyInput sampled = *input;
  sampled.deterministic = false;
  honest->choose(output, tape, &sampled, layout, options);
}

static void write_a_number_more(FovPolicyOutput *output, FovTape *tape, const FovPolicyInput *input,
                                const void *layout, const void *options) {
  honest->choose(output, tape, input, layout, options);
  FovColumn columns[FOV_COLUMNS];
  honest->columns(columns, options);
  output->columns[0][input->lanes * columns[0].width] = 0;
}

static void record_another_lane(FovPolicyOutput *output, FovTape *tape, const FovPolicyInput *input,
                                const void *layout, const void *options) {
  honest->choose(output, tape, input, layout, options);
  output->columns[0][0] = output->columns[0][2 * (input->lanes - 1)];
}

static int declare_one_name_twice(FovColumn columns[FOV_COLUMNS], const void *options) {
  int count = honest->columns(columns, options);
  columns[1].name = columns[0].name;
  return count;
}

static int declare_a_bad_name(FovColumn columns[FOV_COLUMNS], const void *options) {
  int count = honest->columns(columns, options);
  columns[0].name = "mean,x";
  return count;
}

static int declare_no_width(FovColumn columns[FOV_COLUMNS], const void *options) {
  int count = honest->columns(columns, options);
  columns[0].width = 0;
  return count;
}

static int log_a_bad_name(FovFigure figures[FOV_POLICY_FIGURES], const void *options,
                          double progress) {
  int count = honest->figures(figures, options, progress);
  strcpy(figures[0].name, "sigma in pixels");
  return count;
}

static int log_at_the_end(FovFigure figures[FOV_POLICY_FIGURES], const void *options,
                          double progress) {
  return progress < 1 ? 0 : honest->figures(figures, options, progress);
}

#define GAUSSIAN "plugin = gaussian\nplugin.sigma = 4\n"
#define TILES "plugin = tiles\nplugin.side = 3\n"

static int count_one_more(const void *options, int sites) {
  return honest->count(options, sites) + 1;
}

typedef void Choose(FovPolicyOutput *output, FovTape *tape, const FovPolicyInput *input,
                    const void *layout, const void *options);
typedef int Columns(FovColumn columns[FOV_COLUMNS], const void *options);
typedef int Figures(FovFigure figures[FOV_POLICY_FIGURES], const void *options, double progress);

/** The checks find planted bugs, so they do not pass for any policy. */
static void test_every_check_finds_its_mistakes(void **state) {
  (void)state;
  const struct {
    const char *name, *settings;
    Choose *choose;
    Check *check;
  } mistakes[] = {
      {"axes", GAUSSIAN, swap_axes, check_frequencies},
      {"axes", GAUSSIAN, swap_axes, check_forced},
      {"drawn axes", GAUSSIAN, draw_with_swapped_axes, check_frequencies},
      {"drawn axes", GAUSSIAN, draw_with_swapped_axes, check_mean_gradient},
      {"another log π", GAUSSIAN, take_log_prob_of_another_sample, check_forced},
      {"another log π", TILES, take_log_prob_of_another_sample, check_forced},
      {"generator", GAUSSIAN, take_a_neighbours_generator, check_lanes},
      {"generator", TILES, take_a_neighbours_generator, check_lanes},
      {"variance", GAUSSIAN, draw_with_variance, check_frequencies},
      {"forced", GAUSSIAN, ignore_forced, check_forced},
      {"forced", TILES, ignore_forced, check_forced},
      {"index", TILES, miscount_sites, check_frequencies},
      {"index", TILES, miscount_sites, check_deterministic},
      {"entropy", TILES, negate_entropy, check_entropy},
      {"column", GAUSSIAN, forget_a_column, check_outputs},
      {"more", GAUSSIAN, write_a_number_more, check_outputs},
      {"more", TILES, write_a_number_more, check_outputs},
      {"another lane", GAUSSIAN, record_another_lane, check_lanes},
      {"mode", GAUSSIAN, take_a_sample_for_the_mode, check_deterministic},
      {"mode", TILES, take_a_sample_for_the_mode, check_deterministic},
  };
  for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
    FovSlot slot = plugin_choose(PLUGINS(fov_policies), mistakes[i].settings);
    honest = (const FovPolicy *)slot.plugin;
    FovPolicy made = *honest;
    made.choose = mistakes[i].choose;
    if (!check_policy(slot, &made, mistakes[i].check))
      fail_msg("%s, %s: number %zu is not found", honest->plugin.name, mistakes[i].name, i);
  }
}

static void test_the_checks_of_declarations_find_mistakes(void **state) {
  (void)state;
  const struct {
    Columns *columns; // NULL: as they are
    Figures *figures; // likewise
    Check *check;
  } mistakes[] = {
      {declare_one_name_twice, NULL, check_columns}, {declare_a_bad_name, NULL, check_columns},
      {declare_no_width, NULL, check_columns},       {NULL, log_a_bad_name, check_figures},
      {NULL, log_at_the_end, check_figures},
  };
  for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
    FovSlot slot = plugin_choose(PLUGINS(fov_policies), GAUSSIAN);
    honest = (const FovPolicy *)slot.plugin;
    FovPolicy made = *honest;
    if (mistakes[i].columns) made.columns = mistakes[i].columns;
    if (mistakes[i].figures) made.figures = mistakes[i].figures;
    if (!check_policy(slot, &made, mistakes[i].check)) fail_msg("number %zu is not found", i);
  }
}

static void test_the_check_of_the_number_of_choices_finds_mistakes(void **state) {
  (void)state;
  FovSlot slot = plugin_choose(PLUGINS(fov_policies), TILES);
  honest = (const FovPolicy *)slot.plugin;
  FovPolicy made = *honest;
  made.count = count_one_more;
  assert_non_null(check_policy(slot, &made, check_count));
}

/* ---- policies with known formulas ---- */

/** A policy by its options; its values and head are released by finish_subject. */
static Subject begin_subject(const char *settings) {
  FovSlot slot = plugin_choose(PLUGINS(fov_policies), settings);
  Subject s;
  create_subject(&s, (const FovPolicy *)slot.plugin, &slot);
  return s;
}

static void finish_subject(Subject *s) {
  head_finish(&s->head);
  free((void *)s->options);
}

/** The average of (x − about)^power over column j of [SAMPLES, 2]. */
static double moment(const double *x, int j, double about, int power) {
  double sum = 0;
  for (int b = 0; b < SAMPLES; b++) sum += pow(x[2 * b + j] - about, power);
  return sum / SAMPLES;
}

/** Output j of a head with "location.w" and "location.bias" in a state. */
static double linear_of(const Subject *s, const FovVar *h, int row, int j) {
  const FovParam *w = &s->head.params.list[0], *bias = &s->head.params.list[1];
  double sum = (double)s->head.values[bias->offset + (size_t)j];
  for (int k = 0; k < HEAD_STATE; k++)
    sum += (double)s->head.values[w->offset + (size_t)(j * HEAD_STATE + k)] *
           (double)h->value[row * h->stride + k];
  return sum;
}

static void test_the_gaussian_has_its_moments(void **state) {
  (void)state;
  Chosen c;
  Subject s = begin_subject("plugin = gaussian\nplugin.sigma = 4\n");
  choose(&c, &s, &(Request){.lanes = SAMPLES, .seed = 8}, NULL);
  const FovVar *h = head_states(&c.tape, 0, 0, 1);
  // 4 of 24 pixels are 1/3 of the 2 units that the image is wide, 4 of 16 are 1/2.
  const double sigma[] = {1. / 3, 0.5};
  double mean[2], product = 0, *x = calloc(2 * SAMPLES, sizeof *x);
  for (int i = 0; i < 2 * SAMPLES; i++) x[i] = (double)c.output.choices[i / 2].sample[i % 2];
  for (int j = 0; j < 2; j++) {
    mean[j] = linear_of(&s, h, 0, j);
    // Five standard errors of each.
    assert_close(moment(x, j, 0, 1), mean[j], 5 * sigma[j] / sqrt(SAMPLES));
    assert_close(moment(x, j, mean[j], 2), pow(sigma[j], 2),
                 5 * pow(sigma[j], 2) * sqrt(2. / SAMPLES));
  }
  for (int b = 0; b < SAMPLES; b++) {
    double z[2], log_prob = -log(2 * M_PI * sigma[0] * sigma[1]);
    for (int j = 0; j < 2; j++) {
      int at = 2 * b + j;
      z[j] = (x[at] - mean[j]) / sigma[j];
      log_prob -= z[j] * z[j] / 2;
      assert_close(c.output.places[at], x[at], 1e-6);
      assert_close(c.output.columns[0][at], mean[j], 1e-5);
      assert_close(c.output.columns[1][at], sigma[j], 1e-6);
    }
    product += z[0] * z[1];
    assert_close(c.output.log_prob->value[b], log_prob, 1e-4);
  }
  assert_close(product / SAMPLES, 0, 5 / sqrt(SAMPLES));
  free(x);
  finish(&c);
  finish_subject(&s);
}

/** A deterministic choice has no log π, and that of the Gaussian is its mean. */
static void test_every_policy_can_be_deterministic(void **state) {
  (void)state;
  for (const FovPolicy *const *p = fov_policies; *p; p++) {
    Chosen c;
    char settings[64];
    snprintf(settings, sizeof settings, "plugin = %s\n", (*p)->plugin.name);
    Subject s = begin_subject(settings);
    choose(&c, &s, &(Request){.lanes = 3, .step = 1, .deterministic = true}, NULL);
    assert_null(c.output.log_prob);
    for (int i = 0; i < 6 && !strcmp(s.name, "gaussian"); i++) {
      assert_true(c.output.choices[i / 2].sample[i % 2] == c.output.columns[0][i]);
      assert_true(c.output.columns[1][i] == 0);
    }
    finish(&c);
    finish_subject(&s);
  }
}

/** Deterministic choices of three states at a glimpse, [3, 2]. */
static void choose_at(double choices[6], const Subject *s, int glimpse) {
  Chosen c;
  choose(&c, s, &(Request){.lanes = 3, .step = 1, .deterministic = true, .glimpse = glimpse}, NULL);
  assert_null(c.output.log_prob);
  for (int i = 0; i < 6; i++) {
    choices[i] = (double)c.output.choices[i / 2].sample[i % 2];
    assert_true(c.output.columns[1][i] == 0);
  }
  finish(&c);
}

/** The offsets of three states from the mean at a glimpse, [3, 2]. settings: all but the spread. */
static void offsets_at(double offsets[6], const char *settings, double spread, int glimpse) {
  char spread_settings[256];
  double means[6];
  Subject s = begin_subject(settings);
  choose_at(means, &s, glimpse);
  finish_subject(&s);
  snprintf(spread_settings, sizeof spread_settings, "%splugin.spread = %g\n", settings, spread);
  s = begin_subject(spread_settings);
  choose_at(offsets, &s, glimpse);
  finish_subject(&s);
  for (int i = 0; i < 6; i++) offsets[i] -= means[i];
}

/** The first offset is to the right; the next are turned by 137.5° each, and as many σ long. */
static void test_deterministic_choices_spread_around_the_mean(void **state) {
  (void)state;
  const double turn = 2.3999632;
  const struct {
    const char *settings;
    double x, y; // a spread of 1.5
  } policies[] = {
      {"plugin = gaussian\nplugin.sigma = 3\nplugin.sigma_end = 1\n", 6. / WIDTH, 6. / HEIGHT},
      {"plugin = relative\nplugin.sigma = 0.4\n", 0.6, 0.6}};
  for (int i = 0; i < 2; i++)
    for (int glimpse = 0; glimpse < 4; glimpse++) {
      double offsets[6];
      offsets_at(offsets, policies[i].settings, 1.5, glimpse);
      for (int b = 0; b < 3; b++) {
        assert_close(offsets[2 * b], policies[i].x * cos(turn * glimpse), 1e-6);
        assert_close(offsets[2 * b + 1], policies[i].y * sin(turn * glimpse), 1e-6);
      }
    }
}

/** Where σ depends on the state, so does the spread: the same σ as that of the samples. */
static void test_the_spread_follows_an_adaptive_sigma(void **state) {
  (void)state;
  static const char settings[] = "plugin = gaussian\nplugin.sigma = 3\nplugin.adaptive = yes\n";
  double offsets[6];
  Chosen c;
  Subject s = begin_subject(settings);
  choose(&c, &s, &(Request){.lanes = 3, .step = 1}, NULL);
  offsets_at(offsets, settings, 1, 0);
  for (int b = 0; b < 3; b++) {
    assert_close(offsets[2 * b], (double)c.output.columns[1][2 * b], 1e-6);
    assert_close(offsets[2 * b + 1], 0, 1e-6);
  }
  assert_true(fabs(offsets[0] - offsets[2]) > 1e-3);
  finish(&c);
  finish_subject(&s);
}

static void test_a_tile_s_place_is_its_middle(void **state) {
  (void)state;
  Chosen c;
  Subject s = begin_subject("plugin = tiles\nplugin.side = 3\n");
  choose(&c, &s, &(Request){.lanes = LANES, .step = 1}, NULL);
  for (int b = 0; b < LANES; b++) {
    int tile = c.output.choices[b].index;
    const FovVar *h = head_states(&c.tape, 0, 1, LANES);
    double sum = 0;
    assert_in_range(tile, 0, 8);
    assert_close(c.output.places[2 * b], (tile % 3 - 1) * 2. / 3, 1e-6);
    assert_close(c.output.places[2 * b + 1], (tile / 3 - 1) * 2. / 3, 1e-6);
    for (int k = 0; k < 9; k++) sum += exp(linear_of(&s, h, b, k));
    for (int k = 0; k < 9; k++)
      assert_close(c.output.columns[0][9 * b + k], exp(linear_of(&s, h, b, k)) / sum, 1e-5);
    assert_close(exp((double)c.output.log_prob->value[b]), c.output.columns[0][9 * b + tile], 1e-5);
  }
  finish(&c);
  finish_subject(&s);
}

static void test_a_relative_step_is_no_longer_than_its_reach(void **state) {
  (void)state;
  Chosen c;
  Subject s =
      begin_subject("plugin = relative\nplugin.reach = 0.25\nplugin.sigma = 1\nplugin.cost = 2\n");
  int cut = 0;
  choose(&c, &s, &(Request){.lanes = LANES, .step = 1}, NULL);
  for (int b = 0; b < LANES; b++) {
    const real *a = c.output.choices[b].sample;
    double length = hypot((double)a[0], (double)a[1]);
    cut += length > 1;
    assert_close(c.output.costs[b], 2 * length, 1e-5);
    assert_true(c.output.columns[2][b] == c.output.costs[b]);
    for (int j = 0; j < 2; j++) {
      double to = last_place(b, j) + 0.25 * bounds[j] * (double)a[j] / fmax(length, 1);
      assert_close(c.output.places[2 * b + j], to, 1e-5);
    }
  }
  assert_in_range(cut, 5, LANES - 5);
  finish(&c);
  finish_subject(&s);
}

static void test_steps_that_cost_nothing_have_no_column_of_costs(void **state) {
  (void)state;
  FovColumn columns[FOV_COLUMNS];
  Subject free = begin_subject("plugin = relative\n");
  assert_int_equal(columns_of(columns, &free), 2);
  finish_subject(&free);
  Subject dear = begin_subject("plugin = relative\nplugin.cost = 2\n");
  assert_int_equal(columns_of(columns, &dear), 3);
  assert_string_equal(columns[2].name, "cost");
  finish_subject(&dear);
}

static void test_random_is_uniform_over_the_places(void **state) {
  (void)state;
  Chosen c;
  Subject s = begin_subject("plugin = random\n");
  assert_null(s.policy->head.build);
  choose(&c, &s, &(Request){.lanes = SAMPLES, .seed = 9}, NULL);
  assert_null(c.output.log_prob);
  double *x = calloc(2 * SAMPLES, sizeof *x);
  for (int i = 0; i < 2 * SAMPLES; i++) {
    x[i] = (double)c.output.choices[i / 2].sample[i % 2];
    assert_true(x[i] * bounds[i % 2] == (double)c.output.places[i] && x[i] >= -1 && x[i] <= 1);
  }
  for (int j = 0; j < 2; j++) {
    assert_close(moment(x, j, 0, 1), 0, 5 * sqrt(1. / 3 / SAMPLES));
    assert_close(moment(x, j, 0, 2), 1. / 3, 5 * sqrt(4. / 45 / SAMPLES));
    assert_close(moment(x, j, 0, 4), 1. / 5, 5 * sqrt(16. / 225 / SAMPLES));
  }
  free(x);
  finish(&c);
  finish_subject(&s);
}

static void test_centre_looks_at_the_centre(void **state) {
  (void)state;
  Chosen c;
  Subject s = begin_subject("plugin = centre\n");
  assert_true(!s.policy->head.build && !s.policy->figures);
  choose(&c, &s, &(Request){.lanes = 3, .step = 1, .seed = 3}, NULL);
  const FovRng before = generator(3, 1);
  assert_null(c.output.log_prob);
  for (int i = 0; i < 6; i++) assert_true(c.output.places[i] == 0);
  assert_memory_equal(&c.rng[1], &before, sizeof before);
  finish(&c);
  finish_subject(&s);
}

/** Three rows of five places, there and back, and then again from the first corner. */
static void test_a_scan_reads_row_after_row(void **state) {
  (void)state;
  Subject s = begin_subject("plugin = scan\nplugin.reach = 0.25\n");
  FovChoice choice;
  real places[2] = {(real)-0.5, (real)-0.25};
  FovPolicyInput input = {
      .places = places, .bounds = {(real)bounds[0], (real)bounds[1]}, .lanes = 1};
  FovPolicyOutput output = {.choices = &choice, .places = places};
  for (int k = 1; k <= 2 * 15; k++) {
    int row = k / 5 % 3, column = row == 1 ? 4 - k % 5 : k % 5;
    s.policy->choose(&output, NULL, &input, NULL, s.options);
    assert_true(places[0] == (real)(0.25 * column - 0.5) && places[1] == (real)(0.25 * row - 0.25));
  }
  finish_subject(&s);
}

/** Sums of steps that are not exact in binary do not lose the last column and row. */
static void test_a_scan_reaches_the_last_column_and_row(void **state) {
  (void)state;
  static const char *const settings[] = {"plugin = scan\nplugin.reach = 0.1\n",
                                         "plugin = scan\nplugin.reach = 0.00125\n"};
  for (int i = 0; i < 2; i++) {
    Subject s = begin_subject(settings[i]);
    FovChoice choice;
    real places[2] = {-1, -1};
    FovPolicyInput input = {.places = places, .bounds = {1, 1}, .lanes = 1};
    FovPolicyOutput output = {.choices = &choice, .places = places};
    int side = i ? 1601 : 21, steps = 0;
    do {
      s.policy->choose(&output, NULL, &input, NULL, s.options);
      assert_true(places[0] >= -1 && places[0] <= 1 && places[1] >= -1 && places[1] <= 1);
      steps++;
    } while (steps < 10000000 && (places[0] != -1 || places[1] != -1));
    assert_int_equal(steps, side * side);
    finish_subject(&s);
  }
}

/** The logged sigma when the share `progress` of the training is done. */
static double sigma_at(const char *settings, double progress) {
  FovFigure figures[FOV_POLICY_FIGURES];
  Subject s = begin_subject(settings);
  assert_int_equal(s.policy->figures(figures, s.options, progress), 1);
  assert_string_equal(figures[0].name, "sigma");
  finish_subject(&s);
  return figures[0].value;
}

static void test_sigma_follows_its_schedule(void **state) {
  (void)state;
  static const char fixed[] = "plugin = gaussian\nplugin.sigma = 3\n";
  static const char falling[] = "plugin = gaussian\nplugin.sigma = 3\nplugin.sigma_end = 1\n";
  static const char sooner[] = "plugin = gaussian\nplugin.sigma = 3\nplugin.sigma_end = 1\n"
                               "plugin.sigma_fall = 0.5\n";
  assert_close(sigma_at(fixed, 0), 3, 0);
  assert_close(sigma_at(fixed, 1), 3, 0);
  assert_close(sigma_at(falling, 0), 3, 0);
  assert_close(sigma_at(falling, 0.25), 2.5, 1e-12);
  assert_close(sigma_at(falling, 1), 1, 1e-12);
  assert_close(sigma_at(sooner, 0.25), 2, 1e-12);
  assert_close(sigma_at(sooner, 0.5), 1, 1e-12);
  assert_close(sigma_at(sooner, 0.75), 1, 1e-12);
  assert_close(sigma_at("plugin = relative\nplugin.sigma_end = 1e-30\n", 1), 1e-3, 1e-12);
}

/** The logged sigma is the one of the draws: the progress is 0.5 in every choice here. A policy
 * without a schedule would keep 3. */
static void test_choices_are_drawn_with_the_schedule_s_sigma(void **state) {
  (void)state;
  const struct {
    const char *plugin;
    double x, y; // of one unit of sigma
  } policies[] = {{"gaussian", 2. / WIDTH, 2. / HEIGHT},
                  {"relative", 0.5 * bounds[0], 0.5 * bounds[1]}};
  for (int i = 0; i < 2; i++) {
    Chosen c;
    char settings[128];
    snprintf(settings, sizeof settings, "plugin = %s\nplugin.sigma = 3\nplugin.sigma_end = 1\n",
             policies[i].plugin);
    Subject s = begin_subject(settings);
    choose(&c, &s, &(Request){.lanes = 1}, NULL);
    assert_close(c.output.columns[1][0], 2 * policies[i].x, 1e-6);
    assert_close(c.output.columns[1][1], 2 * policies[i].y, 1e-6);
    assert_close(sigma_at(settings, 0.5), 2, 1e-12);
    finish(&c);
    finish_subject(&s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_policy_declares_names_and_widths),
      cmocka_unit_test(test_every_policy_writes_what_it_declares),
      cmocka_unit_test(test_every_policy_repeats_forced_choices),
      cmocka_unit_test(test_no_two_lanes_share_a_generator),
      cmocka_unit_test(test_the_mean_gradient_of_log_prob_is_zero),
      cmocka_unit_test(test_choices_have_the_frequencies_of_log_prob),
      cmocka_unit_test(test_the_deterministic_choice_is_the_most_likely),
      cmocka_unit_test(test_an_entropy_is_the_mean_of_minus_log_prob),
#ifdef FOV_DOUBLE
      cmocka_unit_test(test_log_prob_and_entropy_have_their_gradients),
#endif
      cmocka_unit_test(test_every_check_finds_its_mistakes),
      cmocka_unit_test(test_the_checks_of_declarations_find_mistakes),
      cmocka_unit_test(test_the_check_of_the_number_of_choices_finds_mistakes),
      cmocka_unit_test(test_every_policy_can_be_deterministic),
      cmocka_unit_test(test_deterministic_choices_spread_around_the_mean),
      cmocka_unit_test(test_the_spread_follows_an_adaptive_sigma),
      cmocka_unit_test(test_the_gaussian_has_its_moments),
      cmocka_unit_test(test_a_tile_s_place_is_its_middle),
      cmocka_unit_test(test_a_relative_step_is_no_longer_than_its_reach),
      cmocka_unit_test(test_steps_that_cost_nothing_have_no_column_of_costs),
      cmocka_unit_test(test_random_is_uniform_over_the_places),
      cmocka_unit_test(test_centre_looks_at_the_centre),
      cmocka_unit_test(test_a_scan_reads_row_after_row),
      cmocka_unit_test(test_a_scan_reaches_the_last_column_and_row),
      cmocka_unit_test(test_sigma_follows_its_schedule),
      cmocka_unit_test(test_choices_are_drawn_with_the_schedule_s_sigma),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
