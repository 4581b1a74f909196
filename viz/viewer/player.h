/** What a viewer shows, and how actions and time change it; without window or drawing. */
#ifndef FOV_VIZ_VIEWER_PLAYER_H
#define FOV_VIZ_VIEWER_PLAYER_H

#include <stdbool.h>

#include "record/trace.h"
#include "viz/scene/scene.h"
#include "viz/viewer/order.h"

/** What keys and clicks do. Those from RERUN on need files or a window: the player ignores them.
 */
typedef enum FovAction {
  FOV_ACTION_NONE,
  FOV_ACTION_PLAY,          /**< plays or pauses; at the end it starts again */
  FOV_ACTION_BACK,          /**< one glimpse */
  FOV_ACTION_FORWARD,       /**< one glimpse */
  FOV_ACTION_PREVIOUS,      /**< one episode, or one page of the contact sheet or heat map */
  FOV_ACTION_NEXT,          /**< likewise */
  FOV_ACTION_FIRST,         /**< to the first glimpse; in the contact sheet, the first row */
  FOV_ACTION_LAST,          /**< likewise the last */
  FOV_ACTION_FIRST_EPISODE, /**< of the filter */
  FOV_ACTION_LAST_EPISODE,  /**< of the filter */
  FOV_ACTION_SLOWER,        /**< half the speed, down to 0.25 */
  FOV_ACTION_FASTER,        /**< twice the speed, up to 16 */
  FOV_ACTION_NEXT_SPEED,    /**< likewise, but after 16 comes 0.25 */
  FOV_ACTION_HEAD,          /**< of an attention over tiles: mean, head 1, 2 …, mean again */
  FOV_ACTION_UNZOOM,        /**< all of the image again */
  FOV_ACTION_FILTER,        /**< all, wrong, right, of two agents disagreement; of a game, by its
                                 goal */
  FOV_ACTION_CLASS,         /**< all classes, then one after the other; games have none */
  FOV_ACTION_CLASS_BACK,    /**< likewise, backwards */
  FOV_ACTION_ORDER,         /**< by number, entropy, margin …, see FovOrder */
  FOV_ACTION_REVERSE,       /**< the order */
  FOV_ACTION_ASK,           /**< starts to ask for the number of an episode */
  FOV_ACTION_CANCEL,        /**< closes the question, the help, or what is not the scene */
  FOV_ACTION_HEAT,          /**< the heat map; if the target is known, relative to it; the scene */
  FOV_ACTION_SHEET,         /**< the contact sheet, or back to the scene */
  FOV_ACTION_CONFUSION,     /**< the confusion matrix, or back to the scene */
  FOV_ACTION_THEME,         /**< dark or light */
  FOV_ACTION_HELP,          /**< shows or hides the keys */
  FOV_ACTION_OVERLAY_1,     /**< to OVERLAY_7: toggles an overlay */
  FOV_ACTION_OVERLAY_7 = FOV_ACTION_OVERLAY_1 + FOV_OVERLAYS - 1,
  FOV_ACTION_RERUN,   /**< starts to ask for settings to play the episodes again with */
  FOV_ACTION_METHOD,  /**< shows the explanation, or its next method */
  FOV_ACTION_SWAP,    /**< two agents change sides */
  FOV_ACTION_FOLLOW,  /**< starts or stops watching for new traces */
  FOV_ACTION_EARLIER, /**< one snapshot of the training back */
  FOV_ACTION_LATER,   /**< one snapshot of the training on */
  FOV_ACTION_SAVE,    /**< a PNG of what is shown */
  FOV_ACTION_EXPORT,  /**< a GIF of the episode */
  FOV_ACTION_FULLSCREEN,
  FOV_ACTION_QUIT,
} FovAction;

typedef enum FovFilter {
  FOV_FILTER_ALL,
  FOV_FILTER_WRONG,
  FOV_FILTER_RIGHT,
  FOV_FILTER_DISAGREE /**< only of two agents */
} FovFilter;
typedef enum FovMode { FOV_MODE_SCENE, FOV_MODE_HEAT, FOV_MODE_SHEET, FOV_MODE_CONFUSION } FovMode;

