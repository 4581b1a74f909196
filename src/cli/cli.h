/** The subcommands of fovea, one file each. */
#ifndef FOV_CLI_CLI_H
#define FOV_CLI_CLI_H

#include "env.h"

typedef struct FovCommand {
  const char *name;
  const char *help;  /**< one line */
  const char *usage; /**< what --help prints: synopsis, options, examples */
  /** argv[0] is the subcommand's name. */
  FovStatus (*run)(int argc, char **argv);
} FovCommand;

extern const FovCommand fov_command_train, fov_command_eval, fov_command_trace, fov_command_view,
    fov_command_plot, fov_command_bench, fov_command_list;

/** Names the option that getopt_long has just refused. */
FovStatus fov_cli_bad_option(const FovCommand *command, char **argv);

/** A whole number in an argument, from `min` to `max`; `what` names it in errors. */
FovStatus fov_cli_number(long long *value, const char *text, const char *what, long long min,
                         long long max);

/** The value of --threads. */
FovStatus fov_cli_threads(int *threads, const char *text);

/** The split that `text` names: train, valid or test. */
FovStatus fov_cli_split(FovSplit *split, const char *text);

#endif
