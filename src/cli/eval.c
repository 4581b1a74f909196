#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/team.h"
#include "cli/cli.h"
#include "cli/print.h"
#include "experiment/tested.h"
#include "record/json_text.h"

typedef struct Request {
  const char *images, *labels, *lengths;
  int rollouts, threads, split;
  bool json, save;
} Request;

static const FovOption options[] = {
    FOV_INT(Request, rollouts, "1", 1, 1000,
            "1: one deterministic rollout; N > 1: N sampled rollouts with averaged "
            "log-probabilities; for moves or vectors each of the N rollouts of a case counts "
            "separately, and the interval is over cases"),
    FOV_CHOICE(Request, split, "test", fov_split_names, "which cases"),
    FOV_TEXT(
        Request, images,
        "test on the pictures of an IDX file instead, each in its own size; env.colour=rgb for "
        "an agent that was trained on colour"),
    FOV_TEXT(Request, labels, "their labels, an IDX file"),
    FOV_CLI_THREADS(Request),
    FOV_BOOL(Request, json, "no", "print JSON"),
    FOV_TEXT(
        Request, lengths,
        "for sequences, also write the error by the number of symbols of the source, a CSV file "
        "that fovea plot --x length --y error draws"),
    FOV_BOOL(Request, save, "no",
             "write each case's outcome into the run, for fovea compare: SPLIT.safetensors, or "
             "SPLIT-N.safetensors with --rollouts N"),
    FOV_OPTIONS_END,
};

/** What --images and --labels stand for, before the two files. */
static const char *const own_pictures[] = {"env=images",       "env.picture=0", "env.size=0",
                                           "env.place=centre", "env.pieces=0",  "env.divide=no"};

enum { OWN_PICTURES = sizeof own_pictures / sizeof *own_pictures, CHANGE_SIZE = 4096 + 16 };

/** Settings on top of the checkpoint's. */
typedef struct Changes {
  char images[CHANGE_SIZE], labels[CHANGE_SIZE];
  const char **list;
  int count;
} Changes;

/* ---- printing ---- */

/** Every setting of the command line, by its present name. */
static json_t *json_overrides(const FovTrained *trained) {
  json_t *object = json_object();
  size_t count;
  const FovSetting *list = fov_settings_list(&count, trained->experiment.settings);
  for (size_t i = 0; i < count; i++)
    if (list[i].origin == FOV_ORIGIN_COMMAND &&
        json_object_set_new(object, list[i].key, fov_json_string(list[i].value)) != 0) {
      json_decref(object);
      return NULL;
    }
  return object;
}

static FovStatus print_json(const FovTrained *trained, const FovTested *tested,
                            const Request *request) {
  const FovEvalResult *result = &tested->result;
  json_t *overrides = json_overrides(trained);
  json_t *root =
      !overrides
          ? NULL
          : json_pack("{s:o, s:I, s:s, s:I, s:i, s:o, s:I, s:I, s:f, s:[f,f], s:f, s:f, "
                      "s:I, s:f, s:f, s:f, s:f, s:I, s:I}",
                      "checkpoint", fov_json_string(trained->path), "update",
                      (json_int_t)trained->update, "split", fov_split_names[trained->split], "seed",
                      (json_int_t)trained->experiment.eval.seed, "rollouts", request->rollouts,
                      "overrides", overrides, "cases", (json_int_t)result->cases, "wrong",
                      (json_int_t)result->wrong, "error",
                      (double)result->wrong / (double)result->cases, "interval", tested->low,
                      tested->high, "reward", result->reward, "glimpses", result->glimpses,
                      "parameters", (json_int_t)tested->outcomes.parameters, "mflop",
                      tested->outcomes.mflop, "input_numbers", tested->outcomes.input_numbers,
                      "input_pixels", tested->outcomes.input_pixels, "milliseconds",
                      tested->milliseconds, "answers", (json_int_t)result->answers, "wrong_answers",
                      (json_int_t)result->wrong_answers);
  if (root && trained->env.spec.answer == FOV_ANSWER_VECTOR) {
    json_object_set_new(root, "distance", json_real(result->distance));
    json_object_set_new(root, "last_distance", json_real(result->last_distance));
  }
  if (root && result->in_known_part > 0)
    json_object_set_new(root, "alignment_error", json_real(fov_alignment_error(result)));
  char *text = fov_json_text(root, JSON_INDENT(2) | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(9));
  json_decref(root);
  if (!text)
    return fov_fail(FOV_ERR_MEMORY, "%s: no memory for its figures as JSON", trained->path);
  puts(text);
  free(text);
  return FOV_OK;
}

