/** A comparison as Markdown and as LaTeX. */
#include <stdlib.h>
#include <string.h>

#include "cli/compare_print.h"
#include "cli/print.h"

/** Characters of a text that mean something else in a format, and what is written instead. */
typedef struct Escape {
  const char *text, *escaped;
} Escape;

static const Escape markdown[] = {
    {"\\", "\\\\"}, {"|", "\\|"}, {"*", "\\*"},  {"_", "\\_"},  {"`", "\\`"},
    {"[", "\\["},   {"]", "\\]"}, {"<", "&lt;"}, {">", "&gt;"}, {"&", "&amp;"},
    {"~", "\\~"},   {"#", "\\#"}, {NULL, NULL},
};

static const Escape latex[] = {
    {"\\", "\\textbackslash{}"},
    {"~", "\\textasciitilde{}"},
    {"^", "\\textasciicircum{}"},
    {"&", "\\&"},
    {"%", "\\%"},
    {"$", "\\$"},
    {"#", "\\#"},
    {"_", "\\_"},
    {"{", "\\{"},
    {"}", "\\}"},
    {"<", "$<$"},
    {">", "$>$"},
    {"|", "$|$"},
    {"±", "$\\pm$"},
    {"−", "$-$"},
    {"–", "--"},
    {NULL, NULL},
};

static void print_escaped(FILE *stream, const char *text, const Escape *escapes) {
  while (*text) {
    const Escape *e = escapes;
    while (e->text && strncmp(text, e->text, strlen(e->text)) != 0) e++;
    if (e->text) {
      fputs(e->escaped, stream);
      text += strlen(e->text);
      continue;
    }
    // A character with its following bytes, so that fov_print_text sees it whole.
    size_t length = 1;
    while ((text[length] & 0xC0) == 0x80) length++;
    fov_print(stream, "%.*s", (int)length, text);
    text += length;
  }
}

/** The header, then a row for each recipe; `lead`, `gap` and `end` stand around the cells. */
typedef struct Rows {
  const char *lead, *gap, *end;
  const Escape *escapes;
} Rows;

static void print_row(FILE *stream, const FovCompareTable *table, const FovCompared *compared,
                      int r, const Rows *rows) {
  int last = table->columns - 1;
  fputs(rows->lead, stream);
  for (int c = 0; c <= last; c++) {
    const char *cell = r < 0       ? table->headers[c]
                       : c == last ? compared->recipes[r].name
                                   : table->cells[r * table->columns + c];
    print_escaped(stream, cell, rows->escapes);
    fputs(c < last ? rows->gap : rows->end, stream);
  }
}

/* ---- Markdown ---- */

static void print_markdown_item(FILE *stream, const char *line) {
  fputs("- ", stream);
  print_escaped(stream, line, markdown);
  putc('\n', stream);
}

static void print_markdown_line(FILE *stream, const char *line) {
  print_escaped(stream, line, markdown);
  fputs("\n\n", stream);
}

FovStatus fov_compare_markdown(FILE *stream, const FovCompared *compared) {
  const Rows rows = {"| ", " | ", " |\n", markdown};
  FovCompareTable table;
  FOV_TRY(fov_compare_table(&table, compared));
  fov_compare_caption(stream, compared, print_markdown_line);
  print_row(stream, &table, compared, -1, &rows);
  for (int c = 0; c < table.columns; c++) fputs(c == 0 ? "|---:|" : "---|", stream);
  putc('\n', stream);
  for (int r = 0; r < compared->recipe_count; r++) print_row(stream, &table, compared, r, &rows);
  putc('\n', stream);
  free(table.cells);
  fov_compare_conclusions(stream, compared, print_markdown_item);
  fov_compare_method(stream, compared, print_markdown_item);
  fov_compare_notes(stream, compared, print_markdown_item);
  return FOV_OK;
}

/* ---- LaTeX ---- */

static void print_comment(FILE *stream, const char *line) {
  fov_print(stream, "%% %s\n", line);
}

/** A tabular that needs no package; words are comments, so that a paper can input the file. */
FovStatus fov_compare_latex(FILE *stream, const FovCompared *compared) {
  const Rows rows = {"", " & ", " \\\\\n", latex};
  FovCompareTable table;
  FOV_TRY(fov_compare_table(&table, compared));
  fov_compare_caption(stream, compared, print_comment);
  fputs("\\begin{tabular}{r", stream);
  for (int c = 1; c < table.columns; c++) putc('l', stream);
  fputs("}\n\\hline\n", stream);
  print_row(stream, &table, compared, -1, &rows);
  fputs("\\hline\n", stream);
  for (int r = 0; r < compared->recipe_count; r++) print_row(stream, &table, compared, r, &rows);
  fputs("\\hline\n\\end{tabular}\n", stream);
  free(table.cells);
  fov_compare_method(stream, compared, print_comment);
  fov_compare_conclusions(stream, compared, print_comment);
  fov_compare_notes(stream, compared, print_comment);
  return FOV_OK;
}
