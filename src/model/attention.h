/**
 * The attention's contract: from what may be seen to the read-out g_t that the core receives.
 *
 * An attention is one const struct in one file, attention/<name>.c, and one line in tables.c.
 */
#ifndef FOV_MODEL_ATTENTION_H
#define FOV_MODEL_ATTENTION_H

#include "base/figure.h"
#include "base/grid.h"
#include "base/rng.h"
#include "model/glimpse.h"
#include "model/score.h"

enum { FOV_MAX_TILES = 64 }; /**< across, or down */

/** Prefix of the parameters of a control variate, which other attentions do not load. */
#define FOV_CONTROL "control."

/** The tiles or symbols that an attention chooses among; see sites.h. */
typedef struct FovTilesOptions {
  int side;  /**< K: tiles across, and down unless that differs */
  int down;  /**< tiles down; 0: K */
  int heads; /**< that attend each with a share of the units */
  int keys;  /**< FovKeys */
  int width; /**< of queries, and of keys unless they are the values */
  int cells; /**< of a coarse view across and down a tile, for keys = coarse */
  /** Transformer blocks among the tiles, the heads of each and its hidden units. */
  int blocks, block_heads, block_hidden;
  int rnn;    /**< FovBirnnCell: of a recurrent layer over the sites, before the blocks */
  int values; /**< FovValues */
} FovTilesOptions;

extern const FovOption fov_tiles_options[];

/** What an attention is composed of. */
typedef struct FovAttentionParts {
  const char *attention; /**< its name, for messages */
  FovGlimpseParts glimpse;
  int height, width; /**< H, W of the images; 1 and the length of sequences */
  int vocabulary;    /**< V of the symbols of sequences; 0: images are shown */
  int actions;       /**< A: classes, moves or numbers of a vector */
  FovTilesOptions tiles;
  const FovScore *score;
  const void *score_options; /**< the score's struct */
} FovAttentionParts;

/** What n lanes may look at in a time step. */
typedef struct FovView {
  const FovImage *images; /**< [n] */
  bool changed;           /**< whether they may differ from those of the time step before */
  FovVar *location;       /**< [n, 2]: where the policy chose to look, a constant; other
                               attentions write there for the record what they read */
  bool fixed;             /**< nobody chose: it is the first glimpse, which is not learned */
  int copies;             /**< K: lanes side by side show one image until lanes leave; 0, 1: none */
  FovRng *rng;            /**< [n]: generators of the lanes, for noise in the backward pass; NULL
                               for `scores`, and perhaps where `deterministic` */
  double progress;        /**< share of the training that is done, 0 … 1 */
  bool deterministic;     /**< no noise */
  /** [FOV_COLUMNS]: what an earlier reading recorded, which is repeated with its weights or its
   * window as constants; NULL: read by the state. */
  FovVar *const *held;
  real time; /**< 2(t − 1) / T − 1 at glimpse t = 1 … T of an episode of at most T */
  const int *previous; /**< [n]: the answer before, −1: none; for an agent that reads it */
  const int *labels;   /**< [n]: due now, −1: none; may be NULL where `deterministic` */
  FovVar *state;       /**< [n, D]: h_{t−1}, which may ask what to read; before the first glimpse
                            zeros, or the context's start; NULL without `connect` */
  int lanes;           /**< n */
} FovView;

/** What they read. */
typedef struct FovReadout {
  FovVar *g;   /**< [n, width]: for the core */
  FovVar *rho; /**< [n, S·G·G·C]: the glimpse that g was made of, for the record */
  FovVar *columns[FOV_COLUMNS]; /**< [n, width]: what it declares, and what view->held reads */
  /** [n, width]: read-outs of two relaxed choices instead of the one that was made, for a control
   * variate; NULL: none. fov_agent_see replaces them by c [n, 1] of each. */
  FovVar *relaxed[2];
  FovVar *fitted; /**< [n, 1]: c of the second one, whose gradient reaches only c's parameters;
                       NULL: c is not learned */
} FovReadout;

typedef struct FovAttention {
  FovPlugin plugin;
  size_t layout_size;  /**< bytes of the struct that `build` writes */
  size_t state_size;   /**< bytes of what it remembers of an episode */
  bool without_policy; /**< no policy chooses: it reads by weights, or at a place of its own */
  bool through;   /**< the gradient of a choice flows through the read-out: REINFORCE has none */
  bool relaxes;   /**< in training it reads relaxed choices, too */
  bool symbols;   /**< it can read a sequence of symbols, too */
  FovReach reach; /**< of a glimpse, for traces and maps of the gaze */
  int least_glimpses; /**< of an episode, so that where it reads can move */
  /** Adds the attention's parameters. Writes the layout, which is zeroed, and the width of g. The
   * layout is const after `connect`. */
  FovStatus (*build)(void *layout, int *width, FovParams *params, const void *options,
                     const FovAttentionParts *parts);
  /** Adds the parameters with which it reads states [B, inputs]; NULL: it reads none. */
  FovStatus (*connect)(void *layout, FovParams *params, int inputs);
  /** The sites that it attends to; NULL: it has none. */
  FovGrid (*sites)(const void *layout);
  /** Declares what it records. Returns how many columns; NULL: none. */
  int (*columns)(FovColumn columns[FOV_COLUMNS], const void *layout);
  /** Frees what the layout owns, also after a failed `build`. */
  void (*finish)(void *layout);
  /** Starts an episode of at most `glimpses` glimpses of each of B lanes. */
  void (*begin)(void *state, const void *layout, FovTape *tape, int lanes, int glimpses);
  /** Reads what the view shows: writes g, rho and the columns that it declares to a zeroed
   * read-out; without a policy also `view->location`. With `view->held`, recorded weights or
   * windows are constants. */
  void (*read)(FovReadout *readout, void *state, const void *layout, FovTape *tape,
               const FovView *view);
  /** Scores e [n, N] of the sites that the next read-out may choose from, for the view's states;
   * NULL: it has no sites to choose from. The view has no location. */
  FovVar *(*scores)(void *state, const void *layout, FovTape *tape, const FovView *view);
  /** c [n, 1] of relaxed choices that are read as g [n, width], from the view's states and labels:
   * an estimate of the return less the baseline, with parameters that are named FOV_CONTROL….
   * NULL: c is the log-probability of the label in an answer given at once. */
  FovVar *(*control)(FovTape *tape, FovVar *g, const FovView *view, const void *layout);
  /** Keeps lanes kept[0 … count−1] of `lanes` in its state; NULL: nothing to do. */
  void (*keep)(void *state, FovTape *tape, int lanes, const int *kept, int count);
} FovAttention;

/** All kinds of attention, NULL-terminated. */
extern const FovAttention *const fov_attentions[];

#endif
