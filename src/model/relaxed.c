#include "model/relaxed.h"

#include "base/gumbel.h"

const FovOption fov_relaxed_options[] = {
    FOV_REAL(FovRelaxedOptions, temperature, "1", 0.01, 100, "τ of the relaxed choices"),
    FOV_OPTIONS_END,
};

FovStatus fov_relaxed_build(void *values, int *width, FovParams *params, const void *options,
                            const FovAttentionParts *parts) {
  FovRelaxed *layout = values;
  layout->inverse = (real)(1 / ((const FovRelaxedOptions *)options)->temperature);
  return fov_sites_build_hard(&layout->sites, width, params, options, parts);
}

/** Reads the values, which are known, by softmax((slope ∘ x + shift) / τ). No gradient reaches the
 * values. */
static FovVar *relax(const FovSitesState *state, FovTape *tape, FovVar *x, FovVar *slope,
                     FovVar *shift, const FovRelaxed *layout) {
  FovVar *z = fov_add(tape, slope ? fov_multiply(tape, slope, x) : x, shift);
  FovVar *weights = fov_sites_softmax(state, tape, fov_scale(tape, z, layout->inverse), 1);
  return fov_weigh_sites(tape, weights, fov_stop_gradient(tape, state->values), 1);
}

/** g for every lane. */
static FovVar *noise_of(FovTape *tape, const FovVar *e, const int *index, FovRng *rng) {
  FovVar *g = fov_constant(tape, e->rows, e->cols);
  for (int b = 0; b < e->rows; b++)
    fov_gumbel_given_argmax(fov_value_row(g, b), fov_value_row(e, b), e->cols, index[b], &rng[b]);
  return g;
}

static double exponential(FovRng *rng) {
  return -log(1 - (double)fov_rng_uniform(rng));
}

/** z̃ = slope ∘ log p + shift of one lane, with the derivative of z̃ as slope. */
static void draw_again(real *slope, real *shift, const real *log_p, int N, int index, FovRng *rng) {
  double of_index = fmax(exponential(rng), 1e-30);
  for (int i = 0; i < N; i++) {
    double other = i == index ? 0 : exponential(rng) * exp(fmin(-(double)log_p[i], 600));
    slope[i] = (real)(other / (other + of_index));
    shift[i] = (real)-log(other + of_index) - slope[i] * log_p[i];
  }
}

/** The relaxed choices, which are drawn whether there is a gradient or not: z = e + g, and z̃ =
 * slope ∘ log p + shift. */
typedef struct Drawn {
  FovVar *g, *log_p, *slope, *shift; // [n, N]
} Drawn;

static Drawn draw(FovTape *tape, FovVar *e, const FovRelaxed *layout, const FovView *view) {
  const int *index = fov_sites_at(tape, &layout->sites, view);
  Drawn r = {.g = noise_of(tape, e, index, view->rng),
             .log_p = fov_log_probabilities(tape, e),
             .slope = fov_constant(tape, e->rows, e->cols),
             .shift = fov_constant(tape, e->rows, e->cols)};
  for (int b = 0; b < e->rows; b++)
    draw_again(fov_value_row(r.slope, b), fov_value_row(r.shift, b), fov_value_row(r.log_p, b),
               e->cols, index[b], &view->rng[b]);
  return r;
}

void fov_relaxed_read(FovReadout *readout, void *state, const void *values, FovTape *tape,
                      const FovView *view) {
  const FovRelaxed *layout = values;
  FovVar *e = fov_sites_take_scores(state, &layout->sites, tape, view);
  if (!view->deterministic) {
    Drawn r = draw(tape, e, layout, view);
    if (e->wants_grad) fov_sites_values(state, &layout->sites, tape, view);
    if (e->wants_grad && !view->fixed) {
      readout->relaxed[0] = relax(state, tape, e, NULL, r.g, layout);
      readout->relaxed[1] = relax(state, tape, r.log_p, r.slope, r.shift, layout);
    }
  }
  fov_sites_pick(readout, state, &layout->sites, tape, fov_sites_softmax(state, tape, e, 1), view);
}
