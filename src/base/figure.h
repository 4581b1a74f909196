/** A named number of a training's log. */
#ifndef FOV_BASE_FIGURE_H
#define FOV_BASE_FIGURE_H

enum { FOV_FIGURE_NAME = 32 };

typedef struct FovFigure {
  char name[FOV_FIGURE_NAME]; /**< letters, digits, '_', '-' and '.' */
  double value;               /**< NaN: none */
} FovFigure;

#endif
