#include <getopt.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/profile.h"
#include "base/team.h"
#include "cli/cli.h"
#include "experiment/trained.h"

enum { WORLD = 8 }; // settings that --images and --labels stand for

typedef struct Request {
  const char *source, *images, *labels;
  char **changes;
  int change_count, rollouts, threads;
  FovSplit split;
  bool json;
} Request;

/** What is told beside the evaluation itself. */
typedef struct Report {
  FovEvalResult result;
  double low, high;  // Wilson's interval
  double mflop;      // of the matrix products of a rollout, a multiply and an add each
  size_t parameters; // that are learned
} Report;

static FovStatus print_json(const FovTrained *trained, const Report *report,
                            const Request *request) {
  const FovEvalResult *result = &report->result;
  json_t *root = json_pack(
      "{s:s, s:I, s:I, s:I, s:f, s:[f,f], s:f, s:f, s:i, s:I, s:f}", "checkpoint", trained->path,
      "update", (json_int_t)trained->update, "cases", (json_int_t)result->cases, "wrong",
      (json_int_t)result->wrong, "error", (double)result->wrong / (double)result->cases, "interval",
      report->low, report->high, "reward", result->reward, "glimpses", result->glimpses, "rollouts",
      request->rollouts, "parameters", (json_int_t)report->parameters, "mflop", report->mflop);
  char *text = root ? json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) : NULL;
  json_decref(root);
  if (!text)
    return fov_fail(FOV_ERR_MEMORY, "%s: cannot be told as JSON; is its name UTF-8?",
                    trained->path);
  puts(text);
  free(text);
  return FOV_OK;
}

static void print_text(const FovTrained *trained, const Report *report, const Request *request) {
  const FovEvalResult *result = &report->result;
  printf("%s (update %lld): %lld cases, %s\n", trained->path, (long long)trained->update,
         (long long)result->cases,
         request->rollouts > 1 && trained->env.spec.answer == FOV_ANSWER_MOVE
             ? "each sampled rollout a case"
         : request->rollouts > 1            ? "sampled rollouts averaged"
         : trained->task.policy->head.build ? "one deterministic rollout"
                                            : "one rollout");
  if (request->rollouts > 1) printf("rollouts     %d\n", request->rollouts);
  printf("error        %.2f %%   (95 %% interval %.2f to %.2f %%; %lld wrong)\n",
         100.0 * (double)result->wrong / (double)result->cases, 100 * report->low,
         100 * report->high, (long long)result->wrong);
  printf("reward       %.4f, mean of a rollout\n", result->reward);
  printf("glimpses     %.2f, mean of a rollout\n", result->glimpses);
  printf("cost         %.3f MFLOP, mean of a rollout's matrix products; %zu parameters\n",
         report->mflop, report->parameters);
}

/** Plays every case, counting the work. */
static FovStatus play(Report *report, const FovEvalRequest *what, FovProfile *profiles) {
  FovWorkspace workspace;
  FOV_TRY(fov_workspace_create(&workspace, what->threads));
  fov_profile_into(profiles);
  FovStatus status = fov_evaluate(&report->result, what, &workspace);
  fov_profile_into(NULL);
  fov_workspace_finish(&workspace);
  FOV_TRY(status);
  double flops = 0, rollouts = (double)what->cases * what->rollouts;
  for (int i = 0; i < what->threads; i++) flops += profiles[i].flops;
  report->mflop = flops / 1e6 / rollouts;
  // Rollouts of one game are not independent of each other: the interval counts games.
  int64_t repeats = report->result.cases / what->cases;
  int64_t wrong = (report->result.wrong + repeats / 2) / repeats;
  fov_interval(&report->low, &report->high, wrong, what->cases);
  return FOV_OK;
}

static FovStatus evaluate(const Request *request, FovTrained *trained) {
  FovEvalRequest what = {.task = &trained->task,
                         .values = trained->values,
                         .cases = trained->env.spec.cases,
                         .rollouts = request->rollouts,
                         .progress = trained->progress,
                         .seed = (uint64_t)trained->experiment.eval.seed,
                         .split = trained->split,
                         .threads = request->threads};
  Report report = {.parameters = fov_params_learned(&trained->experiment.agent.params)};
  FovProfile *profiles = fov_profiles_create();
  FovStatus status = profiles ? play(&report, &what, profiles)
                              : fov_fail(FOV_ERR_MEMORY, "no memory to count the work");
  free(profiles);
  FOV_TRY(status);
  if (request->json) return print_json(trained, &report, request);
  print_text(trained, &report, request);
  return FOV_OK;
}

