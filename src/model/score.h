/**
 * The score's contract: how well keys match a query, e_i = score(q, k_i). A softmax over the sites
 * i turns scores into the weights of an attention.
 *
 * Query and keys have D numbers, D / heads of which belong to each head: a head matches its own
 * numbers of the query with its own numbers of the keys.
 *
 * A score is one const struct in one file, score/<name>.c, and one line in tables.c.
 */
#ifndef FOV_MODEL_SCORE_H
#define FOV_MODEL_SCORE_H

#include "base/option.h"
#include "tensor/tape.h"

typedef struct FovScore {
  FovPlugin plugin;
  size_t layout_size; /**< bytes of the struct that `build` writes */
  bool keyless;       /**< reads no keys, so it needs `sites`, and `score` takes NULL for them */
  /**
   * Adds the score's parameters, named "score.…". Writes the layout, const afterwards. NULL: it has
   * none.
   *
   * width: D; sites: N, or 0 if it changes, as in a memory that grows. Fails if the score needs N
   * and it is 0.
   */
  FovStatus (*build)(void *layout, FovParams *params, const void *options, int width, int heads,
                     int sites);
  /** Transforms the keys, each row by itself, once for all queries. keys: [R, D]. Result: [R, D].
   * NULL: `score` takes the keys themselves. */
  FovVar *(*prepare)(const void *layout, FovTape *tape, FovVar *keys, int heads);
  /** query: [B, D]; keys: [B·N, D], prepared, lane after lane. Returns e [B, heads·N]: the N scores
   * of a head, head after head. */
  FovVar *(*score)(const void *layout, FovTape *tape, FovVar *query, FovVar *keys, int heads);
} FovScore;

/** All scores, NULL-terminated. */
extern const FovScore *const fov_scores[];

#endif
