/** Tables in CSV files (RFC 4180): a header, then rows of as many cells, as text. */
#ifndef FOV_RECORD_CSV_H
#define FOV_RECORD_CSV_H

#include <stdio.h>

#include "base/error.h"

enum { FOV_CSV_COLUMNS = 1024, FOV_CSV_BYTES = 64 << 20 };

typedef struct FovCsv {
  char *text;                         /**< of the file, cut into cells */
  const char *names[FOV_CSV_COLUMNS]; /**< [columns] none empty, none twice */
  const char **cells;                 /**< [rows, columns], without quotes */
  int *lines;                         /**< [rows] where each begins in the file, from 1 */
  int columns, rows;
} FovCsv;

/**
 * Reads a whole file. A cell in quotes may contain commas, line ends and doubled quotes; blanks
 * around a cell are not part of it. Empty lines are skipped; lines end with LF or CR LF.
 *
 * Fails, naming file and line, on a file of more than FOV_CSV_BYTES or FOV_CSV_COLUMNS, a row of
 * another length than the header, an open quote, and text after a closing one. Finished by
 * fov_csv_finish, also after a failure.
 */
FovStatus fov_csv_read(FovCsv *csv, const char *path);
void fov_csv_finish(FovCsv *csv);

/** Prints a cell, in quotes where its text requires them. */
void fov_csv_print(FILE *stream, const char *text);

/** Prints a comma, and the number unless it is not known: not finite. */
void fov_csv_number(FILE *stream, const char *format, double number);

/** The number of a column; −1 if there is none of that name. */
int fov_csv_find(const FovCsv *csv, const char *name);

#endif