/** --images and --labels stand for a world of those pictures, each as it is. */
static FovStatus add_files(char **changes, int *count, const Request *request) {
  if (!request->images != !request->labels)
    return fov_fail(FOV_ERR_USAGE, "--images and --labels go together");
  static char images[FOV_STRING_SIZE + 16], labels[FOV_STRING_SIZE + 16];
  if (request->images) {
    snprintf(images, sizeof images, "env.images=%s", request->images);
    snprintf(labels, sizeof labels, "env.labels=%s", request->labels);
    char *world[WORLD] = {"env=images",   "env.picture=0", "env.size=0", "env.place=centre",
                          "env.pieces=0", "env.divide=no", images,       labels};
    for (int i = 0; i < WORLD; i++) changes[(*count)++] = world[i];
  }
  for (int i = 0; i < request->change_count; i++) changes[(*count)++] = request->changes[i];
  return FOV_OK;
}

static FovStatus eval_request(const Request *request) {
  char **changes = calloc((size_t)request->change_count + WORLD, sizeof *changes);
  if (!changes) return fov_fail(FOV_ERR_MEMORY, "no memory for the arguments");
  int count = 0;
  FovTrained trained = {0};
  FovStatus status = add_files(changes, &count, request);
  if (status == FOV_OK)
    status = fov_trained_load(&trained, request->source, changes, count, request->split);
  if (status == FOV_OK) status = evaluate(request, &trained);
  fov_trained_finish(&trained);
  free(changes);
  return status;
}

static FovStatus parse(Request *request, int argc, char **argv) {
  static const struct option options[] = {{"images", required_argument, NULL, 'i'},
                                          {"labels", required_argument, NULL, 'l'},
                                          {"rollouts", required_argument, NULL, 'm'},
                                          {"split", required_argument, NULL, 's'},
                                          {"threads", required_argument, NULL, 't'},
                                          {"json", no_argument, NULL, 'j'},
                                          {0}};
  long long number;
  for (int letter; (letter = getopt_long(argc, argv, "", options, NULL)) != -1;) {
    switch (letter) {
    case 'i':
      request->images = optarg;
      break;
    case 'l':
      request->labels = optarg;
      break;
    case 'j':
      request->json = true;
      break;
    case 's':
      FOV_TRY(fov_cli_split(&request->split, optarg));
      break;
    case 'm':
      FOV_TRY(fov_cli_number(&number, optarg, "--rollouts", 1, 1000));
      request->rollouts = (int)number;
      break;
    case 't':
      FOV_TRY(fov_cli_threads(&request->threads, optarg));
      break;
    default:
      return fov_cli_bad_option(&fov_command_eval, argv);
    }
  }
  if (optind == argc)
    return fov_fail(FOV_ERR_USAGE, "no run or checkpoint given; see fovea eval --help");
  request->source = argv[optind++];
  request->changes = argv + optind;
  request->change_count = argc - optind;
  return FOV_OK;
}

static FovStatus run(int argc, char **argv) {
  Request request = {.rollouts = 1, .threads = fov_team_default_threads(), .split = FOV_SPLIT_TEST};
  FOV_TRY(parse(&request, argc, argv));
  return eval_request(&request);
}

const FovCommand fov_command_eval = {
    .name = "eval",
    .help = "test a trained agent",
    .usage =
        "usage: fovea eval RUN|CHECKPOINT [key=value ...] [--rollouts M] [--split SPLIT]\n"
        "                  [--images FILE.idx --labels FILE.idx] [--threads N] [--json]\n"
        "\n"
        "Tests a checkpoint (of a run: the one best on validation) on a fixed set of cases\n"
        "and prints its error with Wilson's 95 % interval.\n"
        "\n"
        "  key=value      change a setting that the checkpoint was trained with\n"
        "  --rollouts M   1: one deterministic rollout (default); more: as many sampled ones,\n"
        "                 their log-probabilities averaged; of a game each counts as a case,\n"
        "                 but the interval counts games\n"
        "  --split SPLIT  train, valid or test (default)\n"
        "  --images, --labels  test on an IDX pair instead, each picture as it is, whatever its\n"
        "                 size; env.colour = rgb for an agent that was trained on colour\n"
        "  --threads N    default: all processors; the result does not depend on it\n"
        "  --json         print JSON\n"
        "\n"
        "examples:\n"
        "  fovea eval runs/cluttered-60-s0\n"
        "  fovea eval runs/cluttered-60-s0 --rollouts 10 --json\n"
        "  fovea eval runs/cluttered-60-s0/last.safetensors policy=random first=random\n"
        "  fovea eval runs/mnist-28-s0 --images digits.idx --labels digit-labels.idx\n",
    .run = run,
};
