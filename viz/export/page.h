/** Episodes as a web page that contains everything it shows. */
#ifndef FOV_VIZ_EXPORT_PAGE_H
#define FOV_VIZ_EXPORT_PAGE_H

#include "viz/scene/scene.h"

/** A function that explains the episodes of the scene's first agent. */
typedef struct FovExplainer {
  /** glimpses: [T] with the map of each and the Jacobian of the episode, until the next call. */
  FovStatus (*explain)(const FovExplanation **glimpses, void *context, int episode);
  void *context;
} FovExplainer;

/** Replaces `path` by a page of `count` episodes of the scene's traces, of one agent or two, that
 * plays them. It loads nothing. explainer: NULL: the page has no explanations */
FovStatus fov_export_page(const char *path, const FovScene *scene, const int *episodes, int count,
                          const FovExplainer *explainer);

#endif
