/** Surfaces that are kept between two drawings of a scene. */
#ifndef FOV_VIZ_SCENE_CACHE_H
#define FOV_VIZ_SCENE_CACHE_H

#include "viz/scene/scene.h"

/** The reconstruction at a glimpse: two surfaces of the image's size, each a counted reference.
 */
typedef struct FovReconstruction {
  cairo_surface_t *seen;   /**< transparent where no glimpse has covered the image */
  cairo_surface_t *unseen; /**< a veil where no glimpse has covered the image */
} FovReconstruction;

struct FovSceneCache {
  FovScene scene;          /**< shown by `ground` */
  cairo_surface_t *ground; /**< the view without the marks */
  int episode, glimpse;    /**< shown by `reconstruction` */
  FovReconstruction reconstruction;
  FovSceneCache *beside; /**< that of the other agent; NULL: none */
};

/** Made for up to two agents. */
FovSceneCache *fov_scene_cache_create(void);
void fov_scene_cache_destroy(FovSceneCache *cache);

/** Drops all surfaces: the trace is another. */
void fov_scene_cache_clear(FovSceneCache *cache);

/** The reconstruction at the scene's glimpse, from the cache if there is one. The caller destroys
 * both surfaces. */
FovReconstruction fov_scene_reconstruction(const FovScene *scene);

#endif
