/**
 * A transformer as the core (Vaswani et al. 2017): the state attends to all read-outs
 * g_1 … g_t of the episode. g_t has its place in it already; its time is encoded here.
 *
 *     x = W g_t + b + time(t)                      time(t): sines and cosines, section 3.5
 *     in every block:
 *       y = norm(x);  K, V gain the rows W_k y (prepared for the score), W_v y
 *       x = x + W_o Σ_i softmax_i(score(W_q y, K_i)) V_i     per head
 *       x = x + W_2 relu(W_1 norm(x) + b_1) + b_2
 *     h_t = norm(x)
 *
 * Norms come first in a block, so that no warm-up is needed (Xiong et al. 2020).
 */
#include <stdio.h>
#include <stdlib.h>

#include "model/core.h"
#include "tensor/ops.h"

enum { MOST_BLOCKS = 4 };

typedef struct Options {
  int width, heads, blocks, hidden;
} Options;

static const FovOption options[] = {
    FOV_INT(Options, width, "256", 1, 8192, "D: units of h_t"),
    FOV_INT(Options, heads, "4", 1, 64, "heads that attend each with a share of the units"),
    FOV_INT(Options, blocks, "1", 1, MOST_BLOCKS, "blocks of attention, one after the other"),
    FOV_INT(Options, hidden, "512", 1, 32768, "units between the two layers of a block"),
    FOV_OPTIONS_END,
};

/** A layer norm, or a linear layer. */
typedef struct Pair {
  int w, bias;
} Pair;

typedef struct Block {
  Pair before, query, value, output, between, up, down;
  int key;     // without a bias, which would add the same to every score of a query
  void *score; // its layout, owned
} Block;

typedef struct Layout {
  int width, heads, blocks;
  const FovScore *score;
  Pair input, last;
  Block block[MOST_BLOCKS];
} Layout;

/** The state: the output, then keys and values of every block. */
enum { H, MEMORIES };

static FovVar **keys_of(FovCoreState *state, int block) {
  return &state->vars[MEMORIES + 2 * block];
}

static FovVar **values_of(FovCoreState *state, int block) {
  return &state->vars[MEMORIES + 2 * block + 1];
}

/* ---- building ---- */

static int add_named(FovParams *params, const char *layer, const char *part, int rows, int cols,
                     FovInit init) {
  char name[FOV_PARAM_NAME];
  snprintf(name, sizeof name, "%s.%s", layer, part);
  return fov_params_add(params, name, rows, cols, init, 1);
}

static Pair add_linear(FovParams *params, const char *layer, int outputs, int inputs) {
  Pair pair;
  pair.w = add_named(params, layer, "w", outputs, inputs, FOV_INIT_UNIFORM);
  pair.bias = add_named(params, layer, "bias", 1, outputs, FOV_INIT_ZERO);
  return pair;
}

static Pair add_norm(FovParams *params, const char *layer, int width) {
  Pair pair;
  pair.w = add_named(params, layer, "gain", 1, width, FOV_INIT_ONE);
  pair.bias = add_named(params, layer, "bias", 1, width, FOV_INIT_ZERO);
  return pair;
}

static FovStatus add_score(Block *block, FovParams *params, const Options *o,
                           const FovCoreParts *parts) {
  block->score = calloc(1, parts->score->layout_size);
  if (!block->score) return fov_fail(FOV_ERR_MEMORY, "no memory for a score");
  return parts->score->build(block->score, params, parts->score_options, o->width, o->heads, 0);
}

/** Adds a block's parameters, named "core.1.query.w" and so on. */
static FovStatus add_block(Block *block, int number, FovParams *params, const Options *o,
                           const FovCoreParts *parts) {
  int D = o->width;
  const char *outer = params->prefix;
  char prefix[FOV_PARAM_NAME];
  snprintf(prefix, sizeof prefix, "%score.%d.", outer ? outer : "", number);
  params->prefix = prefix;
  block->before = add_norm(params, "norm", D);
  block->query = add_linear(params, "query", D, D);
  block->key = add_named(params, "key", "w", D, D, FOV_INIT_UNIFORM);
  block->value = add_linear(params, "value", D, D);
  block->output = add_linear(params, "output", D, D);
  block->between = add_norm(params, "norm2", D);
  block->up = add_linear(params, "up", o->hidden, D);
  block->down = add_linear(params, "down", D, o->hidden);
  FovStatus status = add_score(block, params, o, parts);
  params->prefix = outer;
  return status;
}

