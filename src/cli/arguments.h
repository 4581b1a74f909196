/** The arguments of a subcommand, parsed by an option table. */
#ifndef FOV_CLI_ARGUMENTS_H
#define FOV_CLI_ARGUMENTS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "base/option.h"

/** What is left of a command line without its options. The texts are argv's; the other fields start
 * at 0. */
typedef struct FovArguments {
  const char **words; /**< [count] in their order: names, then key=value */
  int count;
  uint64_t given; /**< bit i: option i of the table is on the command line */
  int passed;     /**< how many of them, the last ones, come after "--" */
  int argc;
  char *const *argv; /**< [argc] the command line, from the subcommand on */
} FovArguments;

/**
 * Parses the options of `arguments->argv` into `values`, which the table describes, and the rest
 * into `arguments->words`.
 *
 * An option is `--name value` or `--name=value`, a bool `--name`; `-o` is --output; what follows
 * `--` is no option. The last of two values counts. Fails on an unknown option (and suggests the
 * nearest), a missing value, and a value that is not allowed. Finished by fov_arguments_finish,
 * also after a failure.
 */
FovStatus fov_arguments_parse(FovArguments *arguments, void *values, const FovOption *options);
void fov_arguments_finish(FovArguments *arguments);

/** Whether the option `name` of the table is on the command line. */
bool fov_arguments_has(const FovArguments *arguments, const FovOption *options, const char *name);

/** Writes the command line into `text` as a shell reads it, for a log; cut where it is too long. */
void fov_arguments_join(char *text, size_t size, const FovArguments *arguments);

/** Prints the options of a table with what they accept and their defaults. */
void fov_arguments_help(const FovOption *options, FILE *stream);

#endif
