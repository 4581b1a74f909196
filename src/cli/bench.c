#include <getopt.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/gemm.h"
#include "base/team.h"
#include "cli/cli.h"
#include "draw.h"
#include "experiment/measure.h"

/** The tasks that are measured unless an experiment is named; sizes are those of Mnih et al. 2014.
 */
static const struct {
  const char *name;
  const char *settings[5];
} tasks[] = {
    {"mnist-28", {"env=centred", "env.size=28", "glimpses=6", "sensor.side=8", "sensor.scales=1"}},
    {"cluttered-60", {"env.size=60", "env.pieces=4", "glimpses=8", "sensor.scales=3"}},
    {"cluttered-100", {"env.size=100", "env.pieces=8", "glimpses=8", "sensor.scales=4"}},
};

enum { TASKS = sizeof tasks / sizeof *tasks, MAX_SETTINGS = 64 };

enum { GEMM, GLIMPSE, ENV, TRAIN, STAGES, SIZE = STAGES, ALL };

typedef struct Request {
  int stage;        /**< gemm, glimpse, env, train: its number; size: SIZE; ALL: all but size */
  const char *file; /**< an experiment; NULL: the tasks above */
  const char *plot; /**< where to draw what size costs; NULL: nowhere */
  char **changes;
  int change_count, threads, repeats, largest;
  json_t *json; /**< results are gathered here; NULL: printed as text */
} Request;

/* ---- telling ---- */

static json_t *json_spread(FovSpread s) {
  return json_pack("[f,f,f]", s.low, s.median, s.high);
}

/** Puts a sample into an object as [lowest, median, highest]. */
static void tell(json_t *object, const char *key, const FovSample *sample) {
  json_object_set_new(object, key, json_spread(fov_sample_spread(sample)));
}

/** "  limit          98.1 (97.0-98.4)   196 (190-197) GFLOP/s": one figure for each number of
 * threads. */
static void print_row(const char *name, const FovSample *const samples[], int count, double unit,
                      const char *format, const char *what) {
  printf("  %-16s", name);
  for (int i = 0; i < count; i++) {
    FovSpread s = fov_sample_spread(samples[i]);
    char median[32], low[32], high[32], text[128];
    snprintf(median, sizeof median, format, s.median / unit);
    snprintf(low, sizeof low, format, s.low / unit);
    snprintf(high, sizeof high, format, s.high / unit);
    snprintf(text, sizeof text, "%s (%s-%s)", median, low, high);
    printf("  %-24s", text);
  }
  printf("  %s\n", what);
}

/** One thread, and all of them where there are more. */
static int thread_counts(int counts[2], const Request *request) {
  counts[0] = 1;
  counts[1] = request->threads;
  return request->threads > 1 ? 2 : 1;
}

static void print_threads(const int counts[], int n) {
  printf("  %-16s", "");
  for (int i = 0; i < n; i++) {
    char text[32];
    snprintf(text, sizeof text, "%d thread%s", counts[i], counts[i] == 1 ? "" : "s");
    printf("  %-24s", text);
  }
  printf("\n");
}

static void print_subject(const char *name, const FovSubject *subject) {
  const FovExperiment *e = &subject->experiment;
  FovGlimpseShape glimpse = e->agent.glimpse;
  printf("\n%s: %d glimpses of %d x %d at %d scales from %d x %d, core %s, %zu parameters, batch "
         "%d\n",
         name, fov_task_glimpses(&subject->training.task), glimpse.side, glimpse.side,
         glimpse.scales, subject->env.spec.observation.width, subject->env.spec.observation.height,
         e->slots[FOV_SLOT_CORE].plugin->name, fov_params_learned(&e->agent.params),
         e->train.batch);
}

/* ---- the stages ---- */

static const char *kind_of(const FovProduct *p) {
  return p->a_transposed ? "Aᵀ B" : p->b_transposed ? "A Bᵀ" : "A B ";
}

static void print_shape(const FovShape *shape, double fastest) {
  const FovProduct *p = &shape->product;
  printf("  [%4d, %4d] = %s over %4d   %5.1f %% of the work   %6.1f GFLOP/s   %3.0f %%\n", p->m,
         p->n, kind_of(p), p->k, 100 * shape->share, shape->rate / 1e9,
         100 * shape->rate / fastest);
}

