/**
 * Hard attention with a control variate (Tucker et al. 2017, "REBAR"): one tile b is read, drawn by
 * policy = sites from softmax(e), and learned by REINFORCE as with `sampled`. In training two
 * relaxed choices are read as well; the agent gives an answer to each, without a gradient to its
 * parameters:
 *
 *     ζ = softmax(z / τ),   z = e + g, g Gumbel noise for which b is the argmax of z
 *     ζ̃ = softmax(z̃ / τ),   z̃ drawn again from p(z | b), as a function of e and of noise u:
 *     z̃_b = −log u_b,  z̃_i = −log(u_i / p_i + u_b),  u ~ Exp(1),  p = softmax(e)
 *
 * With c = log p(y) of these answers, E[c(ζ̃) ∇ log π(b) + ∇c(ζ̃) − ∇c(ζ)] = 0: an objective
 * subtracts η times this from the gradient of REINFORCE, which stays unbiased and varies less.
 * Where further choices follow, c is what an answer at once would earn, not the end of the episode.
 */
#include "base/gumbel.h"
#include "model/sites.h"

typedef struct Options {
  double temperature;
} Options;

static const FovOption options[] = {
    FOV_REAL(Options, temperature, "1", 0.01, 100, "τ of the relaxed choices"),
    FOV_OPTIONS_END,
};

typedef struct Layout {
  FovSites sites; // first: see FOV_ATTENTION_OVER_SITES
  real inverse;   // 1/τ
} Layout;

static FovStatus build(void *values, int *width, FovParams *params, const void *chosen,
                       const FovAttentionParts *parts) {
  Layout *layout = values;
  layout->inverse = (real)(1 / ((const Options *)chosen)->temperature);
  FOV_TRY(fov_sites_build(&layout->sites, width, params, chosen, parts));
  return fov_sites_check_hard(&layout->sites, "rebar");
}

/** The read-out for weights softmax((slope ∘ x + shift) / τ), of values, which are known, without a
 * gradient. */
static FovVar *relax(const FovSitesState *state, FovTape *tape, FovVar *x, FovVar *slope,
                     FovVar *shift, const Layout *layout) {
  FovVar *z = fov_add(tape, slope ? fov_multiply(tape, slope, x) : x, shift);
  FovVar *weights = fov_sites_softmax(state, tape, fov_sites_scale(tape, z, layout->inverse), 1);
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
typedef struct Relaxed {
  FovVar *g, *log_p, *slope, *shift; // [n, N]
} Relaxed;

static Relaxed draw(FovTape *tape, FovVar *e, const Layout *layout, const FovView *view) {
  const int *index = fov_sites_at(tape, &layout->sites, view);
  Relaxed r = {.g = noise_of(tape, e, index, view->rng),
               .log_p = fov_log_probabilities(tape, e),
               .slope = fov_constant(tape, e->rows, e->cols),
               .shift = fov_constant(tape, e->rows, e->cols)};
  for (int b = 0; b < e->rows; b++)
    draw_again(fov_value_row(r.slope, b), fov_value_row(r.shift, b), fov_value_row(r.log_p, b),
               e->cols, index[b], &view->rng[b]);
  return r;
}

static void read(FovReadout *readout, void *state, const void *values, FovTape *tape,
                 const FovView *view) {
  const Layout *layout = values;
  FovVar *e = fov_sites_take_scores(state, &layout->sites, tape, view);
  if (!view->deterministic) {
    Relaxed r = draw(tape, e, layout, view);
    if (e->wants_grad) {
      fov_sites_values(state, &layout->sites, tape, view);
      readout->relaxed[0] = relax(state, tape, e, NULL, r.g, layout);
      readout->relaxed[1] = relax(state, tape, r.log_p, r.slope, r.shift, layout);
    }
  }
  fov_sites_pick(readout, state, &layout->sites, tape, fov_sites_softmax(state, tape, e, 1), view);
}

const FovAttention fov_attention_rebar = {
    .plugin = {.name = "rebar",
               .help = "one tile, with a control variate for REINFORCE (Tucker et al. 2017)",
               .options = options,
               .options_size = sizeof(Options)},
    FOV_ATTENTION_OVER_SITES,
    .layout_size = sizeof(Layout),
    .relaxes = true,
    .build = build,
    .scores = fov_sites_scores,
    .read = read,
};
