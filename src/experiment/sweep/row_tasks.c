#include "experiment/sweep/row_tasks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static FovStatus no_memory(void) {
  return fov_fail(FOV_ERR_MEMORY, "no memory for the rows of a sweep");
}

/** The first configuration of a row. */
static int first_of(const FovSweepPlan *plan, int row) {
  int configuration = 0;
  while (fov_sweep_row(plan, configuration) != row) configuration++;
  return configuration;
}

/** Writes all settings of a row, with defaults. */
static FovStatus read_config(char **text, const FovSweepPlan *plan, int row) {
  FovExperiment experiment;
  FovStatus status = fov_sweep_resolve(&experiment, plan, first_of(plan, row));
  if (status == FOV_OK) status = fov_config_dump(text, &experiment.config);
  fov_experiment_finish(&experiment);
  return status;
}

static size_t line_length(const char *line) {
  return strcspn(line, "\n");
}

static bool has_line(const char *text, const char *line) {
  size_t length = line_length(line);
  for (; *text; text += line_length(text), text += *text == '\n')
    if (line_length(text) == length && strncmp(text, line, length) == 0) return true;
  return false;
}

static bool is_shared(const char *const *configs, int count, const char *line) {
  for (int i = 0; i < count; i++)
    if (!has_line(configs[i], line)) return false;
  return true;
}

static bool varies(const FovSweepPlan *plan, const char *line) {
  size_t length = strcspn(line, " ");
  for (int k = 0; k < plan->key_count; k++)
    if (strlen(fov_sweep_key(plan, k)) == length &&
        strncmp(line, fov_sweep_key(plan, k), length) == 0)
      return true;
  return false;
}

/** Prints what distinguishes a row's environment: "cluttered size=100". */
static void print_task(FILE *stream, const FovSweepPlan *plan, const char *const *configs,
                       int row) {
  const char *lead = "";
  for (const char *line = configs[row]; *line; line += line_length(line), line += *line == '\n') {
    bool plugin = strncmp(line, "env = ", 6) == 0, option = strncmp(line, "env.", 4) == 0;
    if ((!plugin && !option) || varies(plan, line) || is_shared(configs, plan->rows.count, line))
      continue;
    const char *value = strstr(line, " = ") + 3;
    fputs(lead, stream);
    if (option) fprintf(stream, "%.*s=", (int)(value - 3 - line - 4), line + 4);
    fprintf(stream, "%.*s", (int)line_length(value), value);
    lead = " ";
  }
}

static FovStatus name_task(char **task, const FovSweepPlan *plan, const char *const *configs,
                           int row) {
  size_t size;
  FILE *stream = open_memstream(task, &size);
  if (stream) print_task(stream, plan, configs, row);
  return fov_text_close(task, stream) ? FOV_OK : no_memory();
}

static FovStatus name_tasks(char **tasks, const FovSweepPlan *plan, char **configs) {
  for (int i = 0; i < plan->rows.count; i++) FOV_TRY(read_config(&configs[i], plan, i));
  for (int i = 0; i < plan->rows.count; i++)
    FOV_TRY(name_task(&tasks[i], plan, (const char *const *)configs, i));
  return FOV_OK;
}

static void free_texts(char **texts, int count) {
  for (int i = 0; i < count && texts; i++) free(texts[i]);
  free(texts);
}

FovStatus fov_sweep_row_tasks(char ***tasks, const FovSweepPlan *plan) {
  int count = plan->rows.count;
  bool differ = false;
  *tasks = NULL;
  if (count == 0) return FOV_OK;
  char **names = calloc((size_t)count, sizeof *names);
  char **configs = calloc((size_t)count, sizeof *configs);
  FovStatus status = names && configs ? name_tasks(names, plan, configs) : no_memory();
  for (int i = 0; i < count && status == FOV_OK; i++) differ = differ || *names[i];
  free_texts(configs, count);
  if (differ)
    *tasks = names;
  else
    free_texts(names, count);
  return status;
}
