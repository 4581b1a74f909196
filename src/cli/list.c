#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "config/names.h"
#include "experiment/experiment.h"
#include "explain/method.h"

/** A slot's plug-ins are listed under the plural and under the slot's own key. */
static const struct {
  const char *plural;
  int slot;
} kinds[] = {
    {"envs", FOV_SLOT_ENV},
    {"attentions", FOV_SLOT_ATTENTION},
    {"scores", FOV_SLOT_SCORE},
    {"encoders", FOV_SLOT_ENCODER},
    {"cores", FOV_SLOT_CORE},
    {"policies", FOV_SLOT_POLICY},
    {"stops", FOV_SLOT_STOP},
    {"rewards", FOV_SLOT_REWARD},
    {"baselines", FOV_SLOT_BASELINE},
    {"objectives", FOV_SLOT_OBJECTIVE},
    {"optimisers", FOV_SLOT_OPTIMISER},
};

enum { KINDS = sizeof kinds / sizeof *kinds };

static FovStatus list_settings(const FovExperiment *experiment) {
  puts("# KEY = DEFAULT, as a line of an experiment file or as key=value on a command line.\n"
       "# In a file, [section] puts `section.` before the keys that follow it.\n");
  fov_config_help(&experiment->config, stdout);
  return FOV_OK;
}

/** The methods of fovea explain; each plug-in is a method's first member. */
static FovStatus list_methods(void) {
  fov_plugin_help((const FovPlugin *const *)fov_methods, stdout);
  return FOV_OK;
}

static FovStatus list(const FovExperiment *experiment, const char *word) {
  if (strcmp(word, "settings") == 0 || strcmp(word, "setting") == 0)
    return list_settings(experiment);
  const char *names[KINDS + 2] = {[KINDS] = "settings", [KINDS + 1] = "methods"};
  if (strcmp(word, "methods") == 0 || strcmp(word, "method") == 0) return list_methods();
  for (int i = 0; i < KINDS; i++) {
    const FovSlot *slot = &experiment->slots[kinds[i].slot];
    names[i] = kinds[i].plural;
    if (strcmp(word, names[i]) == 0 || strcmp(word, slot->key) == 0)
      return fov_plugin_help(slot->table, stdout), FOV_OK;
  }
  char subject[128];
  snprintf(subject, sizeof subject, "'%.100s'", word);
  return fov_name_refuse(subject, word, names, KINDS + 2);
}

static void list_plugins(const FovExperiment *experiment) {
  for (int i = 0; i < KINDS; i++) {
    printf("%s%s:\n", i ? "\n" : "", kinds[i].plural);
    fov_plugin_help(experiment->slots[kinds[i].slot].table, stdout);
  }
}

static FovStatus run(const void *request, const FovArguments *arguments) {
  (void)request;
  FovExperiment experiment;
  FovStatus status = fov_experiment_init(&experiment);
  if (status == FOV_OK && arguments->count == 0) list_plugins(&experiment);
  for (int i = 0; i < arguments->count && status == FOV_OK; i++)
    status = list(&experiment, arguments->words[i]);
  fov_experiment_finish(&experiment);
  return status;
}

const FovCommand fov_command_list = {
    .name = "list",
    .help = "list plug-ins and settings",
    .synopsis = "[KIND ...]",
    .about =
        "Lists plug-ins with their options: all of them, or those of each KIND: envs,\n"
        "attentions, scores, encoders, cores, policies, stops, rewards, baselines, objectives\n"
        "or optimisers (or env, attention, ...). settings lists every key of an experiment\n"
        "file, methods those of fovea explain.\n",
    .examples = "  fovea list\n"
                "  fovea list cores\n"
                "  fovea list settings\n",
    .run = run,
};
