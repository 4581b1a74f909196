/** The plan of a sweep, and the decisions of successive halving. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "experiment/sweep/folder.h"
#include "experiment/sweep/halving.h"
#include "experiment/sweep/plan.h"
#include "record/outcomes.h"
#include "record/safetensors.h"
#include "tests/folder.h"

enum { MAX_CHANGES = 8 };

static const char experiment[] = "env = translated\n[core]\nwidth = 16\n[train]\nepisodes = 640\n";

static int make(void **state) {
  (void)state;
  if (make_folder("experiment") != 0) return -1;
  return fov_file_write(path, experiment, strlen(experiment)) == FOV_OK ? 0 : -1;
}

/** Reads the plan of the experiment with changes up to a NULL. */
static FovStatus read_plan(FovSweepPlan *plan, const char *const changes[MAX_CHANGES]) {
  int count = 0;
  while (changes[count]) count++;
  return fov_sweep_plan_read(plan, path, changes, count);
}

static void assert_refused(const char *part, const char *const changes[MAX_CHANGES]) {
  FovSweepPlan plan;
  assert_int_equal(read_plan(&plan, changes), FOV_ERR_USAGE);
  assert_message(part);
  fov_sweep_plan_finish(&plan);
}

/* ---- plans ---- */

static void lists_span_a_grid(void **state) {
  (void)state;
  FovSweepPlan plan;
  const char *const changes[MAX_CHANGES] = {"core=rnn, gru", "glimpses=4", "policy.sigma=2,4,8",
                                            "sweep.seeds=3:4", NULL};
  assert_int_equal(read_plan(&plan, changes), FOV_OK);
  assert_int_equal(plan.configurations, 6);
  assert_int_equal(plan.first_seed, 3);
  assert_int_equal(plan.seeds, 2);
  assert_int_equal(plan.key_count, 2);
  const char *const cores[] = {"rnn", "rnn", "rnn", "gru", "gru", "gru"};
  const char *const sigmas[] = {"2", "4", "8", "2", "4", "8"};
  for (int i = 0; i < 6; i++) {
    char core[FOV_STRING_SIZE], sigma[FOV_STRING_SIZE];
    fov_sweep_value(core, &plan, 0, i);
    fov_sweep_value(sigma, &plan, 1, i);
    assert_string_equal(core, cores[i]);
    assert_string_equal(sigma, sigmas[i]);
  }
  fov_sweep_plan_finish(&plan);
}

static double drawn(const FovSweepPlan *plan, int k, int configuration) {
  char value[FOV_STRING_SIZE];
  fov_sweep_value(value, plan, k, configuration);
  return atof(value);
}

static void draws_are_uniform_on_their_scales(void **state) {
  (void)state;
  enum { N = 2000 };
  FovSweepPlan plan;
  const char *const changes[MAX_CHANGES] = {"train.rate=log:1e-4:1e-2", "policy.sigma=lin:2.0:8.0",
                                            "core.width=lin:3:5",       "core=any:rnn:gru",
                                            "sweep.trials=2000",        NULL};
  assert_int_equal(read_plan(&plan, changes), FOV_OK);
  double rate = 0, sigma = 0;
  int widths[6] = {0}, grus = 0;
  for (int i = 0; i < N; i++) {
    char core[FOV_STRING_SIZE];
    double r = drawn(&plan, 0, i), s = drawn(&plan, 1, i), w = drawn(&plan, 2, i);
    assert_true(r >= 1e-4 && r <= 1e-2 && s >= 2 && s <= 8 && (w == 3 || w == 4 || w == 5));
    rate += log10(r) / N;
    sigma += s / N;
    widths[(int)w]++;
    fov_sweep_value(core, &plan, 3, i);
    grus += strcmp(core, "gru") == 0;
  }
  // Four standard errors.
  assert_close(rate, -3, 4 * 2 / sqrt(12 * N));
  assert_close(sigma, 5, 4 * 6 / sqrt(12 * N));
  assert_close(grus, N / 2, 4 * sqrt(N / 4));
  for (int w = 3; w <= 5; w++) assert_close(widths[w], N / 3, 4 * sqrt(N * 2 / 9));
  fov_sweep_plan_finish(&plan);
}

static void draws_stay_in_narrow_ranges(void **state) {
  (void)state;
  FovSweepPlan plan;
  const char *const changes[MAX_CHANGES] = {"train.average=lin:0.999:0.99999", "sweep.trials=99",
                                            NULL};
  assert_int_equal(read_plan(&plan, changes), FOV_OK);
  for (int i = 0; i < 99; i++)
    assert_true(drawn(&plan, 0, i) >= 0.999 && drawn(&plan, 0, i) <= 0.99999);
  fov_sweep_plan_finish(&plan);
}

