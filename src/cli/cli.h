/** The subcommands of fovea, one file each. */
#ifndef FOV_CLI_CLI_H
#define FOV_CLI_CLI_H

#include <signal.h>

#include "base/ranks.h"
#include "cli/arguments.h"
#include "config/config.h"
#include "env.h"
#include "experiment/trained.h"

typedef struct FovCommand {
  const char *name;
  const char *help;         /**< one line */
  const char *synopsis;     /**< the arguments without the options */
  const char *about;        /**< paragraphs, each line ended */
  const char *examples;     /**< one a line, indented and ended */
  const FovOption *options; /**< NULL: none */
  size_t size;              /**< bytes of the struct that `options` describes */
  bool ranked;              /**< processes that mpirun has started run it together */
  /** request: that struct, filled. */
  FovStatus (*run)(const void *request, const FovArguments *arguments);
} FovCommand;

extern const FovCommand fov_command_train, fov_command_eval, fov_command_trace, fov_command_view,
    fov_command_plot, fov_command_scanpath, fov_command_sweep, fov_command_compare,
    fov_command_show, fov_command_bench, fov_command_list, fov_command_explain;

/** Prints on stderr which settings were given under an old name. settings: NULL is allowed. */
void fov_cli_notes(const FovSettings *settings);

/** Prints on stderr that a checkpoint or a trace has no digest, unless it has been checked. */
void fov_cli_note_file(const char *path, bool checked);

/** Prints what an agent reads: glimpses of images, or sequences. */
void fov_cli_print_input(int glimpses, const FovObservation *shown, const FovGlimpseShape *glimpse);

/** Whether a word is key=value, and not the name of a file. */
bool fov_cli_is_setting(const char *word);

/** Whether key=value sets a key, which ends at a '=' or with the text. */
bool fov_cli_sets(const char *word, const char *key);

/** Fails if an output that is no picture has the name of one. expected: "a CSV file". */
FovStatus fov_cli_check_name(const char *option, const char *output, const char *expected);

/** Fails if the output of an option ("-o") would replace a file that is needed. */
FovStatus fov_cli_check_output(const char *option, const char *output, const char *source);

/** Fails if it has the name of a file from which a run or a sweep in its folder is continued. */
FovStatus fov_cli_check_folder(const char *option, const char *output);

/** Makes both checks, for an agent's checkpoint and the files that its settings name. */
FovStatus fov_cli_check_trained(const char *option, const char *output, const FovTrained *trained);

/** Catches SIGINT, SIGTERM and SIGHUP, and ignores SIGPIPE. Returns a flag that gets the number of
 * the newest of them; a signal that comes twice ends the program. */
const volatile sig_atomic_t *fov_cli_catch_interrupts(void);

/** Gives SIGINT and SIGTERM back to a library that handles them itself: SDL closes its window. */
void fov_cli_release_interrupts(void);

/** Catches SIGUSR1 in the same way, with which Slurm announces the end of a job. */
void fov_cli_catch_warning(void);

/** This process among those that run the command together. */
FovRanks *fov_cli_ranks(void);

/** How many threads to use; `asked` 0: all processors, divided among the ranks that share them.
 * Collective. */
int fov_cli_threads(int asked);

/** The option --threads of a request's field `threads`. */
#define FOV_CLI_THREADS(S)                                                                         \
  FOV_INT(S, threads, NULL, 1, FOV_MAX_THREADS,                                                    \
          "threads of the computation, which do not change the result; default: all processors")

#endif
