/**
 * Hard attention with the Gumbel-softmax straight-through gradient (Jang et al. 2017, Maddison et
 * al. 2017): one site is read, drawn by policy = sites. The backward pass is that of softmax((e +
 * g) / τ), with the Gumbel noise g that makes the drawn site the maximum of e + g. It is biased,
 * for any τ, since one site is read and not the softmax.
 */
#include "base/gumbel.h"
#include "model/sites.h"

typedef struct Options {
  double temperature, temperature_end;
} Options;

static const FovOption options[] = {
    FOV_REAL(Options, temperature, "1", 0.01, 100, "of the backward pass's softmax at the start"),
    FOV_REAL(Options, temperature_end, "0", 0, 100,
             "at the end, reached linearly, 0.01 or more; 0: the same"),
    FOV_OPTIONS_END,
};

typedef struct Layout {
  FovSites sites; // first: see FOV_ATTENTION_OVER_SITES
  Options options;
} Layout;

static FovStatus build(void *values, int *width, FovParams *params, const void *chosen,
                       const FovAttentionParts *parts) {
  Layout *layout = values;
  layout->options = *(const Options *)chosen;
  double end = layout->options.temperature_end;
  if (end > 0 && end < 0.01)
    return fov_fail(FOV_ERR_USAGE,
                    "attention.temperature_end = %g: expected 0 or 0.01 to 100; set it to 0.01",
                    end);
  return fov_sites_build_hard(&layout->sites, width, params, chosen, parts);
}

static double temperature(const Options *o, double progress) {
  double end = o->temperature_end > 0 ? o->temperature_end : o->temperature;
  return o->temperature + progress * (end - o->temperature);
}

/** softmax((e + g) / τ); without noise, softmax(e / τ). */
static FovVar *soften(const FovSitesState *state, FovTape *tape, FovVar *e, const Layout *layout,
                      const FovView *view) {
  const int *index = fov_sites_at(tape, &layout->sites, view);
  FovVar *noise = fov_zeros(tape, e->rows, e->cols);
  double tau = temperature(&layout->options, view->progress);
  for (int b = 0; b < e->rows && !view->deterministic && !view->fixed; b++)
    fov_gumbel_given_argmax(fov_value_row(noise, b), fov_value_row(e, b), e->cols, index[b],
                            &view->rng[b]);
  FovVar *z = fov_add(tape, e, noise);
  return fov_sites_softmax(state, tape, fov_scale(tape, z, (real)(1 / tau)), 1);
}

static void read(FovReadout *readout, void *state, const void *values, FovTape *tape,
                 const FovView *view) {
  const Layout *layout = values;
  FovVar *e = fov_sites_take_scores(state, &layout->sites, tape, view);
  fov_sites_pick_through(readout, state, &layout->sites, tape, fov_sites_softmax(state, tape, e, 1),
                         soften(state, tape, e, layout, view), view);
}

const FovAttention fov_attention_gumbel = {
    .plugin = {.name = "gumbel",
               .help = "one tile, with the gradient of a Gumbel softmax (Jang et al. 2017)",
               .options = options,
               .options_size = sizeof(Options)},
    FOV_ATTENTION_OVER_SITES,
    .layout_size = sizeof(Layout),
    .through = true,
    .build = build,
    .scores = fov_sites_scores,
    .read = read,
};
