#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/team.h"
#include "base/text.h"
#include "base/version.h"
#include "cli/cli.h"
#include "cli/print.h"
#include "experiment/sweep/folder.h"
#include "record/provenance.h"

static const FovCommand *const commands[] = {
    &fov_command_train,    &fov_command_eval,  &fov_command_trace,   &fov_command_view,
    &fov_command_plot,     &fov_command_sweep, &fov_command_compare, &fov_command_explain,
    &fov_command_scanpath, &fov_command_show,  &fov_command_bench,   &fov_command_list};

enum { COMMANDS = sizeof commands / sizeof *commands };

static FovRanks ranks = {.count = 1};

FovRanks *fov_cli_ranks(void) {
  return &ranks;
}

int fov_cli_threads(int asked) {
  int threads = fov_ranks_default_threads(&ranks);
  return asked > 0 ? asked : threads;
}

/** Ends the program as the signal does, without the files that it has not finished. */
static void on_end(int number) {
  fov_replace_abort_all();
  signal(number, SIG_DFL);
  raise(number);
}

/** What a shell or nohup ignores stays ignored. */
static void set_handler(int number, void (*handler)(int)) {
  if (signal(number, handler) == SIG_IGN) signal(number, SIG_IGN);
}

static void catch_ends(void) {
  static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) set_handler(ends[i], on_end);
}

void fov_cli_release_interrupts(void) {
  set_handler(SIGINT, SIG_DFL);
  set_handler(SIGTERM, SIG_DFL);
}

static volatile sig_atomic_t interrupted;

static void on_interrupt(int number) {
  interrupted = number;
  // A second one ends the program at once.
  signal(number, on_end);
}

const volatile sig_atomic_t *fov_cli_catch_interrupts(void) {
  signal(SIGINT, on_interrupt);
  signal(SIGTERM, on_interrupt);
  set_handler(SIGHUP, on_interrupt); // which nohup ignores
  // A reader that went away must not end a training; errors of the output are reported at its end.
  signal(SIGPIPE, SIG_IGN);
  return &interrupted;
}

void fov_cli_catch_warning(void) {
  signal(SIGUSR1, on_interrupt);
}

static void print_note(void *context, const char *line) {
  (void)context;
  fov_print(stderr, "fovea: %s\n", line);
}

void fov_cli_notes(const FovSettings *settings) {
  if (settings) fov_settings_notes(settings, print_note, NULL);
}

void fov_cli_note_file(const char *path, bool checked) {
  if (!checked) fov_print(stderr, "fovea: %s: %s\n", path, fov_provenance_note);
}

void fov_cli_print_input(int glimpses, const FovObservation *shown,
                         const FovGlimpseShape *glimpse) {
  const char *several = fov_plural(glimpses);
  if (shown->kind == FOV_OBSERVATION_TOKENS)
    printf("%d reading%s of at most %d symbol%s, %d different ones", glimpses, several,
           shown->length, fov_plural(shown->length), shown->vocabulary);
  else
    printf("%d glimpse%s of %d x %d at %d scale%s", glimpses, several, glimpse->side, glimpse->side,
           glimpse->scales, fov_plural(glimpse->scales));
}

bool fov_cli_is_setting(const char *word) {
  return strchr(word, '=') && !fov_file_exists(word);
}

bool fov_cli_sets(const char *word, const char *key) {
  size_t length = strcspn(key, "=");
  word += strspn(word, " \t\n\v\f\r");
  if (strncmp(word, key, length) != 0) return false;
  word += length;
  return word[strspn(word, " \t\n\v\f\r")] == '=';
}

FovStatus fov_cli_check_name(const char *option, const char *output, const char *expected) {
  static const char *const pictures[] = {".png", ".svg", ".gif",  ".mp4",
                                         ".pdf", ".jpg", ".jpeg", ".html"};
  for (size_t i = 0; i < sizeof pictures / sizeof *pictures; i++)
    if (fov_has_ending(output, pictures[i]))
      return fov_fail(FOV_ERR_USAGE, "%s %s: expected the name of %s", option, output, expected);
  return FOV_OK;
}

FovStatus fov_cli_check_output(const char *option, const char *output, const char *source) {
  if (!fov_file_same(output, source)) return FOV_OK;
  return fov_fail(FOV_ERR_USAGE, "%s %s: would replace %s; choose another name", option, output,
                  source);
}

/** Whether the folder of an output has a file of that name. */
static bool is_beside(const char *output, const char *name) {
  char path[2 * FOV_PATH_SIZE];
  snprintf(path, sizeof path, "%.*s%s", (int)(fov_file_name(output) - output), output, name);
  return fov_file_exists(path);
}

