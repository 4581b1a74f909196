/** A trace: recorded episodes, with everything a viewer needs to replay them; a safetensors file.
 */
#ifndef FOV_RECORD_TRACE_H
#define FOV_RECORD_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/figure.h"
#include "base/grid.h"

#define FOV_TRACE_FORMAT "fovea-trace" /**< the entry "format" of its file */

enum {
  FOV_TRACE_COLUMNS = 2 * FOV_COLUMNS + 2,
  FOV_TRACE_NAME = 48,
  FOV_TRACE_TEXT = 32,
  FOV_TRACE_NAMES = 240 << 10 /**< bytes of the names of all actions, or of all symbols; both fit a
                                 header, even if each byte is escaped */
};

/** What the policy recorded of the choice of each glimpse, the attention of the glimpse, or the
 * answer after it. */
typedef struct FovTraceColumn {
  char name[FOV_TRACE_NAME]; /**< "policy.mean", "attention.tiles": see fov_trace_add_column */
  int width;                 /**< numbers per glimpse, 1 … FOV_COLUMN_WIDTH */
  float *values;             /**< [E, T, width]; NaN where nothing was recorded */
} FovTraceColumn;

/**
 * E episodes of up to T glimpses each. Arrays are in C order and owned by the trace; after the last
 * glimpse of an episode they are 0, or NaN or −1 where noted.
 *
 * Locations are the paper's: (x, y) in [−1, 1], (−1, −1) the top left corner of the image. Columns
 * that the viewer reads: "policy.mean" and "policy.sigma" (2 each, like locations; sigma 0 =
 * deterministic), "policy.cost" (of the step to this glimpse, already subtracted from the reward
 * after the previous one; that of a step that ends the episode is in the place after its last
 * glimpse), "policy.tiles" (the probability of each tile of a grid over the image), "policy.p"
 * (that of the tile or symbol that was chosen), "attention.tiles" (the weights of such tiles, or of
 * the W symbols of a sequence, mean over heads), "attention.heads" (the weights of each head) and
 * "attention.window" (x, y of the middle, width and height of the finest patch, in units of
 * locations; patch s is 2^s times as wide and high). Where the answer is a place, "answer.place" is
 * the one that was answered after the glimpse, and "answer.target" the true one; in other
 * environments that are `located`, "answer.target" is the place of what is asked for, such as a
 * digit (2 each, like locations).
 */
typedef struct FovTrace {
  int episodes, glimpses;      /**< E, T */
  int frames;                  /**< F: 1, or T if the images change */
  int height, width, channels; /**< H, W, C of an image */
  int actions;                 /**< A */
  int vocabulary;              /**< V of sequences of symbols; 0: images are shown */
  int tiles_across;            /**< of columns of tiles; 0: as many as down */
  int side, scales;            /**< G, S of the retina: patch s covers side·2^s pixels */
  FovReach reach;              /**< of the attention that read the glimpses */
  bool whole;                  /**< the only patch is the whole image, wherever it looked */
  bool bilinear, inside;       /**< of the sensor (sensor.h) */
  bool control;       /**< answers are moves or vectors, judged by the return; else classes */
  int64_t update;     /**< training updates of the agent */
  char *names;        /**< of the A actions, one per line; NULL: they have numbers only */
  char *symbol_names; /**< of the V symbols, likewise */
  char weights[17];   /**< 16 hex digits: the digest of the agent's weights; "": unknown */
  char policy[FOV_TRACE_TEXT];    /**< name of the policy that chose the locations; "": unknown */
  char attention[FOV_TRACE_TEXT]; /**< name of the attention that read the glimpses; "": unknown */
  char split[FOV_TRACE_TEXT];     /**< of the data that the episodes come from; "": unknown */
  char seed[FOV_TRACE_TEXT];      /**< random seed of the recording, in decimal; "": unknown */
  char subset[FOV_TRACE_TEXT];    /**< of the cases: "first N, then wrong"; "": the first ones */
  int32_t *symbols;     /**< [E, W]: the sequence that was shown, each 0 … V−1, and −1 after
                             its end; NULL: images were */
  uint8_t *images;      /**< [E, F, H, W, C]: as they were at each glimpse; 0 of sequences,
                             1 × W pixels */
  uint8_t *retina;      /**< [E, T, S, G, G, C]: what the agent received, as brightness times
                             gain^s, cut to 0 … 255 */
  float *locations;     /**< [E, T, 2]: where it looked */
  float *probabilities; /**< [E, T, A]: of each answer or action after glimpse t */
  float *baselines;     /**< [E, T]: return expected before it; NaN if the agent has none */
  float *rewards;       /**< [E, T]: received after glimpse t, its cost subtracted */
  int32_t *labels;      /**< [E, T]: the right answer at glimpse t; −1: none */
  int32_t *answers;     /**< [E, T]: answer or action after glimpse t; −1: none */
  int32_t *lengths;     /**< [E]: glimpses taken, 1 … T */
  int32_t *wrong;       /**< [E]: 1 if an answer was wrong or the goal missed, else 0 */
  int columns;          /**< 0 … FOV_TRACE_COLUMNS */
  FovTraceColumn column[FOV_TRACE_COLUMNS];
} FovTrace;

