/** The settings as they are stored. */
#ifndef FOV_CONFIG_SETTINGS_H
#define FOV_CONFIG_SETTINGS_H

#include "config/config.h"

enum { FOV_MAX_SETTINGS = 4096 };

struct FovSettings {
  FovSetting list[FOV_MAX_SETTINGS];
  size_t count;
  size_t source;    /**< the newest */
  FovOrigin origin; /**< of the newest */
};

/** Gives the settings with old keys their new ones; fails if a file now sets a key twice. */
FovStatus fov_settings_rename(FovSettings *settings, const FovRename *renames);

#endif
