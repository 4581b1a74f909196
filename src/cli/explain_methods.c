#include <stdlib.h>
#include <string.h>

#include "cli/explain.h"

/** The method that a word METHOD.OPTION=VALUE names; NULL: the word names none. */
static const FovMethod *method_of(const char *word) {
  size_t length = strcspn(word, ".=");
  if (word[length] != '.' || !strchr(word, '=')) return NULL;
  for (const FovMethod *const *m = fov_methods; *m; m++)
    if (strlen((*m)->plugin.name) == length && strncmp(word, (*m)->plugin.name, length) == 0)
      return *m;
  return NULL;
}

bool fov_is_method_option(const char *word) {
  return method_of(word) != NULL;
}

/** Adds the groups of the methods that have options. */
static FovStatus add_groups(FovMethodOptions *options) {
  options->config = (FovConfig){.groups = options->groups};
  for (const FovMethod *const *m = fov_methods; *m; m++) {
    const FovPlugin *plugin = &(*m)->plugin;
    if (!plugin->options) continue;
    size_t group = options->config.group_count++;
    FOV_CHECK(group < FOV_MOST_METHODS, "%zu methods", group);
    options->groups[group] = (FovGroup){.prefix = plugin->name,
                                        .options = plugin->options,
                                        .values = calloc(1, plugin->options_size)};
    if (!options->groups[group].values)
      return fov_fail(FOV_ERR_MEMORY, "no memory for the options of %s", plugin->name);
  }
  return FOV_OK;
}

FovStatus fov_method_options_read(FovMethodOptions *options, const char *const *words, int count) {
  *options = (FovMethodOptions){.settings = NULL};
  FOV_TRY(add_groups(options));
  FOV_TRY(fov_settings_create(&options->settings));
  for (int i = 0; i < count; i++)
    if (fov_is_method_option(words[i])) FOV_TRY(fov_settings_add(options->settings, words[i]));
  return fov_config_resolve(&options->config, options->settings);
}

FovStatus fov_method_options_check(const FovExplainCommand *command, const char *const *words,
                                   int count) {
  const FovMethod *chosen;
  FOV_TRY(fov_method_choose(&chosen, command));
  if (chosen && chosen->ignores_target && command->target)
    return fov_fail(FOV_ERR_USAGE,
                    "--target %.80s: the map of %s is the same for all targets; leave out --target",
                    command->target, chosen->plugin.name);
  if (chosen && chosen->ignores_target && command->time)
    return fov_fail(FOV_ERR_USAGE, "--time %d: the map of %s is of all glimpses; leave out --time",
                    command->time, chosen->plugin.name);
  for (int i = 0; i < count; i++) {
    const FovMethod *method = method_of(words[i]);
    if (method && command->jacobian)
      return fov_fail(FOV_ERR_USAGE, "%s and --jacobian: expected one of them", words[i]);
    if (method && chosen && method != chosen)
      return fov_fail(FOV_ERR_USAGE, "%s: expected --method %s, found %s", words[i],
                      method->plugin.name, chosen->plugin.name);
  }
  return FOV_OK;
}

void fov_method_options_finish(FovMethodOptions *options) {
  fov_config_finish(&options->config);
  fov_settings_destroy(options->settings);
  for (size_t i = 0; i < options->config.group_count; i++) free(options->groups[i].values);
}

const void *fov_method_options_of(const FovMethodOptions *options, const FovMethod *method) {
  for (size_t i = 0; i < options->config.group_count; i++)
    if (options->groups[i].options == method->plugin.options) return options->groups[i].values;
  return NULL;
}

FovStatus fov_explain_methods(const FovMethod *list[FOV_MOST_METHODS], int *count,
                              const FovExplainSubject *subject, const FovExplainCommand *command) {
  const FovExplainRequest *request = &subject->request;
  FovStatus status = FOV_OK;
  *count = 0;
  FOV_TRY(fov_method_choose(&list[0], command));
  if (list[0]) return *count = 1, fov_method_check(list[0], request->task, request->through);
  for (const FovMethod *const *m = fov_methods; *m; m++) {
    FovStatus fits = fov_method_check(*m, request->task, request->through);
    if (fits == FOV_OK)
      list[(*count)++] = *m;
    else
      status = fits;
  }
  return *count ? FOV_OK : status;
}

FovStatus fov_method_choose(const FovMethod **method, const FovExplainCommand *command) {
  *method = NULL;
  if (!command->method && command->check) return FOV_OK;
  return fov_method_find(method, command->method ? command->method : "saliency");
}

FovStatus fov_method_find(const FovMethod **method, const char *name) {
  const char *names[FOV_MOST_METHODS];
  size_t count = 0;
  for (const FovMethod *const *m = fov_methods; *m; m++) {
    names[count++] = (*m)->plugin.name;
    if (strcmp(name, (*m)->plugin.name) == 0) return *method = *m, FOV_OK;
  }
  const char *nearest = fov_nearest(name, names, count);
  if (nearest)
    return fov_fail(FOV_ERR_USAGE, "--method %.80s: unknown; did you mean %s?", name, nearest);
  return fov_fail(FOV_ERR_USAGE, "--method %.80s: unknown; fovea list methods lists them", name);
}
