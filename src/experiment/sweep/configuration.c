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

/** A configuration by the digest of its row and of all its settings. */
typedef struct Digested {
  uint64_t digest;
  int configuration;
} Digested;

static FovStatus digest_of(Digested *digested, const FovSweepPlan *plan, int configuration) {
  FovExperiment experiment;
  FovDigest digest = FOV_DIGEST_START;
  int row = fov_sweep_row(plan, configuration);
  char *text = NULL;
  FovStatus status = fov_sweep_resolve(&experiment, plan, configuration);
  if (status == FOV_OK) status = fov_config_dump(&text, &experiment.config);
  fov_experiment_finish(&experiment);
  FOV_TRY(status);
  fov_digest_add(&digest, &row, sizeof row);
  fov_digest_add(&digest, text, strlen(text));
  free(text);
  *digested = (Digested){fov_digest_value(&digest), configuration};
  return FOV_OK;
}

static int by_digest(const void *a, const void *b) {
  const Digested *x = a, *y = b;
  if (x->digest != y->digest) return x->digest > y->digest ? 1 : -1;
  return (x->configuration > y->configuration) - (x->configuration < y->configuration);
}

static FovStatus refuse_equal(const FovSweepPlan *plan, int first, int second) {
  char one[2 * FOV_STRING_SIZE], other[2 * FOV_STRING_SIZE];
  fov_sweep_describe(one, sizeof one, plan, first);
  fov_sweep_describe(other, sizeof other, plan, second);
  if (plan->options.trials > 0)
    return fov_fail(FOV_ERR_USAGE,
                    "--trials %d: expected different configurations, found %s twice; lower it, set "
                    "another sweep.draws, or list the values: core=rnn,gru",
                    plan->options.trials, other);
  return fov_fail(FOV_ERR_USAGE, "%s and %s: expected different configurations, found the same one",
                  one, other);
}

FovStatus fov_sweep_check_different(const FovSweepPlan *plan) {
  int count = plan->configurations;
  FovStatus status = FOV_OK;
  Digested *list = malloc((size_t)count * sizeof *list);
  if (!list) return fov_fail(FOV_ERR_MEMORY, "no memory for a sweep");
  for (int i = 0; i < count && status == FOV_OK; i++) status = digest_of(&list[i], plan, i);
  if (status == FOV_OK) qsort(list, (size_t)count, sizeof *list, by_digest);
  for (int i = 1; i < count && status == FOV_OK; i++)
    if (list[i].digest == list[i - 1].digest)
      status = refuse_equal(plan, list[i - 1].configuration, list[i].configuration);
  free(list);
  return status;
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
  FOV_TRY(fov_settings_parse(settings, experiment->text, experiment->path));
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