static void every_combination_is_drawn_for(void **state) {
  (void)state;
  FovSweepPlan plan;
  const char *const changes[MAX_CHANGES] = {"core=rnn,gru,lstm", "train.rate=log:1e-4:1e-2",
                                            "sweep.trials=7", NULL};
  assert_int_equal(read_plan(&plan, changes), FOV_OK);
  assert_int_equal(plan.configurations, 7);
  const char *const cores[] = {"rnn", "gru", "lstm"};
  for (int i = 0; i < 7; i++) {
    char core[FOV_STRING_SIZE];
    fov_sweep_value(core, &plan, 0, i);
    assert_string_equal(core, cores[i % 3]);
    for (int j = 0; j < i; j++) assert_true(drawn(&plan, 1, i) != drawn(&plan, 1, j));
  }
  fov_sweep_plan_finish(&plan);
}

/** One of five draws from four combinations repeats another; two may differ. */
static void equal_configurations_are_found(void **state) {
  (void)state;
  FovSweepPlan plan;
  const char *changes[MAX_CHANGES] = {"core=any:rnn:gru", "glimpses=any:2:3", "sweep.trials=5",
                                      NULL};
  assert_int_equal(read_plan(&plan, changes), FOV_OK);
  assert_int_equal(fov_sweep_check_different(&plan), FOV_ERR_USAGE);
  assert_message("--trials 5: expected different configurations, found core=");
  fov_sweep_plan_finish(&plan);
  changes[2] = "sweep.trials=2";
  changes[3] = "sweep.draws=1";
  assert_int_equal(read_plan(&plan, changes), FOV_OK);
  assert_int_equal(fov_sweep_check_different(&plan), FOV_OK);
  fov_sweep_plan_finish(&plan);
  const char *written[MAX_CHANGES] = {"core=rnn,gru", "train.rate=1e-3,2e-3,0.001", NULL};
  assert_int_equal(read_plan(&plan, written), FOV_OK);
  assert_int_equal(fov_sweep_check_different(&plan), FOV_ERR_USAGE);
  assert_message("train.rate=1e-3 and core=");
  assert_message("train.rate=0.001: expected different configurations, found the same one");
  fov_sweep_plan_finish(&plan);
}

static void a_plan_reads_back_from_its_own_text(void **state) {
  (void)state;
  FovSweepPlan plan, again;
  char file[700];
  const char *const changes[MAX_CHANGES] = {"core=rnn,gru", "train.rate=log:1e-4:1e-2",
                                            "sweep.trials=4", "sweep.draws=7", NULL};
  assert_int_equal(read_plan(&plan, changes), FOV_OK);
  assert_int_equal(fov_sweep_folder_open(folder, &plan), FOV_ERR_USAGE);
  assert_message("has files, but no sweep");
  char dir[300];
  snprintf(dir, sizeof dir, "%s/sweep", folder);
  assert_int_equal(fov_sweep_folder_open(dir, &plan), FOV_OK);
  snprintf(file, sizeof file, "%s/%s", dir, FOV_SWEEP_PLAN);
  assert_int_equal(fov_sweep_plan_read(&again, file, NULL, 0), FOV_OK);
  assert_string_equal(again.text, plan.text);
  assert_string_equal(again.experiments[0].text, experiment);
  for (int i = 0; i < 4; i++) assert_true(drawn(&plan, 1, i) == drawn(&again, 1, i));
  assert_int_equal(fov_sweep_folder_open(dir, &again), FOV_OK);
  fov_sweep_plan_finish(&again);
  fov_sweep_plan_finish(&plan);
  const char *const other[MAX_CHANGES] = {"core=rnn,lstm", "train.rate=log:1e-4:1e-2",
                                          "sweep.trials=4", "sweep.draws=7", NULL};
  assert_int_equal(read_plan(&plan, other), FOV_OK);
  assert_int_equal(fov_sweep_folder_open(dir, &plan), FOV_ERR_USAGE);
  assert_message("holds another sweep, with 'core = rnn,gru' instead of 'core = rnn,lstm'");
  fov_sweep_plan_finish(&plan);
}

/** Opens a folder with the plan of a sweep with rollouts. */
static FovStatus open_with_rollouts(const char *dir, const char *rollouts) {
  FovSweepPlan plan;
  const char *const changes[MAX_CHANGES] = {"core=rnn,gru", rollouts, NULL};
  assert_int_equal(read_plan(&plan, changes), FOV_OK);
  FovStatus status = fov_sweep_folder_open(dir, &plan);
  fov_sweep_plan_finish(&plan);
  return status;
}

/** Folders of older versions have no line for them. */
static void a_sweep_gets_rollouts_once(void **state) {
  (void)state;
  char dir[300], file[400], *text;
  size_t size;
  snprintf(dir, sizeof dir, "%s/sweep", folder);
  snprintf(file, sizeof file, "%s/%s", dir, FOV_SWEEP_PLAN);
  assert_int_equal(open_with_rollouts(dir, "sweep.rollouts=1"), FOV_OK);
  assert_int_equal(fov_file_read(&text, &size, file, 4096), FOV_OK);
  char *line = strstr(text, "sweep.rollouts = 1\n");
  assert_non_null(line);
  *line = '\0';
  assert_int_equal(fov_file_write(file, text, strlen(text)), FOV_OK);
  free(text);
  assert_int_equal(open_with_rollouts(dir, "sweep.rollouts=1"), FOV_OK);
  assert_int_equal(open_with_rollouts(dir, "sweep.rollouts=10"), FOV_OK);
  assert_int_equal(open_with_rollouts(dir, "sweep.rollouts=10"), FOV_OK);
  for (int i = 0; i < 2; i++) {
    assert_int_equal(open_with_rollouts(dir, i ? "sweep.rollouts=1" : "sweep.rollouts=20"),
                     FOV_ERR_USAGE);
    assert_message("holds a sweep that is tested with 10 rollouts: expected --rollouts 10, found ");
  }
}

