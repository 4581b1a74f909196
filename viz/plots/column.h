/** How a column of progress.csv is labelled. */
#ifndef FOV_VIZ_PLOTS_COLUMN_H
#define FOV_VIZ_PLOTS_COLUMN_H

#include <stdbool.h>

typedef struct FovColumnLabel {
  const char *title; /**< of an axis or a panel */
  double scale;      /**< what values are multiplied with: 100 for per cent */
  bool decades;      /**< an error or a cost, which may span decades and is never negative */
} FovColumnLabel;

/** The label of a column; one that is not known has its name as the title. */
FovColumnLabel fov_column(const char *name);

/** The unit of an axis up to `most`: what its values are divided by, and its words after the title,
 * such as " (thousands)". */
double fov_column_unit(const char **words, const char *name, double most);

#endif
