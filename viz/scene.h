/** Draws one moment of an episode on any cairo surface: a window, a PNG, a frame of a film. */
#ifndef FOV_VIZ_SCENE_H
#define FOV_VIZ_SCENE_H

#include <cairo.h>

#include "record/trace.h"
#include "viz/style.h"

enum { FOV_SCENE_WIDTH = 1280, FOV_SCENE_HEIGHT = 720 };        // the default
enum { FOV_SCENE_MIN_WIDTH = 320, FOV_SCENE_MIN_HEIGHT = 180 }; // the smallest that is legible
enum { FOV_SCENE_SCALES = 8 };                                  // more squares are only a blur

/** What may lie over the image; key N of the window toggles bit N − 1. */
typedef enum FovOverlay {
  FOV_OVERLAY_SQUARES = 1 << 0, /**< the patches of the glimpse */
  FOV_OVERLAY_PATH = 1 << 1,    /**< from the first glimpse to this one */
  FOV_OVERLAY_POLICY = 1 << 2,  /**< the policy's distribution of this location */
  FOV_OVERLAY_NUMBERS = 1 << 3, /**< which glimpse a point of the path is */
  FOV_OVERLAY_VEIL = 1 << 4,    /**< darkens what no glimpse has covered yet */
  FOV_OVERLAY_KNOWN = 1 << 5,   /**< the reconstruction in the place of the image */
} FovOverlay;

enum {
  FOV_OVERLAYS = 6,
  FOV_OVERLAYS_DEFAULT = FOV_OVERLAY_SQUARES | FOV_OVERLAY_PATH | FOV_OVERLAY_POLICY
};

/** The part of the image that is shown: the point (x, y), in shares of its sides, at the middle of
 * the view, enlarged. */
typedef struct FovZoom {
  double factor; /**< 1: all of it */
  double x, y;   /**< 0 … 1 */
} FovZoom;

/** Pictures kept between two drawings of a scene; whatever is in it belongs to one trace. */
typedef struct FovSceneCache FovSceneCache;

/** A moment, at the size it is drawn. */
typedef struct FovScene {
  const FovTrace *trace;
  int episode;          /**< 0 … E−1 */
  int glimpse;          /**< 0 … the last of the episode */
  double glide;         /**< 0 … 1: how far the eye is on its way to the next glimpse */
  double width, height; /**< canvas units */
  const FovTheme *theme;
  unsigned overlays; /**< of FovOverlay */
  FovZoom zoom;
  FovSceneCache *cache; /**< NULL: draw everything anew */
} FovScene;

/** The first moment of a trace, as it looks unless told otherwise. */
FovScene fov_scene(const FovTrace *trace, double width, double height, const FovTheme *theme);

/** Fails unless the trace is one that a scene can show; `path` names it. */
FovStatus fov_scene_check(const FovTrace *trace, const char *path);

/** Seconds that a glimpse lasts at normal speed, and that the end of an episode stays. */
#define FOV_GLIMPSE_SECONDS 0.7
#define FOV_END_SECONDS 1.5

/** The share of a glimpse's time that the eye rests; then it moves on. */
#define FOV_REST 0.55

/** Sets glimpse and glide from a time in glimpses: the eye rests, then eases over. */
void fov_scene_seek(FovScene *scene, double time);

/** Fills the canvas from (0, 0). What is clipped away costs nothing. */
void fov_scene_draw(cairo_t *cr, const FovScene *scene);

/** The part that changes while the eye glides. */
FovBox fov_scene_view(const FovScene *scene);

/** Where the scene shows the whole image; beyond the view if zoomed. */
FovBox fov_scene_image(const FovScene *scene);

/** Where it outlines patch `scale` of the retina; may reach beyond the image. */
FovBox fov_scene_patch(const FovScene *scene, int scale);

/** Zooms by `factor` with the point of the image under (x, y) kept there; 1 … 64. */
FovZoom fov_scene_zoom(const FovScene *scene, double factor, double x, double y);

/** Tells in words the value that is drawn at (x, y); false if there is none. text: [size] */
bool fov_scene_tell(char *text, size_t size, const FovScene *scene, double x, double y);

FovSceneCache *fov_scene_cache_create(void);
void fov_scene_cache_destroy(FovSceneCache *cache);

/** Forgets all pictures: the trace is another. */
void fov_scene_cache_clear(FovSceneCache *cache);

#endif