/** Older versions wrote it into the plan, where it had no effect. */
static void a_seed_in_the_plan_of_an_older_folder_is_accepted(void **state) {
  (void)state;
  FovSweepPlan plan;
  char older[400];
  const char *text = "seed = 3\n[sweep]\nexperiment = experiment\n";
  snprintf(older, sizeof older, "%s/" FOV_SWEEP_PLAN, folder);
  assert_int_equal(fov_file_write(older, text, strlen(text)), FOV_OK);
  assert_int_equal(fov_sweep_plan_read(&plan, older, NULL, 0), FOV_OK);
  fov_sweep_plan_finish(&plan);
}

static void mistakes_are_refused_before_anything_starts(void **state) {
  (void)state;
#define REFUSED(part, ...) assert_refused(part, (const char *const[MAX_CHANGES]){__VA_ARGS__, NULL})
  REFUSED("unknown key 'core.widht'; did you mean 'core.width'?", "core.widht=16,32");
  REFUSED("core = grj: expected one of", "core=rnn,grj");
  REFUSED("an empty one", "core=rnn,,gru");
  REFUSED("found one twice", "core=rnn,rnn");
  REFUSED("--trials, the number of configurations", "train.rate=log:1e-4:1e-2");
  REFUSED("nothing is drawn", "core=rnn,gru", "sweep.trials=4");
  REFUSED("at least 3", "core=rnn,gru,lstm", "train.rate=log:1e-4:1e-2", "sweep.trials=2");
  REFUSED("the lower number first", "train.rate=log:1e-2:1e-4", "sweep.trials=2");
  REFUSED("numbers above 0", "train.rate=log:0:1e-2", "sweep.trials=2");
  REFUSED("two numbers", "train.rate=lin:1e-2", "sweep.trials=2");
  REFUSED("two numbers", "train.rate=lin:a:b", "sweep.trials=2");
  REFUSED("seeds 4:0: expected a seed", "sweep.seeds=4:0");
  REFUSED("seeds 0:x: expected a seed", "sweep.seeds=0:x");
  REFUSED("seeds -1: expected a seed", "sweep.seeds=-1");
  REFUSED("seed = 1,2: expected --seeds", "seed=1,2");
  REFUSED("seed = 3: expected --seeds", "seed=3");
  REFUSED("row.core=gru: expected key=value", "row.core=gru");
  REFUSED("expected a sweep file, found an experiment", "sweep.experiment=other");
  REFUSED("row b.core=gru: expected key=value", "row b.core=gru");
  REFUSED("at most 100000", "core=rnn,gru", "sweep.seeds=0:60000");
  REFUSED("--halving: expected one seed", "core=rnn,gru", "sweep.halving=yes", "sweep.seeds=0:1");
  REFUSED("unknown key 'sweep.seed'", "sweep.seed=1");
#undef REFUSED
}

/* ---- rows ---- */

static void write_beside(const char *name, const char *text) {
  char file[300];
  snprintf(file, sizeof file, "%s/%s", folder, name);
  assert_int_equal(fov_file_write(file, text, strlen(text)), FOV_OK);
}

/** Writes a sweep file beside the experiment and reads its plan; `changes` up to a NULL. */
static FovStatus read_rows(FovSweepPlan *plan, const char *text,
                           const char *const changes[MAX_CHANGES]) {
  char file[300];
  int count = 0;
  while (changes && changes[count]) count++;
  write_beside("kinds", text);
  snprintf(file, sizeof file, "%s/kinds", folder);
  return fov_sweep_plan_read(plan, file, changes, count);
}

/** Asserts a line of a configuration's settings, with defaults. */
static void assert_setting(const FovSweepPlan *plan, int configuration, const char *line) {
  FovExperiment resolved;
  char *text;
  assert_int_equal(fov_experiment_init(&resolved), FOV_OK);
  assert_int_equal(fov_sweep_settings(resolved.settings, plan, configuration, 0), FOV_OK);
  assert_int_equal(fov_experiment_resolve(&resolved), FOV_OK);
  assert_int_equal(fov_config_dump(&text, &resolved.config), FOV_OK);
  if (!strstr(text, line))
    fail_msg("configuration %d has no '%s' in %s", configuration, line, text);
  free(text);
  fov_experiment_finish(&resolved);
}

static const char kinds[] =
    "core = rnn, gru\ntrain.rate = 1e-3\n"
    "[row soft: 0.5]\nattention = soft\ntiles.heads = 4\ntrain.rate = 2e-3\n"
    "[row gaze]\nattention = gaze\ncore.width = 8\n"
    "[sweep]\nexperiment = experiment\nseeds = 0:1\n"
    "[row large]\nexperiment = large\n"
    "[train]\nbatch = 32\n";
