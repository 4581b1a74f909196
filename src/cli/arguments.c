#include "cli/arguments.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "config/config.h"

enum { MAX_OPTIONS = 32, NAME_SIZE = 64 };

/** One option as it was typed. */
typedef struct Typed {
  char name[NAME_SIZE];    /**< without its dashes */
  const char *value;       /**< after '=' or "-o"; NULL: not in this argument */
  const FovOption *option; /**< NULL: unknown */
} Typed;

static Typed read_option(const char *argument, const FovOption *options) {
  Typed typed = {.value = NULL};
  if (argument[1] == '-') {
    size_t length = strcspn(argument + 2, "=");
    snprintf(typed.name, NAME_SIZE, "%.*s", (int)length, argument + 2);
    if (argument[2 + length] == '=') typed.value = argument + 3 + length;
    typed.option = fov_option_find(options, typed.name);
  } else {
    snprintf(typed.name, NAME_SIZE, "%s", argument + 1);
    if (argument[1] == 'o') typed.option = fov_option_find(options, "output");
    if (typed.option && argument[2]) typed.value = argument + 2;
  }
  return typed;
}

static FovStatus refuse(const Typed *typed, const char *argument, const FovOption *options,
                        const char *command) {
  const char *names[MAX_OPTIONS];
  size_t count = 0;
  for (; options && options->name && count < MAX_OPTIONS; options++) names[count++] = options->name;
  const char *nearest = argument[1] == '-' ? fov_nearest(typed->name, names, count) : NULL;
  if (nearest)
    return fov_fail(FOV_ERR_USAGE, "%.80s: unknown option; did you mean '--%s'?", argument,
                    nearest);
  return fov_fail(FOV_ERR_USAGE, "%.80s: unknown option; see fovea %s --help", argument, command);
}

static FovStatus refuse_no_value(const char *argument, const FovOption *option) {
  char allowed[FOV_PHRASE_SIZE];
  if (option->type == FOV_OPTION_TEXT)
    return fov_fail(FOV_ERR_USAGE, "%s: missing value", argument);
  fov_value_describe(allowed, option);
  return fov_fail(FOV_ERR_USAGE, "%s: missing value; expected %s", argument, allowed);
}

static FovStatus set(void *values, const Typed *typed, const char *value) {
  const FovOption *option = typed->option;
  char subject[NAME_SIZE + 100];
  snprintf(subject, sizeof subject, "--%s %.80s", option->name, value);
  if (!*value) return fov_fail(FOV_ERR_USAGE, "--%s: the value is empty", option->name);
  return fov_value_set(values, option, value, subject);
}

/** Takes the option at argv[*at], and its value where that is the next argument. */
static FovStatus take_option(FovArguments *arguments, void *values, int *at,
                             const FovOption *options) {
  int argc = arguments->argc;
  char *const *argv = arguments->argv;
  const char *argument = argv[*at];
  Typed typed = read_option(argument, options);
  if (!typed.option) return refuse(&typed, argument, options, argv[0]);
  arguments->given |= UINT64_C(1) << (typed.option - options);
  if (typed.option->type == FOV_OPTION_BOOL) {
    if (typed.value)
      return fov_fail(FOV_ERR_USAGE, "--%s: takes no value, found '%.80s'", typed.name,
                      typed.value);
    return set(values, &typed, "yes");
  }
  if (typed.value) return set(values, &typed, typed.value);
  // A value that starts with two dashes needs the form --name=value.
  if (*at + 1 == argc || strncmp(argv[*at + 1], "--", 2) == 0)
    return refuse_no_value(argument, typed.option);
  return set(values, &typed, argv[++*at]);
}

FovStatus fov_arguments_parse(FovArguments *arguments, void *values, const FovOption *options) {
  int argc = arguments->argc;
  char *const *argv = arguments->argv;
  arguments->words = calloc((size_t)argc, sizeof *arguments->words);
  if (!arguments->words) return fov_fail(FOV_ERR_MEMORY, "no memory for the arguments");
  fov_value_defaults(values, options);
  bool ended = false; // by "--"
  for (int i = 1; i < argc; i++) {
    if (!ended && strcmp(argv[i], "--") == 0)
      ended = true;
    else if (!ended && argv[i][0] == '-' && argv[i][1])
      FOV_TRY(take_option(arguments, values, &i, options));
    else
      arguments->words[arguments->count++] = argv[i], arguments->passed += ended;
  }
  return FOV_OK;
}

void fov_arguments_finish(FovArguments *arguments) {
  free(arguments->words);
  *arguments = (FovArguments){0};
}

bool fov_arguments_has(const FovArguments *arguments, const FovOption *options, const char *name) {
  return arguments->given >> (fov_option_find(options, name) - options) & 1;
}

/** "--episodes N", "--split SPLIT", "-o, --output OUTPUT", "--json". */
static void write_label(char label[2 * NAME_SIZE], const FovOption *option) {
  bool number = option->type == FOV_OPTION_INT || option->type == FOV_OPTION_LONG ||
                option->type == FOV_OPTION_REAL;
  const char *letter = strcmp(option->name, "output") == 0 ? "-o, " : "";
  int length = snprintf(label, NAME_SIZE, "%s--%s", letter, option->name);
  if (option->type == FOV_OPTION_BOOL) return;
  label += length;
  *label++ = ' ';
  for (const char *c = number ? "N" : option->name; *c; c++) *label++ = (char)toupper(*c);
  *label = '\0';
}

/** The option's help, and in parentheses what it accepts and its default. */
static void write_help(char help[2 * FOV_PHRASE_SIZE], const FovOption *option) {
  char accepts[FOV_PHRASE_SIZE];
  bool value = option->type != FOV_OPTION_BOOL && option->type != FOV_OPTION_TEXT;
  fov_value_describe(accepts, option);
  if (value && option->fallback)
    snprintf(help, 2 * FOV_PHRASE_SIZE, "%s (%s; default: %s)", option->help, accepts,
             option->fallback);
  else if (value)
    snprintf(help, 2 * FOV_PHRASE_SIZE, "%s (%s)", option->help, accepts);
  else
    snprintf(help, 2 * FOV_PHRASE_SIZE, "%s", option->help);
}

void fov_arguments_help(const FovOption *options, FILE *stream) {
  static const FovHelpLayout layout = {.indent = 2, .column = 24, .width = 80};
  for (; options && options->name; options++) {
    char label[2 * NAME_SIZE], help[2 * FOV_PHRASE_SIZE];
    write_label(label, options);
    write_help(help, options);
    fov_help_entry(stream, &layout, label, help);
  }
}

void fov_arguments_join(char *text, size_t size, const FovArguments *arguments) {
  char word[1024];
  size_t length = (size_t)snprintf(text, size, "fovea");
  for (int i = 0; i < arguments->argc && length < size; i++)
    length += (size_t)snprintf(text + length, size - length, " %s",
                               fov_text_word(word, sizeof word, arguments->argv[i]));
}
