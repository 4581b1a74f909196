/**
 * Sites: what attention chooses among. They are the tiles of a grid over the image; the retina
 * looks at the middle of each and the glimpse network makes its value v_i, as of a gaze. Or they
 * are the symbols of a sequence, whose vectors are their values. With tiles.rnn, a recurrent layer
 * then reads the sites in both directions, and with tiles.blocks they attend to each other; their
 * output is the site's value or, with tiles.values = own, the input of its key only.
 *
 * A query of the state is matched with the keys k_i by a score (score.h); a softmax makes weights:
 *
 *     v_i = g(rho_i, l_i) or table(symbol_i), or birnn(v)_i, or transformer(v)_i
 *     k_i = W_k v_i, v_i, or W_k u_i      q = W_q h_{t−1} + b_q
 *     α = softmax_i(score(q, k_i))                                 per head
 *
 * u_i is made of a coarse view of the whole image (coarse_tiles.h). Patches overlap where they are
 * larger than a tile, and leave gaps where they are smaller. A sequence that is shorter than others
 * has sites after its end, whose weights are 0.
 *
 * A value is computed when it is needed. Keys v_i and W_k v_i need all values, and so do weighted
 * sums, symbols, recurrent layers and transformer blocks. Keys of a coarse view and a score without
 * keys need none: an attention that reads one tile then looks at this tile only, and T glimpses are
 * taken instead of N.
 */
#ifndef FOV_MODEL_SITES_H
#define FOV_MODEL_SITES_H

#include "model/attention.h"
#include "model/birnn.h"
#include "model/coarse_tiles.h"
#include "model/symbols.h"
#include "model/transformer.h"

/** Where keys come from. */
typedef enum FovKeys {
  FOV_KEYS_PROJECTED, /**< W_k v_i */
  FOV_KEYS_VALUES,    /**< v_i itself */
  FOV_KEYS_COARSE,    /**< W_k u_i */
} FovKeys;

/** What values are. */
typedef enum FovValues {
  FOV_VALUES_CONTEXT, /**< what recurrent layer and blocks make of a site */
  FOV_VALUES_OWN,     /**< the site's own, so that these make the keys only */
} FovValues;

/** Const once built. */
typedef struct FovSites {
  FovGlimpseNet net;  /**< of tiles */
  FovSymbols symbols; /**< of sequences; without any, sites are tiles */
  FovBirnn birnn;
  FovTransformer transformer;
  FovGrid grid;
  int count; /**< N, of the grid */
  int heads; /**< that share the units of keys and values */
  int width; /**< of a value */
  int depth; /**< of a query and a key */
  FovKeys keys;
  bool own;              /**< FOV_VALUES_OWN */
  FovCoarseTiles coarse; /**< of u_i, if keys are made of them */
  int key;               /**< number of W_k, unless keys are values or not read */
  int query_w, query_bias;
  const FovScore *score;
  const void *score_options;
  void *score_layout; /**< owned */
} FovSites;

/* Functions of FovAttention for attentions whose layout is FovSites and whose state is
 * FovSitesState. */

/** Adds the parameters of values, for an attention without keys. Fails if the options do not fit
 * together. */
FovStatus fov_sites_build_values(void *sites, int *width, FovParams *params, const void *options,
                                 const FovAttentionParts *parts);
/** Adds those of values and keys. */
FovStatus fov_sites_build(void *sites, int *width, FovParams *params, const void *options,
                          const FovAttentionParts *parts);
/** The same, for attention that reads one tile. Fails unless there is one head. */
FovStatus fov_sites_build_hard(void *sites, int *width, FovParams *params, const void *options,
                               const FovAttentionParts *parts);
/** Adds those of queries, and of the score. */
FovStatus fov_sites_connect(void *sites, FovParams *params, int inputs);
void fov_sites_finish(void *sites);
FovGrid fov_sites_grid(const void *sites);
void fov_sites_begin(void *state, const void *sites, FovTape *tape, int lanes, int glimpses);
/** The scores e [n, heads·N] for the view's states, also kept in `state`; looks first
 * (fov_sites_look). */
FovVar *fov_sites_scores(void *state, const void *sites, FovTape *tape, const FovView *view);
void fov_sites_keep(void *state, FovTape *tape, int lanes, const int *kept, int count);
enum { FOV_SITES_WEIGHTS }; /**< of the columns: "tiles" */

