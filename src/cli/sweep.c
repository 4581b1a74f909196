#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/team.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/print.h"
#include "cli/slurm.h"
#include "cli/sweep_table.h"

typedef struct Request {
  const char *output, *seeds, *rows;
  int trials, rollouts, jobs, threads, tasks;
  bool halving, test, dry_run, slurm, requeue;
} Request;

static const FovOption options[] = {
    FOV_TEXT(Request, output, "the folder of the sweep; required"),
    FOV_TEXT(Request, seeds, "a seed, or the first and the last: 0:4; default: 0"),
    FOV_TEXT(Request, rows, "work on these rows only: soft,gaze; default: all"),
    FOV_INT(Request, trials, NULL, 1, FOV_SWEEP_RUNS,
            "configurations; required if a setting is drawn, not allowed otherwise"),
    FOV_INT(Request, jobs, NULL, 1, FOV_MAX_THREADS,
            "runs at a time; default: as many as processors and memory allow"),
    FOV_INT(Request, threads, NULL, 1, FOV_MAX_THREADS,
            "threads of a run; default: the processors divided by the jobs"),
    FOV_BOOL(Request, halving, "no",
             "stop early the runs whose validation error is not among the best third (ASHA)"),
    FOV_BOOL(Request, test, "no",
             "afterwards test the configuration with the lowest mean validation error; with rows, "
             "that of each row"),
    FOV_INT(Request, rollouts, NULL, 1, 1000,
            "with --test, also test with N sampled rollouts with averaged log-probabilities; "
            "default: 1, the deterministic test only"),
    {"dry-run", FOV_OPTION_BOOL, offsetof(Request, dry_run), 0, 0, NULL, "no",
     "list the runs, or print the script of --slurm, and start nothing"},
    FOV_BOOL(Request, slurm, "no",
             "submit an array job to Slurm; words after -- are options of sbatch"),
    FOV_INT(Request, tasks, NULL, 1, FOV_SWEEP_RUNS,
            "with --slurm, tasks of the array; default: one for each --jobs runs, at most 64"),
    FOV_BOOL(Request, requeue, "no",
             "on SIGUSR1 save all runs and requeue this Slurm job; --slurm uses it"),
    FOV_OPTIONS_END,
};

enum { LONGEST_SEEDS = 100 };

/** What the options set in the section [sweep], then the words. */
typedef struct Changes {
  char own[5][128];
  const char **list;
  int count;
} Changes;

__attribute__((format(printf, 2, 3))) static void change(Changes *changes, const char *format,
                                                         ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(changes->own[changes->count], sizeof *changes->own, format, arguments);
  va_end(arguments);
  changes->list[changes->count] = changes->own[changes->count];
  changes->count++;
}

static void gather(Changes *changes, const Request *request, const char *const *words, int count) {
  if (request->seeds) change(changes, "sweep.seeds=%s", request->seeds);
  if (request->trials) change(changes, "sweep.trials=%d", request->trials);
  if (request->halving) change(changes, "sweep.halving=yes");
  if (request->test) change(changes, "sweep.test=yes");
  if (request->rollouts) change(changes, "sweep.rollouts=%d", request->rollouts);
  for (int i = 0; i < count; i++) changes->list[changes->count++] = words[i];
}

enum { MOST_NOTES = 16 };

/** Notes on the settings of a plan, each printed once. */
typedef struct Notes {
  char lines[MOST_NOTES][FOV_PHRASE_SIZE];
  int count;
  const char *label; // of the configuration
} Notes;

static void print_note(void *context, const char *line) {
  Notes *notes = context;
  for (int i = 0; i < notes->count; i++)
    if (strcmp(notes->lines[i], line) == 0) return;
  if (notes->count == MOST_NOTES) return;
  snprintf(notes->lines[notes->count++], FOV_PHRASE_SIZE, "%s", line);
  fov_print(stderr, "fovea: %s%s%s%s\n", line, *notes->label ? " (configuration: " : "",
            notes->label, *notes->label ? ")" : "");
}

/** Prints the notes on the configurations that are worked on. */
static FovStatus print_notes(const FovSweep *sweep) {
  char label[4 * FOV_STRING_SIZE];
  FovSweepReport report = fov_sweep_report(sweep);
  const FovSweepPlan *plan = report.plan;
  Notes notes = {.label = label};
  for (int run = 0; run < report.count; run += plan->seeds) {
    if (report.runs[run].left_out) continue;
    FovExperiment experiment;
    int i = report.runs[run].configuration;
    FovStatus status = fov_sweep_resolve(&experiment, plan, i);
    fov_sweep_describe(label, sizeof label, plan, i);
    if (status == FOV_OK) fov_settings_notes(experiment.settings, print_note, &notes);
    fov_experiment_finish(&experiment);
    FOV_TRY(status);
  }
  return FOV_OK;
}

