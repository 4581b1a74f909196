/** What attention reads of sites, and what is recorded of it. */
#include <string.h>

#include "model/sites.h"

enum { TILES = FOV_SITES_WEIGHTS, HEADS };

int fov_sites_columns(FovColumn columns[FOV_COLUMNS], const void *layout) {
  const FovSites *sites = layout;
  columns[TILES] = (FovColumn){"tiles", sites->count};
  columns[HEADS] = (FovColumn){"heads", sites->heads * sites->count};
  return sites->heads > 1 ? HEADS + 1 : TILES + 1;
}

/** The mean of the weights over heads, [n, N]. */
static FovVar *mean_weights(FovTape *tape, const FovVar *weights, const FovSites *sites) {
  FovVar *mean = fov_zeros(tape, weights->rows, sites->count);
  for (int b = 0; b < mean->rows; b++) {
    real *sum = fov_value_row(mean, b);
    const real *w = fov_value_row(weights, b);
    for (int i = 0; i < weights->cols; i++) sum[i % sites->count] += w[i] / (real)sites->heads;
  }
  return mean;
}

FOV_KERNEL static void add_weighted(real *restrict sum, const real *restrict row, real w,
                                    int cols) {
  for (int j = 0; j < cols; j++) sum[j] += w * row[j];
}

/** mean[b] = Σ_i w[b, i] x[b·N + i], for the record. */
static void average(FovVar *mean, const FovVar *weights, const FovVar *x) {
  int N = weights->cols;
  for (int b = 0; b < mean->rows; b++) {
    real *sum = fov_value_row(mean, b);
    const real *w = fov_value_row(weights, b);
    memset(sum, 0, (size_t)mean->cols * sizeof *sum);
    for (int i = 0; i < N; i++) add_weighted(sum, fov_value_row(x, b * N + i), w[i], mean->cols);
  }
}

/** The symbol of each lane that has the largest weight, for the record. */
static void take_likeliest(FovVar *symbol, const FovVar *weights, const FovVar *symbols) {
  int N = weights->cols;
  for (int b = 0; b < symbol->rows; b++) {
    const real *w = fov_value_row(weights, b);
    int best = 0;
    for (int i = 1; i < N; i++) best = w[i] > w[best] ? i : best;
    fov_value_row(symbol, b)[0] = fov_value_row(symbols, b * N + best)[0];
  }
}

/** The mean glimpse and the mean place for weights [n, N], for the record. */
static void record(FovReadout *readout, const FovSitesState *state, const FovSites *sites,
                   FovTape *tape, const FovVar *weights, const FovView *view) {
  readout->rho = fov_constant(tape, view->lanes, state->rho->cols);
  if (sites->symbols.count)
    take_likeliest(readout->rho, weights, state->rho);
  else
    average(readout->rho, weights, state->rho);
  average(view->location, weights, state->places);
}

void fov_sites_read(FovReadout *readout, FovSitesState *state, const FovSites *sites, FovTape *tape,
                    FovVar *weights, const FovView *view) {
  FovVar *values = fov_sites_values(state, sites, tape, view);
  if (view->held) weights = view->held[HEADS];
  FovVar *mean = readout->columns[TILES] = mean_weights(tape, weights, sites);
  readout->columns[HEADS] = weights; // also of one head, which is not declared: view->held has it
  readout->g = fov_weigh_sites(tape, weights, values, sites->heads);
  record(readout, state, sites, tape, mean, view);
}

int *fov_sites_at(FovTape *tape, const FovSites *sites, const FovView *view) {
  int *index = FOV_NEW(tape->arena, int, view->lanes);
  for (int i = 0; i < view->lanes; i++) {
    const real *l = fov_value_row(view->location, i);
    index[i] = fov_tile_at((double)l[0], (double)l[1], sites->grid);
  }
  return index;
}

/** One of the values that are known. */
static void pick_value(FovReadout *readout, const FovSitesState *state, FovTape *tape,
                       const int *index, int lanes) {
  int *rows = FOV_NEW(tape->arena, int, lanes), count = state->values->rows / lanes;
  for (int i = 0; i < lanes; i++) rows[i] = i * count + index[i];
  readout->g = fov_gather(tape, state->values, rows, lanes);
  readout->rho = fov_gather(tape, state->rho, rows, lanes);
}

/** Whether all values are made, from the first read on: those that depend on other sites, and those
 * of an image that has at least as many copies as sites. */
static bool makes_all_values(const FovSites *sites, const FovView *view) {
  bool together = sites->transformer.count > 0 || sites->birnn.core;
  return together || (view->copies >= sites->count && !view->changed);
}

void fov_sites_pick(FovReadout *readout, FovSitesState *state, const FovSites *sites, FovTape *tape,
                    FovVar *weights, const FovView *view) {
  const int *index = fov_sites_at(tape, sites, view);
  FovVar *places = view->location;
  for (int i = 0; i < view->lanes; i++)
    fov_tile_middle(fov_value_row(places, i), index[i], sites->grid);
  readout->columns[TILES] = weights;
  if (makes_all_values(sites, view)) fov_sites_values(state, sites, tape, view);
  if (state->values)
    pick_value(readout, state, tape, index, view->lanes);
  else
    readout->g =
        fov_glimpse_next(&readout->rho, &state->glimpses, tape, &sites->net, view->images, places);
}

/** 1 / length for the sites of each lane, [n, N]. */
static FovVar *equal_weights(FovTape *tape, const int *lengths, int lanes, int N) {
  FovVar *weights = fov_zeros(tape, lanes, N);
  for (int b = 0; b < lanes; b++)
    for (int i = 0; i < lengths[b]; i++) fov_value_row(weights, b)[i] = 1 / (real)lengths[b];
  return weights;
}

void fov_sites_read_last(FovReadout *readout, FovSitesState *state, const FovSites *sites,
                         FovTape *tape, const FovView *view) {
  int n = view->lanes;
  if (view->changed) fov_sites_forget(state);
  FovVar *values = fov_sites_values(state, sites, tape, view);
  const int *lengths = fov_sites_lengths(tape, state, sites, n);
  FovVar *weights = equal_weights(tape, lengths, n, sites->count);
  bool recurrent = sites->birnn.core && sites->transformer.count == 0;
  if (!state->last)
    state->last = recurrent ? fov_birnn_last(tape, values, lengths, n)
                            : fov_weigh_sites(tape, weights, values, 1);
  readout->g = state->last;
  record(readout, state, sites, tape, weights, view);
}

static FovVar *harden(FovTape *tape, FovVar *soft, const int *index) {
  FovVar *rest = fov_constant(tape, soft->rows, soft->cols);
  for (int b = 0; b < soft->rows; b++)
    for (int i = 0; i < soft->cols; i++)
      fov_value_row(rest, b)[i] = (real)(i == index[b]) - fov_value_row(soft, b)[i];
  return fov_add(tape, soft, rest);
}

void fov_sites_pick_through(FovReadout *readout, FovSitesState *state, const FovSites *sites,
                            FovTape *tape, FovVar *weights, FovVar *soft, const FovView *view) {
  // Without a gradient the result is that of the pick, for which one value is enough. With one, all
  // are made at the first read, also if nobody chose it: later, copies of an image may have left.
  bool gradient = soft->wants_grad && !view->held && !(view->fixed && view->changed);
  if (gradient) fov_sites_values(state, sites, tape, view);
  fov_sites_pick(readout, state, sites, tape, weights, view);
  if (!gradient || view->fixed) return;
  FovVar *hard = harden(tape, soft, fov_sites_at(tape, sites, view));
  readout->g = fov_weigh_sites(tape, hard, state->values, 1);
}
