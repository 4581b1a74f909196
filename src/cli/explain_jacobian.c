#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/text.h"
#include "cli/explain.h"
#include "cli/print.h"
#include "explain/jacobian.h"
#include "record/npy.h"

static const char axes[] =
    "jacobian: episode, t, s: the Frobenius norm of the derivative of the logits or of the state "
    "after glimpse t with respect to what was read at glimpse s, or to the vector of symbol s of a "
    "sequence; NaN: there is none. mean: over the episodes. answers: episode, t; -1: none. "
    "symbols: episode, s; -1: after the end";

static FovStatus write_norms(const FovJacobian *j, const FovExplainSubject *subject,
                             const FovExplainCommand *command) {
  char path[FOV_PATH_SIZE], source[FOV_PATH_SIZE];
  int64_t E = j->episodes;
  const FovBlob blobs[] = {
      {.name = "jacobian",
       .dtype = FOV_DTYPE_F32,
       .dims = 3,
       .shape = {E, j->T, j->S},
       .data = j->norms},
      {.name = "mean", .dtype = FOV_DTYPE_F64, .dims = 2, .shape = {j->T, j->S}, .data = j->mean},
      {.name = "case", .dtype = FOV_DTYPE_I64, .dims = 1, .shape = {E}, .data = subject->cases},
      {.name = "answers",
       .dtype = FOV_DTYPE_I32,
       .dims = 2,
       .shape = {E, j->T},
       .data = j->answers},
      {.name = "symbols",
       .dtype = FOV_DTYPE_I32,
       .dims = 2,
       .shape = {E, j->S},
       .data = j->symbols}};
  const FovText texts[] = {{"axes", axes}, {"checkpoint", fov_explain_source(source, subject)}};
  size_t count = sizeof blobs / sizeof *blobs - (j->symbols ? 0 : 1);
  FOV_TRY(fov_safetensors_write(fov_explain_path(path, command, "jacobian.safetensors"), blobs,
                                count, texts, 2));
  return fov_npy_write(fov_explain_path(path, command, "jacobian.npy"), &blobs[0]);
}

/** The part of the mean that is drawn and printed: without glimpses that no episode took, and
 * without symbols after the end of all sequences. */
typedef struct Table {
  double *values; // [rows, columns], owned
  int rows, columns;
  const char **row_names, **column_names; // of one episode of a sequence, owned; else NULL
} Table;

static void crop(Table *table, const FovJacobian *j) {
  for (int t = 0; t < j->T; t++)
    for (int s = 0; s < j->S; s++)
      if (!isnan(j->mean[(size_t)t * j->S + s])) {
        table->rows = t + 1;
        if (table->columns <= s) table->columns = s + 1;
      }
}

static FovStatus make_table(Table *table, const FovJacobian *j, const FovEnvSpec *spec) {
  *table = (Table){.values = NULL};
  crop(table, j);
  size_t rows = (size_t)table->rows, columns = (size_t)table->columns;
  bool named = j->symbols && spec->symbols && spec->names && j->episodes == 1;
  table->values = calloc(rows * columns, sizeof *table->values);
  if (named) table->row_names = calloc(rows, sizeof *table->row_names);
  if (named) table->column_names = calloc(columns, sizeof *table->column_names);
  if (!table->values || (named && !(table->row_names && table->column_names)))
    return fov_fail(FOV_ERR_MEMORY, "no memory for a table");
  for (size_t i = 0; i < rows * columns; i++)
    table->values[i] = j->mean[i / columns * (size_t)j->S + i % columns];
  for (size_t t = 0; named && t < rows; t++)
    table->row_names[t] = j->answers[t] < 0 ? "" : spec->names[j->answers[t]];
  for (size_t s = 0; named && s < columns; s++)
    table->column_names[s] = spec->symbols[j->symbols[s]];
  return FOV_OK;
}

static void finish_table(Table *table) {
  free(table->values), free(table->row_names), free(table->column_names);
}

static FovStatus draw(const Table *table, const FovJacobian *j, const FovExplainCommand *command) {
  char path[FOV_PATH_SIZE];
  bool logits = command->jacobian == FOV_EXPLAIN_LOGITS;
  FovDrawMatrix matrix = {.values = table->values,
                          .rows = table->rows,
                          .columns = table->columns,
                          .row_names = table->row_names,
                          .column_names = table->column_names,
                          .title = logits ? "|dy_t / dg_s|, logits" : "|dh_t / dg_s|, state",
                          .row_label = "t",
                          .column_label = j->symbols ? "s: symbol" : "s"};
  if (!fov_explain_draws(command)) return FOV_OK;
  fov_explain_picture(path, command, "jacobian");
  return fov_draw_matrix(path, &matrix);
}

/** A name or a number from 1 on, in as many columns as a norm. */
static void print_head(const char *const *names, int i) {
  char number[12];
  snprintf(number, sizeof number, "%d", i + 1);
  const char *text = names ? names[i] : number;
  size_t length = 0;
  int columns = 0;
  for (; text[length] && columns < 8; columns++) length += fov_text_character(text + length);
  fov_print(stdout, "%*s%.*s", 9 - columns, "", (int)length, text);
}

/** A norm, or a dash where no episode has one. */
static void print_norm(double norm) {
  if (isnan(norm))
    printf(" %8s", "-");
  else
    printf(" %8.3g", norm);
}

static void print(const Table *table, const FovJacobian *j, const FovExplainSubject *subject,
                  const FovExplainCommand *command) {
  enum { MOST = 24 };
  int T = table->rows < MOST ? table->rows : MOST,
      S = table->columns < MOST ? table->columns : MOST;
  fov_print(stdout, "%s: mean |d%s_t / dg_s| of %lld episode%s of %s\n\n", command->output,
            command->jacobian == FOV_EXPLAIN_LOGITS ? "y" : "h", (long long)j->episodes,
            fov_plural(j->episodes), subject->trained.path);
  printf("      t\\s");
  for (int s = 0; s < S; s++) print_head(table->column_names, s);
  putchar('\n');
  for (int t = 0; t < T; t++) {
    print_head(table->row_names, t);
    for (int s = 0; s < S && (j->symbols || s <= t); s++)
      print_norm(table->values[t * table->columns + s]);
    putchar('\n');
  }
  if (T < table->rows || S < table->columns)
    printf("%d of %d rows, %d of %d columns; all are in jacobian.npy\n", T, table->rows, S,
           table->columns);
}

static FovStatus show(const FovJacobian *j, const FovExplainSubject *subject,
                      const FovExplainCommand *command) {
  Table table;
  FovStatus status = make_table(&table, j, &subject->trained.env.spec);
  if (status == FOV_OK) status = draw(&table, j, command);
  if (status == FOV_OK) print(&table, j, subject, command);
  finish_table(&table);
  return status;
}

FovStatus fov_explain_jacobian(const FovExplainSubject *subject, const FovExplainCommand *command) {
  FovJacobian jacobian;
  FovStatus status = fov_jacobian_make(
      &jacobian, &subject->request,
      command->jacobian == FOV_EXPLAIN_LOGITS ? FOV_JACOBIAN_LOGITS : FOV_JACOBIAN_STATE);
  if (status == FOV_OK) status = fov_make_folders(command->output);
  if (status == FOV_OK) status = write_norms(&jacobian, subject, command);
  if (status == FOV_OK) status = show(&jacobian, subject, command);
  fov_jacobian_finish(&jacobian);
  return status;
}
