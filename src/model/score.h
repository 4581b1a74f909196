/**
 * The score's contract: how well keys match a query, e_i = score(q, k_i). A softmax over the sites
 * i turns scores into the weights of an attention.
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
  /** Adds the score's parameters, named "score.…", for queries and keys of D numbers, D / heads of
   * which belong to each head. Writes the layout, const afterwards. */
  void (*build)(void *layout, FovParams *params, const void *options, int width, int heads);
  /** query: [B, D]; keys: [B·N, D], lane after lane. Returns e [B, heads·N]. */
  FovVar *(*score)(const void *layout, FovTape *tape, FovVar *query, FovVar *keys);
} FovScore;

/** All scores, NULL-terminated. */
extern const FovScore *const fov_scores[];

#endif