static bool is_of_run(const char *name) {
  static const char *const files[] = {FOV_RUN_CONFIG,   FOV_RUN_JSON, FOV_RUN_LOG,
                                      FOV_RUN_PROGRESS, FOV_RUN_LAST, FOV_RUN_BEST};
  for (size_t i = 0; i < sizeof files / sizeof *files; i++)
    if (strcmp(name, files[i]) == 0) return true;
  return false;
}

/** All INI files there are the plan or its experiments. */
static bool is_of_sweep(const char *name) {
  return strcmp(name, FOV_SWEEP_RESULTS) == 0 || strcmp(name, FOV_SWEEP_LOG) == 0 ||
         strcmp(name, FOV_SWEEP_JOURNAL) == 0 || fov_has_ending(name, ".ini");
}

FovStatus fov_cli_check_folder(const char *option, const char *output) {
  const char *name = fov_file_name(output);
  bool run = is_beside(output, FOV_RUN_JSON) || is_beside(output, FOV_RUN_LAST) ||
             is_beside(output, FOV_RUN_BEST);
  if (run && is_of_run(name))
    return fov_fail(FOV_ERR_USAGE, "%s %s: would replace %s of a run; choose another name", option,
                    output, name);
  if (is_beside(output, FOV_SWEEP_PLAN) && is_of_sweep(name))
    return fov_fail(FOV_ERR_USAGE, "%s %s: would replace %s of a sweep; choose another name",
                    option, output, name);
  return FOV_OK;
}

FovStatus fov_cli_check_trained(const char *option, const char *output, const FovTrained *trained) {
  size_t count;
  const FovSetting *list = fov_settings_list(&count, trained->experiment.settings);
  for (size_t i = 0; i < count; i++) FOV_TRY(fov_cli_check_output(option, output, list[i].value));
  FOV_TRY(fov_cli_check_output(option, output, trained->path));
  return fov_cli_check_folder(option, output);
}

/* ---- help ---- */

static FovStatus print_commands(void) {
  printf("fovea %s: recurrent visual attention\n\nusage: fovea COMMAND [ARGUMENT ...]\n\n",
         fov_version);
  for (int i = 0; i < COMMANDS; i++) printf("  %-8s %s\n", commands[i]->name, commands[i]->help);
  puts("  help     print this list, or what a command does\n"
       "  version  print the version\n"
       "\nfovea help COMMAND prints its options and examples. The exit status is 0 after\n"
       "success, 2 after wrong usage, 130 after an interrupt, and 1 after any other error.");
  return FOV_OK;
}

static FovStatus print_command(const FovCommand *command) {
  printf("usage: fovea %s %s%s\n\n%s\n", command->name, command->synopsis,
         command->options ? " [OPTION ...]" : "", command->about);
  fov_arguments_help(command->options, stdout);
  printf("%sexamples:\n%s", command->options ? "\n" : "", command->examples);
  return FOV_OK;
}

static FovStatus find_command(const FovCommand **command, const char *word) {
  const char *names[COMMANDS];
  for (int i = 0; i < COMMANDS; i++) {
    names[i] = commands[i]->name;
    if (strcmp(word, names[i]) == 0) return *command = commands[i], FOV_OK;
  }
  const char *nearest = fov_nearest(word, names, COMMANDS);
  if (nearest)
    return fov_fail(FOV_ERR_USAGE, "unknown command '%s'; did you mean '%s'?", word, nearest);
  return fov_fail(FOV_ERR_USAGE, "unknown command '%s'; fovea help lists them", word);
}

