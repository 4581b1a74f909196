/** The functions of viz/ that the command line calls; linked to viz/ or to no_draw.c. */
#ifndef FOV_DRAW_H
#define FOV_DRAW_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/real.h"
#include "env.h"

/** Learning curves that have been read: experiment/plot/curves.h. */
typedef struct FovCurves FovCurves;

/**
 * Draws learning curves, a panel for each column: of every experiment its centre and band and, if
 * `seeds`, a thin line for each seed. Axes contain everything that is drawn.
 *
 * path: ends in .png, .svg or .pdf; replaced whole.
 */
FovStatus fov_draw_curves(const char *path, const FovCurves *curves, bool seeds);

/** Fails unless a plot can be drawn to `path`: a known ending, in a program built with drawing. */
FovStatus fov_draw_check(const char *path);

/** One line of a plot, and the dots on it; all x and y > 0. */
typedef struct FovDrawLine {
  const char *name;
  const double *x, *y; /**< [count] */
  int count;
} FovDrawLine;

/** Draws all lines into one plot with logarithmic axes. path: as above. */
FovStatus fov_draw_lines(const char *path, const FovDrawLine *lines, int count, const char *x_label,
                         const char *y_label);

/** A value with the ends of its 95 % interval, NaN where it has none. */
typedef struct FovDrawEstimate {
  double value, low, high;
} FovDrawEstimate;

/** A recipe of a comparison; numbers are in the unit of the axis. */
typedef struct FovDrawRecipe {
  const char *name;
  const double *results; /**< [count] of its runs */
  int count;
  FovDrawEstimate mean, iqm;
  const FovDrawEstimate *profile; /**< [threshold_count] per cent of runs that are better */
} FovDrawRecipe;

typedef struct FovDrawComparison {
  const FovDrawRecipe *recipes; /**< [count] the best first */
  int count;
  const double *thresholds; /**< [threshold_count] of the profiles, the worst first */
  int threshold_count;
  const char *label;    /**< what the results are: "test error (%)" */
  bool lower_is_better; /**< else higher */
} FovDrawComparison;

/** Draws recipes side by side: runs, means and IQMs with intervals, and performance profiles. path:
 * as above. With more recipes than a figure can show, the best. */
FovStatus fov_draw_comparison(const char *path, const FovDrawComparison *comparison);

/** A map of an episode's pixels. */
typedef struct FovDrawMap {
  const float *map;    /**< [F, H, W, C]: channels are added */
  const float *pixels; /**< [F, H, W, C]: brightness, 0 black … 1 white */
  const float *places; /**< [place_count, 2]: x, y of glimpses, up to a NaN; NULL: none */
  int place_count;
  char caption[64];
  bool wrong; /**< the caption is of a wrong answer */
} FovDrawMap;

typedef struct FovDrawMaps {
  const FovDrawMap *maps; /**< [count] */
  int count;
  int frames, height, width, channels; /**< F, H, W, C */
  const char *title;
} FovDrawMaps;

/** Draws maps over their pictures: positive numbers in one colour, negative ones in another, each
 * map on its own scale. If there are several pictures, the one with the largest numbers is drawn.
 * path: as above. */
FovStatus fov_draw_maps(const char *path, const FovDrawMaps *drawing);

/** A matrix with its numbers. */
typedef struct FovDrawMatrix {
  const double *values; /**< [rows, columns], each >= 0; NaN: none */
  int rows, columns;
  const char *const *row_names, *const *column_names; /**< NULL: they are numbered from 1 */
  const char *title, *row_label, *column_label;
} FovDrawMatrix;

/** Draws a matrix as coloured cells, with their numbers where these fit. path: as above. */
FovStatus fov_draw_matrix(const char *path, const FovDrawMatrix *matrix);

/** An agent and its environment: learn/rollout/task.h. */
typedef struct FovTask FovTask;