static const char *describe_rollouts(const FovTrained *trained, const FovTested *tested) {
  if (trained->experiment.eval.beam > 1) return "a beam search";
  bool several = tested->outcomes.rollouts > 1;
  if (several && tested->result.played == tested->outcomes.cases)
    return "one rollout played, as no choice is sampled";
  if (several)
    return trained->env.spec.answer == FOV_ANSWER_CLASS ? "sampled rollouts averaged"
                                                        : "each sampled rollout counted";
  const FovPolicy *policy = trained->task.policy;
  return policy->head.build || policy->sites ? "one deterministic rollout" : "one rollout";
}

static void print_overrides(const FovTrained *trained) {
  size_t count;
  const char *lead = "overrides   ";
  const FovSetting *list = fov_settings_list(&count, trained->experiment.settings);
  for (size_t i = 0; i < count; i++) {
    if (list[i].origin != FOV_ORIGIN_COMMAND) continue;
    fov_print(stdout, "%s %s=%s", lead, list[i].key, list[i].value);
    lead = "";
  }
  if (!*lead) putchar('\n');
}

static void print_text(const FovTrained *trained, const FovTested *tested, const Request *request) {
  const FovEvalResult *result = &tested->result;
  fov_print(stdout, "%s (update %lld): %lld cases of the %s split, seed %lld, %s\n", trained->path,
            (long long)trained->update, (long long)result->cases, fov_split_names[trained->split],
            (long long)trained->experiment.eval.seed, describe_rollouts(trained, tested));
  print_overrides(trained);
  if (request->rollouts > 1) printf("rollouts     %d\n", request->rollouts);
  printf("error        %.2f %%   (95 %% interval %.2f to %.2f %%; %lld wrong)\n",
         100.0 * (double)result->wrong / (double)result->cases, 100 * tested->low,
         100 * tested->high, (long long)result->wrong);
  if (result->answers > result->cases)
    printf("answers      %.2f %% wrong, of all %lld\n",
           100.0 * (double)result->wrong_answers / (double)result->answers,
           (long long)result->answers);
  if (result->in_known_part > 0)
    printf("alignment    %.2f %% error (AER), of %lld answers of which the source is known\n",
           100 * fov_alignment_error(result), (long long)result->in_known_part);
  if (trained->env.spec.answer == FOV_ANSWER_VECTOR)
    printf("distance     %.4f of the last answers, %.4f of all, root mean squared\n",
           result->last_distance, result->distance);
  printf("reward       %.4f%s, mean of a rollout\n", result->reward,
         trained->experiment.eval.beam > 1 ? " right answers" : "");
  printf("glimpses     %.2f, mean of a rollout\n", result->glimpses);
  printf("cost         %.3f MFLOP, mean of a rollout's matrix products; %lld parameters\n",
         tested->outcomes.mflop, (long long)tested->outcomes.parameters);
  bool symbols = trained->env.spec.observation.kind == FOV_OBSERVATION_TOKENS;
  if (!symbols)
    printf("input        %.0f numbers from %.0f pixels, mean of a rollout\n",
           tested->outcomes.input_numbers, tested->outcomes.input_pixels);
  printf("time         %.3f ms per %s on one thread, mean of a rollout\n", tested->milliseconds,
         symbols ? "sequence" : "image");
}

/* ---- evaluating ---- */

