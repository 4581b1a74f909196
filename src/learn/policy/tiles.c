/**
 * One of K × K tiles that divide the image, by a softmax over them; the gaze goes to the middle of
 * the tile. Discrete places are suggested by Mnih et al. 2014, section 5.
 */
#include "learn/policy/grid.h"
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

static int count(const void *values, int sites) {
  (void)sites;
  return tiles_of(values);
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

static int columns(FovColumn list[FOV_COLUMNS], const void *values) {
  list[TILES] = (FovColumn){"tiles", tiles_of(values)};
  return COLUMNS;
}

static void choose(FovPolicyOutput *output, FovTape *tape, const FovPolicyInput *input,
                   const void *layout, const void *values) {
  const Layout *l = layout;
  FovVar *p = tape->params, *logits = fov_linear(tape, input->h, &p[l->w], &p[l->bias], FOV_LINEAR);
  FovGrid grid = {.across = ((const Options *)values)->side,
                  .down = ((const Options *)values)->side};
  const real *log_p = fov_grid_choose(output, tape, input, logits, grid, entropy(values) > 0);
  for (int i = 0; i < input->lanes * logits->cols; i++)
    output->columns[TILES][i] = fov_exp(log_p[i]);
}

const FovPolicy fov_policy_tiles = {
    .plugin = {.name = "tiles",
               .help = "one of K x K tiles, by a softmax (Mnih et al. 2014, section 5)",
               .options = options,
               .options_size = sizeof(Options)},
    .head = {.layout_size = sizeof(Layout), .build = build},
    .count = count,
    .columns = columns,
    .entropy = entropy,
    .choose = choose,
};
