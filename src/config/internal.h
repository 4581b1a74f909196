/** What the files of src/config share. */
#ifndef FOV_CONFIG_INTERNAL_H
#define FOV_CONFIG_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/option.h"
#include "config/config.h"

enum {
  FOV_MAX_SETTINGS = 4096,
  FOV_MAX_NAMES = 512, /**< that compete to be the nearest */
};

struct FovSettings {
  FovSetting list[FOV_MAX_SETTINGS];
  size_t count;
  size_t source;    /**< the newest */
  FovOrigin origin; /**< of the newest */
};

/** Gives the settings with old keys their new ones; fails if a file now sets a key twice. */
FovStatus fov_settings_rename(FovSettings *settings, const FovRename *renames);

/** Prints the option's field of `values` as a text that fov_value_set reads back exactly. */
void fov_value_print(FILE *stream, const FovOption *option, const void *values);

/** Fails because `word`, the value that `subject` names, is none of `names`; suggests the nearest.
 */
FovStatus fov_name_refuse(const char *subject, const char *word, const char *const *names,
                          size_t count);

/** Writes `lead` and the names, with commas between them; cuts what does not fit. */
void fov_name_list(char phrase[FOV_PHRASE_SIZE], const char *lead, const char *const *names,
                   size_t count);

#endif
