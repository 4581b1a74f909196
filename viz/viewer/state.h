/** The state of a viewer, which viewer.h, mouse.h and saving.h change and drawing.h draws. */
#ifndef FOV_VIZ_VIEWER_STATE_H
#define FOV_VIZ_VIEWER_STATE_H

#include "viz/export/gif.h"
#include "viz/scene/gazes.h"
#include "viz/scene/heat.h"
#include "viz/viewer/explaining.h"
#include "viz/viewer/opened_run.h"
#include "viz/viewer/player.h"

enum { FOV_VIEWER_PICTURE = 1024 }; // bytes of its path
enum { FOV_DAMAGES = 4, FOV_VIEWER_PATH = 2 * FOV_OPENED_RUN_NAME + 64 };

/** What the mouse drags. */
typedef enum FovGrip {
  FOV_GRIP_NONE,
  FOV_GRIP_TIME,     /**< the timeline */
  FOV_GRIP_TRAINING, /**< the slider over training time */
  FOV_GRIP_IMAGE     /**< the zoomed image */
} FovGrip;

typedef struct FovViewer {
  FovOpenedRun opened;
  FovOpenedRun other;               /**< another agent on the same episodes; no path: none */
  char picture[FOV_VIEWER_PICTURE]; /**< that the agent looks at instead; "": its episodes */
  FovPlayer player;                 /**< shows the opened traces */
  FovSceneCache *cache;
  FovHeat heat;   /**< of the player's selection, built when first shown; until then without maps */
  FovGazes gazes; /**< sampled ones of the opened trace; none: no episodes */
  FovExplaining *explaining; /**< NULL: nothing explains answers */
  int method;                /**< of the explanation */
  double computing;          /**< seconds that a part of it has taken so far */
  double width, height;
  bool following;
  double scrolled;     /**< rows of the sheet, less than one, that the wheel has turned */
  double since_poll;   /**< seconds */
  char message[512];   /**< of the last action, or of a failure */
  double message_left; /**< seconds that it stays */
  bool alarm;          /**< it reports a failure */
  FovGif *gif;         /**< a GIF that is being written, a frame at each tick; NULL: none */
  char gif_path[FOV_VIEWER_PATH];
  int gif_method; /**< of its explanation */
  char hint[128]; /**< the value under the pointer; "" if there is none */
  double x, y;    /**< the pointer */
  FovGrip grip;
  FovZoom grip_zoom; /**< when the drag began, at */
  double grip_x, grip_y;
  FovBox damage[FOV_DAMAGES]; /**< what has changed since it was drawn */
  int damages;
} FovViewer;

/** Notes that a box, or everything, has to be drawn again. */
void fov_viewer_damage(FovViewer *viewer, FovBox box);
void fov_viewer_damage_all(FovViewer *viewer);

/** Drops the heat map: the selection is another. */
void fov_viewer_forget_heat(FovViewer *viewer);

/** Shows a message for some seconds, longer if it reports a failure. */
void fov_viewer_show_message(FovViewer *viewer, bool alarm, const char *text);

/** The sampled gazes that are shown; NULL: none. */
const FovGazes *fov_viewer_gazes(const FovViewer *viewer);

/** What explains the episodes: a method, or the Jacobian alone if they are of symbols. */
int fov_viewer_method(const FovViewer *viewer);

/** What explains a glimpse of an episode, or its last one if that comes before. */
FovWanted fov_viewer_wanted(const FovViewer *viewer, int episode, int glimpse, int method);

/** The explanation that is shown, or none. */
FovExplanation fov_viewer_explanation(const FovViewer *viewer);

/** Shows the message of a failure; whether there was none. */
bool fov_viewer_check(FovViewer *viewer, FovStatus status);

#endif
