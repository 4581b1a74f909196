/** A named number of a training's log. */
#ifndef FOV_BASE_FIGURE_H
#define FOV_BASE_FIGURE_H

typedef struct FovFigure {
  char name[32]; /**< letters, digits and underscores */
  double value;  /**< NaN: none */
} FovFigure;

#endif
