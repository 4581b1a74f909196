/** Plug-ins with the options that a user would set. */
#ifndef FOV_TESTS_PLUGIN_H
#define FOV_TESTS_PLUGIN_H

#include "config/config.h"

/** A table of plug-ins as a table of what they start with. */
#define PLUGINS(table) ((const FovPlugin *const *)(table))

/** Fills a slot from lines of `plugin = name` and `plugin.option = value`; fails the test if they
 * are wrong. Its `values` are the caller's to free. */
FovSlot plugin_choose(const FovPlugin *const *table, const char *settings);

/** The same with all options at their defaults. */
FovSlot plugin_default(const FovPlugin *const *table, const FovPlugin *plugin);

/** The plug-in of that name; fails the test if there is none. */
const void *plugin_find(const FovPlugin *const *table, const char *name);

bool plugin_has_option(const FovPlugin *plugin, const char *name);

#endif
