#include "experiment/sweep/plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "experiment/sweep/key.h"
#include "experiment/sweep/row_tasks.h"
#include "record/run.h"

enum { MAX_EXPERIMENT = 1 << 20, MAX_SEED = 1000000000 };

static const FovOption own_options[] = {
    FOV_STRING(FovSweepOptions, experiment, "", "the experiment file, relative to the sweep file"),
    FOV_STRING(FovSweepOptions, seeds, "0", "a seed, or the first and the last: 0:4"),
    FOV_INT(FovSweepOptions, trials, "0", 0, FOV_SWEEP_RUNS,
            "configurations, if a setting is drawn"),
    FOV_LONG(FovSweepOptions, draws, "0", 0, 9e15, "random seed of the draws"),
    FOV_BOOL(FovSweepOptions, halving, "no",
             "stop early the runs whose validation error is not among the best third (ASHA)"),
    FOV_BOOL(FovSweepOptions, test, "no",
             "test the configuration that validation has chosen, of each row"),
    FOV_INT(FovSweepOptions, rollouts, "1", 1, 1000,
            "N > 1: also test with N sampled rollouts with averaged log-probabilities"),
    FOV_OPTIONS_END,
};

/** Whether a key is of the section [sweep]. */
static bool is_own(const char *key) {
  static const char prefix[] = "sweep.";
  return strncmp(key, prefix, strlen(prefix)) == 0;
}

/** Copies the settings whose key has the prefix of a sweep's own, or the others; of two with the
 * same key the later. */
static FovStatus copy_settings(FovSettings *copy, const FovSettings *all, bool own) {
  size_t count;
  const FovSetting *list = fov_settings_list(&count, all);
  for (size_t i = 0; i < count; i++) {
    bool last = true;
    for (size_t j = i + 1; j < count; j++) last = last && strcmp(list[i].key, list[j].key) != 0;
    if (last && !fov_sweep_is_of_row(list[i].key) && is_own(list[i].key) == own)
      FOV_TRY(fov_settings_put(copy, list[i].key, list[i].value, list[i].where));
  }
  return FOV_OK;
}

static bool names_experiment(const FovSettings *settings) {
  return fov_settings_choice(settings, "sweep.experiment", SIZE_MAX);
}

/** Whether a file has a section [sweep] or rows. */
static bool is_sweep_file(const FovSettings *settings) {
  size_t count;
  const FovSetting *list = fov_settings_list(&count, settings);
  for (size_t i = 0; i < count; i++)
    if (fov_sweep_is_of_row(list[i].key) || is_own(list[i].key)) return true;
  return false;
}

/** Reads a sweep file into `settings`; of an experiment nothing is read, it is named. */
static FovStatus read_file(FovSettings **settings, FovSweepPlan *plan, const char *file) {
  FOV_TRY(fov_settings_create(settings));
  FOV_TRY(fov_settings_read(*settings, file));
  if (names_experiment(*settings)) return FOV_OK;
  if (is_sweep_file(*settings))
    return fov_fail(
        FOV_ERR_USAGE,
        "%s: a sweep file: expected experiment = FILE in its section [sweep], found none", file);
  fov_settings_destroy(*settings);
  FOV_TRY(fov_settings_create(settings));
  if (snprintf(plan->options.experiment, FOV_STRING_SIZE, "%s", file) < FOV_STRING_SIZE)
    return FOV_OK;
  return fov_fail(FOV_ERR_USAGE, "%.80s...: a path of more than %d bytes", file,
                  FOV_STRING_SIZE - 1);
}

/** Resolves the settings of the section [sweep]. */
static FovStatus resolve_options(FovSweepPlan *plan, const FovSettings *all) {
  char experiment[FOV_STRING_SIZE];
  memcpy(experiment, plan->options.experiment, sizeof experiment);
  FovGroup group = {"sweep", own_options, &plan->options};
  FovConfig config = {.groups = &group, .group_count = 1};
  FovSettings *own = NULL;
  FovStatus status = fov_settings_create(&own);
  if (status == FOV_OK) status = copy_settings(own, all, true);
  if (status == FOV_OK) status = fov_config_resolve(&config, own);
  fov_settings_destroy(own);
  if (*experiment) memcpy(plan->options.experiment, experiment, sizeof experiment);
  return status;
}

