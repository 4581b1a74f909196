/** Checkpoints: configuration, statistics of images, weights of the agent that it describes. */
#include "record/checkpoint.h"
#include "experiment/experiment.h"
#include "record/provenance.h"
#include "tests/fuzz/fuzz.h"

static const FovEnvSpec spec = {
    .observation = {.kind = FOV_OBSERVATION_IMAGE, .height = 12, .width = 12, .channels = 1},
    .answer = FOV_ANSWER_CLASS,
    .actions = 3,
    .steps = 1,
    .cases = 10};

static FovStatus load(FovExperiment *experiment, const FovSafetensors *file) {
  real *values;
  int64_t update;
  FOV_TRY(fov_experiment_read(experiment, file));
  FOV_TRY(fov_experiment_resolve(experiment));
  FOV_TRY(fov_experiment_build(experiment, &spec));
  FOV_TRY(fov_checkpoint_load_weights(&values, &update, &experiment->agent.params,
                                      experiment->train.average > 0, file));
  free(values);
  return fov_checkpoint_standard(&experiment->standard, file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  FovSafetensors *file;
  FovProvenance provenance;
  FovStatus status = fov_safetensors_open(&file, fuzz_file("input", data, size));
  fuzz_check_message(status);
  if (status != FOV_OK) return 0;
  FovExperiment experiment;
  status = fov_experiment_init(&experiment);
  if (status == FOV_OK) status = load(&experiment, file);
  fuzz_check_message(status);
  fov_experiment_finish(&experiment);
  fov_safetensors_close(file);
  fuzz_check_message(fov_provenance_read(&provenance, "input"));
  return 0;
}
