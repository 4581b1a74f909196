/** The configurations of a plan: the values that vary, and all settings. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/rng.h"
#include "experiment/sweep/key.h"

void fov_sweep_run_name(char name[FOV_SWEEP_NAME], const FovSweepPlan *plan, int configuration,
                        int64_t seed) {
  int digits = snprintf(NULL, 0, "%d", plan->configurations - 1); // all names have as many
  snprintf(name, FOV_SWEEP_NAME, "c%0*d-s%" PRId64, digits, configuration, seed);
}

const char *fov_sweep_key(const FovSweepPlan *plan, int k) {
  return plan->keys[k].name;
}

static FovRng draw_stream(const FovSweepPlan *plan, int k, int configuration) {
  uint64_t index = (uint64_t)configuration << 16 | (uint64_t)k;
  return fov_rng_stream((uint64_t)plan->options.draws, FOV_STREAM_SWEEP, index);
}

/** Number of the key's value in a configuration: the last list of the grid changes fastest. */
static int place_in_grid(const FovSweepPlan *plan, int k, int configuration) {
  for (int other = plan->key_count - 1; other > k; other--)
    if (plan->keys[other].kind == FOV_SWEEP_LIST) configuration /= plan->keys[other].count;
  return configuration % plan->keys[k].count;
}

/** Four digits, or more if those leave the range. */
static void print_draw(char value[FOV_STRING_SIZE], const FovSweepKey *key, double number) {
  snprintf(value, FOV_STRING_SIZE, key->whole ? "%.0f" : "%.4g", number);
  double printed = strtod(value, NULL);
  if (printed < key->low || printed > key->high) snprintf(value, FOV_STRING_SIZE, "%.17g", number);
}

void fov_sweep_value(char value[FOV_STRING_SIZE], const FovSweepPlan *plan, int k,
                     int configuration) {
  const FovSweepKey *key = &plan->keys[k];
  FovRng rng = draw_stream(plan, k, configuration);
  int chosen = key->kind == FOV_SWEEP_LIST  ? place_in_grid(plan, k, configuration)
               : key->kind == FOV_SWEEP_ANY ? (int)fov_rng_below(&rng, (uint32_t)key->count)
                                            : -1;
  if (chosen >= 0)
    snprintf(value, FOV_STRING_SIZE, "%s", key->values[chosen]);
  else
    print_draw(value, key, fov_sweep_key_draw(key, &rng));
}

/** A configuration by the digest of its values. */
typedef struct Drawn {
  uint64_t digest;
  int configuration;
} Drawn;

static Drawn drawn_of(const FovSweepPlan *plan, int configuration) {
  FovDigest digest = FOV_DIGEST_START;
  char value[FOV_STRING_SIZE];
  for (int k = 0; k < plan->key_count; k++) {
    fov_sweep_value(value, plan, k, configuration);
    fov_digest_add(&digest, value, strlen(value) + 1);
  }
  return (Drawn){fov_digest_value(&digest), configuration};
}

static int by_digest(const void *a, const void *b) {
  uint64_t x = ((const Drawn *)a)->digest, y = ((const Drawn *)b)->digest;
  return (x > y) - (x < y);
}

FovStatus fov_sweep_check_draws(const FovSweepPlan *plan) {
  int count = plan->configurations, same = 1;
  Drawn *drawn = malloc((size_t)count * sizeof *drawn);
  char label[4 * FOV_STRING_SIZE];
  if (!drawn) return fov_fail(FOV_ERR_MEMORY, "no memory for a sweep");
  for (int i = 0; i < count; i++) drawn[i] = drawn_of(plan, i);
  qsort(drawn, (size_t)count, sizeof *drawn, by_digest);
  while (same < count && drawn[same].digest != drawn[same - 1].digest) same++;
  bool repeated = same < count;
  if (repeated) fov_sweep_describe(label, sizeof label, plan, drawn[same].configuration);
  free(drawn);
  if (!repeated) return FOV_OK;
  return fov_fail(FOV_ERR_USAGE,
                  "--trials %d: expected different configurations, found %s twice; lower it, set "
                  "another sweep.draws, or list the values: core=rnn,gru",
                  plan->options.trials, label);
}

