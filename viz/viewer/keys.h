/** The keys of the window, and their lines of its help. */
#ifndef FOV_VIZ_VIEWER_KEYS_H
#define FOV_VIZ_VIEWER_KEYS_H

#include "viz/viewer/player.h"

typedef struct FovKey {
  char letter; /**< the character it types, on any layout; 0: it types none */
  FovAction action;
  const char *label, *help; /**< a line of the help; NULL: covered by the line before */
} FovKey;

extern const FovKey fov_keys[]; /**< the last has neither letter nor label */

/** NONE if the letter has no meaning. */
FovAction fov_key_action(char letter);

#endif
