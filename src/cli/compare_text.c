/** A comparison as plain text. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/compare_print.h"
#include "cli/print.h"

enum { WIDTH = 79 };

/** Prints a line, broken between words where it is too long; what follows is indented. */
static void print_line(FILE *stream, const char *line) {
  int column = 0;
  while (*line) {
    size_t length = strcspn(line, " ");
    int width = fov_text_columns(line, length);
    if (column > 2 && column + 1 + width > WIDTH) {
      fputs("\n  ", stream);
      column = 2;
    } else if (column > 0) {
      putc(' ', stream);
      column++;
    }
    fov_print(stream, "%.*s", (int)length, line);
    column += width;
    line += length + (line[length] == ' ');
  }
  putc('\n', stream);
}

static int width_of(const FovCompareTable *table, int column, int rows) {
  int width = fov_text_columns(table->headers[column], SIZE_MAX);
  for (int r = 0; r < rows; r++) {
    int cell = fov_text_columns(table->cells[r * table->columns + column], SIZE_MAX);
    if (cell > width) width = cell;
  }
  return width;
}

/** The first column is a number, which is aligned at its end. */
static void print_cell(FILE *stream, const char *cell, int width, bool number) {
  int blanks = width - fov_text_columns(cell, SIZE_MAX);
  fov_print(stream, "%*s%s%*s  ", number ? blanks : 0, "", cell, number ? 0 : blanks, "");
}

static void print_table(FILE *stream, const FovCompareTable *table, const FovCompared *compared) {
  int rows = compared->recipe_count, last = table->columns - 1;
  for (int r = -1; r < rows; r++) {
    for (int c = 0; c < last; c++)
      print_cell(stream, r < 0 ? table->headers[c] : table->cells[r * table->columns + c],
                 width_of(table, c, rows), c == 0);
    fov_print(stream, "%s\n", r < 0 ? table->headers[last] : compared->recipes[r].name);
  }
}

FovStatus fov_compare_text(FILE *stream, const FovCompared *compared) {
  FovCompareTable table;
  FOV_TRY(fov_compare_table(&table, compared));
  fov_compare_caption(stream, compared, print_line);
  print_table(stream, &table, compared);
  free(table.cells);
  fov_compare_method(stream, compared, print_line);
  if (compared->pair_count > 0) putc('\n', stream);
  fov_compare_conclusions(stream, compared, print_line);
  fov_compare_notes(stream, compared, print_line);
  return FOV_OK;
}