static FovStatus build(void *values, int *width, FovParams *params, const void *chosen,
                       const FovCoreParts *parts) {
  const Options *o = chosen;
  Layout *layout = values;
  if (o->width % o->heads != 0)
    return fov_fail(FOV_ERR_USAGE,
                    "core.heads = %d: expected a number that divides core.width = %d", o->heads,
                    o->width);
  *layout =
      (Layout){.width = o->width, .heads = o->heads, .blocks = o->blocks, .score = parts->score};
  layout->input = add_linear(params, "core.input", o->width, parts->inputs);
  for (int b = 0; b < o->blocks; b++)
    FOV_TRY(add_block(&layout->block[b], b + 1, params, o, parts));
  layout->last = add_norm(params, "core.norm", o->width);
  *width = o->width;
  return FOV_OK;
}

static void finish(void *layout) {
  for (int b = 0; b < MOST_BLOCKS; b++) free(((Layout *)layout)->block[b].score);
}

/* ---- a step ---- */

static FovVar *linear(FovTape *tape, FovVar *x, Pair layer, FovActivation activation) {
  return fov_linear(tape, x, &tape->params[layer.w], &tape->params[layer.bias], activation);
}

static FovVar *norm(FovTape *tape, FovVar *x, Pair layer) {
  return fov_layer_norm(tape, x, &tape->params[layer.w], &tape->params[layer.bias]);
}

/** Sines and cosines of time t, from a wavelength of 2π to one of 20,000π, alike in every row. */
static FovVar *time_code(FovTape *tape, int lanes, int width, int t) {
  FovVar *code = fov_constant(tape, lanes, width);
  for (int j = 0; j < width; j++) {
    double angle = t / pow(10000, (double)(j / 2 * 2) / width);
    code->value[j] = (real)(j % 2 ? cos(angle) : sin(angle));
  }
  for (int b = 1; b < lanes; b++)
    memcpy(code->value + (size_t)b * code->stride, code->value, (size_t)width * sizeof(real));
  return code;
}

static FovVar *key_of(const Layout *layout, const Block *block, FovTape *tape, FovVar *y) {
  FovVar *key = fov_linear(tape, y, &tape->params[block->key], NULL, FOV_LINEAR);
  return layout->score->prepare ? layout->score->prepare(block->score, tape, key) : key;
}

static FovVar *attend(FovCoreState *state, const Layout *layout, int number, FovTape *tape,
                      FovVar *x) {
  const Block *block = &layout->block[number];
  FovVar **keys = keys_of(state, number), **values = values_of(state, number);
  FovVar *y = norm(tape, x, block->before);
  *keys = fov_append(tape, *keys, key_of(layout, block, tape, y));
  *values = fov_append(tape, *values, linear(tape, y, block->value, FOV_LINEAR));
  FovVar *query = linear(tape, y, block->query, FOV_LINEAR);
  FovVar *e = layout->score->score(block->score, tape, query, *keys);
  FovVar *weights = fov_softmax(tape, e, layout->heads);
  FovVar *z = fov_weigh_sites(tape, weights, *values, layout->heads);
  x = fov_add(tape, x, linear(tape, z, block->output, FOV_LINEAR));
  FovVar *hidden = linear(tape, norm(tape, x, block->between), block->up, FOV_RELU);
  return fov_add(tape, x, linear(tape, hidden, block->down, FOV_LINEAR));
}

/** Adds x [B, D] to the memories and moves the output on. */
static void take_in(FovCoreState *state, const Layout *layout, FovTape *tape, FovVar *x) {
  const FovVar *memory = *keys_of(state, 0);
  int t = memory ? memory->rows / x->rows : 0;
  x = fov_add(tape, x, time_code(tape, x->rows, layout->width, t));
  for (int b = 0; b < layout->blocks; b++) x = attend(state, layout, b, tape, x);
  state->vars[H] = norm(tape, x, layout->last);
}

static void step(FovCoreState *state, const void *values, FovTape *tape, FovVar *g_t) {
  const Layout *layout = values;
  FovVar *start = state->vars[H];
  // What an episode starts from is attended to like a read-out before the first.
  if (start && !*keys_of(state, 0)) take_in(state, layout, tape, start);
  take_in(state, layout, tape, linear(tape, g_t, layout->input, FOV_LINEAR));
}

const FovCore fov_core_attention = {
    .plugin = {.name = "attention",
               .help = "attends to all glimpses so far (Vaswani et al. 2017)",
               .options = options,
               .options_size = sizeof(Options)},
    .starts = 1,
    .layout_size = sizeof(Layout),
    .build = build,
    .finish = finish,
    .step = step,
};