static const char large[] = "env = translated\nenv.size = 80\n[core]\nwidth = 16\n";

static void rows_are_crossed_with_the_lists_outside(void **state) {
  (void)state;
  static const char *const labels[] = {"soft: 0.5 core=rnn", "soft: 0.5 core=gru",
                                       "gaze core=rnn",      "gaze core=gru",
                                       "large core=rnn",     "large core=gru"};
  FovSweepPlan plan;
  char label[64];
  write_beside("large", large);
  assert_int_equal(read_rows(&plan, kinds, NULL), FOV_OK);
  assert_int_equal(plan.configurations, 6);
  for (int i = 0; i < 6; i++) {
    int row = i / 2;
    fov_sweep_describe(label, sizeof label, &plan, i);
    assert_string_equal(label, labels[i]);
    assert_int_equal(fov_sweep_row(&plan, i), row);
    assert_setting(&plan, i, i % 2 ? "core = gru\n" : "core = rnn\n");
    assert_setting(&plan, i, row == 0 ? "train.rate = 0.002\n" : "train.rate = 0.001\n");
    assert_setting(&plan, i, row == 0 ? "attention = soft\n" : "attention = gaze\n");
    assert_setting(&plan, i, row == 1 ? "core.width = 8\n" : "core.width = 16\n");
    assert_setting(&plan, i, row == 2 ? "env.size = 80\n" : "env.size = 60\n");
    assert_setting(&plan, i, "train.batch = 32\n"); // a section ends a row
  }
  assert_string_equal(plan.row_tasks[0], "size=60");
  assert_string_equal(plan.row_tasks[1], "size=60");
  assert_string_equal(plan.row_tasks[2], "size=80");
  assert_string_equal(fov_sweep_row_of_run(&plan, "c3-s1"), "gaze");
  assert_null(fov_sweep_row_of_run(&plan, "c6-s1"));
  fov_sweep_plan_finish(&plan);
}

static void blanks_and_a_byte_order_mark_hide_no_row(void **state) {
  (void)state;
  FovSweepPlan plan;
  const char *text = "\xEF\xBB\xBF[ row a]\ncore=rnn\n [\trow b ]\ncore=gru\n[sweep]\n"
                     "experiment=experiment\n";
  assert_int_equal(read_rows(&plan, text, NULL), FOV_OK);
  assert_int_equal(plan.rows.count, 2);
  assert_string_equal(plan.rows.list[0].name, "a");
  assert_string_equal(plan.rows.list[1].name, "b");
  assert_setting(&plan, 0, "core = rnn\n");
  assert_setting(&plan, 1, "core = gru\n");
  fov_sweep_plan_finish(&plan);
}

static void rows_read_back_from_the_text_of_their_plan(void **state) {
  (void)state;
  FovSweepPlan plan, again;
  char dir[300], file[400], text[sizeof kinds + 100];
  write_beside("large", large);
  snprintf(text, sizeof text, "%s[row plain]\nexperiment = experiment\n", kinds);
  assert_int_equal(read_rows(&plan, text, NULL), FOV_OK);
  snprintf(dir, sizeof dir, "%s/sweep", folder);
  snprintf(file, sizeof file, "%s/%s", dir, FOV_SWEEP_PLAN);
  assert_int_equal(fov_sweep_folder_open(dir, &plan), FOV_OK);
  assert_int_equal(fov_sweep_plan_read(&again, file, NULL, 0), FOV_OK);
  assert_string_equal(again.text, plan.text);
  assert_string_equal(again.experiments[1].text, large);
  assert_setting(&again, 4, "env.size = 80\n");
  assert_setting(&again, 6, "env.size = 60\n");
  fov_sweep_plan_finish(&again);
  fov_sweep_plan_finish(&plan);
  write_beside("large", "env = translated\nenv.size = 90\n[core]\nwidth = 16\n");
  assert_int_equal(read_rows(&plan, text, NULL), FOV_OK);
  assert_int_equal(fov_sweep_folder_open(dir, &plan), FOV_ERR_USAGE);
  assert_message("'env.size = 80' instead of 'env.size = 90'");
  fov_sweep_plan_finish(&plan);
}

/** What is typed replaces the settings of rows, too, also in the folder's plan. */
static void a_command_line_overrides_rows(void **state) {
  (void)state;
  FovSweepPlan plan;
  const char *const changes[MAX_CHANGES] = {"train.rate=3e-3", "core=lstm", NULL};
  write_beside("large", "env = translated\n");
  assert_int_equal(read_rows(&plan, kinds, changes), FOV_OK);
  assert_int_equal(plan.configurations, 3);
  for (int i = 0; i < 3; i++) {
    assert_setting(&plan, i, "train.rate = 0.003\n");
    assert_setting(&plan, i, "core = lstm\n");
  }
  assert_null(strstr(plan.text, "2e-3"));
  assert_null(plan.row_tasks);
  fov_sweep_plan_finish(&plan);
}

