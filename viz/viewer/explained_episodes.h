/** Explanations of whole episodes, one after the other, for files. */
#ifndef FOV_VIZ_VIEWER_EXPLAINED_EPISODES_H
#define FOV_VIZ_VIEWER_EXPLAINED_EPISODES_H

#include "viz/scene/explanation.h"
#include "viz/viewer/explained.h"

/** Zero-initialised except for the request; its address must not change. */
typedef struct FovExplainedEpisodes {
  /* the request */
  const FovDrawExplain *how;
  const FovOpenedRun *opened;
  const char *picture; /**< as of fov_recorded_copy */
  int method;          /**< FOV_EXPLAINED_JACOBIAN: the Jacobian alone */
  /* the results */
  FovOpenedAgent agent;
  FovExplanation *glimpses; /**< [T] */
  float *numbers;           /**< of these */
} FovExplainedEpisodes;

/** Computes the maps of an episode from glimpse `first` on, and its Jacobian. glimpses: [T], until
 * the next call. Fails as fov_explained_make does. */
FovStatus fov_explained_episode(const FovExplanation **glimpses, FovExplainedEpisodes *episodes,
                                int episode, int first);
void fov_explained_episodes_finish(FovExplainedEpisodes *episodes);

#endif