/** Reads an experiment's text, unless it has been read; its path is relative to the sweep file. */
static FovStatus read_experiment(int *index, FovSweepPlan *plan, const char *name,
                                 const char *file) {
  char path[FOV_PATH_SIZE];
  bool beside = *name != '/' && strcmp(name, file) != 0;
  snprintf(path, sizeof path, "%.*s%s", beside ? (int)(fov_file_name(file) - file) : 0, file, name);
  for (*index = 0; *index < plan->experiment_count; (*index)++)
    if (strcmp(plan->experiments[*index].path, path) == 0) return FOV_OK;
  FovSweepExperiment *experiment = &plan->experiments[plan->experiment_count++];
  memcpy(experiment->path, path, sizeof path);
  snprintf(experiment->file, sizeof experiment->file,
           *index ? "experiment-%d.ini" : "experiment.ini", *index);
  size_t size;
  FOV_TRY(fov_file_read(&experiment->text, &size, path, MAX_EXPERIMENT));
  if (strlen(experiment->text) == size) return FOV_OK;
  return fov_fail(FOV_ERR_FORMAT, "%s: expected an INI text, found a zero byte", path);
}

/** Reads the experiment of the sweep, and those of its rows. */
static FovStatus read_experiments(FovSweepPlan *plan, const char *file) {
  int first;
  plan->experiments = calloc((size_t)plan->rows.count + 1, sizeof *plan->experiments);
  if (!plan->experiments) return fov_fail(FOV_ERR_MEMORY, "no memory for a sweep");
  FOV_TRY(read_experiment(&first, plan, plan->options.experiment, file));
  for (int i = 0; i < plan->rows.count; i++) {
    const char *name = plan->rows.list[i].experiment;
    if (*name) FOV_TRY(read_experiment(&plan->row_experiments[i], plan, name, file));
  }
  return FOV_OK;
}

FovStatus fov_sweep_read_seeds(int64_t *first_seed, int *seeds, const char *text) {
  const char *colon = strchr(text, ':');
  char *end;
  long first = strtol(text, &end, 10), last = first;
  bool right = end != text && (colon ? end == colon : !*end);
  if (right && colon) last = strtol(colon + 1, &end, 10), right = end != colon + 1 && !*end;
  if (!right || first < 0 || last < first || last > MAX_SEED)
    return fov_fail(FOV_ERR_USAGE,
                    "seeds %.80s: expected a seed, or the lowest and the highest such as 0:4, from "
                    "0 to %d",
                    text, MAX_SEED);
  if (last - first >= FOV_SWEEP_RUNS)
    return fov_fail(FOV_ERR_USAGE, "seeds %.80s: expected at most %d seeds", text, FOV_SWEEP_RUNS);
  *first_seed = first;
  *seeds = (int)(last - first + 1);
  return FOV_OK;
}

/** Reads the plan's seeds; a message names where they are set. */
static FovStatus read_seeds(FovSweepPlan *plan, const FovSettings *all) {
  FovStatus status = fov_sweep_read_seeds(&plan->first_seed, &plan->seeds, plan->options.seeds);
  if (status == FOV_OK) return FOV_OK;
  const FovSetting *seeds = fov_settings_choice(all, "sweep.seeds", SIZE_MAX);
  FOV_CHECK(seeds, "seeds %s by default", plan->options.seeds);
  return fov_fail(status, "%s: %s", seeds->where, fov_error_message());
}

/** Makes the names of the rows the first list. */
static FovStatus read_row_key(FovSweepPlan *plan) {
  if (plan->rows.count == 0) return FOV_OK;
  FovSweepKey *key = &plan->keys[plan->key_count++];
  *key = (FovSweepKey){.name = FOV_SWEEP_ROW, .kind = FOV_SWEEP_LIST};
  for (; key->count < plan->rows.count; key->count++) {
    key->values[key->count] = strdup(plan->rows.list[key->count].name);
    if (!key->values[key->count]) return fov_fail(FOV_ERR_MEMORY, "no memory for a sweep");
  }
  return FOV_OK;
}