static json_t *json_shape(const FovShape *shape) {
  const FovProduct *p = &shape->product;
  return json_pack("{s:i, s:i, s:i, s:b, s:b, s:f, s:f}", "m", p->m, "n", p->n, "k", p->k,
                   "a_transposed", p->a_transposed, "b_transposed", p->b_transposed, "share",
                   shape->share, "flops_per_second", shape->rate);
}

/** Adds `object`, with the number of threads it is of, to a list of the result. */
static void tell_threads(json_t *result, const char *key, int threads, json_t *object) {
  json_t *list = json_object_get(result, key);
  if (!list) {
    list = json_array();
    json_object_set_new(result, key, list);
  }
  json_object_set_new(object, "threads", json_integer(threads));
  json_array_append_new(list, object);
}

static FovStatus bench_gemm(const Request *request, const FovSubject *subject, json_t *result) {
  FovShapes shapes;
  FOV_TRY(fov_measure_shapes(&shapes, subject));
  int counts[2], n = thread_counts(counts, request);
  for (int i = 0; i < n; i++) {
    FOV_TRY(fov_measure_products(&shapes, counts[i], request->repeats));
    double fastest = fov_fastest(&shapes)->rate;
    json_t *list = result ? json_array() : NULL;
    if (!result) printf("  products, %d at a time; the fastest is the limit\n", counts[i]);
    for (int j = 0; j < shapes.count; j++) {
      if (shapes.list[j].rate == 0) continue;
      if (result)
        json_array_append_new(list, json_shape(&shapes.list[j]));
      else
        print_shape(&shapes.list[j], fastest);
    }
    if (result) tell_threads(result, "products", counts[i], json_pack("{s:o}", "shapes", list));
  }
  return FOV_OK;
}

/** Prints a rate for each number of threads, or adds them to a list of the result. */
static void tell_rates(json_t *result, const char *key, const char *name, const FovSample rates[2],
                       const int counts[2], int n) {
  if (!result) {
    print_row(name, (const FovSample *const[]){&rates[0], &rates[1]}, n, 1, "%.0f", "a second");
    return;
  }
  for (int i = 0; i < n; i++) {
    json_t *object = json_pack("{s:s}", "what", name);
    tell(object, "per_second", &rates[i]);
    tell_threads(result, key, counts[i], object);
  }
}

static FovStatus bench_env(const Request *request, const FovSubject *subject, json_t *result) {
  int counts[2], n = thread_counts(counts, request);
  FovSample rates[2] = {0};
  for (int i = 0; i < n; i++)
    FOV_TRY(fov_measure_env(&rates[i], subject, counts[i], request->repeats));
  if (!result) print_threads(counts, n);
  tell_rates(result, "env", "images", rates, counts, n);
  return FOV_OK;
}

static FovStatus bench_glimpse(const Request *request, const FovSubject *subject, json_t *result) {
  int counts[2], n = thread_counts(counts, request);
  if (!result) print_threads(counts, n);
  for (int scales = 1; scales <= FOV_MAX_SCALES; scales++) {
    FovSample rates[2] = {0};
    for (int i = 0; i < n; i++)
      FOV_TRY(fov_measure_sensor(&rates[i], subject, scales, counts[i], request->repeats));
    char name[32];
    snprintf(name, sizeof name, "%d scale%s", scales, scales == 1 ? "" : "s");
    tell_rates(result, "glimpse", name, rates, counts, n);
  }
  return FOV_OK;
}

static const char *const stage_names[FOV_PHASES + 1] = {
    [FOV_PHASE_MODEL] = "model",   [FOV_PHASE_PRODUCTS] = "products",
    [FOV_PHASE_ENV] = "env",       [FOV_PHASE_SENSOR] = "sensor",
    [FOV_PHASE_REDUCE] = "reduce", [FOV_PHASE_OPTIMISE] = "optimiser",
    [FOV_PHASES] = "waiting",
};

