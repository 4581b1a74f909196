#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/team.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/progress_line.h"
#include "experiment/session.h"
#include "record/run.h"

typedef struct Request {
  const char *run, *seed, *init;
  bool resume;
  int threads;
} Request;

static const FovOption options[] = {
    FOV_TEXT(Request, run, "the run directory; default: runs/EXPERIMENT-sSEED"),
    FOV_BOOL(Request, resume, "no",
             "continue the run from its last checkpoint, with the same bits as without the "
             "interruption; with EXPERIMENT, start the run if there is none yet"),
    FOV_TEXT(Request, seed, "the same as seed=SEED, an integer from 0; default: 0"),
    FOV_TEXT(Request, init,
             "the same as train.init=INIT: start from the weights of a run or checkpoint"),
    FOV_CLI_THREADS(Request),
    FOV_OPTIONS_END,
};

static bool is_folder(const char *path) {
  struct stat status;
  return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static FovStatus refuse_folder(const char *word) {
  char last[FOV_PATH_SIZE], quoted[FOV_PATH_SIZE];
  if (fov_run_find(last, word, FOV_RUN_LAST) != FOV_OK || !fov_file_exists(last))
    return fov_fail(FOV_ERR_USAGE, "%s: expected an experiment file, found a folder", word);
  return fov_fail(FOV_ERR_USAGE,
                  "%s: a folder; to resume a run: fovea train %s --resume; to begin one, name an "
                  "experiment file",
                  word, fov_text_word(quoted, sizeof quoted, word));
}

/** The first word: an experiment or, with --resume, a run. */
static FovStatus choose_source(FovTrainRequest *train, const Request *request, const char *word) {
  if (word && fov_has_ending(word, ".safetensors") && fov_file_exists(word))
    return fov_fail(
        FOV_ERR_USAGE, "%s: expected an experiment or a run, found a checkpoint or trace; %s", word,
        request->resume ? "to resume its run, name the folder"
                        : "to start from the weights of a checkpoint: --init CHECKPOINT");
  if (!word || (!is_folder(word) && !(request->resume && !fov_file_exists(word)))) {
    train->file = word;
  } else if (!request->resume) {
    return refuse_folder(word);
  } else if (request->run && !fov_file_exists(word)) {
    return fov_fail(FOV_ERR_IO, "%s: no such experiment or run", word);
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

/** What --seed and --init stand for. */
typedef struct OwnChanges {
  char seed[FOV_STRING_SIZE], init[FOV_STRING_SIZE];
} OwnChanges;

/** Adds `key=value` to the changes, if there is a value. */
static FovStatus add_own(FovTrainRequest *train, const char **changes, char text[FOV_STRING_SIZE],
                         const char *key, const char *value) {
  if (!value) return FOV_OK;
  if (snprintf(text, FOV_STRING_SIZE, "%s=%s", key, value) >= FOV_STRING_SIZE)
    return fov_fail(FOV_ERR_USAGE, "%s = %.40s...: expected less than %d bytes", key, value,
                    FOV_STRING_SIZE - (int)strlen(key) - 1);
  changes[train->change_count++] = text;
  return FOV_OK;
}

/** Splits the words into the experiment or run and the settings; changes: [count + 2]. */
static FovStatus read_words(FovTrainRequest *train, const char **changes, OwnChanges *own,
                            const Request *request, const FovArguments *arguments) {
  const char *const *words = (const char *const *)arguments->words;
  int count = arguments->count;
  bool named = count > 0 && !fov_cli_is_setting(words[0]);
  train->dir = request->run;
  FOV_TRY(choose_source(train, request, named ? words[0] : NULL));
  FOV_TRY(add_own(train, changes, own->seed, "seed", request->seed));
  FOV_TRY(add_own(train, changes, own->init, "train.init", request->init));
  for (int i = named; i < count; i++) changes[train->change_count++] = words[i];
  train->changes = changes;
  return FOV_OK;
}

/** Fails unless all ranks have found an experiment, or all a run: one host may lack the file. */
static FovStatus check_source(const FovTrainRequest *train) {
  bool found = fov_ranks_any(train->ranks, train->file != NULL);
  FovStatus status = FOV_OK;
  if (found && !train->file)
    status = fov_fail(FOV_ERR_IO, "%s: no such experiment on this host, found on another one",
                      train->dir);
  return fov_ranks_agree(train->ranks, status);
}

static FovStatus run(const void *values, const FovArguments *arguments) {
  const Request *request = values;
  char command[1024];
  OwnChanges own;
  FovProgressLine line = {0};
  FovTrainRequest train = {.threads = fov_cli_threads(request->threads),
                           .resume = request->resume,
                           .command = command,
                           .interrupted = fov_cli_catch_interrupts(),
                           .ranks = fov_cli_ranks()};
  if (fov_ranks_is_first(train.ranks))
    train.reporter = (FovReporter){fov_progress_line_report, &line};
  const char **changes = calloc((size_t)arguments->count + 2, sizeof *changes);
  if (!changes) return fov_fail(FOV_ERR_MEMORY, "no memory for the arguments");
  fov_arguments_join(command, sizeof command, arguments);
  FovStatus status =
      fov_ranks_agree(train.ranks, read_words(&train, changes, &own, request, arguments));
  if (status == FOV_OK) status = check_source(&train);
  if (status == FOV_OK) status = fov_session_run(&train);
  fov_progress_line_clear(&line);
  free(changes);
  return status;
}

const FovCommand fov_command_train = {
    .name = "train",
    .help = "train an agent on an experiment",
    .synopsis = "EXPERIMENT|RUN [key=value ...]",
    .about =
        "Trains the agent of an experiment file and writes a run directory: configuration,\n"
        "log, curves, checkpoints and recorded episodes. Ctrl-C saves; --resume continues.\n"
        "\n"
        "An experiment file is INI: lines of `key = value`. A line [section] puts `section.`\n"
        "before the keys that follow, so `width = 64` under [core] sets core.width.\n"
        "key=value on the command line replaces a setting of the file; fovea list settings\n"
        "prints all of them.\n"
        "\n"
        "Under mpirun, several processes train one agent together, each with its own threads,\n"
        "and the result has the same bits as with one process. This needs a build with\n"
        "-Dmpi=enabled; see experiments/README.md.\n"
        "\n"
        "A run is resumed with its own settings. Only four can change: train.rate and\n"
        "train.clip, for a training that diverged, and train.episodes and train.patience. With\n"
        "more episodes a finished run continues, at the learning rate of the longer schedule.\n",
    .examples =
        "  fovea train experiments/cluttered-60\n"
        "  fovea train experiments/cluttered-60 core=lstm train.episodes=2e6 --run runs/lstm\n"
        "  fovea train runs/lstm --resume\n"
        "  fovea train runs/lstm --resume train.rate=5e-4\n"
        "  fovea train runs/lstm --resume train.episodes=4e6\n"
        "  mpirun -n 2 fovea train experiments/cluttered-60 --threads 4\n"
        "  fovea train experiments/cluttered-100 --init runs/lstm core=lstm sensor.scales=3\n",
    .options = options,
    .size = sizeof(Request),
    .ranked = true,
    .run = run,
};