static void print_plan(const FovSweepReport *report) {
  char label[4 * FOV_STRING_SIZE];
  int count = 0;
  for (int i = 0; i < report->count; i++) {
    const FovSweepRun *run = &report->runs[i];
    if (run->left_out) continue;
    fov_sweep_describe(label, sizeof label, report->plan, run->configuration);
    fov_print(stdout, "%s%s%s seed=%lld\n", run->name, *label ? " " : "", label,
              (long long)run->seed);
    count++;
  }
  printf("%d run%s, %d at a time with %d thread%s each\n", count, fov_plural(count), report->jobs,
         report->threads, fov_plural(report->threads));
}

/** Runs that no process is known to have ended. */
static int unfinished(const FovSweepReport *report) {
  int count = 0;
  for (int i = 0; i < report->count; i++)
    count += report->runs[i].state == FOV_SWEEP_WAITING && !report->runs[i].left_out;
  return count;
}

/** Fails if every run has failed or diverged, or if a test has failed, so that no command after
 * this one goes on. */
static FovStatus check_end(const FovSweepReport *report, const char *dir) {
  int failed = 0, sound = 0, tests = 0;
  for (int i = 0; i < report->count; i++) {
    const FovSweepRun *run = &report->runs[i];
    if (run->left_out) continue;
    bool has_failed = run->state == FOV_SWEEP_FAILED || run->state == FOV_SWEEP_DIVERGED;
    failed += has_failed;
    sound += !has_failed;
    tests += !has_failed && *run->reason;
  }
  if (failed > 0 && sound == 0)
    return fov_fail(FOV_ERR_IO, "%s: no run has finished, %d failed; %s/log.txt has the reasons",
                    dir, failed, dir);
  if (tests > 0)
    return fov_fail(FOV_ERR_IO, "%s: %d test%s failed; %s/log.txt has the reasons", dir, tests,
                    fov_plural(tests), dir);
  return FOV_OK;
}

static void print_end(const FovSweepReport *report, const char *dir) {
  int left = unfinished(report);
  fov_sweep_print_summary(report);
  if (left > 0) printf("%d run%s in other processes\n", left, left == 1 ? " is" : "s are");
  fov_print(stdout, "every run: %s/results.csv\n", dir);
}

/** job: of Slurm, requeued when its end is announced; NULL: none. */
static FovStatus run_here(FovSweep *sweep, const FovSweepRequest *what, FovSweepTable *table,
                          const char *job) {
  FovStatus status = fov_sweep_run(sweep);
  fov_sweep_table_clear(table);
  if (status != FOV_OK && job && *what->interrupted == SIGUSR1)
    return fov_slurm_requeue(sweep, job);
  FovSweepReport report = fov_sweep_report(sweep);
  if (status != FOV_OK) return status;
  print_end(&report, what->dir);
  return check_end(&report, what->dir);
}

static FovStatus run_in_slurm(FovSweep *sweep, const Request *request,
                              const FovArguments *arguments) {
  FovSweepReport report = fov_sweep_report(sweep);
  int first = arguments->count - arguments->passed;
  FovSlurmArray array = {.dir = request->output,
                         .tasks = request->tasks,
                         .jobs = report.jobs,
                         .threads = report.threads,
                         .rows = request->rows,
                         .test = report.plan->options.test,
                         .bytes = report.bytes,
                         .options = (const char *const *)arguments->words + first,
                         .option_count = arguments->passed};
  return fov_slurm_submit(&array, sweep, request->dry_run);
}

/** A sweep file may have asked for the test. */
static FovStatus check_rollouts(const Request *request, const FovSweep *sweep) {
  if (request->rollouts <= 1 || fov_sweep_report(sweep).plan->options.test) return FOV_OK;
  return fov_fail(FOV_ERR_USAGE, "--rollouts %d: expected --test, too", request->rollouts);
}

static FovStatus sweep_with(const Request *request, FovSweepRequest *what,
                            const FovArguments *arguments, const char *job) {
  FovSweep *sweep;
  FovSweepTable table = {.done_before = -1};
  what->reporter = (FovSweepReporter){fov_sweep_table_report, &table};
  FovStatus status = fov_sweep_create(&sweep, what);
  if (status == FOV_OK) status = check_rollouts(request, sweep);
  if (status == FOV_OK) status = print_notes(sweep);
  if (status == FOV_OK && request->slurm) {
    status = run_in_slurm(sweep, request, arguments);
  } else if (status == FOV_OK && request->dry_run) {
    FovSweepReport report = fov_sweep_report(sweep);
    print_plan(&report);
  } else if (status == FOV_OK) {
    status = run_here(sweep, what, &table, job);
  }
  fov_sweep_destroy(sweep);
  return status;
}