static const char *const stage_help[FOV_PHASES + 1] = {
    [FOV_PHASE_MODEL] = "activations, gates, sampling, losses, tape",
    [FOV_PHASE_PRODUCTS] = "matrix products",
    [FOV_PHASE_ENV] = "drawing images",
    [FOV_PHASE_SENSOR] = "taking glimpses",
    [FOV_PHASE_REDUCE] = "adding the shards' gradients",
    [FOV_PHASE_OPTIMISE] = "the step, and the average of the weights",
    [FOV_PHASES] = "for other threads",
};

static void print_train(const FovTrainRate rates[2], int n, double flops) {
#define ROW(name, field, unit, format, what)                                                       \
  print_row(name, (const FovSample *const[]){&rates[0].field, &rates[n - 1].field}, n, unit,       \
            format, what)
  print_threads((int[]){rates[0].threads, rates[n - 1].threads}, n);
  ROW("gemm limit", limit, 1e9, "%.1f", "GFLOP/s");
  ROW("training", glimpses, 1, "%.0f", "glimpses/s");
  ROW("", glimpses, 1e9 / flops, "%.1f", "GFLOP/s");
  ROW("of the limit", share, 0.01, "%.1f", "%");
  ROW("evaluation", evaluated, 1, "%.0f", "glimpses/s");
  printf("  of the threads' time\n");
  for (int i = 0; i <= FOV_PHASES; i++) {
    char name[32];
    snprintf(name, sizeof name, "  %s", stage_names[i]);
    ROW(name, stages[i], 0.01, "%.1f", stage_help[i]);
  }
  ROW("page faults", faults, 1, "%.2f", "an update");
#undef ROW
  double training = fov_sample_spread(&rates[n - 1].glimpses).median;
  printf("  evaluation is %.2f times as fast as training",
         fov_sample_spread(&rates[n - 1].evaluated).median / training);
  if (n > 1)
    printf(";\n  %d threads train %.2f times as fast as one, and multiply %.2f times as fast",
           rates[1].threads, training / fov_sample_spread(&rates[0].glimpses).median,
           fov_sample_spread(&rates[1].limit).median / fov_sample_spread(&rates[0].limit).median);
  printf("\n  a glimpse of training costs %.3f MFLOP: the sum of 2 m n k over every product of an "
         "update,\n  a multiply and an add each, over its glimpses\n",
         flops / 1e6);
}

static void print_memory(const FovTraining *training) {
  double blocks, shards;
  if (fov_training_memory(&blocks, &shards, training) != FOV_OK) return;
  printf(
      "  memory: %.1f MiB of parameters, gradients and moments, %.1f MiB of episodes at most, in "
      "blocks of 8\n",
      blocks / 0x1p20, shards / 0x1p20);
}

static void tell_train(json_t *result, const FovTrainRate *rate, double flops) {
  json_t *object = json_pack("{s:f}", "flops_per_glimpse", flops);
  json_t *stages = json_object();
  tell(object, "limit_flops_per_second", &rate->limit);
  tell(object, "glimpses_per_second", &rate->glimpses);
  tell(object, "share_of_limit", &rate->share);
  tell(object, "page_faults_per_update", &rate->faults);
  tell(object, "evaluated_glimpses_per_second", &rate->evaluated);
  for (int i = 0; i <= FOV_PHASES; i++) tell(stages, stage_names[i], &rate->stages[i]);
  json_object_set_new(object, "shares_of_time", stages);
  tell_threads(result, "train", rate->threads, object);
}

/** The repeats of all thread counts take turns, so that a machine that slows down slows them all.
 */
static FovStatus repeat_train(FovTrainRate rates[2], FovTrainMeter *meters[2], int n,
                              const FovShapes *shapes, int repeats) {
  for (int r = 0; r < repeats; r++)
    for (int i = 0; i < n; i++) FOV_TRY(fov_measure_train(&rates[i], meters[i], shapes));
  return FOV_OK;
}