/** What is typed in. */
typedef enum FovQuestion {
  FOV_QUESTION_NONE,
  FOV_QUESTION_EPISODE,
  FOV_QUESTION_SETTINGS
} FovQuestion;

enum { FOV_ENTRY = 200, FOV_ENTRY_DIGITS = 9 }; // characters; digits of an episode's number

typedef struct FovPlayer {
  const FovTrace *trace; /**< borrowed; may have no episodes */
  const FovTrace *other; /**< borrowed: of another agent on the same episodes; NULL: none */
  int *selection;        /**< [count]: the episodes that pass filter and class, in the order */
  double *values;        /**< [E]: what they are sorted by */
  int count;
  int place;     /**< in the selection: the episode that is shown */
  int wanted;    /**< the episode shown last, to return to from an empty selection */
  double time;   /**< 0 … the last glimpse of the episode: the shown time, in glimpses */
  double target; /**< where the time moves to while paused */
  double held;   /**< seconds that the end of the episode has been shown while playing */
  bool playing;
  double speed;
  FovFilter filter;
  int label;  /**< of a turn that every shown episode has; −1: any */
  int answer; /**< −1, or episodes are shown that answer `label` so in any turn */
  FovOrder order;
  bool reversed;
  FovMode mode;
  bool around; /**< the heat map is relative to the target */
  unsigned overlays;
  int head; /**< whose weights are shown; 0: the mean of all heads */
  FovZoom zoom;
  bool light, help;
  FovQuestion asking;
  char entry[FOV_ENTRY + 1]; /**< the characters typed so far */
  int columns, rows, scroll; /**< of the contact sheet: what fits, and the first row shown */
} FovPlayer;

/** Shows the first episode, at its first glimpse. Finished also after a failure. */
FovStatus fov_player_init(FovPlayer *player, const FovTrace *trace);
void fov_player_finish(FovPlayer *player);

/** Shows another trace, or the same with other content, at the same episode and time if it has
 * them. */
FovStatus fov_player_set_trace(FovPlayer *player, const FovTrace *trace);

/** Shows the trace of another agent beside it, or none if NULL. */
void fov_player_set_other(FovPlayer *player, const FovTrace *other);

/** Number of episodes that can be shown: that both agents have. */
int fov_player_episodes(const FovPlayer *player);

void fov_player_do(FovPlayer *player, FovAction action);

/** Starts a question, with nothing typed. */
void fov_player_ask(FovPlayer *player, FovQuestion question);

/** Types a character or, with '\b', takes one back; '\r' ends the question and goes to the episode
 * that was asked for, switching off a filter that hides it. False if there is no such episode. */
bool fov_player_type(FovPlayer *player, char key);

/** Shows an episode of the trace: false if there is no episode of that number. A filter that hides
 * it is switched off. */
bool fov_player_go(FovPlayer *player, int episode);

/** Shows the episodes that answer `label` as `answer`, or all with that label if `answer` is −1;
 * false, and nothing changes, if there are none. */
bool fov_player_select(FovPlayer *player, int label, int answer);

/** Shows a time of the episode at once, as dragging the timeline does. */
void fov_player_seek(FovPlayer *player, double time);

/** Scrolls the contact sheet by rows. */
void fov_player_scroll(FovPlayer *player, int rows);

/** Lets time pass; false if nothing moves. */
bool fov_player_advance(FovPlayer *player, double seconds);

/** Whether fov_player_advance would change anything. */
bool fov_player_moves(const FovPlayer *player);

/** The episode that is shown; −1 if the filter leaves none. */
int fov_player_episode(const FovPlayer *player);

/** The last glimpse of the episode that is shown; 0 if none is. */
int fov_player_last(const FovPlayer *player);

/** The glimpse that is shown or, if it glides, will be. */
int fov_player_glimpse(const FovPlayer *player);

/** The scene that is shown; only if there is an episode. */
FovScene fov_player_scene(const FovPlayer *player, double width, double height);

const FovTheme *fov_player_theme(const FovPlayer *player);

/** "all", "wrong", "right, class 3", "4 as 9", "goal missed" … text: [size] */
void fov_player_filter_text(const FovPlayer *player, char *text, size_t size);

#endif
