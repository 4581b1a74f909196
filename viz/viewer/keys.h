/** Which key does what: for the window, its help and the README. */
#ifndef FOV_VIZ_VIEWER_KEYS_H
#define FOV_VIZ_VIEWER_KEYS_H

#include "viz/viewer/player.h"

typedef struct FovKey {
  char letter; /**< what typing it yields, on any layout; 0: a key that types nothing */
  FovAction action;
  const char *label, *help; /**< a line of the help; NULL: told by the line before */
} FovKey;

extern const FovKey fov_keys[]; /**< ends with a key of neither letter nor label */

/** NONE if the letter has no meaning. */
FovAction fov_key_action(char letter);

#endif
