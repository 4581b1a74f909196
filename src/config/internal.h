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
  FOV_MAX_NAMES = 512,    /**< that compete to be the nearest */
  FOV_PHRASE_SIZE = 1024, /**< bytes of a part of a message */
};

/** `key = value`, neither with blanks at its ends. */
typedef struct FovSetting {
  char *key, *value;
  char *where;   /**< for errors: "runs/x.ini:12", "command line" */
  size_t source; /**< which file, text or command line, counted in the order given */
} FovSetting;

struct FovSettings {
  FovSetting list[FOV_MAX_SETTINGS];
  size_t count;
  size_t source;     /**< the newest */
  bool command_line; /**< whether that is a command line */
};

/** Reads the setting into the option's field of `values`, or fails saying what is allowed. */
FovStatus fov_value_set(void *values, const FovOption *option, const FovSetting *setting);

/** Writes every option's default; aborts if one is not allowed. */
void fov_value_defaults(void *values, const FovOption *options);

/** Prints the option's field of `values` as a text that fov_value_set reads back exactly. */
void fov_value_print(FILE *stream, const FovOption *option, const void *values);

/** Describes what the option accepts: "an integer from 1 to 64", "one of rnn, lstm, gru". */
void fov_value_describe(char phrase[FOV_PHRASE_SIZE], const FovOption *option);

/** Fails because the setting's value is none of `names`; suggests the nearest. */
FovStatus fov_name_refuse(const FovSetting *setting, const char *const *names, size_t count);

/** Writes `lead` and the names, with commas between them; cuts what does not fit. */
void fov_name_list(char phrase[FOV_PHRASE_SIZE], const char *lead, const char *const *names,
                   size_t count);

#endif
