#include "plugin.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

FovSlot plugin_choose(const FovPlugin *const *table, const char *settings) {
  FovSlot slot = {.key = "plugin", .table = table, .fallback = table[0]->name};
  FovConfig config = {.slots = &slot, .slot_count = 1};
  FovSettings *parsed;
  assert_int_equal(fov_settings_create(&parsed), FOV_OK);
  FovStatus status = fov_settings_parse(parsed, settings, "the test");
  if (status == FOV_OK) status = fov_config_resolve(&config, parsed);
  if (status != FOV_OK) fail_msg("%s", fov_error_message());
  fov_settings_destroy(parsed);
  return slot;
}

FovSlot plugin_default(const FovPlugin *const *table, const FovPlugin *plugin) {
  char settings[128];
  snprintf(settings, sizeof settings, "plugin = %s", plugin->name);
  return plugin_choose(table, settings);
}

const void *plugin_find(const FovPlugin *const *table, const char *name) {
  const FovPlugin *plugin = fov_plugin_find(table, name);
  if (!plugin) fail_msg("no plug-in %s", name);
  return plugin;
}

bool plugin_has_option(const FovPlugin *plugin, const char *name) {
  for (const FovOption *o = plugin->options; o && o->name; o++)
    if (!strcmp(o->name, name)) return true;
  return false;
}
