/**
 * Configuration: settings are collected as text and then resolved into the structs of option
 * tables.
 *
 * A key is `name` for a top-level option, `slot` to choose a plug-in (`core = lstm`), and
 * `slot.name` or `group.name` for an option of the chosen plug-in or of a group.
 */
#ifndef FOV_CONFIG_CONFIG_H
#define FOV_CONFIG_CONFIG_H

#include <stddef.h>
#include <stdio.h>

#include "base/error.h"
#include "base/option.h"

/** Settings in the order given; a later one of the same key replaces an earlier one. */
typedef struct FovSettings FovSettings;

/** Who wrote a setting. */
typedef enum FovOrigin {
  FOV_ORIGIN_DUMP,    /**< a program: the text inside a checkpoint */
  FOV_ORIGIN_FILE,    /**< a person, in a file */
  FOV_ORIGIN_COMMAND, /**< a person, on the command line */
} FovOrigin;

/** `key = value`, neither with blanks at its ends. */
typedef struct FovSetting {
  char *key, *value;
  char *where;   /**< for messages: "runs/x.ini:12", "command line" */
  char *old_key; /**< as it was written, if the key has been renamed since; NULL: not renamed */
  const char *unread; /**< resolve: why it has no effect, see FovConfig; NULL: it may have one */
  FovOrigin origin;
  size_t source; /**< which file, text or command line, counted in the order given */
} FovSetting;

FovStatus fov_settings_create(FovSettings **settings);
void fov_settings_destroy(FovSettings *settings);

/** Reads an INI file (at most 1 MiB): `key = value`, `[section]` puts `section.` before its keys,
 * `#` and `;` start a comment line. Errors name file and line. */
FovStatus fov_settings_read(FovSettings *settings, const char *path);

/** The same, from the text inside another file, which `where` names in errors. */
FovStatus fov_settings_parse(FovSettings *settings, const char *text, const char *where);

/** Adds one `key=value` argument of the command line. */
FovStatus fov_settings_add(FovSettings *settings, const char *argument);

/** Adds a setting as the command line does; where: names its source in messages. */
FovStatus fov_settings_put(FovSettings *settings, const char *key, const char *value,
                           const char *where);

/** Adds a setting behind another one of the list, as if the same source had given it there; where:
 * as in fov_settings_put. */
FovStatus fov_settings_insert(FovSettings *settings, const FovSetting *behind, const char *key,
                              const char *value, const char *where);

/** The settings in the order given, valid until one is added. */
const FovSetting *fov_settings_list(size_t *count, const FovSettings *settings);

/** The last setting of a key up to a source, SIZE_MAX for all; NULL: none. */
const FovSetting *fov_settings_choice(const FovSettings *settings, const char *key, size_t source);

/** Calls `note` with one line for each setting that a person has written under an old name, and for
 * each of the command line that nothing reads. A setting of a file that nothing reads gets no note,
 * since the command line may have chosen another plug-in. */
void fov_settings_notes(const FovSettings *settings, void (*note)(void *context, const char *line),
                        void *context);

/** A key that has another name now. A name that ends with a dot stands for all keys that start with
 * it: {"estimator.", "objective."}. */
typedef struct FovRename {
  const char *old_key, *new_key;
} FovRename;

/** A hint for a name that users may expect in a slot, but that no plug-in has. */
typedef struct FovHint {
  const char *key, *name; /**< the slot's key; the unknown name */
  const char *text;       /**< what to set instead */
} FovHint;

/** Options that are always there; prefix "" is the top level. */
typedef struct FovGroup {
  const char *prefix;
  const FovOption *options;
  void *values; /**< the struct that `options` describes */
} FovGroup;

/** A part of an experiment that one plug-in of a table implements. */
typedef struct FovSlot {
  const char *key;               /**< "core" */
  const char *help;              /**< one line */
  const FovPlugin *const *table; /**< NULL-terminated */
  const char *fallback;          /**< name of the default plug-in */
  const FovPlugin *plugin;       /**< resolve: the chosen one */
  void *values;                  /**< resolve: its options, malloc'd; NULL if it has none */
} FovSlot;

/** Everything that can be set, in the order of the dump. */
typedef struct FovConfig FovConfig;
struct FovConfig {
  FovGroup *groups;
  size_t group_count;
  FovSlot *slots;
  size_t slot_count;
  const FovRename *renames; /**< up to an entry of NULLs, a key's own entry before that of its
                                 prefix; NULL: none */
  /** After resolving: why a setting with this key has no effect, such as "the core has no memory";
   * NULL: it has one. The member itself may be NULL: every setting has an effect. */
  const char *(*unread)(const FovConfig *config, const char *key);
  const FovHint *hints; /**< up to an entry of NULLs; NULL: none */
};

/**
 * Renames the settings with old keys, then fills every group and slot: defaults, then settings.
 *
 * A renamed setting whose new key belongs to another plug-in of its slot is dropped: it used to be
 * allowed whatever the plug-in.
 *
 * Fails on an unknown key (and suggests the nearest, or the plug-in that the option belongs to), an
 * unknown plug-in (likewise, or gives its hint), a key that a file sets twice, and a value that
 * does not parse or lies outside its range (with the range). The message names the place of the
 * setting.
 */
FovStatus fov_config_resolve(FovConfig *config, FovSettings *settings);

/** Frees what resolve allocated. May be called before it, and twice. */
void fov_config_finish(FovConfig *config);

/** The resolved configuration as an INI text that resolves to the same again, malloc'd; numbers in
 * the shortest form that reads back exactly. */
FovStatus fov_config_dump(char **text, const FovConfig *config);

enum { FOV_PHRASE_SIZE = 1024 }; /**< bytes of a part of a message */

/** Writes every option's default; aborts if one is not allowed. */
void fov_value_defaults(void *values, const FovOption *options);

/** Reads `text` into the option's field of `values`, or fails with what is allowed; `subject` names
 * the value in the message: "--rollouts 0", "x.ini:3: glimpses = 0". */
FovStatus fov_value_set(void *values, const FovOption *option, const char *text,
                        const char *subject);

/** Prints the option's field of `values` as a text that fov_value_set reads back exactly. */
void fov_value_print(FILE *stream, const FovOption *option, const void *values);

/** The option of that name in a table; NULL: none, or no table. */
const FovOption *fov_option_find(const FovOption *options, const char *name);

/** Describes what the option accepts: "an integer from 1 to 64", "one of rnn, lstm, gru". */
void fov_value_describe(char phrase[FOV_PHRASE_SIZE], const FovOption *option);

/** Columns of a help text: labels from `indent`, their help from `column` to `width`. */
typedef struct FovHelpLayout {
  int indent, column, width;
} FovHelpLayout;

/** Prints what to type on the left and what it means on the right, in lines that fit. */
void fov_help_entry(FILE *stream, const FovHelpLayout *layout, const char *label, const char *help);

/** Prints every key with default, range and help, slot by slot, plug-in by plug-in. */
void fov_config_help(const FovConfig *config, FILE *stream);

/** Prints the plug-ins of one table with their help and options. */
void fov_plugin_help(const FovPlugin *const *table, FILE *stream);

/** The plug-in of that name, or NULL. */
const FovPlugin *fov_plugin_find(const FovPlugin *const *table, const char *name);

/** The name in `names` (count of them) that is nearest to `word` by edit distance; NULL if none is
 * within a third of its length, at least 2. */
const char *fov_nearest(const char *word, const char *const *names, size_t count);

#endif
