/**
 * A transformer as the core (Vaswani et al. 2017): the state attends to all read-outs
 * g_1 … g_t of the episode. g_t has its place in it already; its time is encoded here.
 *
 *     x = W g_t + b + time(i)                      time(i): sines and cosines, section 3.5
 *     in every transformer block (transformer.h):
 *       K, V gain the rows k (prepared for the score), v
 *       z = Σ_i softmax_i(score(q, K_i)) V_i                per head
 *     h_t = norm(x)
 *
 * i is the number of rows that the memory has already. If the episode starts from the state of a
 * context, its first row is made of x = state + time(0).
 */
#include <stdlib.h>

#include "model/core.h"
#include "model/transformer.h"

typedef struct Options {
  int width, heads, blocks, hidden;
} Options;

static const FovOption options[] = {
    FOV_INT(Options, width, "256", 1, 8192, "D: units of h_t"),
    FOV_INT(Options, heads, "4", 1, 64, "heads that attend each with a share of the units"),
    FOV_INT(Options, blocks, "1", 1, FOV_MAX_BLOCKS, "transformer blocks, one after the other"),
    FOV_INT(Options, hidden, "512", 1, 32768, "units between the two layers of a block"),
    FOV_OPTIONS_END,
};

typedef struct Block {
  FovTransformerBlock layers;
  void *score; // its layout, owned
} Block;

typedef struct Layout {
  int width, heads, blocks;
  const FovScore *score;
  FovLayer input, last;
  Block block[FOV_MAX_BLOCKS];
} Layout;

/** The state: the output, then keys and values of every block. */
enum { H, MEMORIES };
_Static_assert(MEMORIES + 2 * FOV_MAX_BLOCKS <= FOV_STATE_VARS, "a state without room for blocks");

static FovVar **keys_of(FovCoreState *state, int block) {
  return &state->vars[MEMORIES + 2 * block];
}

static FovVar **values_of(FovCoreState *state, int block) {
  return &state->vars[MEMORIES + 2 * block + 1];
}

/* ---- building ---- */

static FovStatus add_score(Block *block, FovParams *params, const Options *o,
                           const FovCoreParts *parts) {
  if (!parts->score->build) return FOV_OK;
  block->score = calloc(1, parts->score->layout_size);
  if (!block->score) return fov_fail(FOV_ERR_MEMORY, "no memory for a score");
  return parts->score->build(block->score, params, parts->score_options, o->width, o->heads, 0);
}

static FovStatus add_block(Block *block, int number, FovParams *params, const Options *o,
                           const FovCoreParts *parts) {
  char prefix[FOV_PARAM_NAME];
  const char *outer = fov_transformer_name_block(prefix, params, "core", number);
  fov_transformer_add_block(&block->layers, params, o->width, o->hidden);
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
  layout->input = fov_layer_add_linear(params, "core.input", o->width, parts->inputs);
  for (int b = 0; b < o->blocks; b++)
    FOV_TRY(add_block(&layout->block[b], b + 1, params, o, parts));
  layout->last = fov_layer_add_norm(params, "core.norm", o->width);
  *width = o->width;
  return FOV_OK;
}

static void finish(void *layout) {
  for (int b = 0; b < FOV_MAX_BLOCKS; b++) free(((Layout *)layout)->block[b].score);
}

/* ---- a step ---- */

/** The code of time t, alike in every row. */
static FovVar *time_code(FovTape *tape, int lanes, int width, int t) {
  FovVar *code = fov_constant(tape, lanes, width);
  fov_position_code(code->value, t, width);
  for (int b = 1; b < lanes; b++)
    memcpy(code->value + (size_t)b * code->stride, code->value, (size_t)width * sizeof(real));
  return code;
}

/** What the queries of a block read of the memory, to which x's keys and values are added. */
static FovVar *read_memory(FovCoreState *state, const Layout *layout, int number, FovTape *tape,
                           FovVar *x) {
  const FovScore *score = layout->score;
  const Block *block = &layout->block[number];
  FovVar **keys = keys_of(state, number), **values = values_of(state, number);
  FovProjections of = fov_transformer_project(&block->layers, tape, x);
  if (score->prepare) of.key = score->prepare(block->score, tape, of.key, layout->heads);
  *keys = fov_append(tape, *keys, of.key);
  *values = fov_append(tape, *values, of.value);
  FovVar *e = score->score(block->score, tape, of.query, *keys, layout->heads);
  return fov_weigh_sites(tape, fov_softmax(tape, e, layout->heads), *values, layout->heads);
}

/** Adds x [B, D] to the memories and moves the output on. */
static void take_in(FovCoreState *state, const Layout *layout, FovTape *tape, FovVar *x) {
  const FovVar *memory = *keys_of(state, 0);
  int t = memory ? memory->rows / x->rows : 0;
  x = fov_add(tape, x, time_code(tape, x->rows, layout->width, t));
  for (int b = 0; b < layout->blocks; b++)
    x = fov_transformer_finish(&layout->block[b].layers, tape, x,
                               read_memory(state, layout, b, tape, x));
  state->vars[H] = fov_layer_normalise(tape, x, layout->last);
}

static void step(FovCoreState *state, const void *values, FovTape *tape, FovVar *g_t) {
  const Layout *layout = values;
  FovVar *start = state->vars[H];
  // What an episode starts from is attended to like a read-out before the first.
  if (start && !*keys_of(state, 0)) take_in(state, layout, tape, start);
  take_in(state, layout, tape, fov_layer_apply(tape, g_t, layout->input, FOV_LINEAR));
}

const FovCore fov_core_attention = {
    .plugin = {.name = "attention",
               .help = "attends to all glimpses so far (Vaswani et al. 2017)",
               .options = options,
               .options_size = sizeof(Options)},
    .starts = 1,
    .scores = true,
    .layout_size = sizeof(Layout),
    .build = build,
    .finish = finish,
    .step = step,
};
