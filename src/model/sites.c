#include "model/sites.h"

void fov_sites_begin(void *state, const void *layout, FovTape *tape, int lanes, int glimpses) {
  (void)layout, (void)tape;
  *(FovSitesState *)state = (FovSitesState){.glimpses = {.room = lanes * glimpses}};
}

/** The middle of every tile, for each of n lanes. */
static FovVar *middles(const FovSites *sites, FovTape *tape, int lanes) {
  FovVar *places = fov_constant(tape, lanes * sites->count, 2);
  for (int i = 0; i < places->rows; i++) {
    fov_tile_middle(fov_value_row(places, i), i % sites->count, sites->grid);
  }
  return places;
}

/** Adds to a state what is made of n images. */
typedef void Make(FovSitesState *state, const FovSites *sites, FovTape *tape,
                  const FovImage *images, int n);

/** Values of tiles, as of gazes. */
static FovVar *look_at_tiles(FovSitesState *state, const FovSites *sites, FovTape *tape,
                             const FovImage *images) {
  state->rho = fov_glimpse_rows(tape, &sites->net, state->places->rows);
  fov_glimpse_take(state->rho, tape, &sites->net, images, state->places, sites->count);
  return fov_glimpse_join(tape, &sites->net, state->rho, state->places);
}

/** Values of symbols, and which sites have one. Returns how many in each lane, in the arena. */
static const int *read_symbols(FovSitesState *state, const FovSites *sites, FovTape *tape,
                               const FovImage *images, int n) {
  int N = sites->count, *lengths = FOV_NEW(tape->arena, int, n);
  state->inside = fov_constant(tape, n, N);
  state->rho = fov_constant(tape, n * N, 1);
  for (int b = 0; b < n; b++) {
    lengths[b] = fov_symbols_length(images[b].tokens, N);
    for (int i = 0; i < N; i++) {
      fov_value_row(state->inside, b)[i] = i < lengths[b];
      fov_value_row(state->rho, b * N + i)[0] = (real)images[b].tokens[i];
    }
  }
  state->values = fov_symbols_embed(tape, &sites->symbols, images, n);
  return lengths;
}

/** Makes values. Returns the sites in context, of which keys are made: [n·N, width]. */
static FovVar *make_context(FovSitesState *state, const FovSites *sites, FovTape *tape,
                            const FovImage *images, int n) {
  const int *lengths = NULL;
  state->places = middles(sites, tape, n);
  if (sites->symbols.count)
    lengths = read_symbols(state, sites, tape, images, n);
  else
    state->values = look_at_tiles(state, sites, tape, images);
  FovVar *x = fov_birnn_apply(&sites->birnn, tape, state->values, lengths, n);
  x = fov_transformer_apply(&sites->transformer, tape, x, lengths, n);
  if (!sites->own) state->values = x;
  return x;
}

static void make_values(FovSitesState *state, const FovSites *sites, FovTape *tape,
                        const FovImage *images, int n) {
  make_context(state, sites, tape, images, n);
}

/** Keys as the score wants them, and the values if they are made of these. */
static void make_keys(FovSitesState *state, const FovSites *sites, FovTape *tape,
                      const FovImage *images, int n) {
  const FovScore *score = sites->score;
  bool coarse = sites->keys == FOV_KEYS_COARSE;
  FovVar *keys = coarse
                     ? fov_coarse_tiles_see(tape, &sites->coarse, images, middles(sites, tape, n))
                     : make_context(state, sites, tape, images, n);
  if (sites->keys != FOV_KEYS_VALUES)
    keys = fov_linear(tape, keys, &tape->params[sites->key], NULL, FOV_LINEAR);
  state->keys =
      score->prepare ? score->prepare(sites->score_layout, tape, keys, sites->heads) : keys;
}

/** Makes it once of an image that K lanes show, and gives it to each of them. */
static void make_once(FovSitesState *state, const FovSites *sites, FovTape *tape,
                      const FovView *view, Make *make) {
  int n = view->lanes, K = view->copies, *from = FOV_NEW(tape->arena, int, n);
  FOV_CHECK(n % K == 0, "%d lanes of %d copies", n, K);
  FovImage *images = FOV_NEW(tape->arena, FovImage, n / K);
  FovSitesState made = {.values = NULL};
  for (int i = 0; i < n; i++) images[from[i] = i / K] = view->images[i];
  make(&made, sites, tape, images, n / K);
  fov_sites_keep(&made, tape, n / K, from, n);
  if (made.keys) state->keys = made.keys;
  if (!made.values) return;
  state->values = made.values;
  state->places = made.places;
  state->rho = made.rho;
  state->inside = made.inside;
}