/** Columns "tiles", the mean of the weights over heads [N], and "heads", all of them. */
int fov_sites_columns(FovColumn columns[FOV_COLUMNS], const void *sites);

/** What attentions over sites have in common, as members of FovAttention. Their layouts begin with
 * a FovSites. */
#define FOV_ATTENTION_OVER_SITES                                                                   \
  .state_size = sizeof(FovSitesState), .symbols = true, .connect = fov_sites_connect,              \
  .finish = fov_sites_finish, .sites = fov_sites_grid, .begin = fov_sites_begin,                   \
  .columns = fov_sites_columns, .keep = fov_sites_keep

/** The sites of n lanes in an episode. Rows are lane-major. */
typedef struct FovSitesState {
  FovVar *values; /**< [n·N, width]; NULL until they are needed */
  FovVar *places; /**< [n·N, 2]: the middles of the tiles, if the values are known */
  FovVar *rho;    /**< [n·N, S·G·G·C]: the glimpses, likewise; of symbols, their numbers */
  FovVar *inside; /**< [n, N]: 1 before the end of a lane's sequence, else 0; NULL: all 1 */
  FovVar *last;   /**< [n, width]: see fov_sites_read_last; NULL until it is needed */
  FovVar *keys;   /**< [n·N, depth]: as the score prepares them; NULL: it reads none */
  FovVar *scores; /**< [n, heads·N]: of the next read-out, if they are known; else NULL */
  FovGlimpses glimpses; /**< of tiles that are looked at alone */
} FovSitesState;

/** Forgets what was made of images that may have changed. */
void fov_sites_forget(FovSitesState *state);

/** Makes the keys before their first use and when the images change. The values of sequences, and
 * so their lengths, are known afterwards. */
void fov_sites_look(FovSitesState *state, const FovSites *sites, FovTape *tape,
                    const FovView *view);

/** All values [n·N, width], of glimpses that are taken unless they are known. */
FovVar *fov_sites_values(FovSitesState *state, const FovSites *sites, FovTape *tape,
                         const FovView *view);

/** The scores of this read-out: those that are known, or for the view's states. They are not known
 * any more afterwards. */
FovVar *fov_sites_take_scores(FovSitesState *state, const FovSites *sites, FovTape *tape,
                              const FovView *view);

/** Sites of each lane before the end of its sequence, [n], in the tape's arena. */
int *fov_sites_lengths(FovTape *tape, const FovSitesState *state, const FovSites *sites, int lanes);

/** softmax_i(e_i) in each of `heads` heads, of the sites before the end of each lane's sequence.
 * e: [n, heads·N]. Result: the same shape. */
FovVar *fov_sites_softmax(const FovSitesState *state, FovTape *tape, FovVar *e, int heads);

/** Reads one vector of all sites: the last states of both directions of a recurrent layer; without
 * one, or with blocks, the mean of the values. The place that is recorded is the mean of those of
 * the sites. */
void fov_sites_read_last(FovReadout *readout, FovSitesState *state, const FovSites *sites,
                         FovTape *tape, const FovView *view);

/** What weights read: z_t = Σ_i α_i v_i, and for the record the mean glimpse, of symbols the one
 * with the largest weight, and the mean place, which is written to the view's location. With
 * view->held, its weights are read instead. */
void fov_sites_read(FovReadout *readout, FovSitesState *state, const FovSites *sites, FovTape *tape,
                    FovVar *weights, const FovView *view);

/** Which site the view's location is in: [n], in the tape's arena. */
int *fov_sites_at(FovTape *tape, const FovSites *sites, const FovView *view);

/** Reads the site of each lane that the view's location is in, and moves the location to its
 * middle, for the record. Looks at this tile only; at all sites instead if they are symbols, with
 * tiles.rnn or tiles.blocks, if N or more copies show the image, or if all values are known.
 * weights: α [n, N], for the record. */
void fov_sites_pick(FovReadout *readout, FovSitesState *state, const FovSites *sites, FovTape *tape,
                    FovVar *weights, const FovView *view);

/** The same, with a gradient that flows as if `soft` [n, N] had been the weights: onehot(index) =
 * soft + (onehot − soft), the latter a constant (Bengio et al. 2013). Needs all values if `soft`
 * wants a gradient. */
void fov_sites_pick_through(FovReadout *readout, FovSitesState *state, const FovSites *sites,
                            FovTape *tape, FovVar *weights, FovVar *soft, const FovView *view);

#endif