void fov_sweep_describe(char *label, size_t size, const FovSweepPlan *plan, int configuration) {
  char value[FOV_STRING_SIZE];
  size_t length = 0;
  *label = '\0';
  for (int k = 0; k < plan->key_count && length < size; k++) {
    bool row = k == 0 && plan->rows.count > 0;
    fov_sweep_value(value, plan, k, configuration);
    length += (size_t)snprintf(label + length, size - length, "%s%s%s%s", k ? " " : "",
                               row ? "" : fov_sweep_key(plan, k), row ? "" : "=", value);
  }
}

int fov_sweep_row(const FovSweepPlan *plan, int configuration) {
  return plan->rows.count > 0 ? place_in_grid(plan, 0, configuration) : 0;
}

const char *fov_sweep_row_of_run(const FovSweepPlan *plan, const char *run_name) {
  int configuration;
  if (plan->rows.count == 0 || sscanf(run_name, "c%d-s", &configuration) != 1) return NULL;
  if (configuration < 0 || configuration >= plan->configurations) return NULL;
  return plan->rows.list[fov_sweep_row(plan, configuration)].name;
}

const FovSweepExperiment *fov_sweep_experiment(const FovSweepPlan *plan, int configuration) {
  int row = fov_sweep_row(plan, configuration);
  return &plan->experiments[plan->rows.count > 0 ? plan->row_experiments[row] : 0];
}

static const FovSweepKey *varying(const FovSweepPlan *plan, const FovSetting *setting) {
  for (int k = 0; k < plan->key_count; k++)
    if (plan->keys[k].setting == setting) return &plan->keys[k];
  return NULL;
}

/** Adds the settings of a configuration's row. */
static FovStatus put_row(FovSettings *settings, const FovSweepPlan *plan, int configuration) {
  size_t count;
  if (plan->rows.count == 0) return FOV_OK;
  const FovSweepRow *row = &plan->rows.list[fov_sweep_row(plan, configuration)];
  const FovSetting *list = fov_settings_list(&count, row->settings);
  for (size_t i = 0; i < count; i++)
    FOV_TRY(fov_settings_put(settings, list[i].key, list[i].value, list[i].where));
  return FOV_OK;
}

FovStatus fov_sweep_settings(FovSettings *settings, const FovSweepPlan *plan, int configuration,
                             int64_t seed) {
  const FovSweepExperiment *experiment = fov_sweep_experiment(plan, configuration);
  FOV_TRY(fov_settings_parse(settings, experiment->text, experiment->name));
  size_t count;
  const FovSetting *list = fov_settings_list(&count, plan->settings);
  for (size_t i = 0; i < count; i++) {
    char value[FOV_STRING_SIZE];
    const FovSweepKey *key = varying(plan, &list[i]);
    if (key) fov_sweep_value(value, plan, (int)(key - plan->keys), configuration);
    FOV_TRY(fov_settings_put(settings, list[i].key, key ? value : list[i].value, list[i].where));
  }
  FOV_TRY(put_row(settings, plan, configuration));
  char number[32];
  snprintf(number, sizeof number, "%" PRId64, seed);
  return fov_settings_put(settings, "seed", number, "--seeds");
}

FovStatus fov_sweep_resolve(FovExperiment *experiment, const FovSweepPlan *plan,
                            int configuration) {
  FovStatus status = fov_experiment_init(experiment);
  if (status == FOV_OK)
    status = fov_sweep_settings(experiment->settings, plan, configuration, plan->first_seed);
  return status == FOV_OK ? fov_experiment_resolve(experiment) : status;
}
