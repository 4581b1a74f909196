/**
 * One of the attention's sites, by a softmax over their scores (Xu et al. 2015, section 4.1). The
 * gaze goes to the middle of the tile.
 */
#include "learn/policy/grid.h"
#include "tensor/ops.h"

typedef struct Options {
  double entropy;
} Options;

static const FovOption options[] = {
    FOV_REAL(Options, entropy, "0.001", 0, 1000,
             "weight of an entropy bonus, which delays a preference for few tiles"),
    FOV_OPTIONS_END,
};

static int count(const void *values, int sites) {
  (void)values;
  return sites;
}

enum { P, COLUMNS };

static int columns(FovColumn list[FOV_COLUMNS], const void *values) {
  (void)values;
  list[P] = (FovColumn){"p", 1};
  return COLUMNS;
}

static double entropy(const void *values) {
  return ((const Options *)values)->entropy;
}

static void choose(FovPolicyOutput *output, FovTape *tape, const FovPolicyInput *input,
                   const void *layout, const void *values) {
  (void)layout;
  FovVar *scores = input->scores;
  const real *log_p =
      fov_grid_choose(output, tape, input, scores, input->grid, entropy(values) > 0);
  for (int b = 0; b < input->lanes; b++)
    output->columns[P][b] = fov_exp(log_p[b * scores->cols + output->choices[b].index]);
}

const FovPolicy fov_policy_sites = {
    .plugin = {.name = "sites",
               .help = "one of the attention's tiles, by their scores (Xu et al. 2015)",
               .options = options,
               .options_size = sizeof(Options)},
    .sites = true,
    .count = count,
    .columns = columns,
    .entropy = entropy,
    .choose = choose,
};