static FovStatus bench_train(const Request *request, const FovSubject *subject, json_t *result) {
  int counts[2], n = thread_counts(counts, request);
  FovShapes shapes;
  FovTrainRate rates[2] = {0};
  FovTrainMeter *meters[2] = {NULL};
  FOV_TRY(fov_measure_shapes(&shapes, subject));
  FOV_TRY(fov_measure_products(&shapes, request->threads, 1));
  FovStatus status = FOV_OK;
  for (int i = 0; i < n && status == FOV_OK; i++)
    status = fov_train_meter_create(&meters[i], subject, counts[i]);
  if (status == FOV_OK) status = repeat_train(rates, meters, n, &shapes, request->repeats);
  for (int i = 0; i < n; i++) fov_train_meter_destroy(meters[i]);
  FOV_TRY(status);
  if (!result) {
    print_train(rates, n, shapes.flops);
    print_memory(&subject->training);
    return FOV_OK;
  }
  for (int i = 0; i < n; i++) tell_train(result, &rates[i], shapes.flops);
  return FOV_OK;
}

static const struct {
  const char *name;
  FovStatus (*run)(const Request *request, const FovSubject *subject, json_t *result);
  bool each_core; /**< worth measuring with each of the cores below */
} stages[STAGES] = {
    [GEMM] = {"gemm", bench_gemm, true},
    [GLIMPSE] = {"glimpse", bench_glimpse, false},
    [ENV] = {"env", bench_env, false},
    [TRAIN] = {"train", bench_train, true},
};

static bool is_wanted(const Request *request, int stage) {
  return request->stage == ALL || request->stage == stage;
}

static const char *const cores[] = {"core=rnn", "core=lstm"};

/* ---- what looking costs ---- */

static const int sizes[] = {28, 64, 128, 256, 512, 1024, 2048};

enum { SIZES = sizeof sizes / sizeof *sizes };

/** Two ways to see a digit in an image of any size; the second is the conv net of Mnih et al. 2014,
 * table 2a, grown with its image. */
static const struct {
  const char *name, *key;
  const char *settings[4];
} seers[] = {
    {"8 glimpses of 12 x 12 at 3 scales", "glimpses", {"glimpses=8", "sensor.scales=3"}},
    {"convolutional network on the whole image",
     "convolution",
     {"glimpses=1", "sensor.whole=yes", "encoder=conv", "core=none"}},
};

enum { SEERS = sizeof seers / sizeof *seers };

static FovStatus measure_size(FovSample *seconds, FovSample *drawing, const Request *request,
                              int seer, int size) {
  char env_size[32];
  const char *all[MAX_SETTINGS];
  int count = 0;
  snprintf(env_size, sizeof env_size, "env.size=%d", size);
  // What makes a seer comes last: a change may not make another of it.
  for (int i = 0; i < request->change_count; i++) all[count++] = request->changes[i];
  all[count++] = "env=translated";
  all[count++] = env_size;
  for (int i = 0; i < 4 && seers[seer].settings[i]; i++) all[count++] = seers[seer].settings[i];
  FovSubject subject = {0};
  FovStatus status = fov_subject_load(&subject, NULL, all, count);
  if (status == FOV_OK) status = fov_measure_episode(seconds, drawing, &subject, request->repeats);
  fov_subject_finish(&subject);
  return status;
}

static void tell_size(const Request *request, int seer, int size, const FovSample *seconds,
                      const FovSample *drawing) {
  FovSpread s = fov_sample_spread(seconds), d = fov_sample_spread(drawing);
  if (request->json)
    json_array_append_new(request->json,
                          json_pack("{s:s, s:i, s:o, s:o}", "seer", seers[seer].key, "size", size,
                                    "seconds_per_episode", json_spread(s), "seconds_to_draw",
                                    json_spread(d)));
  else
    printf("  %4d x %-4d  %9.4f ms (%.4f-%.4f)  %8.4f ms to draw  %s\n", size, size, 1e3 * s.median,
           1e3 * s.low, 1e3 * s.high, 1e3 * d.median, seers[seer].name);
  fflush(stdout);
}

