/**
 * One of K × K tiles that divide the image, by a softmax over them; the gaze goes to the middle of
 * the tile. Discrete places are suggested by Mnih et al. 2014, section 5.
 */
#include "learn/categorical.h"
#include "learn/policy.h"
#include "tensor/ops.h"

typedef struct Options {
  int side;
  double entropy;
} Options;

static const FovOption options[] = {
    FOV_INT(Options, side, "6", 2, 64, "K: tiles across and down"),
    FOV_REAL(Options, entropy, "0.001", 0, 1000,
             "weight of an entropy bonus, which delays a preference for few tiles"),
    FOV_OPTIONS_END,
};

typedef struct Layout {
  int w, bias;
} Layout;

static int tiles_of(const void *values) {
  int side = ((const Options *)values)->side;
  return side * side;
}

static double entropy(const void *values) {
  return ((const Options *)values)->entropy;
}

static void build(void *layout, FovParams *params, const void *values, int inputs) {
  Layout *l = layout;
  // Small at the start: all tiles are almost equally likely.
  l->w = fov_params_add(params, "location.w", tiles_of(values), inputs, FOV_INIT_UNIFORM, 0.1f);
  l->bias = fov_params_add(params, "location.bias", 1, tiles_of(values), FOV_INIT_ZERO, 0);
}

enum { TILES, COLUMNS };

static int columns(FovPolicyColumn list[FOV_POLICY_COLUMNS], const void *values) {
  list[TILES] = (FovPolicyColumn){"tiles", tiles_of(values)};
  return COLUMNS;
}

static int choose_tile(const FovPolicyInput *input, const real *log_p, int tiles, int b) {
  if (input->forced) return input->forced[b].index;
  return input->deterministic ? fov_likeliest(log_p, tiles)
                              : fov_sample(log_p, tiles, &input->rng[b]);
}

static void choose(FovPolicyOutput *output, FovTape *tape, const FovPolicyInput *input,
                   const void *layout, const void *values) {
  const Layout *l = layout;
  int n = input->lanes, side = ((const Options *)values)->side, tiles = side * side;
  FovVar *p = tape->params, *logits = fov_linear(tape, input->h, &p[l->w], &p[l->bias], FOV_LINEAR);
  int *chosen = FOV_NEW(tape->arena, int, n);
  real *log_p = FOV_NEW(tape->arena, real, (size_t)n * tiles), *column = output->columns[TILES];
  fov_log_softmax(log_p, fov_values(logits));
  for (int i = 0; i < n * tiles; i++) column[i] = fov_exp(log_p[i]);
  for (int b = 0; b < n; b++) {
    int tile = chosen[b] = choose_tile(input, log_p + (size_t)b * tiles, tiles, b);
    output->choices[b] = (FovChoice){.index = tile};
    output->places[2 * b] = (real)(2 * (tile % side) + 1) / (real)side - 1;
    output->places[2 * b + 1] = (real)(2 * (tile / side) + 1) / (real)side - 1;
  }
  if (input->deterministic) return;
  output->log_prob = fov_categorical_log_prob(tape, logits, chosen);
  if (entropy(values) > 0) output->entropy = fov_softmax_entropy(tape, logits);
}

const FovPolicy fov_policy_tiles = {
    .plugin = {.name = "tiles",
               .help = "one of K x K tiles, by a softmax (Mnih et al. 2014, section 5)",
               .options = options,
               .options_size = sizeof(Options)},
    .head = {.layout_size = sizeof(Layout), .build = build},
    .columns = columns,
    .entropy = entropy,
    .choose = choose,
};
