#include "cli/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/gemm.h"
#include "base/team.h"
#include "base/text.h"
#include "base/version.h"
#include "cli/cli.h"
#include "draw.h"
#include "record/json_text.h"

typedef struct Request {
  const char *plot;
  int threads, repeats, largest, cases;
  int64_t samples, seed;
  bool own_reward, json;
} Request;

static const FovOption options[] = {
    FOV_INT(Request, threads, NULL, 1, FOV_MAX_THREADS,
            "phases: measure 1 and N threads; gradient: compute with N; default: all processors"),
    FOV_INT(Request, repeats, "5", 1, FOV_MAX_REPEATS, "phases, size: measurements of each figure"),
    FOV_INT(Request, largest, "2048", FOV_BENCH_SMALLEST, FOV_BENCH_LARGEST,
            "bench size: measure the sizes up to this one: 28, 64, 128, 256, 512, 1024, 2048"),
    FOV_LONG(Request, samples, "1000", 2, 1e9, "bench gradient: samples of each estimator"),
    FOV_LONG(Request, seed, "0", 0, 1e15, "bench gradient: random seed of its images and choices"),
    FOV_INT(Request, cases, "16", 1, 64, "bench gradient: images, the same in every sample"),
    {"own-reward", FOV_OPTION_BOOL, offsetof(Request, own_reward), 0, 0, NULL, "no",
     "bench gradient: use the training's reward and answers, not the last answer's "
     "log-probability"},
    FOV_TEXT(Request, plot, "bench size, gradient: draw the figures to a .png, .svg or .pdf"),
    FOV_BOOL(Request, json, "no",
             "print JSON: figures as [lowest, median, highest], in units without prefix"),
    FOV_OPTIONS_END,
};

/** The tasks that are measured unless an experiment is named, in the sizes of Mnih et al. 2014. */
static const struct {
  const char *name;
  const char *settings[5];
} tasks[] = {
    {"mnist-28", {"env=centred", "env.size=28", "glimpses=6", "sensor.side=8", "sensor.scales=1"}},
    {"cluttered-60", {"env.size=60", "env.pieces=4", "glimpses=8", "sensor.scales=3"}},
    {"cluttered-100", {"env.size=100", "env.pieces=8", "glimpses=8", "sensor.scales=4"}},
};

enum { TASKS = sizeof tasks / sizeof *tasks, TASK_SETTINGS = 5, CORES = 2 };

static const char *const cores[CORES] = {"core=rnn", "core=lstm"};

static const struct {
  const char *name;
  bool each_core; /**< measured with each of the cores above */
} phases[FOV_BENCH_PHASES] = {
    [FOV_BENCH_GEMM] = {"gemm", true},
    [FOV_BENCH_GLIMPSE] = {"glimpse", false},
    [FOV_BENCH_ENV] = {"env", false},
    [FOV_BENCH_TRAIN] = {"train", true},
};

/** Options that not everything takes that can be measured: phases, size, gradient. */
static const struct {
  const char *name;
  bool taken[3];
} limited[] = {
    {"repeats", {true, true, false}},  {"largest", {false, true, false}},
    {"samples", {false, false, true}}, {"seed", {false, false, true}},
    {"cases", {false, false, true}},   {"own-reward", {false, false, true}},
    {"plot", {false, true, true}},     {"threads", {true, false, true}},
};

/** What to measure, from the request and the words. */
typedef struct Bench {
  const Request *request;
  bool size, gradient;           /**< bench size or gradient, and nothing else of this */
  bool wanted[FOV_BENCH_PHASES]; /**< the named phase, or all */
  const char *file;              /**< an experiment; NULL: the tasks above */
  const char *const *changes;
  int change_count, threads;
  json_t *json; /**< a list of results; NULL: they are printed as text */
} Bench;

/** Takes the first word if it names what to measure, and fills in what that is. */
static bool take_phase(Bench *bench, const char *word) {
  bool named = false;
  bench->size = word && strcmp(word, "size") == 0;
  bench->gradient = word && strcmp(word, "gradient") == 0;
  for (int i = 0; i < FOV_BENCH_PHASES; i++) {
    bench->wanted[i] = word && strcmp(word, phases[i].name) == 0;
    named = named || bench->wanted[i];
  }
  for (int i = 0; i < FOV_BENCH_PHASES && !named; i++) bench->wanted[i] = true;
  return named || bench->size || bench->gradient;
}

/** Refuses options that what is measured does not take. */
static FovStatus check_options(const Bench *bench, const FovArguments *arguments) {
  static const char *const names[] = {"the phases of a training", "bench size", "bench gradient"};
  int what = bench->size ? 1 : bench->gradient ? 2 : 0;
  for (size_t i = 0; i < sizeof limited / sizeof *limited; i++)
    if (!limited[i].taken[what] && fov_arguments_has(arguments, options, limited[i].name))
      return fov_fail(FOV_ERR_USAGE, "--%s has no effect on %s", limited[i].name, names[what]);
  return FOV_OK;
}