static FovStatus read_keys(FovSweepPlan *plan) {
  size_t count;
  const FovSetting *list = fov_settings_list(&count, plan->settings);
  plan->keys = calloc(count + 2, sizeof *plan->keys);
  if (!plan->keys) return fov_fail(FOV_ERR_MEMORY, "no memory for a sweep");
  FOV_TRY(read_row_key(plan));
  for (size_t i = 0; i < count; i++) {
    FovSweepKey *key = &plan->keys[plan->key_count];
    // Counted first: finishing the plan frees what a key has after a failure, too.
    plan->key_count++;
    FOV_TRY(fov_sweep_key_read(key, &list[i]));
    if (!key->name) plan->key_count--;
  }
  return FOV_OK;
}

/** Fails if a row sets what varies outside of the rows. */
static FovStatus check_row(const FovSweepPlan *plan, const FovSweepRow *row) {
  size_t count;
  const FovSetting *list = fov_settings_list(&count, row->settings);
  for (size_t i = 0; i < count; i++)
    for (int k = 0; k < plan->key_count; k++)
      if (plan->keys[k].setting && strcmp(list[i].key, plan->keys[k].name) == 0)
        return fov_fail(FOV_ERR_USAGE,
                        "%s: sets %s, which has several values for every row at %s; keep one of "
                        "them",
                        list[i].where, list[i].key, plan->keys[k].setting->where);
  return FOV_OK;
}

static FovStatus check_rows(const FovSweepPlan *plan) {
  for (int i = 0; i < plan->rows.count; i++) FOV_TRY(check_row(plan, &plan->rows.list[i]));
  return FOV_OK;
}

static FovStatus count_configurations(FovSweepPlan *plan) {
  int trials = plan->options.trials;
  double grid = 1;
  const FovSweepKey *drawn = NULL;
  for (int k = 0; k < plan->key_count; k++) {
    const FovSweepKey *key = &plan->keys[k];
    if (key->kind == FOV_SWEEP_LIST)
      grid *= key->count;
    else
      drawn = key;
  }
  if (plan->options.halving && plan->rows.count > 0)
    return fov_fail(
        FOV_ERR_USAGE,
        "--halving: expected a sweep without rows: it would stop the rows with the highest error");
  if (drawn && trials == 0)
    return fov_sweep_refuse(drawn->setting, "--trials, the number of configurations to draw");
  if (!drawn && trials > 0)
    return fov_fail(FOV_ERR_USAGE,
                    "--trials %d: nothing is drawn; use a range such as train.rate=log:1e-4:1e-2",
                    trials);
  if (drawn && trials < grid)
    return fov_fail(FOV_ERR_USAGE,
                    "--trials %d: expected at least %.0f, one for every combination of the lists",
                    trials, grid);
  if (plan->options.halving && plan->seeds > 1)
    return fov_fail(FOV_ERR_USAGE,
                    "--halving: expected one seed, found %d; train the chosen configuration with "
                    "more seeds in a sweep of its own",
                    plan->seeds);
  double runs = (drawn ? trials : grid) * plan->seeds;
  if (runs > FOV_SWEEP_RUNS)
    return fov_fail(FOV_ERR_USAGE, "a sweep of %.0f runs: expected at most %d", runs,
                    FOV_SWEEP_RUNS);
  plan->configurations = drawn ? trials : (int)grid;
  return FOV_OK;
}

/** Resolves every configuration, so that no run is started if one of them cannot be. */
static FovStatus check_configurations(const FovSweepPlan *plan) {
  for (int i = 0; i < plan->configurations; i++) {
    FovExperiment experiment;
    FovStatus status = fov_sweep_resolve(&experiment, plan, i);
    fov_experiment_finish(&experiment);
    FOV_TRY(status);
  }
  return FOV_OK;
}

static void print_rows(FILE *stream, const FovSweepPlan *plan) {
  const char *files[FOV_SWEEP_ROWS];
  for (int i = 0; i < plan->rows.count; i++) {
    const FovSweepExperiment *experiment = &plan->experiments[plan->row_experiments[i]];
    files[i] = *plan->rows.list[i].experiment ? experiment->file : "";
  }
  fov_sweep_rows_print(stream, &plan->rows, files);
}

