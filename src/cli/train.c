#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/team.h"
#include "cli/cli.h"
#include "cli/progress_line.h"
#include "experiment/session.h"

typedef struct Request {
  const char *run, *seed;
  bool resume;
  int threads;
} Request;

static const FovOption options[] = {
    FOV_TEXT(Request, run, "the run directory; default: runs/EXPERIMENT-sSEED"),
    FOV_BOOL(Request, resume, "no",
             "continue the run from its last checkpoint, to the same bits; with EXPERIMENT, starts "
             "the run if there is none yet"),
    FOV_TEXT(Request, seed, "the same as seed=SEED"),
    FOV_CLI_THREADS(Request),
    FOV_OPTIONS_END,
};

static volatile sig_atomic_t interrupted;

static void on_interrupt(int number) {
  interrupted = 1;
  // A second one ends the program at once.
  signal(number, SIG_DFL);
}

static void catch_signals(void) {
  signal(SIGINT, on_interrupt);
  signal(SIGTERM, on_interrupt);
  // Under nohup SIGHUP stays ignored.
  if (signal(SIGHUP, on_interrupt) == SIG_IGN) signal(SIGHUP, SIG_IGN);
  // A reader that went away must not end a training; errors of the output are reported at its end.
  signal(SIGPIPE, SIG_IGN);
}

static bool is_folder(const char *path) {
  struct stat status;
  return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/** The first word: an experiment or, with --resume, a run. */
static FovStatus choose_source(FovTrainRequest *train, const Request *request, const char *word) {
  if (!word || (!is_folder(word) && !(request->resume && !fov_file_exists(word)))) {
    train->file = word;
  } else if (!request->resume) {
    return fov_fail(FOV_ERR_USAGE,
                    "%s: a folder; to resume a run: fovea train %s --resume; to begin one, name an "
                    "experiment file",
                    word, word);
  } else if (request->run) {
    return fov_fail(FOV_ERR_USAGE, "%s and --run %s: expected one run directory", word,
                    request->run);
  } else {
    train->dir = word;
  }
  if (train->file || (request->resume && train->dir)) return FOV_OK;
  return fov_fail(FOV_ERR_USAGE,
                  "no experiment given: it comes before key=value; see fovea train --help");
}

/** Splits the words into the experiment or run and the settings; changes: [count + 1]. */
static FovStatus read_words(FovTrainRequest *train, const char **changes, char seed[64],
                            const Request *request, const FovArguments *arguments) {
  const char *const *words = (const char *const *)arguments->words;
  int count = arguments->count;
  // What looks like a setting may still be a file's name.
  bool named = count > 0 && (!strchr(words[0], '=') || fov_file_exists(words[0]));
  train->dir = request->run;
  FOV_TRY(choose_source(train, request, named ? words[0] : NULL));
  if (request->seed) {
    if (snprintf(seed, 64, "seed=%s", request->seed) >= 64)
      return fov_fail(FOV_ERR_USAGE, "--seed %.40s...: expected fewer digits", request->seed);
    changes[train->change_count++] = seed;
  }
  for (int i = named; i < count; i++) changes[train->change_count++] = words[i];
  train->changes = changes;
  return FOV_OK;
}

static FovStatus train_session(const FovTrainRequest *request) {
  FovSession session;
  FovStatus status = fov_session_prepare(&session, request);
  if (status == FOV_OK) status = fov_session_open(&session);
  if (status == FOV_OK) status = fov_session_train(&session);
  fov_session_finish(&session);
  return status;
}

/** The command line, for the log; cut where it is too long. */
static void join(char *command, size_t size, const FovArguments *arguments) {
  size_t length = (size_t)snprintf(command, size, "fovea");
  for (int i = 0; i < arguments->argc && length < size; i++)
    length += (size_t)snprintf(command + length, size - length, " %s", arguments->argv[i]);
}

static FovStatus run(const void *values, const FovArguments *arguments) {
  const Request *request = values;
  char command[1024], seed[64];
  FovProgressLine line = {0};
  FovTrainRequest train = {.threads = fov_cli_threads(request->threads),
                           .resume = request->resume,
                           .command = command,
                           .interrupted = &interrupted,
                           .reporter = {fov_progress_line_report, &line}};
  const char **changes = calloc((size_t)arguments->count + 1, sizeof *changes);
  if (!changes) return fov_fail(FOV_ERR_MEMORY, "no memory for the arguments");
  join(command, sizeof command, arguments);
  FovStatus status = read_words(&train, changes, seed, request, arguments);
  catch_signals();
  if (status == FOV_OK) status = train_session(&train);
  fov_progress_line_clear(&line);
  free(changes);
  return status;
}

const FovCommand fov_command_train = {
    .name = "train",
    .help = "train an agent on an experiment",
    .synopsis = "EXPERIMENT|RUN [key=value ...]",
    .about = "Trains the agent of an experiment file and writes a run directory: configuration,\n"
             "log, curves, checkpoints and recorded episodes. Ctrl-C saves; --resume continues.\n"
             "\n"
             "An experiment file is INI: lines of `key = value`. A line [section] puts `section.`\n"
             "before the keys that follow, so `width = 64` under [core] sets core.width.\n"
             "key=value on the command line replaces a setting of the file; fovea list settings\n"
             "prints all of them.\n"
             "\n"
             "A run is resumed with its own settings. Only train.rate and train.clip can change,\n"
             "for a training that diverged.\n",
    .examples =
        "  fovea train experiments/cluttered-60\n"
        "  fovea train experiments/cluttered-60 core=lstm train.episodes=2e6 --run runs/lstm\n"
        "  fovea train runs/lstm --resume\n"
        "  fovea train runs/lstm --resume train.rate=5e-4\n",
    .options = options,
    .size = sizeof(Request),
    .run = run,
};
