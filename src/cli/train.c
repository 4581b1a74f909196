#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/team.h"
#include "cli/cli.h"
#include "cli/progress_line.h"
#include "experiment/session.h"

static volatile sig_atomic_t interrupted;

static void on_interrupt(int number) {
  interrupted = 1;
  // A second one ends the program at once.
  signal(number, SIG_DFL);
}

/** Reads the options; `seed` is room for the setting that --seed stands for. */
static FovStatus parse_options(FovTrainRequest *request, char seed[64], int argc, char **argv) {
  static const struct option options[] = {{"run", required_argument, NULL, 'r'},
                                          {"resume", no_argument, NULL, 'R'},
                                          {"seed", required_argument, NULL, 's'},
                                          {"threads", required_argument, NULL, 't'},
                                          {0}};
  long long number;
  for (int letter; (letter = getopt_long(argc, argv, "", options, NULL)) != -1;) {
    switch (letter) {
    case 'r':
      request->dir = optarg;
      break;
    case 'R':
      request->resume = true;
      break;
    case 's':
      FOV_TRY(fov_cli_number(&number, optarg, "--seed", 0, 9000000000000000));
      snprintf(seed, 64, "seed=%lld", number);
      break;
    case 't':
      FOV_TRY(fov_cli_threads(&request->threads, optarg));
      break;
    default:
      return fov_cli_bad_option(&fov_command_train, argv);
    }
  }
  return FOV_OK;
}

static FovStatus train(const FovTrainRequest *request) {
  FovSession session;
  FovStatus status = fov_session_prepare(&session, request);
  if (status == FOV_OK) status = fov_session_open(&session);
  if (status == FOV_OK) status = fov_session_train(&session);
  fov_session_finish(&session);
  return status;
}

static FovStatus run(int argc, char **argv) {
  char command[1024], seed[64] = "";
  size_t length = (size_t)snprintf(command, sizeof command, "fovea");
  for (int i = 0; i < argc && length < sizeof command; i++)
    length += (size_t)snprintf(command + length, sizeof command - length, " %s", argv[i]);
  FovProgressLine line = {0};
  FovTrainRequest request = {.threads = fov_team_default_threads(),
                             .command = command,
                             .interrupted = &interrupted,
                             .reporter = {fov_progress_line_report, &line}};
  FOV_TRY(parse_options(&request, seed, argc, argv));
  // What looks like a setting may still be a file's name.
  if (optind < argc && (!strchr(argv[optind], '=') || fov_file_exists(argv[optind])))
    request.file = argv[optind++];
  if (!request.file && !(request.resume && request.dir))
    return fov_fail(FOV_ERR_USAGE,
                    "no experiment given: it comes before key=value; see fovea train --help");
  // --seed takes the place of the experiment's name, before the settings that are left.
  if (seed[0]) argv[--optind] = seed;
  request.changes = argv + optind;
  request.change_count = argc - optind;
  signal(SIGINT, on_interrupt);
  signal(SIGTERM, on_interrupt);
  // nohup asks to outlive the terminal.
  if (signal(SIGHUP, on_interrupt) == SIG_IGN) signal(SIGHUP, SIG_IGN);
  // A reader that went away must not end a training; the output's errors are reported at its end.
  signal(SIGPIPE, SIG_IGN);
  FovStatus status = train(&request);
  fov_progress_line_clear(&line);
  return status;
}

const FovCommand fov_command_train = {
    .name = "train",
    .help = "train an agent as an experiment file says",
    .usage =
        "usage: fovea train EXPERIMENT [key=value ...] [--run DIR] [--resume] [--seed N] "
        "[--threads N]\n"
        "\n"
        "Trains an agent and leaves a run directory: configuration, log, curves, checkpoints and\n"
        "recorded episodes. Ctrl-C saves; --resume goes on bit for bit.\n"
        "\n"
        "  key=value     change a setting of the experiment; fovea list settings shows them all\n"
        "  --run DIR     the run directory (default: runs/EXPERIMENT-sSEED)\n"
        "  --resume      go on with the run; EXPERIMENT may then be left out if --run is given\n"
        "  --seed N      the same as seed=N\n"
        "  --threads N   default: all processors; the result does not depend on it\n"
        "\n"
        "examples:\n"
        "  fovea train experiments/cluttered-60\n"
        "  fovea train experiments/cluttered-60 core=lstm train.episodes=2e6 --run runs/lstm\n"
        "  fovea train --resume --run runs/lstm\n",
    .run = run,
};