/** Writes the plan as the sweep file of its own folder. */
static FovStatus print_plan(FovSweepPlan *plan) {
  FovSweepOptions options = plan->options;
  snprintf(options.experiment, sizeof options.experiment, "%s", plan->experiments[0].file);
  options.test = false; // may be asked for later
  FovGroup group = {"sweep", own_options, &options};
  FovConfig config = {.groups = &group, .group_count = 1};
  char *own;
  FOV_TRY(fov_config_dump(&own, &config));
  size_t size, count;
  FILE *stream = open_memstream(&plan->text, &size);
  const FovSetting *list = fov_settings_list(&count, plan->settings);
  for (size_t i = 0; stream && i < count; i++)
    fprintf(stream, "%s = %s\n", list[i].key, list[i].value);
  if (stream) fputs(own, stream);
  if (stream) print_rows(stream, plan);
  free(own);
  return fov_text_close(&plan->text, stream) ? FOV_OK
                                             : fov_fail(FOV_ERR_MEMORY, "no memory for a sweep");
}

static FovStatus add_change(FovSettings *all, const char *change) {
  if (fov_sweep_is_of_row(change))
    return fov_fail(FOV_ERR_USAGE,
                    "%.200s: expected key=value; rows are sections of a sweep file, and the "
                    "command line overrides all",
                    change);
  return fov_settings_add(all, change);
}

/** Fails if a setting is `seed`, which has no effect; older folders may have it in their plan. */
static FovStatus check_seed(const FovSettings *all, const char *file) {
  size_t count;
  const FovSetting *list = fov_settings_list(&count, all);
  bool plan = strcmp(fov_file_name(file), FOV_SWEEP_PLAN) == 0;
  for (size_t i = 0; i < count; i++)
    if (strcmp(list[i].key, "seed") == 0 && (list[i].origin == FOV_ORIGIN_COMMAND || !plan))
      return fov_sweep_refuse(&list[i], "--seeds 3, or --seeds 0:4 for several");
  return FOV_OK;
}

static FovStatus read_plan(FovSweepPlan *plan, FovSettings **all, const char *file,
                           const char *const *changes, int change_count) {
  FOV_TRY(read_file(all, plan, file));
  for (int i = 0; i < change_count; i++) FOV_TRY(add_change(*all, changes[i]));
  if (*plan->options.experiment && names_experiment(*all))
    return fov_fail(
        FOV_ERR_USAGE,
        "sweep.experiment: expected a sweep file, found an experiment, %.200s; name the "
        "other experiment instead of it",
        file);
  FOV_TRY(check_seed(*all, file));
  FOV_TRY(resolve_options(plan, *all));
  FOV_TRY(fov_sweep_rows_read(&plan->rows, file, *all));
  FOV_TRY(read_experiments(plan, file));
  FOV_TRY(fov_settings_create(&plan->settings));
  FOV_TRY(copy_settings(plan->settings, *all, false));
  FOV_TRY(read_seeds(plan, *all));
  FOV_TRY(read_keys(plan));
  FOV_TRY(check_rows(plan));
  FOV_TRY(count_configurations(plan));
  FOV_TRY(print_plan(plan));
  FOV_TRY(check_configurations(plan));
  return fov_sweep_row_tasks(&plan->row_tasks, plan);
}

FovStatus fov_sweep_plan_read(FovSweepPlan *plan, const char *file, const char *const *changes,
                              int change_count) {
  *plan = (FovSweepPlan){.key_count = 0};
  FovSettings *all = NULL;
  FovStatus status = read_plan(plan, &all, file, changes, change_count);
  fov_settings_destroy(all);
  return status;
}

void fov_sweep_plan_finish(FovSweepPlan *plan) {
  for (int k = 0; k < plan->key_count; k++)
    for (int i = 0; i < plan->keys[k].count; i++) free(plan->keys[k].values[i]);
  free(plan->keys);
  for (int i = 0; i < plan->experiment_count; i++) free(plan->experiments[i].text);
  for (int i = 0; i < plan->rows.count && plan->row_tasks; i++) free(plan->row_tasks[i]);
  free(plan->row_tasks);
  free(plan->experiments);
  free(plan->text);
  fov_sweep_rows_finish(&plan->rows);
  fov_settings_destroy(plan->settings);
  *plan = (FovSweepPlan){.key_count = 0};
}