/** The time of an episode against the size of its image, for both seers. */
static FovStatus bench_size(const Request *request) {
  double x[SIZES], y[SEERS][SIZES];
  FovDrawLine lines[SEERS];
  if (!request->json) printf("\none episode, forward, on one thread; the image is drawn before\n");
  for (int seer = 0; seer < SEERS; seer++) {
    int count = 0;
    for (; count < SIZES && sizes[count] <= request->largest; count++) {
      FovSample seconds = {0}, drawing = {0};
      FOV_TRY(measure_size(&seconds, &drawing, request, seer, sizes[count]));
      tell_size(request, seer, sizes[count], &seconds, &drawing);
      x[count] = sizes[count];
      y[seer][count] = 1e3 * fov_sample_spread(&seconds).median;
    }
    lines[seer] = (FovDrawLine){seers[seer].name, x, y[seer], count};
  }
  if (!request->plot) return FOV_OK;
  return fov_draw_lines(request->plot, lines, SEERS, "side of the image, pixels",
                        "One episode once its image is drawn, milliseconds on one thread");
}

/* ---- the subjects ---- */

static FovStatus bench_stages(const Request *request, const char *name, const FovSubject *subject,
                              bool again) {
  json_t *result = NULL;
  if (request->json) {
    result = json_pack("{s:s, s:s, s:i}", "subject", name, "core",
                       subject->experiment.slots[FOV_SLOT_CORE].plugin->name, "parameters",
                       (int)fov_params_learned(&subject->experiment.agent.params));
    json_array_append_new(request->json, result);
  } else {
    print_subject(name, subject);
  }
  for (int i = 0; i < STAGES; i++) {
    if (!is_wanted(request, i)) continue;
    if (again && !stages[i].each_core) continue;
    FOV_TRY(stages[i].run(request, subject, result));
    fflush(stdout);
  }
  return FOV_OK;
}

/** Measures one subject: the settings of a task and a core, then the user's. */
static FovStatus bench_subject(const Request *request, const char *name,
                               const char *const *settings, const char *core, bool again) {
  const char *all[MAX_SETTINGS];
  int count = 0;
  for (int i = 0; settings && i < 5 && settings[i]; i++) all[count++] = settings[i];
  if (core) all[count++] = core;
  for (int i = 0; i < request->change_count; i++) all[count++] = request->changes[i];
  FovSubject subject = {0};
  FovStatus status = fov_subject_load(&subject, request->file, all, count);
  if (status == FOV_OK) status = bench_stages(request, name, &subject, again);
  fov_subject_finish(&subject);
  return status;
}

/** Whether the user has chosen the core. */
static bool core_is_given(const Request *request) {
  for (int i = 0; i < request->change_count; i++)
    if (strncmp(request->changes[i], "core", 4) == 0 && strchr("= ", request->changes[i][4]))
      return true;
  return false;
}

static bool wants_each_core(const Request *request) {
  for (int i = 0; i < STAGES; i++)
    if (stages[i].each_core && is_wanted(request, i)) return !core_is_given(request);
  return false;
}

static FovStatus bench(const Request *request) {
  if (request->stage == SIZE) return bench_size(request);
  if (request->file) return bench_subject(request, request->file, NULL, NULL, false);
  bool each = wants_each_core(request);
  for (int i = 0; i < TASKS; i++)
    for (int c = 0; c < (each ? 2 : 1); c++)
      FOV_TRY(
          bench_subject(request, tasks[i].name, tasks[i].settings, each ? cores[c] : NULL, c > 0));
  return FOV_OK;
}

static FovStatus parse_options(Request *request, bool *json, int argc, char **argv) {
  static const struct option options[] = {
      {"json", no_argument, NULL, 'j'},          {"threads", required_argument, NULL, 't'},
      {"repeats", required_argument, NULL, 'r'}, {"plot", required_argument, NULL, 'p'},
      {"largest", required_argument, NULL, 'l'}, {0}};
  long long number;
  for (int letter; (letter = getopt_long(argc, argv, "", options, NULL)) != -1;) {
    switch (letter) {
    case 'j':
      *json = true;
      break;
    case 't':
      FOV_TRY(fov_cli_threads(&request->threads, optarg));
      break;
    case 'r':
      FOV_TRY(fov_cli_number(&number, optarg, "--repeats", 1, FOV_MAX_REPEATS));
      request->repeats = (int)number;
      break;
    case 'l':
      FOV_TRY(fov_cli_number(&number, optarg, "--largest", sizes[0], sizes[SIZES - 1]));
      request->largest = (int)number;
      break;
    case 'p':
      request->plot = optarg;
      break;
    default:
      return fov_cli_bad_option(&fov_command_bench, argv);
    }
  }
  return FOV_OK;
}

