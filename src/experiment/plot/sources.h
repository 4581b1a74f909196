/** What a command line names, as the files of runs. */
#ifndef FOV_EXPERIMENT_PLOT_SOURCES_H
#define FOV_EXPERIMENT_PLOT_SOURCES_H

#include <stdbool.h>

#include "base/error.h"

enum { FOV_SOURCE_NAME = 64 };

typedef struct FovSource {
  char *path;                 /**< of a file like progress.csv, malloc'd */
  char name[FOV_SOURCE_NAME]; /**< of its configuration; "" outside a sweep */
  bool in_sweep;
} FovSource;

typedef struct FovSources {
  FovSource *list; /**< [count] */
  int count, room;
} FovSources;

/** Lists the files that each of `words` stands for: a run directory, a file, or the folder of a
 * sweep, which stands for its runs that have such a file. Finished by fov_sources_finish, also
 * after a failure. */
FovStatus fov_sources_init(FovSources *sources, const char *const *words, int count);
void fov_sources_finish(FovSources *sources);

#endif