/** The words: what to measure, an experiment, settings. */
static FovStatus read_words(Bench *bench, const FovArguments *arguments) {
  const char *const *words = (const char *const *)arguments->words;
  int count = arguments->count;
  bool named = take_phase(bench, count > 0 ? words[0] : NULL);
  if (named) words++, count--;
  if (fov_ranks_count(fov_cli_ranks()) > 1 && !(named && bench->wanted[FOV_BENCH_TRAIN]))
    return fov_fail(
        FOV_ERR_USAGE,
        "bench: expected one rank, found several: only fovea bench train can be measured on them");
  if (count > 0 && !fov_cli_is_setting(words[0])) bench->file = *words++, count--;
  if (bench->gradient && !bench->file)
    return fov_fail(FOV_ERR_USAGE, "bench gradient: expected a run or a checkpoint");
  if (bench->file && !bench->gradient && !fov_file_exists(bench->file))
    return fov_fail(
        FOV_ERR_USAGE,
        "%s: expected gemm, glimpse, env, train, size, gradient, an experiment or a run",
        bench->file);
  if (bench->size && bench->file)
    return fov_fail(FOV_ERR_USAGE, "bench size: expected key=value, found %s", bench->file);
  FOV_TRY(check_options(bench, arguments));
  if (bench->size) FOV_TRY(fov_bench_size_check(words, count));
  if (bench->request->plot) {
    FOV_TRY(fov_draw_check(bench->request->plot));
    FOV_TRY(fov_replace_check(bench->request->plot));
  }
  bench->changes = words;
  bench->change_count = count;
  return FOV_OK;
}

static FovStatus measure(const Bench *bench, const char *name, const FovSubject *subject,
                         const bool wanted[FOV_BENCH_PHASES]) {
  FovBenchResult *result = malloc(sizeof *result);
  if (!result) return fov_fail(FOV_ERR_MEMORY, "no memory for the figures");
  FovStatus status =
      fov_bench_collect(result, subject, name, wanted, bench->threads, bench->request->repeats);
  bool first = fov_ranks_is_first(fov_cli_ranks());
  if (status == FOV_OK && first && bench->json)
    json_array_append_new(bench->json, fov_bench_json(result));
  else if (status == FOV_OK && first)
    fov_bench_print(result);
  free(result);
  return status;
}

/** Measures one experiment: the settings of a task and a core, then the user's. settings:
 * [TASK_SETTINGS] up to a NULL, or NULL; core: NULL for the experiment's. */
static FovStatus measure_settings(const Bench *bench, const char *name, const char *const *settings,
                                  const char *core, const bool wanted[FOV_BENCH_PHASES]) {
  const char **all = calloc((size_t)bench->change_count + TASK_SETTINGS + 1, sizeof *all);
  if (!all) return fov_fail(FOV_ERR_MEMORY, "no memory for the arguments");
  int count = 0;
  for (int i = 0; settings && i < TASK_SETTINGS && settings[i]; i++) all[count++] = settings[i];
  if (core) all[count++] = core;
  for (int i = 0; i < bench->change_count; i++) all[count++] = bench->changes[i];
  FovSubject subject = {0};
  FovStatus status = fov_subject_load(&subject, bench->file, all, count);
  if (fov_ranks_is_first(fov_cli_ranks())) fov_cli_notes(subject.experiment.settings);
  status = fov_ranks_agree(fov_cli_ranks(), status);
  subject.training.ranks = fov_cli_ranks();
  if (status == FOV_OK) status = measure(bench, name, &subject, wanted);
  fov_subject_finish(&subject);
  free(all);
  return status;
}

/** Whether the user has chosen the core. */
static bool core_is_given(const Bench *bench) {
  for (int i = 0; i < bench->change_count; i++)
    if (fov_cli_sets(bench->changes[i], "core")) return true;
  return false;
}

/** A task with each core, what does not depend on it once. */
static FovStatus measure_task(const Bench *bench, int task) {
  bool wanted[FOV_BENCH_PHASES], left = true;
  memcpy(wanted, bench->wanted, sizeof wanted);
  bool given = core_is_given(bench);
  for (int c = 0; c < (given ? 1 : CORES) && left; c++) {
    FOV_TRY(measure_settings(bench, tasks[task].name, tasks[task].settings, given ? NULL : cores[c],
                             wanted));
    left = false;
    for (int i = 0; i < FOV_BENCH_PHASES; i++) {
      wanted[i] = wanted[i] && phases[i].each_core;
      left = left || wanted[i];
    }
  }
  return FOV_OK;
}