/** The words that are left: a stage, an experiment, settings. */
static FovStatus parse_words(Request *request, int count, char **words) {
  request->stage = ALL;
  for (int i = 0; count > 0 && i < STAGES; i++)
    if (strcmp(words[0], stages[i].name) == 0) request->stage = i;
  if (count > 0 && strcmp(words[0], "size") == 0) request->stage = SIZE;
  if (request->stage != ALL) words++, count--;
  if (count > 0 && !strchr(words[0], '=')) request->file = *words++, count--;
  if (request->file && !fov_file_exists(request->file))
    return fov_fail(FOV_ERR_USAGE,
                    "%s: expected gemm, glimpse, env, train, size or an experiment's file",
                    request->file);
  if (request->stage == SIZE && request->file)
    return fov_fail(FOV_ERR_USAGE, "bench size: expected key=value, found %s", request->file);
  if (request->plot && request->stage != SIZE)
    return fov_fail(FOV_ERR_USAGE, "--plot draws what fovea bench size measures");
  if (request->plot) FOV_TRY(fov_draw_check(request->plot));
  if (count > MAX_SETTINGS - 6)
    return fov_fail(FOV_ERR_USAGE, "expected at most %d settings, found %d", MAX_SETTINGS - 6,
                    count);
  request->changes = words;
  request->change_count = count;
  return FOV_OK;
}

static FovStatus print_json(const Request *request) {
  json_t *root = json_pack("{s:s, s:s, s:i, s:i, s:O}", "version", FOV_VERSION, "gemm",
                           fov_gemm_library(), "threads", request->threads, "repeats",
                           request->repeats, "subjects", request->json);
  char *text = root ? json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(6)) : NULL;
  json_decref(root);
  if (!text) return fov_fail(FOV_ERR_MEMORY, "the figures cannot be told as JSON");
  puts(text);
  free(text);
  return FOV_OK;
}

static FovStatus run(int argc, char **argv) {
  Request request = {
      .threads = fov_team_default_threads(), .repeats = 5, .largest = sizes[SIZES - 1]};
  bool json = false;
  FOV_TRY(parse_options(&request, &json, argc, argv));
  FOV_TRY(parse_words(&request, argc - optind, argv + optind));
  if (json)
    request.json = json_array();
  else
    printf("%s, up to %d threads; medians of %d repeats (lowest-highest)\n", fov_gemm_library(),
           request.threads, request.repeats);
  FovStatus status = bench(&request);
  if (status == FOV_OK && json) status = print_json(&request);
  json_decref(request.json);
  return status;
}

const FovCommand fov_command_bench = {
    .name = "bench",
    .help = "measure training and its stages against the machine's limit",
    .usage =
        "usage: fovea bench [gemm|glimpse|env|train] [EXPERIMENT] [key=value ...] [--threads N]\n"
        "                   [--repeats R] [--json]\n"
        "       fovea bench size [key=value ...] [--largest N] [--repeats R] [--plot FILE] "
        "[--json]\n"
        "\n"
        "Measures how fast matrices are multiplied at the shapes of training, glimpses are taken,\n"
        "images are drawn, and all of training runs; by default of three tasks with two cores.\n"
        "The limit is the rate of the fastest product, measured in the same second as training.\n"
        "\n"
        "bench size measures an episode on images of 28 x 28 to 2048 x 2048 pixels, with glimpses\n"
        "and with a convolutional network on the whole image; it takes 4 GiB of memory.\n"
        "\n"
        "  EXPERIMENT    measure this one instead\n"
        "  key=value     change a setting, such as train.batch=64; as in fovea train\n"
        "  --threads N   measure 1 and N threads (default: all processors)\n"
        "  --repeats R   of each figure (default: 5)\n"
        "  --largest N   side of the largest image of bench size (default: 2048)\n"
        "  --plot FILE   draw what size costs (.png, .svg, .pdf)\n"
        "  --json        figures as [lowest, median, highest], in units of one\n"
        "\n"
        "examples:\n"
        "  fovea bench\n"
        "  fovea bench train experiments/cluttered-60 core=gru\n",
    .run = run,
};
