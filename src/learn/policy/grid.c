#include "learn/policy/grid.h"

#include "learn/categorical.h"
#include "model/sites.h"
#include "tensor/ops.h"

static int choose_tile(const FovPolicyInput *input, const real *log_p, int tiles, int b) {
  if (input->forced) return input->forced[b].index;
  return input->deterministic ? fov_likeliest(log_p, tiles)
                              : fov_sample(log_p, tiles, &input->rng[b]);
}

const real *fov_grid_choose(FovPolicyOutput *output, FovTape *tape, const FovPolicyInput *input,
                            FovVar *logits, FovGrid grid, bool entropy) {
  int n = input->lanes, tiles = logits->cols;
  FOV_CHECK(grid.across * grid.down == tiles, "%d tiles, %d x %d", tiles, grid.across, grid.down);
  int *chosen = FOV_NEW(tape->arena, int, n);
  real *log_p = FOV_NEW(tape->arena, real, (size_t)n * tiles);
  fov_log_softmax(log_p, fov_values(logits));
  for (int b = 0; b < n; b++) {
    int tile = chosen[b] = choose_tile(input, log_p + (size_t)b * tiles, tiles, b);
    output->choices[b] = (FovChoice){.index = tile};
    fov_tile_middle(output->places + 2 * b, tile, grid);
  }
  if (input->deterministic) return log_p;
  output->log_prob = fov_categorical_log_prob(tape, logits, chosen);
  if (entropy) output->entropy = fov_softmax_entropy(tape, logits);
  return log_p;
}
