/** Experiment files: what is accepted is printed so that it is read as the same. */
#include "experiment/experiment.h"
#include "tests/fuzz/fuzz.h"

/** The resolved configuration of a text; NULL if it is refused. */
static char *resolve(const char *text) {
  FovExperiment experiment;
  char *dump = NULL;
  FovStatus status = fov_experiment_init(&experiment);
  if (status == FOV_OK) status = fov_settings_parse(experiment.settings, text, "input");
  if (status == FOV_OK) status = fov_experiment_resolve(&experiment);
  if (status == FOV_OK) status = fov_config_dump(&dump, &experiment.config);
  fuzz_check_message(status);
  fov_experiment_finish(&experiment);
  return dump;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  FovSettings *settings;
  FOV_CHECK(fov_settings_create(&settings) == FOV_OK, "no memory");
  fuzz_check_message(fov_settings_read(settings, fuzz_file("input", data, size)));
  fov_settings_destroy(settings);
  char *text = strndup((const char *)data, size);
  char *dump = resolve(text), *again = dump ? resolve(dump) : NULL;
  FOV_CHECK(!dump || (again && strcmp(dump, again) == 0), "another configuration:\n%s\n%s", dump,
            again ? again : fov_error_message());
  free(text);
  free(dump);
  free(again);
  return 0;
}