/** named: an experiment or a sweep file is given. */
static FovStatus check_request(const Request *request, const FovArguments *arguments, bool named) {
  char plan[FOV_PATH_SIZE];
  if (!request->output) return fov_fail(FOV_ERR_USAGE, "no folder given: -o DIR");
  snprintf(plan, sizeof plan, "%.2048s/" FOV_SWEEP_PLAN, request->output);
  if (!named && !fov_file_exists(plan))
    return fov_fail(
        FOV_ERR_USAGE,
        "%s: has no sweep to continue; to begin one, name an experiment or a sweep file "
        "before key=value",
        request->output);
  if (!named && arguments->count > arguments->passed)
    return fov_fail(FOV_ERR_USAGE,
                    "%s: is continued with its own settings, found %s; to begin another sweep, "
                    "name an experiment or a sweep file before it, and another -o",
                    request->output, arguments->words[0]);
  for (int i = arguments->count - arguments->passed; i < arguments->count; i++)
    if (!request->slurm && *arguments->words[i] == '-')
      return fov_fail(FOV_ERR_USAGE, "%s: expected --slurm, too: it is an option of sbatch",
                      arguments->words[i]);
  if (request->tasks && !request->slurm)
    return fov_fail(FOV_ERR_USAGE, "--tasks: expected --slurm, too; --jobs sets runs at a time");
  if (request->requeue && request->slurm)
    return fov_fail(FOV_ERR_USAGE, "--slurm and --requeue: expected one of them");
  return FOV_OK;
}

static FovStatus run(const void *values, const FovArguments *arguments) {
  const Request *request = values;
  const char *const *words = (const char *const *)arguments->words;
  int count = arguments->count - (request->slurm ? arguments->passed : 0);
  bool named = count > 0 && !fov_cli_is_setting(words[0]);
  char job[FOV_SLURM_NAME];
  FOV_TRY(check_request(request, arguments, named));
  if (request->seeds && strlen(request->seeds) > LONGEST_SEEDS)
    return fov_fail(FOV_ERR_USAGE,
                    "--seeds: expected a seed, or the first and the last, found %zu characters",
                    strlen(request->seeds));
  if (request->requeue) FOV_TRY(fov_slurm_name(job));
  char command[1024];
  Changes changes = {.count = 0};
  changes.list = calloc((size_t)arguments->count + 5, sizeof *changes.list);
  if (!changes.list) return fov_fail(FOV_ERR_MEMORY, "no memory for the arguments");
  gather(&changes, request, words + named, count - named);
  fov_arguments_join(command, sizeof command, arguments);
  FovSweepRequest what = {.file = named ? words[0] : NULL,
                          .changes = changes.list,
                          .change_count = changes.count,
                          .dir = request->output,
                          .rows = request->rows,
                          // A task's processors are those that it asks for.
                          .jobs = request->jobs || !request->slurm ? request->jobs : 1,
                          .threads = request->threads || !request->slurm ? request->threads : 1,
                          .command = command,
                          .interrupted = fov_cli_catch_interrupts()};
  if (request->requeue) fov_cli_catch_warning();
  FovStatus status = sweep_with(request, &what, arguments, request->requeue ? job : NULL);
  free(changes.list);
  return status;
}

const FovCommand fov_command_sweep = {
    .name = "sweep",
    .help = "train many runs: grids, random draws, seeds",
    .synopsis = "SWEEP|EXPERIMENT [key=a,b,c ...] -o DIR",
    .about =
        "Trains every configuration of an experiment with every seed, several runs at a time,\n"
        "and writes DIR/results.csv. key=a,b,c tries each value; key=log:1e-4:1e-2, lin:2.0:8.0\n"
        "and any:a:b:c draw one for each of --trials configurations; lin:2:8, whose ends have no\n"
        "point and no exponent, draws whole numbers. A configuration is chosen by its mean\n"
        "validation error; --test then tests it with one deterministic rollout, and with\n"
        "--rollouts 10 also with ten sampled ones, the column test_error_10 of results.csv.\n"
        "\n"
        "A sweep file may have rows, [row NAME] with settings that belong together. Each is tried\n"
        "with all lists outside of the rows, and --test tests the best of each row. experiment =\n"
        "FILE in a row replaces that of [sweep]. --rows soft,gaze works on these two.\n"
        "\n"
        "Ctrl-C saves all runs, and the same command continues; so does fovea sweep -o DIR. Any\n"
        "number of processes may work on one folder. A sweep file is INI like an experiment: the\n"
        "settings, and a section [sweep] with experiment and, if wanted, seeds, trials, draws\n"
        "(the random seed of what is drawn), halving, test and rollouts.\n"
        "\n"
        "--slurm checks the plan, writes DIR/slurm.sh and submits it as an array job. Each task\n"
        "trains --jobs runs at a time (default: 1) with --threads each (default: 1), and is\n"
        "requeued when its time is over.\n",
    .examples = "  fovea sweep experiments/cluttered-60 core=rnn,gru --seeds 0:4 -o sweeps/cores\n"
                "  fovea sweep experiments/cluttered-60 core=rnn,gru policy.sigma=2,4 \\\n"
                "    train.rate=log:1e-4:1e-2 --trials 20 -o sweeps/draws\n"
                "  fovea sweep -o sweeps/draws --test --rollouts 10\n"
                "  fovea sweep kinds.ini --rows soft,gaze --seeds 10:14 -o sweeps/kinds\n"
                "  fovea sweep -o sweeps/draws --slurm -- --partition=cpu --time=4:00:00\n",
    .options = options,
    .size = sizeof(Request),
    .run = run,
};
