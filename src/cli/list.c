#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "experiment/experiment.h"

/** A slot's plug-ins under the plural that users ask for. */
static const struct {
  const char *name;
  int slot;
} kinds[] = {
    {"envs", FOV_SLOT_ENV},
    {"attentions", FOV_SLOT_ATTENTION},
    {"encoders", FOV_SLOT_ENCODER},
    {"cores", FOV_SLOT_CORE},
    {"scores", FOV_SLOT_SCORE},
    {"policies", FOV_SLOT_POLICY},
    {"stops", FOV_SLOT_STOP},
    {"rewards", FOV_SLOT_REWARD},
    {"baselines", FOV_SLOT_BASELINE},
    {"objectives", FOV_SLOT_OBJECTIVE},
    {"optimisers", FOV_SLOT_OPTIMISER},
};

enum { KINDS = sizeof kinds / sizeof *kinds };

static FovStatus list(const FovExperiment *experiment, const char *word) {
  if (strcmp(word, "settings") == 0) return fov_config_help(&experiment->config, stdout), FOV_OK;
  const char *names[KINDS + 1] = {[KINDS] = "settings"};
  for (int i = 0; i < KINDS; i++) {
    names[i] = kinds[i].name;
    if (strcmp(word, names[i]) == 0)
      return fov_plugin_help(experiment->slots[kinds[i].slot].table, stdout), FOV_OK;
  }
  const char *nearest = fov_nearest(word, names, KINDS + 1);
  if (nearest)
    return fov_fail(FOV_ERR_USAGE, "nothing to list as '%s'; did you mean '%s'?", word, nearest);
  return fov_fail(FOV_ERR_USAGE, "nothing to list as '%s'; see fovea list --help", word);
}

static FovStatus run(int argc, char **argv) {
  FovExperiment experiment;
  FovStatus status = fov_experiment_init(&experiment);
  if (status == FOV_OK && argc > 1)
    for (int i = 1; i < argc && status == FOV_OK; i++) status = list(&experiment, argv[i]);
  else if (status == FOV_OK)
    for (int i = 0; i < KINDS; i++) {
      printf("%s%s:\n", i ? "\n" : "", kinds[i].name);
      fov_plugin_help(experiment.slots[kinds[i].slot].table, stdout);
    }
  fov_experiment_finish(&experiment);
  return status;
}

const FovCommand fov_command_list = {
    .name = "list",
    .help = "show what an experiment can be made of",
    .usage = "usage: fovea list [envs|encoders|cores|policies|stops|rewards|baselines|objectives|\n"
             "                   optimisers|settings]\n"
             "\n"
             "Lists plug-ins with their options; `settings` is every key of an experiment file.\n"
             "\n"
             "examples:\n"
             "  fovea list\n"
             "  fovea list cores\n",
    .run = run,
};
