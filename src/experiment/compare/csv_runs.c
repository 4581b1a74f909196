/** The runs of a CSV file. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "experiment/compare/runs.h"
#include "experiment/sweep/folder.h"
#include "record/csv.h"
#include "record/run.h"

/** What a column is. */
typedef enum Role {
  SETTING, /**< a part of the recipe */
  TASK,
  SEED,
  ERROR,
  SCORE,
  VALID_ERROR,
  TEST_ERROR,
  OTHER_ERROR, /**< of another number of rollouts than is compared; ignored */
  STATE,       /**< of a sweep's run */
  COST,        /**< one of fov_cost_columns */
  MEASUREMENT, /**< ignored */
} Role;

/** Columns that are no settings: the results, and what a sweep measures besides. */
static const struct {
  const char *name;
  Role role;
} known[] = {
    {"task", TASK},
    {"env", TASK},
    {"seed", SEED},
    {"error", ERROR},
    {"score", SCORE},
    {"run", MEASUREMENT},
    {"configuration", MEASUREMENT},
    {"state", STATE},
    {"reason", MEASUREMENT},
    {"episodes", MEASUREMENT},
    {"input_numbers", MEASUREMENT},
    {"answer_error", MEASUREMENT},
    {"alignment_error", MEASUREMENT},
};

/** A file with the roles of its columns. */
typedef struct Table {
  const char *path, *name; // the last part of the path
  FovCsv csv;
  Role roles[FOV_CSV_COLUMNS];
  int rollouts; // of the results to compare
  bool has_settings;
} Table;

/** Whether a column is "NAME", or "NAME_10" of ten rollouts. */
static bool is_error(int *rollouts, const char *column, const char *name) {
  size_t length = strlen(name);
  int end = 0;
  *rollouts = 1;
  if (strncmp(column, name, length) != 0) return false;
  if (!column[length]) return true;
  return sscanf(column + length, "_%d%n", rollouts, &end) == 1 && !column[length + (size_t)end];
}

/** FOV_COSTS: it is no cost. */
static FovCost cost_of(const char *name) {
  FovCost cost = 0;
  while (cost < FOV_COSTS && strcmp(name, fov_cost_columns[cost]) != 0) cost++;
  return cost;
}

/** With a column "recipe", no other column belongs to the recipe. */
static Role role_of(const char *name, bool has_recipe, int rollouts) {
  int found;
  if (is_error(&found, name, "valid_error")) return found == rollouts ? VALID_ERROR : OTHER_ERROR;
  if (is_error(&found, name, "test_error")) return found == rollouts ? TEST_ERROR : OTHER_ERROR;
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (strcmp(name, known[i].name) == 0) return known[i].role;
  if (strncmp(name, "env.", 4) == 0) return TASK;
  if (cost_of(name) < FOV_COSTS) return COST;
  return has_recipe && strcmp(name, "recipe") != 0 ? MEASUREMENT : SETTING;
}

/** Rows of a progress.csv are evaluations of one run. */
static FovStatus refuse_progress(const Table *table) {
  if (fov_csv_find(&table->csv, "update") < 0 || fov_csv_find(&table->csv, "valid_reward") < 0)
    return FOV_OK;
  return fov_fail(FOV_ERR_FORMAT,
                  "%s: expected a row for each run, found the evaluations of one run; name the "
                  "folder of the run, or draw the file with fovea plot",
                  table->path);
}

/** Fails unless there is something to compare, in one measure. */
static FovStatus find_roles(Table *table) {
  FOV_TRY(refuse_progress(table));
  bool has_recipe = fov_csv_find(&table->csv, "recipe") >= 0;
  int errors = 0, scores = 0;
  for (int c = 0; c < table->csv.columns; c++) {
    Role role = table->roles[c] = role_of(table->csv.names[c], has_recipe, table->rollouts);
    errors += role == ERROR || role == VALID_ERROR || role == TEST_ERROR || role == OTHER_ERROR;
    scores += role == SCORE;
    table->has_settings = table->has_settings || role == SETTING;
  }
  if ((errors > 0) != (scores > 0)) return FOV_OK;
  return fov_fail(FOV_ERR_FORMAT,
                  "%s: expected a column 'score', or 'error', 'test_error' or 'valid_error'; found "
                  "%s",
                  table->path, errors ? "both" : "neither");
}

static void print_line(FILE *stream, const char *text, const char *end) {
  for (; *text; text++) putc(*text == '\n' ? ' ' : *text, stream);
  fputs(end, stream);
}

/** A setting is one line, whatever its cells. */
static void print_setting(FILE *stream, const char *key, const char *value) {
  print_line(stream, key, " = ");
  print_line(stream, value, "\n");
}

/** Writes the settings of a row that belong to its recipe or to its task. */
static void print_settings(FILE *stream, const Table *table, const char *const *row, Role role) {
  for (int c = 0; c < table->csv.columns; c++)
    if (table->roles[c] == role) print_setting(stream, table->csv.names[c], row[c]);
}

static FovStatus gather(char **text, const Table *table, const char *const *row, Role role) {
  size_t size;
  FILE *stream = open_memstream(text, &size);
  if (stream) print_settings(stream, table, row, role);
  // A file without settings is one recipe, and another such file is another one.
  if (stream && role == SETTING && !table->has_settings)
    print_setting(stream, "recipe", table->name);
  if (fov_text_close(text, stream)) return FOV_OK;
  return fov_fail(FOV_ERR_MEMORY, "%s: no memory for a row", table->path);
}