enum { OUTCOMES_PATH = FOV_PATH_SIZE + FOV_OUTCOMES_NAME };

/** Where the outcomes are written: into the run. */
static const char *outcomes_path(char path[OUTCOMES_PATH], const FovTrained *trained,
                                 int rollouts) {
  char name[FOV_OUTCOMES_NAME];
  int folder = (int)(fov_file_name(trained->path) - trained->path);
  snprintf(path, OUTCOMES_PATH, "%.*s%s", folder, trained->path,
           fov_outcomes_name(name, trained->split, rollouts));
  return path;
}

/** Writes a line for each length that some case has. */
static FovStatus write_lengths(const FovTested *tested, const FovTrained *trained,
                               const char *path) {
  int L = trained->env.spec.observation.length;
  int64_t *counts = calloc((size_t)L + 1, 2 * sizeof *counts); // cases and errors of each length
  FovReplace file = {0};
  if (!counts) return fov_fail(FOV_ERR_MEMORY, "%s: no memory", path);
  for (int64_t i = 0; i < tested->outcomes.cases; i++) {
    int64_t *count = &counts[2 * tested->lengths[i]];
    count[0]++, count[1] += tested->outcomes.wrong[i];
  }
  FovStatus status = fov_replace_begin(&file, path);
  if (status == FOV_OK) {
    fputs("length,cases,wrong,error\n", file.stream);
    for (int64_t *count = counts, length = 0; length <= L; length++, count += 2)
      if (count[0])
        fprintf(file.stream, "%lld,%lld,%lld,%.9g\n", (long long)length, (long long)count[0],
                (long long)count[1], (double)count[1] / (double)count[0]);
    status = fov_replace_commit(&file);
  }
  free(counts);
  return status;
}

static FovStatus evaluate(const Request *request, const FovTrained *trained) {
  FovTested tested;
  FovTestedCases wanted = request->save ? FOV_TESTED_WRONG : 0;
  if (request->lengths) wanted = FOV_TESTED_WRONG | FOV_TESTED_LENGTHS;
  FovStatus status = fov_tested_run(&tested, trained, request->rollouts,
                                    fov_cli_threads(request->threads), wanted);
  if (status == FOV_OK && request->lengths)
    status = write_lengths(&tested, trained, request->lengths);
  char path[OUTCOMES_PATH];
  if (status == FOV_OK && request->save)
    status = fov_outcomes_write(&tested.outcomes, outcomes_path(path, trained, request->rollouts));
  if (status == FOV_OK && request->json)
    status = print_json(trained, &tested, request);
  else if (status == FOV_OK)
    print_text(trained, &tested, request);
  fov_tested_finish(&tested);
  return status;
}

static FovStatus check_lengths(const Request *request, const FovTrained *trained) {
  if (!request->lengths) return FOV_OK;
  FOV_TRY(fov_cli_check_name("--lengths", request->lengths, "a CSV file"));
  FOV_TRY(fov_cli_check_trained("--lengths", request->lengths, trained));
  if (trained->env.spec.observation.kind == FOV_OBSERVATION_TOKENS)
    return fov_replace_check(request->lengths);
  return fov_fail(FOV_ERR_USAGE,
                  "--lengths: expected an environment of sequences of symbols, found env = %s",
                  trained->env.type->plugin.name);
}

/** --save keeps the outcomes of the agent as it was trained. */
static FovStatus check_save(const Request *request, const FovTrained *trained) {
  size_t count;
  const FovSetting *list = fov_settings_list(&count, trained->experiment.settings);
  bool changed = count > 0 && list[count - 1].origin == FOV_ORIGIN_COMMAND;
  bool many = trained->env.spec.answer != FOV_ANSWER_CLASS && request->rollouts > 1;
  bool best = strcmp(fov_file_name(trained->path), FOV_RUN_BEST) == 0;
  char path[OUTCOMES_PATH];
  if (!request->save) return FOV_OK;
  if (!changed && !many && best)
    return fov_replace_check(outcomes_path(path, trained, request->rollouts));
  return fov_fail(FOV_ERR_USAGE, "--save: expected %s",
                  request->images ? "no --images: it keeps outcomes of the agent's own environment"
                  : changed ? "no key=value: it keeps the outcomes of the agent as it was trained"
                  : many    ? "--rollouts 1: several rollouts of moves or vectors have no common "
                              "outcome"
                            : "a run that has a " FOV_RUN_BEST ", whose outcomes it keeps");
}

