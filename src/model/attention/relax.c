/**
 * Hard attention with a learned control variate (Grathwohl et al. 2018, "RELAX"): as with `rebar`,
 * but c is a network of its own, of the read-out g(ζ), the state and the label y that is due,
 *
 *     c = w · relu(W [g(ζ), onehot(y)] + U h_{t−1} + b) + a
 *
 * fitted by squared error to R_t − b_t, which can predict what later choices earn. Without a label
 * onehot(y) is 0: c can be fitted for moves and vectors, too. No gradient of the fit reaches the
 * agent, though it counts in the norm of train.clip.
 */
#include "model/relaxed.h"

typedef struct Layout {
  FovRelaxed relaxed; // first: functions over sites take it for theirs
  int actions;
  int read_w, state_w, bias, out_w, out_bias; // numbers of parameters
} Layout;

static FovStatus build(void *values, int *width, FovParams *params, const void *options,
                       const FovAttentionParts *parts) {
  Layout *layout = values;
  layout->actions = parts->actions;
  return fov_relaxed_build(&layout->relaxed, width, params, options, parts);
}

static FovStatus connect(void *values, FovParams *params, int inputs) {
  enum { UNITS = 64 };
  Layout *l = values;
  int width = l->relaxed.sites.width + l->actions;
  FOV_TRY(fov_sites_connect(values, params, inputs));
  l->read_w = fov_params_add(params, FOV_CONTROL "w", UNITS, width, FOV_INIT_UNIFORM, 1);
  l->state_w = fov_params_add(params, FOV_CONTROL "u", UNITS, inputs, FOV_INIT_UNIFORM, 1);
  l->bias = fov_params_add(params, FOV_CONTROL "bias", 1, UNITS, FOV_INIT_ZERO, 0);
  l->out_w = fov_params_add(params, FOV_CONTROL "out.w", 1, UNITS, FOV_INIT_UNIFORM, 0.1f);
  l->out_bias = fov_params_add(params, FOV_CONTROL "out.bias", 1, 1, FOV_INIT_ZERO, 0);
  return FOV_OK;
}

static FovVar *control(FovTape *tape, FovVar *g, const FovView *view, const void *values) {
  const Layout *l = values;
  FovVar *p = tape->params, *labels = fov_zeros(tape, view->lanes, l->actions);
  for (int b = 0; b < view->lanes; b++)
    if (view->labels[b] >= 0) fov_value_row(labels, b)[view->labels[b]] = 1;
  FovVar *read = fov_concat(tape, (FovVar *[]){g, labels}, 2);
  FovVar *hidden =
      fov_linear2(tape, read, &p[l->read_w], view->state, &p[l->state_w], &p[l->bias], FOV_RELU);
  return fov_linear(tape, hidden, &p[l->out_w], &p[l->out_bias], FOV_LINEAR);
}

const FovAttention fov_attention_relax = {
    .plugin = {.name = "relax",
               .help = "one tile, with a learned control variate (Grathwohl et al. 2018)",
               .options = fov_relaxed_options,
               .options_size = sizeof(FovRelaxedOptions)},
    .layout_size = sizeof(Layout),
    .state_size = sizeof(FovSitesState),
    .relaxes = true,
    .symbols = true,
    .build = build,
    .connect = connect,
    .sites = fov_sites_grid,
    .columns = fov_sites_columns,
    .finish = fov_sites_finish,
    .begin = fov_sites_begin,
    .read = fov_relaxed_read,
    .scores = fov_sites_scores,
    .control = control,
    .keep = fov_sites_keep,
};