/** An episode to explain, which the agent plays again with deterministic choices. */
typedef struct FovDrawCase {
  const FovTask *task;
  const real *values; /**< parameters of the agent */
  int64_t index;      /**< of the case */
  uint64_t seed;
  FovSplit split;
  double progress;         /**< share of the training that is done */
  int time;                /**< of a map: the glimpse after which the logit is read, from 1 */
  const atomic_bool *stop; /**< set by another thread: the result is no longer wanted */
} FovDrawCase;

/** How the viewer explains an answer: by maps of the pixels, and by the sequential Jacobian with
 * respect to earlier glimpses or to the symbols of a sequence. F: pictures of an episode; T: its
 * glimpses, at most. */
typedef struct FovDrawExplain {
  /** The name of method 0, 1 …; NULL after the last. */
  const char *(*method)(int index);
  /** Fails if the method cannot explain such an agent. */
  FovStatus (*check)(const FovTask *task, int method);
  /** map: [F, H, W], of the logit that is answered at the case's time or next, channels added.
   * places: [T, 2], x and y of each glimpse, NaN after the last. */
  FovStatus (*map)(float *map, float *places, const FovDrawCase *what, int method);
  /** norms: [T, T], the sequential Jacobian of the logits: row t, column s; of a sequence of L
   * symbols [T, L]. NaN: glimpse t was not taken, or there is no glimpse or symbol s. places: as
   * above. */
  FovStatus (*jacobian)(float *norms, float *places, const FovDrawCase *what);
} FovDrawExplain;

/** What of a trace is shown: an episode, or all of them. */
typedef enum FovDrawShow {
  FOV_DRAW_EPISODE,
  FOV_DRAW_HEAT,
  FOV_DRAW_TARGET, /**< the heat map relative to the target */
  FOV_DRAW_SHEET,
  FOV_DRAW_CONFUSION
} FovDrawShow;

/** Which episode of a trace to draw, and how. */
typedef struct FovDrawEpisode {
  int episode;         /**< 0 … E−1 */
  bool wrong;          /**< `episode` counts wrong episodes only */
  int width, height;   /**< pixels; 0: the default, 1280 × 720 */
  bool light;          /**< light background; otherwise dark */
  int head;            /**< of an attention over tiles: 1, 2 …; 0: the mean of its heads */
  const char *beside;  /**< the run or trace of another agent on the same episodes, drawn on the
                            right; NULL: none */
  const char *picture; /**< a PNG that the agent of the run looks at instead; NULL: none */
  FovDrawShow show;
  int gazes; /**< sampled ones that are drawn over the agent's own, of the first cases */
  int page;  /**< 1 …: of the heat map's small maps or the contact sheet; others have one */
  int count; /**< of episodes in a web page, from `episode` on; 0: 20 */
  const FovDrawExplain *explain; /**< what answers are explained with; NULL: nothing does */
  const char *method; /**< of `explain`: the map of each glimpse and the Jacobian are shown;
                           "jacobian", for symbols: the latter alone; NULL: no explanation */
} FovDrawEpisode;

/** Draws an episode of a trace: a .png or .svg of its last glimpse or, of a sequence, of the matrix
 * of its weights; or a .gif or .mp4 of all of it, for which ffmpeg has to be on the PATH; or writes
 * a .html that plays `count` episodes. */
FovStatus fov_draw_episode(const char *path, const char *trace, const FovDrawEpisode *what);

/** Draws the heat map, contact sheet or confusion matrix of a run or trace: a .png, .svg or .pdf;
 * or, like fov_draw_episode, an export that needs the agent of the run: its episode of a picture,
 * sampled gazes over an episode, or explanations. Only the last has web pages. */
FovStatus fov_draw_overview(const char *path, const char *source, const FovDrawEpisode *what);

/** Opens a window on a run directory or a trace, and returns when it is closed. Fails at once if
 * there is no display or the program was built without SDL. */
FovStatus fov_draw_window(const char *source, const FovDrawEpisode *what);

#endif
