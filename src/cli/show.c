#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "cli/cli.h"
#include "cli/print.h"
#include "experiment/trained.h"
#include "record/checkpoint.h"
#include "record/provenance.h"
#include "record/trace.h"

enum { MAX_RUN_JSON = 1 << 20 };

static const char *const trace_keys[] = {"format", "weights",   "update",
                                         "policy", "attention", "digest"};

/** The checkpoint of `source`: of a run the best, or the last before the first evaluation. */
static FovStatus find(char *path, const char *source) {
  FOV_TRY(fov_run_find(path, source, FOV_RUN_BEST));
  if (fov_file_exists(path)) return FOV_OK;
  FOV_TRY(fov_run_find(path, source, FOV_RUN_LAST));
  return fov_file_exists(path) ? FOV_OK : fov_run_expect(path, source, FOV_RUN_BEST);
}

static void print_text(const char *label, const char *text) {
  if (text && *text) fov_print(stdout, "%-12s %s\n", label, text);
}

/** Prints entries of the run.json beside the checkpoint. It is not part of the checkpoint: if it
 * cannot be read, nothing is printed. */
static void print_run(const char *checkpoint) {
  static const char *const keys[] = {"fovea", "time", "host", "gemm", "outcome"};
  char path[FOV_PATH_SIZE + 16], *text;
  size_t size;
  snprintf(path, sizeof path, "%.*s%s", (int)(fov_file_name(checkpoint) - checkpoint), checkpoint,
           FOV_RUN_JSON);
  if (fov_file_read(&text, &size, path, MAX_RUN_JSON) != FOV_OK) return;
  json_t *root = json_loadb(text, size, 0, NULL);
  free(text);
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    print_text(i == 0 ? "version" : keys[i], json_string_value(json_object_get(root, keys[i])));
  json_decref(root);
}

static void print_parameter(const FovBlob *blob, size_t numbers) {
  char shape[FOV_BLOB_DIMS * 24] = "";
  size_t length = 0;
  for (int i = 0; i < blob->dims; i++)
    length += (size_t)snprintf(shape + length, sizeof shape - length, "%s%" PRId64, i ? " x " : "",
                               blob->shape[i]);
  fov_print(stdout, "  %-28s %-14s %10zu\n", blob->name, shape, numbers);
}

static void print_parameters(const FovSafetensors *file) {
  size_t all = 0;
  puts("\nparameters");
  for (size_t i = 0; i < fov_safetensors_count(file); i++) {
    const FovBlob *blob = fov_safetensors_at(file, i);
    size_t numbers = fov_blob_size(blob) / fov_dtype_size(blob->dtype);
    if (!fov_checkpoint_is_weight(blob->name)) continue;
    print_parameter(blob, numbers);
    all += numbers;
  }
  printf("  %-28s %-14s %10zu\n", "all", "", all);
}

/** Prints mean and deviation of standardised images. */
static FovStatus print_standard(const FovSafetensors *file) {
  FovStandard standard;
  FOV_TRY(fov_checkpoint_standard(&standard, file));
  for (int c = 0; c < standard.channels; c++)
    printf("%-12s mean %.4f, deviation %.4f%s\n", c ? "" : "images", standard.mean[c],
           standard.deviation[c], c ? "" : " of the brightness: standardised");
  return FOV_OK;
}

static FovStatus print_update(const FovSafetensors *file, const FovExperiment *experiment) {
  int64_t update, updates = fov_train_updates_planned(&experiment->train);
  FOV_TRY(fov_checkpoint_update(&update, file));
  printf("%-12s %" PRId64 " of %" PRId64 " (%.1f %% of the training)\n", "update", update, updates,
         100 * (double)update / (double)updates);
  return FOV_OK;
}

/** Prints whose weights a file of a run has; nothing if there is no such file. of: {.update = −1}
 * if it cannot be read; then the reason is printed. */
static void print_weights(FovProvenance *of, const char *run, const char *name) {
  char path[FOV_PATH_SIZE];
  *of = (FovProvenance){.update = -1};
  if (fov_run_find(path, run, name) != FOV_OK || !fov_file_exists(path)) return;
  if (fov_provenance_read(of, path) != FOV_OK) {
    fov_print(stdout, "  %-18s %s\n", name, fov_error_message());
    return;
  }
  fov_print(stdout, "  %-18s %-16s  update %" PRId64 "\n", name,
            of->weights[0] ? of->weights : "unknown", of->update);
  fov_cli_note_file(path, of->checked);
}

/** Prints how many episodes a trace has, and which. */
static FovStatus print_episodes(const char *lead, const char *path) {
  FovTrace trace;
  FOV_TRY(fov_trace_read(&trace, path));
  fov_print(stdout, "%s %d", lead, trace.episodes);
  if (trace.split[0]) fov_print(stdout, " of the %s split", trace.split);
  if (trace.seed[0]) fov_print(stdout, ", seed %s", trace.seed);
  fov_print(stdout, "%s%s\n", trace.subset[0] ? ": " : "", trace.subset);
  fov_trace_finish(&trace);
  return FOV_OK;
}