/** A list takes the place of what rows set, too, and is tried with every row. */
static void a_list_of_the_command_line_replaces_values_of_rows(void **state) {
  (void)state;
  FovSweepPlan plan;
  const char *const changes[MAX_CHANGES] = {"core.width=8,16", NULL};
  const char *text = "[sweep]\nexperiment = experiment\n"
                     "[row a]\ncore=gru\ncore.width=32\n[row b]\ncore=rnn\n";
  assert_int_equal(read_rows(&plan, text, changes), FOV_OK);
  assert_int_equal(plan.configurations, 4);
  assert_setting(&plan, 0, "core = gru\ncore.width = 8\n");
  assert_setting(&plan, 1, "core = gru\ncore.width = 16\n");
  assert_setting(&plan, 3, "core = rnn\ncore.width = 16\n");
  assert_null(strstr(plan.text, "32"));
  fov_sweep_plan_finish(&plan);
  text = "[sweep]\nexperiment = experiment\n[row a]\ncore.width=32\n[row b]\ncore=rnn\n";
  assert_int_equal(read_rows(&plan, text, changes), FOV_ERR_USAGE);
  assert_message("row 'a': expected settings besides those that the command line varies");
  fov_sweep_plan_finish(&plan);
}

static void an_attention_of_a_row_brings_its_policy(void **state) {
  (void)state;
  FovSweepPlan plan;
  write_beside("placed", "attention = gaze\npolicy = gaussian\npolicy.sigma = 4\n");
  assert_int_equal(read_rows(&plan,
                             "[sweep]\nexperiment = placed\n"
                             "[row hard]\nattention = sampled\npolicy.entropy = 0.01\n"
                             "[row soft]\nattention = soft\n[row gaze]\nglimpses = 4\n",
                             NULL),
                   FOV_OK);
  assert_setting(&plan, 0, "\npolicy = sites\npolicy.entropy = 0.01\n");
  assert_setting(&plan, 1, "\npolicy = centre\n");
  assert_setting(&plan, 2, "\npolicy.sigma = 4\n");
  fov_sweep_plan_finish(&plan);
}

static void assert_rows_refused(const char *part, const char *text) {
  FovSweepPlan plan;
  char whole[600];
  snprintf(whole, sizeof whole, "%s[sweep]\nexperiment = experiment\n", text);
  assert_int_not_equal(read_rows(&plan, whole, NULL), FOV_OK);
  assert_message(part);
  fov_sweep_plan_finish(&plan);
}

static void mistakes_in_rows_name_row_and_line(void **state) {
  (void)state;
  FovSweepPlan plan;
#define REFUSED assert_rows_refused
  REFUSED("kinds:2: row 'a': expected settings, found none",
          "core = gru\n[row a]\n[row b]\ncore=rnn\n");
  REFUSED("kinds:3: two rows with the name 'a', the first at ",
          "[row a]\ncore=rnn\n[row  a ]\ncore.width=4\n");
  REFUSED("kinds:4: row 'b': unknown key 'core.widht'; did you mean 'core.width'?",
          "[row a]\ncore=rnn\n[row b]\ncore.widht=4\n");
  REFUSED("kinds:1: '': expected a row's name of 1 to 40 bytes", "[row]\ncore=rnn\n");
  REFUSED("kinds:1: 'a,b': expected a row's name", "[row a,b]\ncore=rnn\n");
  REFUSED("expected a row's name of 1 to 40 bytes",
          "[row 12345678901234567890123456789012345678901]\ncore=rnn\n");
  REFUSED("kinds:2: unknown key 'rows a.core'", "[rows a]\ncore=rnn\n");
  REFUSED("kinds:1: '.a': expected a row's name", "[row.a]\ncore=rnn\n");
  REFUSED("kinds:2: expected a row as a section: [row NAME]", "core=rnn\nrow a.core = gru\n");
  REFUSED("kinds:1: expected a row as a section: [row NAME]", "row.a.core: gru\n");
  REFUSED("kinds:2: row 'a': core = rnn,gru: expected one value", "[row a]\ncore=rnn,gru\n");
  REFUSED("row 'a': train.rate = log:1e-4:1e-2: expected one value",
          "[row a]\ntrain.rate=log:1e-4:1e-2\n");
  REFUSED("kinds:3: row 'a': sets core, which has several values",
          "core=rnn,gru\n[row a]\ncore=gru\n");
  REFUSED("kinds:2: row 'a': seed: ", "[row a]\nseed=3\n");
  REFUSED("kinds:2: row 'a': sweep.seeds: a row cannot set it", "[row a]\nsweep.seeds=3\n");
  REFUSED("unknown key 'row'", "[row a]\ncore=gru\nrow=3\n");
  REFUSED("absent: cannot open", "[row a]\nexperiment=absent\n");
  REFUSED("is set twice", "[row a]\ncore=rnn\ncore=gru\n");
  REFUSED("--halving: expected a sweep without rows", "[row a]\ncore=rnn\n[sweep]\nhalving=yes\n");
#undef REFUSED
  assert_int_equal(read_rows(&plan, "[row a]\ncore=rnn\n", NULL), FOV_ERR_USAGE);
  assert_message("a sweep file: expected experiment = FILE in its section [sweep], found none");
  fov_sweep_plan_finish(&plan);
}

