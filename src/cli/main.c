#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/team.h"
#include "cli/cli.h"
#include "cli/print.h"
#include "config/config.h"

static const FovCommand *const commands[] = {
    &fov_command_train, &fov_command_eval,  &fov_command_trace, &fov_command_view,
    &fov_command_plot,  &fov_command_bench, &fov_command_list};

enum { COMMANDS = sizeof commands / sizeof *commands };

static void print_help(void) {
  puts("fovea " FOV_VERSION ": recurrent visual attention\n\nusage: fovea COMMAND [...]\n");
  for (int i = 0; i < COMMANDS; i++) printf("  %-6s  %s\n", commands[i]->name, commands[i]->help);
  puts("\nfovea COMMAND --help tells more, with examples.");
}

FovStatus fov_cli_bad_option(const FovCommand *command, char **argv) {
  // getopt_long is past a long option, but may still be inside a cluster of short ones.
  const char *last = argv[optind - 1];
  char letter[3] = {'-', (char)optopt, 0};
  return fov_fail(FOV_ERR_USAGE, "%s: unknown option or missing value; see fovea %s --help",
                  last[0] == '-' && last[1] == '-' ? last : letter, command->name);
}

FovStatus fov_cli_number(long long *value, const char *text, const char *what, long long min,
                         long long max) {
  char *end;
  errno = 0;
  *value = strtoll(text, &end, 10);
  if (errno || end == text || *end || *value < min || *value > max)
    return fov_fail(FOV_ERR_USAGE, "%s %s: expected a whole number from %lld to %lld", what, text,
                    min, max);
  return FOV_OK;
}

FovStatus fov_cli_threads(int *threads, const char *text) {
  long long number;
  FOV_TRY(fov_cli_number(&number, text, "--threads", 1, FOV_MAX_THREADS));
  *threads = (int)number;
  return FOV_OK;
}

FovStatus fov_cli_split(FovSplit *split, const char *text) {
  static const char *const names[] = {
      [FOV_SPLIT_TRAIN] = "train", [FOV_SPLIT_VALID] = "valid", [FOV_SPLIT_TEST] = "test"};
  for (int i = 0; i <= FOV_SPLIT_TEST; i++)
    if (strcmp(text, names[i]) == 0) return *split = (FovSplit)i, FOV_OK;
  return fov_fail(FOV_ERR_USAGE, "--split %s: expected train, valid or test", text);
}

static FovStatus unknown_command(const char *word) {
  const char *names[COMMANDS];
  for (int i = 0; i < COMMANDS; i++) names[i] = commands[i]->name;
  const char *nearest = fov_nearest(word, names, COMMANDS);
  if (nearest)
    return fov_fail(FOV_ERR_USAGE, "unknown command '%s'; did you mean '%s'?", word, nearest);
  return fov_fail(FOV_ERR_USAGE, "unknown command '%s'; fovea --help lists them", word);
}

static FovStatus run(int argc, char **argv) {
  if (argc < 2) return fov_fail(FOV_ERR_USAGE, "no command given; fovea --help lists them");
  if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) return print_help(), FOV_OK;
  if (strcmp(argv[1], "--version") == 0) return puts("fovea " FOV_VERSION), FOV_OK;
  for (int i = 0; i < COMMANDS; i++) {
    if (strcmp(argv[1], commands[i]->name) != 0) continue;
    for (int j = 2; j < argc; j++)
      if (strcmp(argv[j], "--help") == 0 || strcmp(argv[j], "-h") == 0)
        return fputs(commands[i]->usage, stdout), FOV_OK;
    opterr = 0;
    return commands[i]->run(argc - 1, argv + 1);
  }
  return unknown_command(argv[1]);
}

/** 2 for wrong usage, 130 for an interrupt as a shell would say it, 1 for all else. */
static int exit_code(FovStatus status) {
  return status == FOV_OK ? 0 : status == FOV_ERR_USAGE ? 2 : status == FOV_ERR_INTERRUPT ? 130 : 1;
}

int main(int argc, char **argv) {
  FovStatus status = run(argc, argv);
  if (status == FOV_OK) status = fov_print_finish();
  if (status != FOV_OK) fov_print(stderr, "fovea: %s\n", fov_error_message());
  return exit_code(status);
}
