#include <stdlib.h>
#include <string.h>

#include "config/names.h"
#include "config/settings.h"

enum { MAX_NAMES = 512 }; // that compete to be the nearest

const FovPlugin *fov_plugin_find(const FovPlugin *const *table, const char *name) {
  for (; *table; table++)
    if (strcmp((*table)->name, name) == 0) return *table;
  return NULL;
}

const FovOption *fov_option_find(const FovOption *options, const char *name) {
  for (; options && options->name; options++)
    if (strcmp(options->name, name) == 0) return options;
  return NULL;
}

/** What follows `prefix.` in the key, or NULL; all of the key if the prefix is "". */
static const char *after_prefix(const char *key, const char *prefix) {
  size_t length = strlen(prefix);
  if (length == 0) return key;
  return strncmp(key, prefix, length) == 0 && key[length] == '.' ? key + length + 1 : NULL;
}

/** Whether the setting chooses the slot's plug-in. */
static bool is_choice(const FovSetting *setting, const FovSlot *slot) {
  return strcmp(setting->key, slot->key) == 0;
}

/** What names the setting in a message. */
static const char *subject_of(char subject[FOV_PHRASE_SIZE], const FovSetting *setting) {
  snprintf(subject, FOV_PHRASE_SIZE, "%s: %s = %.80s", setting->where, setting->key,
           setting->value);
  return subject;
}

static FovStatus set_value(void *values, const FovOption *option, const FovSetting *setting) {
  char subject[FOV_PHRASE_SIZE];
  return fov_value_set(values, option, setting->value, subject_of(subject, setting));
}

/** What to set instead; NULL: there is no hint. */
static const char *hint_of(const FovHint *hints, const FovSetting *setting) {
  for (; hints && hints->key; hints++)
    if (strcmp(hints->key, setting->key) == 0 && strcmp(hints->name, setting->value) == 0)
      return hints->text;
  return NULL;
}

/** The plug-in that the setting names. */
static FovStatus named_plugin(const FovPlugin **plugin, const FovSlot *slot,
                              const FovSetting *setting, const FovHint *hints) {
  *plugin = fov_plugin_find(slot->table, setting->value);
  if (*plugin) return FOV_OK;
  const char *names[MAX_NAMES];
  size_t count = 0;
  for (; slot->table[count] && count < MAX_NAMES; count++) names[count] = slot->table[count]->name;
  char subject[FOV_PHRASE_SIZE];
  const char *hint = hint_of(hints, setting);
  subject_of(subject, setting);
  if (hint) return fov_fail(FOV_ERR_USAGE, "%s: %s", subject, hint);
  return fov_name_refuse(subject, setting->value, names, count);
}

/** The slot's plug-in after the settings of `source` and those before it. */
static FovStatus choose_plugin(const FovPlugin **plugin, const FovConfig *config,
                               const FovSlot *slot, const FovSettings *settings, size_t source) {
  *plugin = fov_plugin_find(slot->table, slot->fallback);
  FOV_CHECK(*plugin, "%s has no plug-in '%s', its default", slot->key, slot->fallback);
  for (size_t i = 0; i < settings->count && settings->list[i].source <= source; i++)
    if (is_choice(&settings->list[i], slot))
      FOV_TRY(named_plugin(plugin, slot, &settings->list[i], config->hints));
  return FOV_OK;
}

static FovStatus fill_slot(const FovConfig *config, FovSlot *slot, const FovSettings *settings) {
  FOV_TRY(choose_plugin(&slot->plugin, config, slot, settings, settings->source));
  if (!slot->plugin->options) return FOV_OK;
  slot->values = calloc(1, slot->plugin->options_size);
  if (!slot->values) return fov_fail(FOV_ERR_MEMORY, "no memory for the options of %s", slot->key);
  fov_value_defaults(slot->values, slot->plugin->options);
  return FOV_OK;
}

/** Every key of the configuration with its chosen plug-ins; keys that do not fit are left out. */
typedef struct Keys {
  const char *names[MAX_NAMES];
  char text[MAX_NAMES][64];
  size_t count;
} Keys;

static void add_key(Keys *keys, const char *prefix, const char *name) {
  if (keys->count == MAX_NAMES) return;
  char *text = keys->text[keys->count];
  snprintf(text, sizeof *keys->text, "%s%s%s", prefix, *prefix ? "." : "", name);
  keys->names[keys->count++] = text;
}

static void add_options(Keys *keys, const char *prefix, const FovOption *options) {
  for (; options && options->name; options++) add_key(keys, prefix, options->name);
}

static const char *last_part(const char *key) {
  const char *dot = strrchr(key, '.');
  return dot ? dot + 1 : key;
}

/** The keys of the section of `key`; returns how many. */
static size_t take_section(const char *own[MAX_NAMES], const Keys *keys, const char *key) {
  size_t section = (size_t)(last_part(key) - key), count = 0;
  for (size_t i = 0; i < keys->count && section > 0; i++)
    if (strncmp(key, keys->names[i], section) == 0) own[count++] = keys->names[i];
  return count;
}

/**
 * The key that is meant by an unknown one; NULL: no key is near. own: the `count` keys of its
 * section. In this order:
 * - its last part, as a key without a section;
 * - a key of its section whose last part looks alike or, if it has no known section, any such key;
 * - a key of another section with the same last part.
 */
static const char *nearest_key(const Keys *keys, const char *const *own, size_t count,
                               const char *key) {
  const char *part = last_part(key), *parts[MAX_NAMES];
  size_t section = (size_t)(part - key);
  for (size_t i = 0; i < keys->count; i++)
    if (strcmp(part, keys->names[i]) == 0) return keys->names[i];
  for (size_t i = 0; i < count; i++) parts[i] = own[i] + section;
  const char *nearest =
      count > 0 ? fov_nearest(part, parts, count) : fov_nearest(key, keys->names, keys->count);
  if (nearest) return count > 0 ? nearest - section : nearest;
  for (size_t i = 0; i < keys->count; i++)
    if (strcmp(part, last_part(keys->names[i])) == 0) return keys->names[i];
  return NULL;
}