/** Gathers the settings: what the options stand for, then the user's. */
static FovStatus gather(Changes *changes, const Request *request, const FovArguments *arguments) {
  if (!request->images != !request->labels)
    return fov_fail(FOV_ERR_USAGE, "--%s is given without --%s: expected both or neither",
                    request->images ? "images" : "labels", request->images ? "labels" : "images");
  changes->list = calloc((size_t)arguments->count + OWN_PICTURES + 2, sizeof *changes->list);
  if (!changes->list) return fov_fail(FOV_ERR_MEMORY, "no memory for the arguments");
  if (request->images) {
    for (int i = 0; i < OWN_PICTURES; i++) changes->list[changes->count++] = own_pictures[i];
    snprintf(changes->images, CHANGE_SIZE, "env.images=%s", request->images);
    snprintf(changes->labels, CHANGE_SIZE, "env.labels=%s", request->labels);
    changes->list[changes->count++] = changes->images;
    changes->list[changes->count++] = changes->labels;
  }
  for (int i = 1; i < arguments->count; i++) changes->list[changes->count++] = arguments->words[i];
  return FOV_OK;
}

static FovStatus run(const void *values, const FovArguments *arguments) {
  const Request *request = values;
  if (arguments->count == 0)
    return fov_fail(FOV_ERR_USAGE, "no run or checkpoint given; see fovea eval --help");
  Changes changes = {.count = 0};
  FovTrained trained = {0};
  FovStatus status = gather(&changes, request, arguments);
  if (status == FOV_OK)
    status = fov_trained_load(&trained, arguments->words[0], changes.list, changes.count,
                              (FovSplit)request->split);
  fov_cli_notes(trained.experiment.settings);
  if (status == FOV_OK) fov_cli_note_file(trained.path, trained.checked);
  if (status == FOV_OK) status = check_save(request, &trained);
  if (status == FOV_OK) status = check_lengths(request, &trained);
  if (status == FOV_OK) status = evaluate(request, &trained);
  fov_trained_finish(&trained);
  free(changes.list);
  return status;
}

const FovCommand fov_command_eval = {
    .name = "eval",
    .help = "test a trained agent",
    .synopsis = "RUN|CHECKPOINT [key=value ...]",
    .about =
        "Tests a checkpoint (of a run: the one that is best on validation) on a fixed set of\n"
        "cases and prints its error with Wilson's 95 % interval. key=value changes a setting\n"
        "that it was trained with.\n"
        "\n"
        "It also prints what one rollout of one image costs:\n"
        "  MFLOP       multiplications and additions of all matrix products\n"
        "  parameters  that are learned\n"
        "  numbers     that the network receives from the sensor, of all glimpses\n"
        "  pixels      of the image that they are computed from; a pixel counts once for each\n"
        "              patch that it lies in\n"
        "  ms          processor time of a thread that plays 64 cases at a time, without drawing\n",
    .examples = "  fovea eval runs/cluttered-60-s0\n"
                "  fovea eval runs/cluttered-60-s0 --rollouts 10 --json\n"
                "  fovea eval runs/cluttered-60-s0/last.safetensors policy=random first=random\n"
                "  fovea eval runs/dates-s0 eval.beam=5\n"
                "  fovea eval runs/reverse-s0 env.longest=40 --lengths reverse-s0.csv\n"
                "  fovea eval runs/mnist-28-s0 --images digits.idx --labels digit-labels.idx\n",
    .options = options,
    .size = sizeof(Request),
    .run = run,
};
