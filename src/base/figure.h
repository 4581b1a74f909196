/** What plug-ins report: figures of a training's log, and columns of its traces. */
#ifndef FOV_BASE_FIGURE_H
#define FOV_BASE_FIGURE_H

enum { FOV_FIGURE_NAME = 32 };

/** A named number. */
typedef struct FovFigure {
  char name[FOV_FIGURE_NAME]; /**< letters, digits, '_', '-' and '.' */
  double value;               /**< NaN: none */
} FovFigure;

enum { FOV_COLUMNS = 4, FOV_COLUMN_WIDTH = 4096 }; /**< of a plug-in, and of a column, at most */

/** How much of an image or a sequence an attention sees at once. */
typedef enum FovReach {
  FOV_REACH_GLIMPSE, /**< one glimpse, tile or symbol, or a window: it has a place */
  FOV_REACH_NEAR,    /**< the tiles or symbols near a place */
  FOV_REACH_ALL,     /**< all of them, without a place */
  FOV_REACHES
} FovReach;

/** Numbers that a plug-in records of each glimpse. */
typedef struct FovColumn {
  const char *name; /**< a letter, then letters, digits and '_'; at most 31 */
  int width;        /**< how many: 1 … FOV_COLUMN_WIDTH */
} FovColumn;

#endif
