/** A scene: one glimpse of an episode, or a point between two, and how it is shown. */
#ifndef FOV_VIZ_SCENE_SCENE_H
#define FOV_VIZ_SCENE_SCENE_H

#include <cairo.h>

#include "record/trace.h"
#include "viz/scene/explanation.h"
#include "viz/scene/gazes.h"
#include "viz/scene/style.h"

enum { FOV_SCENE_WIDTH = 1280, FOV_SCENE_HEIGHT = 720 };        // the default
enum { FOV_SCENE_MIN_WIDTH = 320, FOV_SCENE_MIN_HEIGHT = 180 }; // the smallest legible size
enum { FOV_SCENE_NAME = 256 }; // bytes of an agent's name that are drawn
enum { FOV_SCENE_SCALES = 8 }; // more squares are hard to distinguish

/** What can be drawn over the image; key N of the window toggles bit N − 1. */
typedef enum FovOverlay {
  FOV_OVERLAY_SQUARES = 1 << 0,        /**< the patches of the glimpse */
  FOV_OVERLAY_PATH = 1 << 1,           /**< the locations up to this glimpse */
  FOV_OVERLAY_POLICY = 1 << 2,         /**< the policy's distribution of this location */
  FOV_OVERLAY_NUMBERS = 1 << 3,        /**< the number of each glimpse on the path */
  FOV_OVERLAY_VEIL = 1 << 4,           /**< darkens what no glimpse has covered yet */
  FOV_OVERLAY_RECONSTRUCTION = 1 << 5, /**< the reconstruction instead of the image */
  FOV_OVERLAY_EXPLANATION = 1 << 6,    /**< which pixels the answer depends on */
} FovOverlay;

enum {
  FOV_OVERLAYS = 7,
  FOV_OVERLAYS_DEFAULT = FOV_OVERLAY_SQUARES | FOV_OVERLAY_PATH | FOV_OVERLAY_POLICY
};

/** "squares", "path" …, by bit. */
extern const char *const fov_overlay_names[FOV_OVERLAYS];

/** The part of the image that is shown, enlarged. (x, y), in shares of the image, is at the middle
 * of the view. */
typedef struct FovZoom {
  double factor; /**< 1: all of it */
  double x, y;   /**< 0 … 1 */
} FovZoom;

/** Surfaces kept between two drawings of scenes of one trace; see cache.h. */
typedef struct FovSceneCache FovSceneCache;

/** What to draw, and at which size. */
typedef struct FovScene {
  const FovTrace *trace;
  const FovTrace *beside; /**< another agent on the same episodes, drawn on the right; NULL: none */
  const char *names[2];   /**< of the two agents; not drawn without another agent */
  int episode;            /**< 0 … E−1 */
  int glimpse;            /**< 0 … the last of the episode; of the longer one of two */
  double glide;           /**< 0 … 1: the share of the way to the next glimpse */
  double width, height;   /**< canvas units */
  const FovTheme *theme;
  unsigned overlays; /**< of FovOverlay */
  int head;          /**< whose weights are shown: 1, 2 …; 0: the mean of the heads */
  FovZoom zoom;
  FovExplanation explanation;         /**< of the agent on the left */
  const FovExplanation *explanations; /**< [T] those of all its glimpses, of which fov_scene_seek
                                           takes one; NULL: `explanation` stays */
  const FovGazes *gazes;              /**< sampled ones of it, drawn over its own; NULL: none */
  FovSceneCache *cache;               /**< NULL: draw everything each time */
} FovScene;

/** The first glimpse of a trace with the default settings. */
FovScene fov_scene(const FovTrace *trace, double width, double height, const FovTheme *theme);

/** The text size of a canvas, the unit of distances: 16 on the default canvas, and never so small
 * that a label, 0.85 of it, has fewer than 9 pixels. */
double fov_em(double width, double height);

/** Fails unless the trace is one that a scene can show; `path` names it. */
FovStatus fov_scene_check(const FovTrace *trace, const char *path);

/** Seconds that a glimpse lasts at normal speed, and that the end of an episode stays. */
#define FOV_GLIMPSE_SECONDS 0.7
#define FOV_END_SECONDS 1.5

/** The share of the time of a glimpse before the gaze moves to the next one. */
#define FOV_REST 0.55

/** Sets glimpse, glide and explanation from a time in glimpses. */
void fov_scene_seek(FovScene *scene, double time);

/** Number of glimpses of the scene's episode, the longer one of two. */
int fov_scene_length(const FovScene *scene);

/** Index of the scene's glimpse in arrays of [E, T, …]. */
size_t fov_glimpse_at(const FovScene *scene);

/** Whether the agent of this episode has a baseline. */
bool fov_has_baseline(const FovScene *scene);

#endif
