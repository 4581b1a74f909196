/** Dates as people write them, for the environment `dates` and its tests. */
#ifndef FOV_ENVS_DATES_H
#define FOV_ENVS_DATES_H

enum { FOV_DATE_FORMATS = 26, FOV_DATE_ROOM = 30 };

typedef struct FovDate {
  int year, month, day; /**< 1800 … 2199, 1 … 12, 1 … 31 */
} FovDate;

typedef enum FovDateField {
  FOV_DATE_YEAR,
  FOV_DATE_MONTH,
  FOV_DATE_DAY,
  FOV_DATE_FIELDS
} FovDateField;

/** A date that is written out. */
typedef struct FovDateText {
  char text[FOV_DATE_ROOM + 1];
  int length;
  int first[FOV_DATE_FIELDS], last[FOV_DATE_FIELDS]; /**< characters of each field */
  /** Where each digit of the ISO date stands, from the field's first digit on (four of a year, two
   * of the others); −1: it is not written. */
  int digits[FOV_DATE_FIELDS][4];
} FovDateText;

/** The years that a format distinguishes: first … first + count − 1. */
typedef struct FovDateYears {
  int first, count;
} FovDateYears;

FovDateYears fov_date_years(int format);

/** Writes a date in format 0 … FOV_DATE_FORMATS − 1. */
void fov_date_write(FovDateText *text, FovDate date, int format);

#endif