static FovStatus measure_all(const Bench *bench) {
  const Request *request = bench->request;
  if (bench->size)
    return fov_bench_size(bench->json, request->plot, bench->changes, bench->change_count,
                          request->largest, request->repeats);
  if (bench->gradient)
    return fov_bench_gradient(bench->json, request->plot,
                              &(FovGradientRequest){.source = bench->file,
                                                    .changes = bench->changes,
                                                    .change_count = bench->change_count,
                                                    .cases = request->cases,
                                                    .samples = request->samples,
                                                    .threads = bench->threads,
                                                    .seed = (uint64_t)request->seed,
                                                    .own_reward = request->own_reward});
  if (bench->file) return measure_settings(bench, bench->file, NULL, NULL, bench->wanted);
  for (int i = 0; i < TASKS; i++) FOV_TRY(measure_task(bench, i));
  return FOV_OK;
}

static FovStatus print_json(const Bench *bench) {
  json_t *root = json_pack("{s:s, s:s, s:i, s:i, s:O}", "version", fov_version, "gemm",
                           fov_gemm_library(), "threads", bench->threads, "ranks",
                           fov_ranks_count(fov_cli_ranks()), "subjects", bench->json);
  if (!bench->gradient) json_object_set_new(root, "repeats", json_integer(bench->request->repeats));
  char *text = fov_json_text(root, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
  json_decref(root);
  if (!text) return fov_fail(FOV_ERR_MEMORY, "the figures cannot be written as JSON");
  puts(text);
  free(text);
  return FOV_OK;
}

static void print_header(const Bench *bench) {
  int ranks = fov_ranks_count(fov_cli_ranks());
  printf("%s, ", fov_gemm_library());
  if (ranks > 1) printf("%d ranks of ", ranks);
  printf("up to %d thread%s", bench->threads, fov_plural(bench->threads));
  int repeats = bench->request->repeats;
  if (!bench->gradient && repeats > 1) printf("; medians of %d repeats (lowest-highest)", repeats);
  putchar('\n');
}

static FovStatus run(const void *values, const FovArguments *arguments) {
  const Request *request = values;
  FovRanks *ranks = fov_cli_ranks();
  Bench bench = {.request = request, .threads = fov_cli_threads(request->threads)};
  FOV_TRY(fov_ranks_agree(ranks, read_words(&bench, arguments)));
  if (bench.size) bench.threads = 1;
  if (request->json)
    bench.json = json_array();
  else if (fov_ranks_is_first(ranks))
    print_header(&bench);
  FovStatus status = measure_all(&bench);
  if (request->json && json_array_size(bench.json) > 0 && fov_ranks_is_first(ranks)) {
    FovStatus printed = print_json(&bench); // also what was measured before a failure
    if (status == FOV_OK) status = printed;
  }
  json_decref(bench.json);
  return status;
}

const FovCommand fov_command_bench = {
    .name = "bench",
    .help = "measure the speed of training and of its phases",
    .synopsis = "[PHASE|size|gradient] [EXPERIMENT|RUN] [key=value ...]",
    .about = "The phases of a training:\n"
             "gemm      matrix products at the shapes of a training\n"
             "glimpse   taking glimpses\n"
             "env       drawing images\n"
             "train     whole updates, compared with the limit: the fastest matrix product,\n"
             "          measured in the same second; then the same beside as many busy processes\n"
             "          as threads. Under mpirun: all ranks together, and the bytes they send\n"
             "\n"
             "size      one episode on images of 28 x 28 to 2048 x 2048 pixels, with glimpses and\n"
             "          with a convolutional network on the whole image; takes 4 GiB of memory\n"
             "gradient  estimators of the policy's gradient at a checkpoint: variance and\n"
             "          signal-to-noise ratio of one episode; cosine, relative bias and its\n"
             "          p-value, against the exact gradient if choices can be enumerated\n"
             "\n"
             "Without a name: all phases. Without EXPERIMENT: three tasks, each with core=rnn and\n"
             "core=lstm.\n"
             "key=value changes a setting, as in fovea train. size refuses those that it sets:\n"
             "env, env.size, attention, glimpses, sensor.side, sensor.scales, sensor.whole,\n"
             "encoder and core. gradient refuses those that its estimators set: attention,\n"
             "objective, baseline, reward, train.*, policy.entropy and seed; without\n"
             "--own-reward also policy.cost and stop.cost if the answers are classes.\n",
    .examples = "  fovea bench\n"
                "  fovea bench train experiments/cluttered-60 core=gru\n"
                "  mpirun -n 2 fovea bench train experiments/cluttered-60 --threads 1\n"
                "  fovea bench size --plot size.svg\n"
                "  fovea bench gradient runs/tiles glimpses=2 --samples 10000 --plot bias.svg\n",
    .options = options,
    .size = sizeof(Request),
    .ranked = true,
    .run = run,
};