static FovStatus refuse_cell(const Table *table, int line, int column, const char *cell,
                             const char *expected) {
  return fov_fail(FOV_ERR_FORMAT, "%s:%d: %s '%.40s': expected %s", table->path, line,
                  table->csv.names[column], cell, expected);
}

static FovStatus read_seed(FovComparedRun *run, const Table *table, int line, int column,
                           const char *cell) {
  char *end;
  errno = 0;
  run->seed = strtoll(cell, &end, 10);
  if (*cell && !*end && run->seed >= 0 && errno == 0) return FOV_OK;
  return refuse_cell(table, line, column, cell, "a whole number from 0");
}

/** An empty cell is no result. */
static FovStatus read_result(double *value, const Table *table, int line, int column,
                             const char *cell) {
  char *end;
  if (!*cell) return FOV_OK;
  bool score = table->roles[column] == SCORE;
  *value = strtod(cell, &end);
  if (*end || !isfinite(*value)) return refuse_cell(table, line, column, cell, "a number");
  // The bound keeps sums of squares finite.
  if (score && fabs(*value) <= 1e100) return FOV_OK;
  if (!score && *value >= 0 && *value <= 1) return FOV_OK;
  return refuse_cell(table, line, column, cell,
                     score ? "a score of at most 1e100" : "an error from 0 to 1, not per cent");
}

/** A cell that is no number from 0 is not known: any table may have such a column. */
static void read_cost(FovComparedRun *run, const Table *table, int column, const char *cell) {
  char *end;
  double value = strtod(cell, &end);
  if (*cell && !*end && isfinite(value) && value >= 0)
    run->costs[cost_of(table->csv.names[column])] = value;
}

/** A run of a sweep that has not finished has no result, whatever its last error. */
static void drop_unfinished(FovComparedRun *run, const Table *table, const char *const *row) {
  int c = fov_csv_find(&table->csv, "state");
  for (int state = FOV_SWEEP_WAITING; c >= 0 && state <= FOV_SWEEP_FAILED; state++)
    if (state != FOV_SWEEP_FINISHED && strcmp(row[c], fov_sweep_states[state]) == 0)
      run->valid = run->test = run->plain = NAN;
}

static FovStatus read_numbers(FovComparedRun *run, const Table *table, int r) {
  for (int c = 0; c < table->csv.columns; c++) {
    const char *cell = table->csv.cells[r * table->csv.columns + c];
    int line = table->csv.lines[r];
    Role role = table->roles[c];
    if (role == SEED) FOV_TRY(read_seed(run, table, line, c, cell));
    if (role == COST) read_cost(run, table, c, cell);
    if (role == ERROR || role == SCORE) FOV_TRY(read_result(&run->plain, table, line, c, cell));
    if (role == VALID_ERROR) FOV_TRY(read_result(&run->valid, table, line, c, cell));
    if (role == TEST_ERROR) FOV_TRY(read_result(&run->test, table, line, c, cell));
  }
  return FOV_OK;
}

static FovStatus add_row(FovRuns *runs, Table *table, int r) {
  const char *const *row = table->csv.cells + (size_t)r * (size_t)table->csv.columns;
  char source[FOV_PATH_SIZE], *recipe = NULL, *task = NULL;
  FovComparedRun *run;
  snprintf(source, sizeof source, "%s:%d", table->path, table->csv.lines[r]);
  FovStatus status = gather(&recipe, table, row, SETTING);
  if (status == FOV_OK) status = gather(&task, table, row, TASK);
  if (status == FOV_OK) status = fov_runs_add(&run, runs, source, recipe, task, table->name);
  free(recipe);
  free(task);
  if (status == FOV_OK) status = read_numbers(run, table, r);
  if (status == FOV_OK) drop_unfinished(run, table, row);
  return status;
}

static FovStatus add_rows(FovRuns *runs, Table *table) {
  FOV_TRY(fov_csv_read(&table->csv, table->path));
  FOV_TRY(find_roles(table));
  if (table->csv.rows == 0)
    return fov_fail(FOV_ERR_FORMAT, "%s: expected a row for each run, found none", table->path);
  for (int c = 0; c < table->csv.columns; c++)
    if (table->roles[c] == SETTING) FOV_TRY(fov_runs_vary(runs, table->csv.names[c]));
  for (int r = 0; r < table->csv.rows; r++) FOV_TRY(add_row(runs, table, r));
  *(fov_csv_find(&table->csv, "score") >= 0 ? &runs->scores : &runs->errors) += table->csv.rows;
  return FOV_OK;
}

FovStatus fov_runs_read_csv(FovRuns *runs, const char *path) {
  Table *table = calloc(1, sizeof *table);
  if (!table) return fov_fail(FOV_ERR_MEMORY, "%s: no memory for its columns", path);
  table->path = path;
  table->rollouts = runs->rollouts;
  table->name = fov_file_name(path);
  FovStatus status = add_rows(runs, table);
  fov_csv_finish(&table->csv);
  free(table);
  return status;
}