/** Declares a column, before fov_trace_allocate. name: "policy.", "attention." or "answer.", a
 * letter, then letters, digits and '_', at most 31 of these, and not yet taken. */
void fov_trace_add_column(FovTrace *trace, const char *name, int width);

/** The column of that name, of any width; NULL if there is none. */
const FovTraceColumn *fov_trace_find_column(const FovTrace *trace, const char *name);

/** The values of a column, [E, T, width]; NULL if there is none of that name and width. */
const float *fov_trace_column(const FovTrace *trace, const char *name, int width);

/** The grid of a column of `tiles` numbers; symbols are one row. No tiles across: they are no grid.
 */
FovGrid fov_trace_grid(const FovTrace *trace, int tiles);

/** Allocates all arrays for the sizes and columns already set in `trace`, and fills each with its
 * empty value: NaN, −1 or 0, `lengths` with 1. After a failure the trace is empty, its sizes and
 * columns, too. */
FovStatus fov_trace_allocate(FovTrace *trace);
void fov_trace_finish(FovTrace *trace);

/** Replaces `path` whole. */
FovStatus fov_trace_write(const FovTrace *trace, const char *path);

/** Sets the names of the actions, [A] or NULL, and of the symbols, [V] or NULL, on a trace whose
 * sizes are set. Bytes that are not printable become '?'. Actions or symbols stay without names
 * if these have more than FOV_TRACE_NAMES bytes. */
FovStatus fov_trace_set_names(FovTrace *trace, const char *const *names,
                              const char *const *symbols);

/** Writes the name of an action, or its number. text: [size] */
void fov_trace_name(char *text, size_t size, const FovTrace *trace, int action);

/** Writes the name of a symbol, or its number; nothing after the end, −1. */
void fov_trace_symbol(char *text, size_t size, const FovTrace *trace, int symbol);

/** Height of the images in image widths. */
double fov_trace_aspect(const FovTrace *trace);

/** Symbols of an episode's sequence; 0: an image was shown. */
int fov_trace_length(const FovTrace *trace, int episode);

/**
 * Reads a file and checks every size and range: labels and answers < A, lengths in 1 … T, locations
 * and probabilities in their ranges, everything else finite, or NaN where that is allowed. The
 * caller finishes the trace on success. A file of version 2, which has means and sigmas, becomes a
 * trace with the columns "policy.mean" and "policy.sigma".
 */
FovStatus fov_trace_read(FovTrace *trace, const char *path);

/** The number of its episodes that are the first cases of their split. Later episodes were selected
 * because their answers are wrong. */
int fov_trace_first(const FovTrace *trace);

/** Fails unless two traces are of the same episodes, of which the shorter one may have fewer; the
 * paths name them. */
FovStatus fov_trace_check_pair(const FovTrace *a, const char *a_path, const FovTrace *b,
                               const char *b_path);

#endif
