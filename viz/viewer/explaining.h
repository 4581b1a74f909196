/** Explanations of the episode that is shown, computed on a thread of their own and kept until
 * another one is shown. */
#ifndef FOV_VIZ_VIEWER_EXPLAINING_H
#define FOV_VIZ_VIEWER_EXPLAINING_H

#include "draw.h"
#include "viz/scene/explanation.h"
#include "viz/viewer/explained.h"

typedef struct FovExplaining FovExplaining;

/** NULL without memory, or without anything that explains. */
FovExplaining *fov_explaining_create(const FovDrawExplain *how);
void fov_explaining_destroy(FovExplaining *explaining);

/** What is wanted. */
typedef struct FovWanted {
  const FovOpenedRun *opened;
  const char *picture; /**< that the agent looks at instead; NULL: none */
  int episode;
  int method;        /**< FOV_EXPLAINED_JACOBIAN: the Jacobian alone */
  int glimpse, next; /**< whose map is wanted first, and which then */
} FovWanted;

/**
 * Takes what has been computed, and begins with what is missing: the method's map at the glimpse,
 * that at the next one, then the Jacobian. The Jacobian, another method and another episode are
 * stopped when a map is missing; results are kept until another episode is wanted.
 *
 * wanted: NULL: nothing. changed: whether there is something new. Fails, once, as
 * fov_explained_make does.
 */
FovStatus fov_explaining_step(bool *changed, FovExplaining *explaining, const FovWanted *wanted);

/** Stops the computation, and drops all results: the trace is another. */
void fov_explaining_forget(FovExplaining *explaining);

/** Whether a step would do nothing now, nor later. */
bool fov_explaining_is_done(const FovExplaining *explaining, const FovWanted *wanted);

/** What there is of it: the map at the glimpse, or none, and the Jacobian. Valid until another
 * episode is wanted. */
FovExplanation fov_explaining_get(const FovExplaining *explaining, const FovWanted *wanted);

/** The method after one; those that cannot explain the agent of the run are left out, once it is
 * loaded. Stops the computation. */
int fov_explaining_next(FovExplaining *explaining, int method, const char *run);

#endif