static FovStatus refuse_key(const FovConfig *config, const FovSetting *setting) {
  Keys keys = {.count = 0};
  for (size_t i = 0; i < config->group_count; i++)
    add_options(&keys, config->groups[i].prefix, config->groups[i].options);
  for (size_t i = 0; i < config->slot_count; i++) {
    add_key(&keys, "", config->slots[i].key);
    add_options(&keys, config->slots[i].key, config->slots[i].plugin->options);
  }
  const char *own[MAX_NAMES];
  size_t count = take_section(own, &keys, setting->key);
  const char *nearest = nearest_key(&keys, own, count, setting->key);
  if (!nearest && (count > 0 || config->slot_count == 0)) { // few keys
    char list[FOV_PHRASE_SIZE];
    fov_name_list(list, "", count > 0 ? own : keys.names, count > 0 ? count : keys.count);
    return fov_fail(FOV_ERR_USAGE, "%s: unknown key '%.80s': expected %s", setting->where,
                    setting->key, list);
  }
  if (!nearest)
    return fov_fail(FOV_ERR_USAGE, "%s: unknown key '%.80s'; fovea list settings shows all",
                    setting->where, setting->key);
  return fov_fail(FOV_ERR_USAGE, "%s: unknown key '%.80s'; did you mean '%s'?", setting->where,
                  setting->key, nearest);
}

/** Whether any plug-in of the slot has the option. */
static bool is_owned(const FovSlot *slot, const char *name) {
  for (size_t i = 0; slot->table[i]; i++)
    if (fov_option_find(slot->table[i]->options, name)) return true;
  return false;
}

/** Refuses an option that `plugin` does not have: it is another's, or unknown. */
static FovStatus refuse_option(const FovConfig *config, const FovSlot *slot,
                               const FovPlugin *plugin, const FovSetting *setting,
                               const char *name) {
  const char *owners[MAX_NAMES];
  size_t count = 0;
  for (size_t i = 0; slot->table[i] && count < MAX_NAMES; i++)
    if (fov_option_find(slot->table[i]->options, name)) owners[count++] = slot->table[i]->name;
  if (count == 0) return refuse_key(config, setting);
  char list[FOV_PHRASE_SIZE];
  fov_name_list(list, "", owners, count);
  return fov_fail(FOV_ERR_USAGE, "%s: %s belongs to %s = %s, but %s = %s here", setting->where,
                  setting->key, slot->key, list, slot->key, plugin->name);
}

/**
 * Sets an option of the plug-in that was chosen when the setting was given.
 *
 * Where a later source has chosen another since, the setting holds for that one if it has the
 * option, and is dropped otherwise: a command line may switch a plug-in that a file has tuned. A
 * renamed setting is dropped too where the plug-in chosen with it lacks the option, because it was
 * allowed with every plug-in under its old name.
 */
static FovStatus set_slot(const FovConfig *config, const FovSlot *slot, const FovSettings *settings,
                          const FovSetting *setting, const char *name) {
  const FovPlugin *then;
  FOV_TRY(choose_plugin(&then, config, slot, settings, setting->source));
  if (!fov_option_find(then->options, name) && !(setting->old_key && is_owned(slot, name)))
    return refuse_option(config, slot, then, setting, name);
  const FovOption *option = fov_option_find(slot->plugin->options, name);
  return option ? set_value(slot->values, option, setting) : FOV_OK;
}

static FovStatus set(const FovConfig *config, const FovSettings *settings,
                     const FovSetting *setting) {
  for (size_t i = 0; i < config->group_count; i++) {
    const FovGroup *group = &config->groups[i];
    const char *name = after_prefix(setting->key, group->prefix);
    const FovOption *option = name ? fov_option_find(group->options, name) : NULL;
    if (option) return set_value(group->values, option, setting);
  }
  for (size_t i = 0; i < config->slot_count; i++) {
    const FovSlot *slot = &config->slots[i];
    if (is_choice(setting, slot)) return FOV_OK;
    const char *name = after_prefix(setting->key, slot->key);
    if (name) return set_slot(config, slot, settings, setting, name);
  }
  return refuse_key(config, setting);
}

static FovStatus resolve(const FovConfig *config, FovSettings *settings) {
  for (size_t i = 0; i < config->group_count; i++)
    fov_value_defaults(config->groups[i].values, config->groups[i].options);
  for (size_t i = 0; i < config->slot_count; i++)
    FOV_TRY(fill_slot(config, &config->slots[i], settings));
  for (size_t i = 0; i < settings->count; i++) FOV_TRY(set(config, settings, &settings->list[i]));
  for (size_t i = 0; i < settings->count; i++) {
    FovSetting *setting = &settings->list[i];
    setting->unread = config->unread ? config->unread(config, setting->key) : NULL;
  }
  return FOV_OK;
}

FovStatus fov_config_resolve(FovConfig *config, FovSettings *settings) {
  fov_config_finish(config);
  FovStatus status = fov_settings_rename(settings, config->renames);
  if (status == FOV_OK) status = resolve(config, settings);
  if (status != FOV_OK) fov_config_finish(config);
  return status;
}

void fov_config_finish(FovConfig *config) {
  for (size_t i = 0; i < config->slot_count; i++) {
    free(config->slots[i].values);
    config->slots[i].values = NULL;
    config->slots[i].plugin = NULL;
  }
}