/** Prints the digests of a run's weights, and which of them its trace is of. */
static void print_files(const char *run) {
  FovProvenance best, last, trace;
  puts("\nweights");
  print_weights(&best, run, FOV_RUN_BEST);
  print_weights(&last, run, FOV_RUN_LAST);
  print_weights(&trace, run, FOV_RUN_TRACE);
  if (trace.update < 0) return;
  printf("  the trace is of %s weights\n", fov_provenance_same(&trace, &best)   ? "the best"
                                           : fov_provenance_same(&trace, &last) ? "the last"
                                                                                : "other");
  char path[FOV_PATH_SIZE];
  if (fov_run_find(path, run, FOV_RUN_TRACE) != FOV_OK ||
      print_episodes("  its episodes:", path) != FOV_OK)
    fov_print(stdout, "  %s\n", fov_error_message());
}

/** run: the run of the checkpoint, or NULL. */
static FovStatus print_checkpoint(const char *run, const FovSafetensors *file,
                                  const FovExperiment *experiment) {
  const char *path = fov_safetensors_path(file);
  char *config;
  fov_print(stdout, "%s\n\n", path);
  FOV_TRY(print_update(file, experiment));
  print_run(path);
  print_text("environment", experiment->slots[FOV_SLOT_ENV].plugin->name);
  print_text("data", fov_safetensors_text(file, "data"));
  FOV_TRY(print_standard(file));
  print_text("format", fov_safetensors_text(file, "format"));
  print_text("digest", fov_safetensors_text(file, "digest"));
  print_text("weights", fov_safetensors_text(file, "weights"));
  if (run)
    print_files(run);
  else
    fov_cli_note_file(path, fov_safetensors_is_checked(file));
  print_parameters(file);
  FOV_TRY(fov_config_dump(&config, &experiment->config));
  puts("\nsettings");
  fov_print_text(stdout, config);
  free(config);
  return FOV_OK;
}

/** Prints what a trace was recorded with. */
static FovStatus show_trace(const FovSafetensors *file) {
  fov_print(stdout, "%s\n\n", fov_safetensors_path(file));
  FOV_TRY(print_episodes("episodes    ", fov_safetensors_path(file)));
  for (size_t i = 0; i < sizeof trace_keys / sizeof *trace_keys; i++)
    print_text(trace_keys[i], fov_safetensors_text(file, trace_keys[i]));
  fov_cli_note_file(fov_safetensors_path(file), fov_safetensors_is_checked(file));
  return FOV_OK;
}

static FovStatus show(const FovSafetensors *file, const char *run, FovExperiment *experiment) {
  if (!fov_safetensors_text(file, "config"))
    return fov_fail(FOV_ERR_FORMAT, "%s: expected a fovea checkpoint or trace",
                    fov_safetensors_path(file));
  FOV_TRY(fov_experiment_read(experiment, file));
  FOV_TRY(fov_experiment_resolve(experiment));
  return print_checkpoint(run, file, experiment);
}

static FovStatus run(const void *request, const FovArguments *arguments) {
  (void)request;
  char path[FOV_PATH_SIZE];
  const char *source = arguments->count > 0 ? arguments->words[0] : NULL;
  FovExperiment experiment;
  if (arguments->count != 1)
    return fov_fail(FOV_ERR_USAGE,
                    "expected one run, checkpoint or trace, found %d; see fovea show --help",
                    arguments->count);
  FovSafetensors *file;
  FOV_TRY(find(path, source));
  FOV_TRY(fov_safetensors_open(&file, path));
  bool is_run = strcmp(path, source) != 0;
  const char *format = fov_safetensors_text(file, "format");
  bool is_trace = format && strcmp(format, FOV_TRACE_FORMAT) == 0;
  FovStatus status = fov_experiment_init(&experiment);
  if (status == FOV_OK)
    status = is_trace ? show_trace(file) : show(file, is_run ? source : NULL, &experiment);
  fov_experiment_finish(&experiment);
  fov_safetensors_close(file);
  return status;
}

const FovCommand fov_command_show = {
    .name = "show",
    .help = "print what a checkpoint or a trace contains",
    .synopsis = "RUN|CHECKPOINT|TRACE",
    .about = "Prints a checkpoint (of a run: the one that is best on validation): how long it was\n"
             "trained, by which version, on which data, its parameters with their shapes and\n"
             "counts, and its settings. For a run it also prints which weights its trace was\n"
             "recorded with. For a trace it prints episodes, weights, policy and attention.\n",
    .examples = "  fovea show runs/cluttered-60-s0\n"
                "  fovea show experiments/trained/catch/best.safetensors\n",
    .run = run,
};