static bool is_help(const char *word) {
  return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

static FovStatus help(int argc, char **argv) {
  const FovCommand *command;
  if (argc == 0 || is_help(argv[0])) return print_commands();
  if (argc > 1) return fov_fail(FOV_ERR_USAGE, "help: expected one command, found %d", argc);
  if (strcmp(argv[0], "help") == 0 || strcmp(argv[0], "version") == 0) return print_commands();
  FOV_TRY(find_command(&command, argv[0]));
  return print_command(command);
}

/* ---- running a command ---- */

static FovArguments arguments; // of the command that runs

/** An empty name or setting: from a variable of the shell that is not set. */
static FovStatus check_words(const FovCommand *command) {
  for (int i = 0; i < arguments.count; i++)
    if (!*arguments.words[i])
      return fov_fail(FOV_ERR_USAGE, "%s: argument %d is empty; expected %s", command->name, i + 1,
                      command->synopsis);
  return FOV_OK;
}

static FovStatus run_command(const FovCommand *command, int argc, char **argv) {
  for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
    if (is_help(argv[i])) return print_command(command);
  if (command->ranked) FOV_TRY(fov_ranks_start(&ranks));
  arguments = (FovArguments){.argc = argc, .argv = argv};
  void *request = calloc(1, command->size + 1);
  FovStatus status = request ? fov_arguments_parse(&arguments, request, command->options)
                             : fov_fail(FOV_ERR_MEMORY, "no memory for the arguments");
  if (status == FOV_OK) status = check_words(command);
  status = fov_ranks_agree(&ranks, status);
  if (status == FOV_OK) status = command->run(request, &arguments);
  fov_arguments_finish(&arguments);
  free(request);
  return status;
}

static FovStatus run(int argc, char **argv) {
  const FovCommand *command;
  if (argc < 2 || is_help(argv[1])) return print_commands();
  if (strcmp(argv[1], "help") == 0) return help(argc - 2, argv + 2);
  if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "version") == 0)
    return printf("fovea %s\n", fov_version), FOV_OK;
  FOV_TRY(find_command(&command, argv[1]));
  return run_command(command, argc - 1, argv + 1);
}

/* ---- the process ---- */

/** 2 for wrong usage, 130 for an interrupt as shells have it, 1 for everything else. */
static int exit_code(FovStatus status) {
  return status == FOV_OK ? 0 : status == FOV_ERR_USAGE ? 2 : status == FOV_ERR_INTERRUPT ? 130 : 1;
}

/** What all ranks have found is printed once. */
static void print_error(FovStatus status) {
  if (!fov_ranks_agreed(&ranks, status))
    fov_print(stderr, "fovea: %s (rank %d on %s)\n", fov_error_message(), ranks.rank, ranks.host);
  else if (fov_ranks_is_first(&ranks))
    fov_print(stderr, "fovea: %s\n", fov_error_message());
}

/** A file opened while 0, 1 or 2 is closed would get that number, and the program's output. */
static void open_standard_streams(void) {
  for (int fd = 0; fd <= 2; fd++)
    if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) < 0) exit(1);
}

/** A stack that is too small would end the program with SIGSEGV. The soft limit can be raised: the
 * kernel lets the stack of the first thread grow up to it. */
static FovStatus check_stack(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= FOV_STACK_SIZE) return FOV_OK;
  rlim_t found = limit.rlim_cur;
  limit.rlim_cur = FOV_STACK_SIZE;
  if (setrlimit(RLIMIT_STACK, &limit) == 0) return FOV_OK;
  return fov_fail(FOV_ERR_MEMORY, "a stack of %ju KiB, expected %d or more: ulimit -s %d",
                  (uintmax_t)found / 1024, FOV_STACK_SIZE / 1024, FOV_STACK_SIZE / 1024);
}

/** Writes to every page. If only one byte is written, Clang makes the array smaller. */
__attribute__((noinline)) static void touch_stack(void) {
  volatile char stack[FOV_STACK_SIZE / 2];
  for (size_t i = 0; i < sizeof stack; i += 4096) stack[i] = 0;
}

/** The kernel extends the stack of the first thread where it is written to, and ends the program by
 * SIGSEGV if its addresses (ulimit -v) have run out by then. So it is extended at the start. */
static FovStatus extend_stack(void) {
  size_t size = FOV_STACK_SIZE / 2;
  if (!fov_memory_has_room(size))
    return fov_fail(FOV_ERR_MEMORY, "no memory for a stack of %zu KiB", size / 1024);
  touch_stack();
  return FOV_OK;
}

/** Files stay whole, and a run keeps the checkpoint of its last evaluation. If several threads
 * find no memory, the first ends the process, and the others wait for that. */
static void end_without_memory(void) {
  static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&first);
  const char *word = arguments.count > 0 ? arguments.words[0] : "";
  fov_replace_abort_all();
  fov_print(stderr, "fovea: %s%s%s: %s\n", arguments.argv[0], *word ? " " : "", word,
            fov_error_message());
  fov_ranks_finish(&ranks, FOV_ERR_MEMORY);
  _exit(1);
}

int main(int argc, char **argv) {
  open_standard_streams();
  signal(SIGXFSZ, SIG_IGN); // a write beyond the limit then fails with EFBIG
  catch_ends();
  fov_on_no_memory(end_without_memory);
  FovStatus status = check_stack();
  if (status == FOV_OK) status = extend_stack();
  if (status == FOV_OK) status = run(argc, argv);
  if (status == FOV_OK) status = fov_print_finish();
  if (status != FOV_OK) print_error(status);
  fov_ranks_finish(&ranks, status);
  return exit_code(status);
}
