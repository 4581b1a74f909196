/** The formats of a comparison. */
#ifndef FOV_CLI_COMPARE_PRINT_H
#define FOV_CLI_COMPARE_PRINT_H

#include <stdio.h>

#include "experiment/compare/compare.h"

enum { FOV_COMPARE_CELL = 64 };

/** The table of recipes, as text without any format's markup. */
typedef struct FovCompareTable {
  const char *headers[12]; /**< [columns] */
  int columns;
  char (*cells)[FOV_COMPARE_CELL]; /**< [recipe_count, columns]; the last column, the recipe's
                                        name, is empty: names may be of any length */
} FovCompareTable;

/** Fails if there is no memory; the caller frees `cells`. */
FovStatus fov_compare_table(FovCompareTable *table, const FovCompared *compared);

/** Where a format prints a line of words. */
typedef void FovCompareLine(FILE *stream, const char *line);

/** Prints what the table is about, and how its numbers were computed. */
void fov_compare_caption(FILE *stream, const FovCompared *compared, FovCompareLine *print);
void fov_compare_method(FILE *stream, const FovCompared *compared, FovCompareLine *print);

/** Prints what the results decide, a line for each pair. */
void fov_compare_conclusions(FILE *stream, const FovCompared *compared, FovCompareLine *print);

/** Prints the notes: what limits the conclusions, and runs that were left out. */
void fov_compare_notes(FILE *stream, const FovCompared *compared, FovCompareLine *print);

/** Prints a whole comparison. */
typedef FovStatus FovComparePrinter(FILE *stream, const FovCompared *compared);
FovComparePrinter fov_compare_text, fov_compare_markdown, fov_compare_latex, fov_compare_csv,
    fov_compare_json;

/** Draws the recipes' intervals and profiles; path: ends in .png, .svg or .pdf. */
FovStatus fov_compare_figure(const char *path, const FovCompared *compared);

#endif