static void rows_are_chosen_by_their_names(void **state) {
  (void)state;
  static const char *const names[] = {"soft", "gaze", "no heads", "gaze"};
  bool chosen[4];
  assert_int_equal(fov_sweep_rows_choose(chosen, names, 4, NULL), FOV_OK);
  assert_true(chosen[0] && chosen[1] && chosen[2] && chosen[3]);
  assert_int_equal(fov_sweep_rows_choose(chosen, names, 4, "no heads , gaze"), FOV_OK);
  assert_true(!chosen[0] && chosen[1] && chosen[2] && chosen[3]);
  assert_int_equal(fov_sweep_rows_choose(chosen, names, 4, "gaz"), FOV_ERR_USAGE);
  assert_message("--rows: 'gaz': expected one of soft, gaze, no heads; did you mean 'gaze'?");
  assert_int_equal(fov_sweep_rows_choose(chosen, names, 4, "gaze,"), FOV_ERR_USAGE);
  assert_int_equal(fov_sweep_rows_choose(chosen, names, 0, "gaze"), FOV_ERR_USAGE);
  assert_message("--rows: 'gaze': expected a sweep with rows, found none");
}

/* ---- claims and outcomes ---- */

static void a_claim_excludes_others_until_it_is_closed(void **state) {
  (void)state;
  char claims[300];
  int first, second;
  snprintf(claims, sizeof claims, "%s/claims", folder);
  assert_int_equal(fov_make_folders(claims), FOV_OK);
  assert_int_equal(fov_sweep_claim(&first, folder, "c0-s0"), FOV_OK);
  assert_true(first >= 0);
  assert_int_equal(fov_sweep_claim(&second, folder, "c0-s0"), FOV_OK);
  assert_int_equal(second, -1);
  close(first);
  assert_int_equal(fov_sweep_claim(&second, folder, "c0-s0"), FOV_OK);
  assert_true(second >= 0);
  close(second);
}

static void outcomes_read_back(void **state) {
  (void)state;
  uint8_t wrong[] = {0, 1, 0, 0, 1};
  FovOutcomes read, written = {.wrong = wrong,
                               .cases = 5,
                               .reward = -0.5,
                               .glimpses = 7.25,
                               .mflop = 10.5,
                               .input_numbers = 3456,
                               .input_pixels = 21438.75,
                               .answer_error = 0.125,
                               .alignment_error = NAN,
                               .parameters = 1234,
                               .update = 99,
                               .seed = 2014,
                               .rollouts = 10,
                               .split = FOV_SPLIT_TEST,
                               .weights = "0123456789abcdef",
                               .data = "fedcba9876543210"};
  assert_int_equal(fov_outcomes_write(&written, path), FOV_OK);
  assert_int_equal(fov_outcomes_read(&read, path), FOV_OK);
  assert_memory_equal(read.wrong, wrong, sizeof wrong);
  assert_int_equal(read.cases, 5);
  assert_true(read.reward == -0.5 && read.glimpses == 7.25 && read.mflop == 10.5);
  assert_true(read.input_numbers == 3456 && read.input_pixels == 21438.75);
  assert_true(read.answer_error == 0.125 && isnan(read.alignment_error));
  assert_true(read.parameters == 1234 && read.update == 99 && read.seed == 2014);
  assert_true(read.rollouts == 10 && read.split == FOV_SPLIT_TEST);
  assert_string_equal(read.weights, written.weights);
  assert_string_equal(read.data, written.data);
  assert_close(fov_outcomes_error(&read), 0.4, 1e-15);
  fov_outcomes_finish(&read);
  wrong[2] = 2;
  assert_int_equal(fov_outcomes_write(&written, path), FOV_OK);
  assert_int_equal(fov_outcomes_read(&read, path), FOV_ERR_FORMAT);
  assert_message("outside its range");
  fov_outcomes_finish(&read);
}

/** Drops the scalars of a file whose names begin with `prefix`. */
static void drop_scalars(const char *prefix) {
  FovSafetensors *file;
  FovBlob kept[16];
  size_t count = 0;
  assert_int_equal(fov_safetensors_open(&file, path), FOV_OK);
  for (size_t i = 0; i < fov_safetensors_count(file); i++) {
    const FovBlob *blob = fov_safetensors_at(file, i);
    if (strncmp(blob->name, prefix, strlen(prefix)) != 0) kept[count++] = *blob;
  }
  const FovText texts[] = {{"format", fov_safetensors_text(file, "format")},
                           {"weights", fov_safetensors_text(file, "weights")}};
  assert_int_equal(fov_safetensors_write(path, kept, count, texts, 2), FOV_OK);
  fov_safetensors_close(file);
}