static void see(FovSitesState *state, const FovSites *sites, FovTape *tape, const FovView *view,
                Make *make) {
  int steps = tape->steps;
  if (!view->changed) tape->steps = 1; // it is used once: no room for more time steps
  if (!view->changed && view->copies > 1)
    make_once(state, sites, tape, view, make);
  else
    make(state, sites, tape, view->images, view->lanes);
  tape->steps = steps;
}

void fov_sites_forget(FovSitesState *state) {
  state->values = state->places = state->rho = state->inside = state->last = state->keys = NULL;
}

FovVar *fov_sites_values(FovSitesState *state, const FovSites *sites, FovTape *tape,
                         const FovView *view) {
  if (!state->values) see(state, sites, tape, view, make_values);
  return state->values;
}

/** Lowers the scores of sites after the end of a sequence, so that no softmax gives them weight. */
static FovVar *lower_outside(FovTape *tape, FovVar *e, const FovVar *inside, int heads) {
  FovVar *lower = fov_constant(tape, e->rows, e->cols);
  for (int b = 0; b < e->rows; b++)
    for (int i = 0; i < e->cols; i++)
      fov_value_row(lower, b)[i] =
          fov_value_row(inside, b)[i % (e->cols / heads)] != 0 ? 0 : FOV_NEVER;
  return fov_add(tape, e, lower);
}

void fov_sites_look(FovSitesState *state, const FovSites *sites, FovTape *tape,
                    const FovView *view) {
  if (view->changed) fov_sites_forget(state);
  if (!state->keys && !sites->score->keyless) see(state, sites, tape, view, make_keys);
  // Without keys, the lengths of sequences are known only with their values.
  if (sites->symbols.count) fov_sites_values(state, sites, tape, view);
}

FovVar *fov_sites_scores(void *values, const void *layout, FovTape *tape, const FovView *view) {
  FovSitesState *state = values;
  const FovSites *sites = layout;
  FovVar *p = tape->params;
  fov_sites_look(state, sites, tape, view);
  FovVar *query =
      fov_linear(tape, view->state, &p[sites->query_w], &p[sites->query_bias], FOV_LINEAR);
  FovVar *e = sites->score->score(sites->score_layout, tape, query, state->keys, sites->heads);
  return state->scores = state->inside ? lower_outside(tape, e, state->inside, sites->heads) : e;
}

FovVar *fov_sites_take_scores(FovSitesState *state, const FovSites *sites, FovTape *tape,
                              const FovView *view) {
  FovVar *scores = state->scores ? state->scores : fov_sites_scores(state, sites, tape, view);
  state->scores = NULL;
  return scores;
}

FovVar *fov_sites_softmax(const FovSitesState *state, FovTape *tape, FovVar *e, int heads) {
  return state->inside ? fov_softmax_within(tape, e, state->inside, heads)
                       : fov_softmax(tape, e, heads);
}

int *fov_sites_lengths(FovTape *tape, const FovSitesState *state, const FovSites *sites,
                       int lanes) {
  int *lengths = FOV_NEW(tape->arena, int, lanes);
  for (int b = 0; b < lanes; b++) {
    lengths[b] = state->inside ? 0 : sites->count;
    for (int i = 0; i < sites->count && state->inside; i++)
      lengths[b] += fov_value_row(state->inside, b)[i] != 0;
  }
  return lengths;
}

static void keep_rows(FovVar **x, FovTape *tape, int lanes, const int *kept, int count) {
  if (*x) *x = fov_gather_lanes(tape, *x, lanes, kept, count);
}

void fov_sites_keep(void *values, FovTape *tape, int lanes, const int *kept, int count) {
  FovSitesState *state = values;
  bool same = state->keys == state->values;
  if (!same) keep_rows(&state->keys, tape, lanes, kept, count);
  keep_rows(&state->values, tape, lanes, kept, count);
  keep_rows(&state->places, tape, lanes, kept, count);
  keep_rows(&state->rho, tape, lanes, kept, count);
  if (same) state->keys = state->values;
  keep_rows(&state->inside, tape, lanes, kept, count);
  keep_rows(&state->last, tape, lanes, kept, count);
  keep_rows(&state->scores, tape, lanes, kept, count);
}
