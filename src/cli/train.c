#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/team.h"
#include "cli/cli.h"
#include "cli/experiment.h"
#include "record/checkpoint.h"
#include "record/progress.h"
#include "record/recorder.h"
#include "record/run.h"
#include "record/tfevents.h"

/** What was asked for on the command line. */
typedef struct Request {
  const char *file; /**< the experiment; NULL: the run's own configuration */
  const char *seed; /**< "seed=N" or NULL */
  char **changes;   /**< key=value */
  int change_count;
  char dir[FOV_PATH_SIZE / 2];
  bool resume;
  int threads;
  char command[1024]; /**< as typed */
} Request;

/** A training under way. */
typedef struct Session {
  const Request *request;
  FovExperiment experiment;
  FovEnv train, valid;
  FovTrainer *trainer;
  FovRun run;
  FovTfevents *events;
  FovBest best;
  char *config;
  double before;   /**< seconds of the parts before this one */
  double started;  /**< of this part, on the monotonic clock */
  double training; /**< seconds since the last row without the evaluations */
  int64_t first;   /**< update at which this part started */
  int64_t counted; /**< updates whose time is in `training` */
} Session;

static volatile sig_atomic_t interrupted;

static void on_interrupt(int number) {
  interrupted = 1;
  // A second one ends the program at once.
  signal(number, SIG_DFL);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static char *run_path(char *path, const Session *session, const char *name) {
  return fov_run_path(path, &session->run, name);
}

static FovStatus tell(const Session *session, const char *outcome) {
  FovRunFacts facts = {.command = session->request->command,
                       .seed = session->experiment.general.seed,
                       .threads = session->request->threads,
                       .outcome = outcome};
  return fov_run_tell(&session->run, &facts);
}

/** The settings of a run that goes on must be those it was begun with. */
static FovStatus check_same_config(const char *config, const char *path) {
  char *kept;
  FOV_TRY(fov_checkpoint_config(&kept, path));
  bool same = strcmp(kept, config) == 0;
  FovStatus status = FOV_OK;
  if (!same) {
    size_t at = 0;
    while (config[at] && config[at] == kept[at]) at++;
    while (at > 0 && config[at - 1] != '\n') at--;
    status = fov_fail(
        FOV_ERR_USAGE, "%s: was begun with '%.*s', not with '%.*s'; choose another --run", path,
        (int)strcspn(kept + at, "\n"), kept + at, (int)strcspn(config + at, "\n"), config + at);
  }
  free(kept);
  return status;
}

static FovStatus read_settings(Session *session) {
  const Request *request = session->request;
  FovSettings *settings = session->experiment.settings;
  if (request->file) {
    FOV_TRY(fov_settings_read(settings, request->file));
  } else {
    char path[FOV_PATH_SIZE], *config;
    FOV_TRY(fov_checkpoint_config(&config, run_path(path, session, FOV_RUN_LAST)));
    FovStatus status = fov_settings_parse(settings, config, path);
    free(config);
    FOV_TRY(status);
  }
  for (int i = 0; i < request->change_count; i++)
    FOV_TRY(fov_settings_add(settings, request->changes[i]));
  if (request->seed) FOV_TRY(fov_settings_add(settings, request->seed));
  return FOV_OK;
}

/** Everything that can be wrong with the experiment is found before a file is touched. */
static FovStatus prepare(Session *session) {
  FovExperiment *experiment = &session->experiment;
  FOV_TRY(fov_experiment_init(experiment));
  snprintf(session->run.dir, sizeof session->run.dir, "%s", session->request->dir);
  FOV_TRY(read_settings(session));
  FOV_TRY(fov_experiment_resolve(experiment));
  FOV_TRY(fov_config_dump(&session->config, &experiment->config));
  FOV_TRY(fov_experiment_env(&session->train, experiment, FOV_SPLIT_TRAIN));
  FOV_TRY(fov_experiment_env(&session->valid, experiment, FOV_SPLIT_VALID));
  fov_experiment_build(experiment, &session->train.spec);
  FovTraining training = fov_experiment_training(experiment, &session->train);
  return fov_trainer_create(&session->trainer, &training, session->request->threads);
}

static FovStatus save(const Session *session, const char *name) {
  char path[FOV_PATH_SIZE];
  return fov_checkpoint_save(run_path(path, session, name), &session->experiment.agent.params,
                             fov_trainer_state(session->trainer), &session->best, session->config);
}

/** Goes on from the last checkpoint: forgets what was written after it. */
static FovStatus load(Session *session) {
  char path[FOV_PATH_SIZE];
  FovTrainerState *state = fov_trainer_state(session->trainer);
  FOV_TRY(check_same_config(session->config, run_path(path, session, FOV_RUN_LAST)));
  FOV_TRY(fov_checkpoint_load(state, &session->best, &session->experiment.agent.params, path));
  run_path(path, session, FOV_RUN_PROGRESS);
  if (!fov_file_exists(path)) return FOV_OK;
  FOV_TRY(fov_progress_truncate(path, state->update));
  FovProgress *rows;
  size_t count;
  FOV_TRY(fov_progress_read(&rows, &count, path));
  if (count > 0) session->before = rows[count - 1].seconds;
  free(rows);
  return FOV_OK;
}

static FovStatus begin(Session *session) {
  char path[FOV_PATH_SIZE];
  FOV_TRY(fov_file_write(run_path(path, session, FOV_RUN_CONFIG), session->config,
                         strlen(session->config)));
  run_path(path, session, FOV_RUN_PROGRESS);
  if (fov_file_exists(path)) FOV_TRY(fov_progress_truncate(path, -1));
  return save(session, FOV_RUN_LAST);
}

static FovStatus open_run(Session *session) {
  FOV_TRY(fov_run_open(&session->run, session->request->dir, session->request->resume));
  FOV_TRY(session->run.resumed ? load(session) : begin(session));
  session->first = session->counted = fov_trainer_state(session->trainer)->update;
  FOV_TRY(fov_tfevents_open(&session->events, session->run.dir, (double)time(NULL),
                            session->run.resumed, session->first + 1));
  FOV_TRY(fov_run_log(&session->run, "%s", session->request->command));
  FOV_TRY(fov_run_log(&session->run, "%s at update %lld with %d threads",
                      session->run.resumed ? "resumed" : "began", (long long)session->first,
                      session->request->threads));
  return tell(session, "running");
}

static double epoch(const Session *session) {
  const FovTrainOptions *o = &session->experiment.train;
  double images = (double)fov_trainer_state(session->trainer)->update * o->batch / o->copies;
  return images / (double)session->train.spec.cases;
}

/** One row, from the sums since the last and an evaluation. */
static FovProgress make_row(const Session *session, const FovEvaluation *valid) {
  const FovTrainerState *state = fov_trainer_state(session->trainer);
  const FovExperiment *experiment = &session->experiment;
  const FovSums *sums = &state->sums;
  FovTask task = fov_experiment_task(experiment, &session->train);
  double episodes = (double)sums->episodes;
  double glimpses = (double)(state->update - session->counted) * experiment->train.batch *
                    experiment->agent_options.glimpses;
  return (FovProgress){
      .update = state->update,
      .episodes = state->update * experiment->train.batch,
      .epoch = epoch(session),
      .seconds = session->before + now() - session->started,
      .rate = fov_trainer_rate(session->trainer),
      .sigma = task.policy->sigma
                   ? task.policy->sigma(task.policy_options, fov_trainer_progress(session->trainer))
                   : NAN,
      .train_error = (double)sums->wrong / episodes,
      .train_reward = sums->reward / episodes,
      .class_loss = sums->class_loss / episodes,
      .baseline_loss = fov_experiment_training(experiment, &session->train).baseline->learned
                           ? sums->baseline_loss / episodes
                           : NAN,
      .gradient_norm = sums->gradient_norm / (double)sums->updates,
      .valid_error = (double)valid->wrong / (double)valid->cases,
      .valid_reward = valid->reward,
      .glimpses_per_second = glimpses / session->training,
  };
}

static FovStatus write_events(Session *session, const FovProgress *row) {
  const struct {
    const char *tag;
    double value;
  } scalars[] = {
      {"train/error", row->train_error},
      {"train/reward", row->train_reward},
      {"train/class_loss", row->class_loss},
      {"train/baseline_loss", row->baseline_loss},
      {"train/gradient_norm", row->gradient_norm},
      {"train/rate", row->rate},
      {"train/sigma", row->sigma},
      {"train/glimpses_per_second", row->glimpses_per_second},
      {"valid/error", row->valid_error},
      {"valid/reward", row->valid_reward},
  };
  double wall_time = (double)time(NULL);
  for (size_t i = 0; i < sizeof scalars / sizeof *scalars; i++)
    if (isfinite(scalars[i].value))
      FOV_TRY(fov_tfevents_scalar(session->events, scalars[i].tag, row->update,
                                  (float)scalars[i].value, wall_time));
  return fov_tfevents_flush(session->events);
}

static FovStatus record_trace(const Session *session, const FovTask *task) {
  char path[FOV_PATH_SIZE];
  const FovExperiment *experiment = &session->experiment;
  FovRecord record = {.task = task,
                      .values = fov_trainer_weights(session->trainer),
                      .update = fov_trainer_state(session->trainer)->update,
                      .episodes = experiment->eval.episodes,
                      .predict =
                          fov_experiment_training(experiment, &session->train).baseline->learned,
                      .seed = (uint64_t)experiment->eval.seed};
  FovTrace trace;
  FOV_TRY(fov_record_trace(&trace, &record, fov_trainer_workspace(session->trainer)));
  FovStatus status = fov_trace_write(&trace, run_path(path, session, FOV_RUN_TRACE));
  fov_trace_finish(&trace);
  return status;
}

/** "1:02:03", "2:03". */
static const char *duration(char text[32], double seconds) {
  long s = (long)(seconds + 0.5);
  if (s >= 3600)
    snprintf(text, 32, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
  else
    snprintf(text, 32, "%ld:%02ld", s / 60, s % 60);
  return text;
}

static double seconds_left(const Session *session) {
  int64_t update = fov_trainer_state(session->trainer)->update;
  double done = (double)(update - session->first);
  return (now() - session->started) / done *
         (double)(fov_trainer_updates(session->trainer) - update);
}

static void print_row(const Session *session, const FovProgress *row) {
  char left[32];
  if (isatty(STDOUT_FILENO)) fputs("\r\033[K", stdout);
  printf(
      "epoch %6.1f   error %6.2f %%   train %6.2f %%   reward %6.3f   %7.0f glimpses/s   %s left\n",
      row->epoch, 100 * row->valid_error, 100 * row->train_error, row->train_reward,
      row->glimpses_per_second, duration(left, seconds_left(session)));
  fflush(stdout);
}

static void print_bar(const Session *session) {
  char left[32];
  const FovSums *sums = &fov_trainer_state(session->trainer)->sums;
  double progress = fov_trainer_progress(session->trainer), episodes = (double)sums->episodes;
  int filled = (int)(24 * progress);
  printf("\r\033[K[%.*s%.*s] %3.0f %%   epoch %.1f   train error %5.2f %%   reward %.3f   %s left",
         filled, "########################", 24 - filled, "------------------------",
         100 * progress, epoch(session), 100 * (double)sums->wrong / episodes,
         sums->reward / episodes, duration(left, seconds_left(session)));
  fflush(stdout);
}

static FovStatus evaluate(Session *session) {
  FovTrainerState *state = fov_trainer_state(session->trainer);
  const FovEvalOptions *eval = &session->experiment.eval;
  FovTask task = fov_experiment_task(&session->experiment, &session->valid);
  int64_t cases = session->valid.spec.cases;
  FovEvaluate what = {.task = &task,
                      .values = fov_trainer_weights(session->trainer),
                      .cases = eval->cases > 0 && eval->cases < cases ? eval->cases : cases,
                      .rollouts = 1,
                      .seed = (uint64_t)eval->seed,
                      .threads = session->request->threads};
  FovEvaluation valid;
  FOV_TRY(fov_evaluate(&valid, &what, fov_trainer_workspace(session->trainer)));
  FovProgress row = make_row(session, &valid);
  char path[FOV_PATH_SIZE];
  FOV_TRY(fov_progress_append(run_path(path, session, FOV_RUN_PROGRESS), &row));
  FOV_TRY(write_events(session, &row));
  FOV_TRY(fov_run_log(&session->run,
                      "update %lld: validation error %.2f %%, training error %.2f %%",
                      (long long)row.update, 100 * row.valid_error, 100 * row.train_error));
  FOV_TRY(record_trace(session, &task));
  print_row(session, &row);
  state->sums = (FovSums){0};
  session->training = 0;
  session->counted = state->update;
  if (row.valid_error < session->best.error) {
    session->best = (FovBest){.error = row.valid_error, .update = row.update};
    FOV_TRY(save(session, FOV_RUN_BEST));
  }
  return save(session, FOV_RUN_LAST);
}

/** Whether an evaluation is due after the update just made: `times` of them, evenly spaced. */
static bool is_due(const Session *session) {
  double update = (double)fov_trainer_state(session->trainer)->update;
  double times = session->experiment.eval.times;
  double updates = (double)fov_trainer_updates(session->trainer);
  return floor(update * times / updates) > floor((update - 1) * times / updates);
}

static FovStatus train(Session *session) {
  const FovTrainerState *state = fov_trainer_state(session->trainer);
  double drawn = 0;
  session->started = now();
  while (state->update < fov_trainer_updates(session->trainer)) {
    if (interrupted) {
      FOV_TRY(save(session, FOV_RUN_LAST));
      return fov_fail(FOV_ERR_INTERRUPT,
                      "interrupted and saved; go on with: fovea train --resume --run %s",
                      session->run.dir);
    }
    double start = now();
    FOV_TRY(fov_trainer_update(session->trainer));
    session->training += now() - start;
    if (isatty(STDOUT_FILENO) && now() - drawn > 0.2) {
      print_bar(session);
      drawn = now();
    }
    if (is_due(session)) FOV_TRY(evaluate(session));
  }
  return FOV_OK;
}

static void print_start(const Session *session) {
  const FovExperiment *e = &session->experiment;
  printf("%s: %s, %d glimpses of %d x %d at %d scales, core %s, %zu parameters, %d threads\n",
         session->run.dir, e->slots[FOV_SLOT_ENV].plugin->name, e->agent_options.glimpses,
         e->sensor.side, e->sensor.side, e->sensor.scales, e->slots[FOV_SLOT_CORE].plugin->name,
         fov_params_learned(&e->agent.params), session->request->threads);
  if (session->run.resumed) printf("resumed at update %lld\n", (long long)session->first);
  fflush(stdout);
}

/** Trains in an open run and says in run.json how it ended, whichever way. */
static FovStatus train_to_the_end(Session *session) {
  print_start(session);
  FovStatus status = train(session);
  if (status != FOV_OK && isatty(STDOUT_FILENO)) fputs("\n", stdout);
  // A loss that is not finite leaves the state before it, which is worth keeping.
  if (status == FOV_ERR_NUMBER) {
    char message[1024];
    snprintf(message, sizeof message, "%s", fov_error_message());
    if (save(session, FOV_RUN_LAST) == FOV_OK) fov_fail(status, "%s", message);
  }
  char outcome[1024];
  snprintf(outcome, sizeof outcome, "%s",
           status == FOV_OK              ? "finished"
           : status == FOV_ERR_INTERRUPT ? "interrupted"
                                         : fov_error_message());
  if (status == FOV_OK) {
    FOV_TRY(fov_run_log(&session->run, "finished"));
    FOV_TRY(tell(session, outcome));
    printf("best validation error %.2f %% at update %lld; test it once with: fovea eval %s\n",
           100 * session->best.error, (long long)session->best.update, session->run.dir);
    return FOV_OK;
  }
  char message[1024];
  snprintf(message, sizeof message, "%s", fov_error_message());
  // The first failure is the one to report, even if this one fails as well.
  if (fov_run_log(&session->run, "%s", message) == FOV_OK) tell(session, outcome);
  return fov_fail(status, "%s", message);
}

static void finish(Session *session) {
  fov_tfevents_close(session->events);
  fov_run_close(&session->run);
  fov_trainer_destroy(session->trainer);
  fov_env_finish(&session->valid);
  fov_env_finish(&session->train);
  free(session->config);
  fov_experiment_finish(&session->experiment);
}

/** runs/NAME-sSEED, from the experiment's file and its seed. */
static FovStatus default_dir(Request *request, int64_t seed) {
  const char *slash = strrchr(request->file, '/'), *name = slash ? slash + 1 : request->file;
  size_t length = strcspn(name, ".");
  int size = snprintf(request->dir, sizeof request->dir, "runs/%.*s-s%lld", (int)length, name,
                      (long long)seed);
  return size < (int)sizeof request->dir
             ? FOV_OK
             : fov_fail(FOV_ERR_USAGE, "%s: a name too long for a run; give one with --run", name);
}

static FovStatus train_request(Request *request) {
  Session session = {.request = request, .run = {.log = -1}, .best = {.error = INFINITY}};
  FovStatus status = prepare(&session);
  if (status == FOV_OK && !request->dir[0])
    status = default_dir(request, session.experiment.general.seed);
  if (status == FOV_OK) status = open_run(&session);
  if (status == FOV_OK) status = train_to_the_end(&session);
  finish(&session);
  return status;
}

static FovStatus parse(Request *request, int argc, char **argv) {
  static const struct option options[] = {{"run", required_argument, NULL, 'r'},
                                          {"resume", no_argument, NULL, 'R'},
                                          {"seed", required_argument, NULL, 's'},
                                          {"threads", required_argument, NULL, 't'},
                                          {0}};
  static char seed[64];
  long long number;
  for (int letter; (letter = getopt_long(argc, argv, "", options, NULL)) != -1;) {
    switch (letter) {
    case 'r':
      if (strlen(optarg) >= sizeof request->dir)
        return fov_fail(FOV_ERR_USAGE, "--run: a path of more than %zu bytes",
                        sizeof request->dir - 1);
      snprintf(request->dir, sizeof request->dir, "%s", optarg);
      break;
    case 'R':
      request->resume = true;
      break;
    case 's':
      FOV_TRY(fov_cli_number(&number, optarg, "--seed", 0, 9000000000000000));
      snprintf(seed, sizeof seed, "seed=%lld", number);
      request->seed = seed;
      break;
    case 't':
      FOV_TRY(fov_cli_number(&number, optarg, "--threads", 1, FOV_MAX_THREADS));
      request->threads = (int)number;
      break;
    default:
      return fov_cli_bad_option(&fov_command_train, argv[optind - 1]);
    }
  }
  if (optind < argc && !strchr(argv[optind], '=')) request->file = argv[optind++];
  request->changes = argv + optind;
  request->change_count = argc - optind;
  if (!request->file && !(request->resume && request->dir[0]))
    return fov_fail(FOV_ERR_USAGE, "no experiment given; see fovea train --help");
  return FOV_OK;
}

static FovStatus run(int argc, char **argv) {
  Request request = {.threads = fov_team_default_threads()};
  size_t length = (size_t)snprintf(request.command, sizeof request.command, "fovea");
  for (int i = 0; i < argc && length < sizeof request.command; i++)
    length +=
        (size_t)snprintf(request.command + length, sizeof request.command - length, " %s", argv[i]);
  FOV_TRY(parse(&request, argc, argv));
  signal(SIGINT, on_interrupt);
  signal(SIGTERM, on_interrupt);
  return train_request(&request);
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
