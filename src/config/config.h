/**
 * Configuration: settings gathered as text, then resolved into the structs of option tables.
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

FovStatus fov_settings_create(FovSettings **settings);
void fov_settings_destroy(FovSettings *settings);

/** Reads an INI file (at most 1 MiB): `key = value`, `[section]` puts `section.` before its keys,
 * `#` and `;` start a comment line. Errors name file and line. */
FovStatus fov_settings_read(FovSettings *settings, const char *path);

/** The same, from text; `origin` names it in errors ("the checkpoint runs/x/last.safetensors"). */
FovStatus fov_settings_parse(FovSettings *settings, const char *text, const char *origin);

/** Adds one `key=value` argument of the command line. */
FovStatus fov_settings_add(FovSettings *settings, const char *argument);

/** Options that are always there; prefix "" is the top level. */
typedef struct FovGroup {
  const char *prefix;
  const FovOption *options;
  void *values; /**< the struct that `options` describes */
} FovGroup;

/** A place that one plug-in of a table fills. */
typedef struct FovSlot {
  const char *key;               /**< "core" */
  const char *help;              /**< one line */
  const FovPlugin *const *table; /**< NULL-terminated */
  const char *fallback;          /**< name of the default plug-in */
  const FovPlugin *plugin;       /**< resolve: the chosen one */
  void *values;                  /**< resolve: its options, malloc'd; NULL if it has none */
} FovSlot;

/** All that can be set, in the order of the dump. */
typedef struct FovConfig {
  FovGroup *groups;
  size_t group_count;
  FovSlot *slots;
  size_t slot_count;
} FovConfig;

/**
 * Fills every group and slot: defaults, then settings.
 *
 * Fails on a key nobody knows (and suggests the nearest that exists, or says that the option
 * belongs to another plug-in of that slot), a plug-in nobody knows (likewise), and a value that
 * does not parse or lies outside its range (saying which range), with where the setting stood.
 */
FovStatus fov_config_resolve(FovConfig *config, const FovSettings *settings);

/** Frees what resolve allocated; safe before it and twice. */
void fov_config_finish(FovConfig *config);

/** The resolved configuration as an INI text that resolves to the same again, malloc'd; numbers in
 * the shortest form that reads back exactly. */
FovStatus fov_config_dump(char **text, const FovConfig *config);

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