static void outcomes_of_an_older_version_are_read(void **state) {
  (void)state;
  uint8_t wrong[] = {0, 1};
  FovOutcomes read, written = {.wrong = wrong,
                               .cases = 2,
                               .mflop = 10.5,
                               .input_numbers = 3456,
                               .input_pixels = 21438,
                               .rollouts = 1,
                               .weights = "0123456789abcdef"};
  assert_int_equal(fov_outcomes_write(&written, path), FOV_OK);
  drop_scalars("input_");
  drop_scalars("a");
  assert_int_equal(fov_outcomes_read(&read, path), FOV_OK);
  assert_true(isnan(read.input_numbers) && isnan(read.input_pixels) && read.mflop == 10.5);
  assert_true(isnan(read.answer_error) && isnan(read.alignment_error));
  fov_outcomes_finish(&read);
  drop_scalars("mflop");
  assert_int_equal(fov_outcomes_read(&read, path), FOV_ERR_FORMAT);
  fov_outcomes_finish(&read);
}

/* ---- halving ---- */

enum { RUNS = 9 };

static FovSweepRun runs[RUNS];
static FovHalving *halving;

static void open_halving(void) {
  for (int i = 0; i < RUNS; i++) snprintf(runs[i].name, sizeof runs[i].name, "c%d-s0", i);
  assert_int_equal(fov_halving_create(&halving, folder, runs, RUNS, 9), FOV_OK);
}

static int make_halving(void **state) {
  (void)state;
  char claims[300];
  if (make_folder("halving.csv") != 0) return -1;
  snprintf(claims, sizeof claims, "%s/claims", folder);
  if (fov_make_folders(claims) != FOV_OK) return -1;
  open_halving();
  return 0;
}

static int remove_halving(void **state) {
  fov_halving_destroy(halving);
  return remove_tree(state);
}

/** Asserts which run comes next, and how far. Returns its claim. */
static int expect_next(int run, double until) {
  int next, claim;
  double share;
  assert_int_equal(fov_halving_next(&next, &claim, &share, halving), FOV_OK);
  assert_int_equal(next, run);
  if (run < 0) return -1;
  assert_close(share, until, 1e-12);
  return claim;
}

static void expect_run(int run, double until, double error) {
  int claim = expect_next(run, until);
  assert_int_equal(fov_halving_end(halving, run, &claim, error), FOV_OK);
  assert_int_equal(claim, -1);
}

/** Of 9 runs and two rungs, 1/9 and 1/3, three reach the second and one the end. */
static void the_best_third_goes_on(void **state) {
  (void)state;
  const double errors[RUNS] = {0.5, 0.4, 0.9, 0.3, 0.8, 0.7, 0.6, 0.2, 0.1};
  expect_run(0, 1 / 9., errors[0]);
  expect_run(1, 1 / 9., errors[1]);
  expect_run(2, 1 / 9., errors[2]);
  expect_run(1, 1 / 3., 0.35); // the best of three
  expect_run(3, 1 / 9., errors[3]);
  expect_run(3, 1 / 3., 0.25); // the best of four
  for (int i = 4; i < 8; i++) expect_run(i, 1 / 9., errors[i]);
  expect_run(7, 1 / 3., 0.15); // now among the best two of eight
  expect_run(7, 1, 0.05);      // the best of three at the second rung
  expect_run(8, 1 / 9., errors[8]);
  expect_run(8, 1 / 3., 0.3);
  expect_next(-1, 0);
  assert_true(fov_halving_is_paused(halving, 0));
  assert_true(fov_halving_is_paused(halving, 1));
  assert_false(fov_halving_is_paused(halving, 7));
}

static void a_failure_is_no_result(void **state) {
  (void)state;
  expect_run(0, 1 / 9., 0.5);
  expect_run(1, 1 / 9., NAN);
  expect_run(2, 1 / 9., 0.4);
  expect_run(3, 1 / 9., 0.6);
  expect_run(2, 1 / 3., 0.3);
}

/** Few runs would never have a best third: the best goes on when nothing else is left. */
static void one_run_reaches_the_end(void **state) {
  (void)state;
  int claims[RUNS];
  for (int i = 0; i < RUNS; i++) claims[i] = expect_next(i, 1 / 9.);
  for (int i = 2; i < RUNS; i++)
    assert_int_equal(fov_halving_end(halving, i, &claims[i], NAN), FOV_OK);
  assert_int_equal(fov_halving_end(halving, 1, &claims[1], 0.4), FOV_OK);
  expect_next(-1, 0); // run 0 is under way
  assert_int_equal(fov_halving_end(halving, 0, &claims[0], 0.5), FOV_OK);
  expect_run(1, 1 / 3., 0.3);
  expect_run(1, 1, 0.2);
  expect_next(-1, 0);
}

static void the_best_that_waits_goes_on_if_a_better_one_fails(void **state) {
  (void)state;
  expect_run(0, 1 / 9., 0.5);
  expect_run(1, 1 / 9., 0.6);
  for (int i = 2; i < RUNS; i++) expect_run(i, 1 / 9., NAN);
  expect_run(0, 1 / 3., NAN);
  expect_run(1, 1 / 3., 0.4);
  expect_run(1, 1, NAN);
  expect_next(-1, 0);
  assert_false(fov_halving_is_paused(halving, 0));
}

static void a_start_tries_failed_runs_again(void **state) {
  (void)state;
  for (int i = 0; i < 3; i++) expect_run(i, 1 / 9., i < 2 ? NAN : 0.5);
  fov_halving_destroy(halving);
  open_halving();
  runs[1].state = FOV_SWEEP_DIVERGED;
  expect_run(0, 1 / 9., NAN);
  expect_run(3, 1 / 9., 0.4);
  runs[1].state = FOV_SWEEP_WAITING;
}

/** Also of a process that waits until others have ended. */
static void a_failed_run_is_left_for_the_next_start(void **state) {
  (void)state;
  bool over;
  expect_run(0, 1 / 9., NAN);
  assert_true(fov_halving_has_failed(halving, 0));
  assert_false(fov_halving_has_failed(halving, 1));
  for (int i = 1; i < RUNS; i++) expect_run(i, 1 / 9., NAN);
  assert_int_equal(fov_halving_is_over(&over, halving), FOV_OK);
  assert_true(over);
  fov_halving_destroy(halving);
  open_halving();
  assert_int_equal(fov_halving_is_over(&over, halving), FOV_OK);
  assert_false(over);
}

static void a_killed_sweep_decides_the_same(void **state) {
  (void)state;
  for (int i = 0; i < 3; i++) expect_run(i, 1 / 9., 0.5 - 0.1 * i);
  close(expect_next(2, 1 / 3.)); // killed while it trains
  FILE *file = fopen(path, "a");
  fputs("result,c2-s0,1,0.", file); // and while it writes
  fclose(file);
  fov_halving_destroy(halving);
  open_halving();
  expect_run(2, 1 / 3., 0.2);
  expect_next(3, 1 / 9.);
}

/** Zeros after the last line, which a power cut may leave, are dropped; among the lines, nothing
 * is. */
static void zeros_in_the_journal_hide_no_line(void **state) {
  (void)state;
  static const char tail[] = {0, 0, 0}, hidden[] = "\0\nstart,c3-s0,0,\n";
  expect_run(0, 1 / 9., 0.5);
  FILE *file = fopen(path, "a");
  fwrite(tail, sizeof tail, 1, file);
  fclose(file);
  expect_run(1, 1 / 9., 0.4);
  fov_halving_destroy(halving);
  open_halving();
  close(expect_next(2, 1 / 9.));
  file = fopen(path, "a");
  fwrite(hidden, sizeof hidden - 1, 1, file);
  fclose(file);
  int run, claim;
  double until;
  assert_int_equal(fov_halving_next(&run, &claim, &until, halving), FOV_ERR_FORMAT);
  assert_message("halving.csv: expected lines of text, found a zero byte");
}

static void a_journal_of_another_sweep_is_refused(void **state) {
  (void)state;
  static const char *const lines[] = {"result,c77-s0,0,0.5\n", "result,c1-s0,9,0.5\n", "nonsense\n",
                                      "stop,c1-s0,0,\n", "\n"};
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
    int run, claim;
    double until;
    assert_int_equal(fov_file_write(path, lines[i], strlen(lines[i])), FOV_OK);
    assert_int_equal(fov_halving_next(&run, &claim, &until, halving), FOV_ERR_FORMAT);
    assert_message("is no line of this sweep");
  }
}

int main(void) {
#define PLAN(test) cmocka_unit_test_setup_teardown(test, make, remove_tree)
#define HALVING(test) cmocka_unit_test_setup_teardown(test, make_halving, remove_halving)
  const struct CMUnitTest tests[] = {
      PLAN(lists_span_a_grid),
      PLAN(draws_are_uniform_on_their_scales),
      PLAN(draws_stay_in_narrow_ranges),
      PLAN(every_combination_is_drawn_for),
      PLAN(equal_configurations_are_found),
      PLAN(a_plan_reads_back_from_its_own_text),
      PLAN(a_sweep_gets_rollouts_once),
      PLAN(a_seed_in_the_plan_of_an_older_folder_is_accepted),
      PLAN(mistakes_are_refused_before_anything_starts),
      PLAN(rows_are_crossed_with_the_lists_outside),
      PLAN(blanks_and_a_byte_order_mark_hide_no_row),
      PLAN(rows_read_back_from_the_text_of_their_plan),
      PLAN(a_command_line_overrides_rows),
      PLAN(an_attention_of_a_row_brings_its_policy),
      PLAN(a_list_of_the_command_line_replaces_values_of_rows),
      PLAN(mistakes_in_rows_name_row_and_line),
      PLAN(rows_are_chosen_by_their_names),
      PLAN(a_claim_excludes_others_until_it_is_closed),
      PLAN(outcomes_read_back),
      PLAN(outcomes_of_an_older_version_are_read),
      HALVING(the_best_third_goes_on),
      HALVING(a_failure_is_no_result),
      HALVING(the_best_that_waits_goes_on_if_a_better_one_fails),
      HALVING(a_start_tries_failed_runs_again),
      HALVING(a_failed_run_is_left_for_the_next_start),
      HALVING(one_run_reaches_the_end),
      HALVING(a_killed_sweep_decides_the_same),
      HALVING(zeros_in_the_journal_hide_no_line),
      HALVING(a_journal_of_another_sweep_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
