/**
 * dates: a date as people write it, to be answered as in ISO 8601, 2017-09-27, character by
 * character. No text is two dates: years are from 1800 to 2199, or from 1950 to 2049 if they have
 * two digits, and day and month are distinguished by the separator.
 */
#include "envs/dates.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "envs/outputs.h"

/* ---- writing ---- */

/** d, D: the day, in two digits; o: 27th; m, M: the month, in two digits; b, B: Sep, September; y,
 * Y: the year, in two and in four digits; a, A: Wed, Wednesday; all after %. A first < makes the
 * text lower-case and > upper-case. */
static const char *const formats[FOV_DATE_FORMATS] = {
    "%d.%m.%Y",        "%D.%M.%Y",     "%D.%M.%y",     "%m/%d/%Y",      "%M/%D/%Y",
    "%m/%d/%y",        "%Y/%M/%D",     "%Y%M%D",       "%d %b %Y",      "%d %B %Y",
    "%d-%b-%Y",        "%d-%b-%y",     "%b %d, %Y",    "%B %d, %Y",     "%B %o, %Y",
    "the %o of %B %Y", "%o of %B, %Y", "%A, %d %B %Y", "%A, %B %d, %Y", "%a %d %b %Y",
    "%a, %b %d %Y",    "%b %d '%y",    "%Y, %B %d",    "<%d %B %Y",     ">%A %d %B %Y",
    "%o %B %Y"};

static const char *const months[] = {"January",   "February", "March",    "April",
                                     "May",       "June",     "July",     "August",
                                     "September", "October",  "November", "December"};

static const char *const weekdays[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                       "Thursday", "Friday", "Saturday"};

/** 0: Sunday (Sakamoto 1992). */
static int weekday_of(FovDate date) {
  static const int shift[] = {0, 3, 2, 5, 0, 3, 5, 1, 4, 6, 2, 4};
  int y = date.year - (date.month < 3);
  return (y + y / 4 - y / 100 + y / 400 + shift[date.month - 1] + date.day) % 7;
}

static void put(FovDateText *to, const char *from, int count) {
  for (int i = 0; i < count; i++) {
    FOV_CHECK(to->length < FOV_DATE_ROOM, "a date of more than %d characters", FOV_DATE_ROOM);
    to->text[to->length++] = from[i];
  }
}

/** The first `count` letters of a name, or all. */
static void put_name(FovDateText *to, const char *name, int count) {
  int length = (int)strlen(name);
  put(to, name, length < count ? length : count);
}

/** The last digits of a field; fewer than `least` get zeros before them. */
static void put_digits(FovDateText *to, FovDateField field, int value, int least) {
  char digits[16];
  int count = snprintf(digits, sizeof digits, "%0*d", least, value);
  int width = field == FOV_DATE_YEAR ? 4 : 2;
  for (int i = 0; i < count; i++) to->digits[field][width - count + i] = to->length + i;
  put(to, digits, count);
}

static const char *ordinal(int day) {
  if (day / 10 == 1) return "th";
  return day % 10 == 1 ? "st" : day % 10 == 2 ? "nd" : day % 10 == 3 ? "rd" : "th";
}

static void put_field(FovDateText *to, FovDate date, char code) {
  enum { SHORT = 3, WHOLE = 9 };
  switch (code) {
  case 'd':
  case 'D':
    put_digits(to, FOV_DATE_DAY, date.day, code == 'd' ? 1 : 2);
    break;
  case 'o':
    put_digits(to, FOV_DATE_DAY, date.day, 1);
    put_name(to, ordinal(date.day), 2);
    break;
  case 'm':
  case 'M':
    put_digits(to, FOV_DATE_MONTH, date.month, code == 'm' ? 1 : 2);
    break;
  case 'b':
  case 'B':
    put_name(to, months[date.month - 1], code == 'b' ? SHORT : WHOLE);
    break;
  case 'y':
    put_digits(to, FOV_DATE_YEAR, date.year % 100, 2);
    break;
  case 'Y':
    put_digits(to, FOV_DATE_YEAR, date.year, 4);
    break;
  default:
    put_name(to, weekdays[weekday_of(date)], code == 'a' ? SHORT : WHOLE);
  }
}

/** Which field a code writes; FOV_DATE_FIELDS: a weekday, which is no field. */
static FovDateField field_of(char code) {
  if (strchr("dDo", code)) return FOV_DATE_DAY;
  if (strchr("mMbB", code)) return FOV_DATE_MONTH;
  return strchr("yY", code) ? FOV_DATE_YEAR : FOV_DATE_FIELDS;
}

/** Changes the case of all letters. */
static void change_case(FovDateText *text, char first, char last) {
  for (int i = 0; i < text->length; i++)
    if (text->text[i] >= first && text->text[i] <= last) text->text[i] ^= 'a' ^ 'A';
}

FovDateYears fov_date_years(int format) {
  return strstr(formats[format], "%y") ? (FovDateYears){1950, 100} : (FovDateYears){1800, 400};
}

void fov_date_write(FovDateText *text, FovDate date, int format) {
  const char *at = formats[format], *start = at;
  *text = (FovDateText){.length = 0};
  memset(text->digits, -1, sizeof text->digits);
  for (at += *at == '<' || *at == '>'; *at; at++) {
    int first = text->length;
    if (*at != '%') {
      put(text, at, 1);
      continue;
    }
    put_field(text, date, *++at);
    FovDateField field = field_of(*at);
    if (field == FOV_DATE_FIELDS) continue;
    text->first[field] = first;
    text->last[field] = text->length - 1;
  }
  if (*start == '<') change_case(text, 'A', 'Z');
  if (*start == '>') change_case(text, 'a', 'z');
  text->text[text->length] = 0;
}

/* ---- the environment ---- */

enum { CASES = 10000, ANSWERS = 10 }; // characters of an ISO date

static const char symbols[] =
    " ',-./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
enum { SYMBOLS = sizeof symbols - 1 };

static const char *const answer_names[] = {"0", "1", "2", "3", "4", "5",
                                           "6", "7", "8", "9", "-", "end"};
enum { DASH = 10, END, ACTIONS };

typedef struct Options {
  int formats;
} Options;

typedef struct Dates {
  FovSplit split;
  int formats;
  char texts[SYMBOLS][2];
  const char *names[SYMBOLS]; // of symbols
} Dates;

static FovStatus create(void **env, FovEnvSpec *spec, const void *options, FovSplit split) {
  Dates *dates = *env = malloc(sizeof *dates);
  if (!dates) return fov_fail(FOV_ERR_MEMORY, "no memory for an environment");
  *dates = (Dates){.split = split, .formats = ((const Options *)options)->formats};
  for (int i = 0; i < SYMBOLS; i++) {
    dates->texts[i][0] = symbols[i];
    dates->names[i] = dates->texts[i];
  }
  *spec = (FovEnvSpec){.observation = {.kind = FOV_OBSERVATION_TOKENS,
                                       .length = FOV_DATE_ROOM,
                                       .vocabulary = SYMBOLS},
                       .symbols = dates->names,
                       .answer = FOV_ANSWER_CLASS,
                       .actions = ACTIONS,
                       .names = answer_names,
                       .steps = ANSWERS + 1,
                       .ends = true,
                       .cases = CASES,
                       .state_size = fov_outputs_bytes(ANSWERS)};
  return FOV_OK;
}

static int days_of(int year, int month) {
  if (month == 2) return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28;
  return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

static FovDate draw_date(FovDateYears years, FovRng *rng) {
  FovDate date = {.year = years.first + (int)fov_rng_below(rng, (uint32_t)years.count),
                  .month = 1 + (int)fov_rng_below(rng, 12)};
  date.day = 1 + (int)fov_rng_below(rng, (uint32_t)days_of(date.year, date.month));
  return date;
}

/** Draws a date and a format until the text is of the split. */
static FovDate draw(FovDateText *text, int32_t tokens[FOV_DATE_ROOM], const Dates *dates,
                    FovRng *rng) {
  FovDate date;
  do {
    int format = (int)fov_rng_below(rng, (uint32_t)dates->formats);
    date = draw_date(fov_date_years(format), rng);
    fov_date_write(text, date, format);
    for (int i = 0; i < text->length; i++)
      tokens[i] = (int32_t)(strchr(symbols, text->text[i]) - symbols);
  } while (!fov_source_is_of(tokens, text->length, dates->split));
  for (int i = text->length; i < FOV_DATE_ROOM; i++) tokens[i] = -1;
  return date;
}

/** Where a digit comes from: its character, or the whole name of a month. A digit that is not
 * written, such as the 0 of 05, comes from nowhere. */
static FovAlignment aligned(const FovDateText *text, FovDateField field, int digit) {
  int width = field == FOV_DATE_YEAR ? 4 : 2, sure = text->digits[field][digit];
  bool named = text->digits[field][width - 1] < 0;
  if (sure < 0 && !named) return fov_aligned_nowhere();
  return (FovAlignment){.sure = sure, .first = text->first[field], .last = text->last[field]};
}

static void add_field(FovOutputs *outputs, const FovDateText *text, FovDateField field, int value) {
  for (int width = field == FOV_DATE_YEAR ? 4 : 2, i = 0; i < width; i++) {
    int power = width - 1 - i, digit = value;
    while (power-- > 0) digit /= 10;
    fov_outputs_add(outputs, digit % 10, aligned(text, field, i));
  }
}

static void reset(const void *env, FovEnvLane *lane, int64_t index, FovRng *rng) {
  (void)index; // the generator differs from case to case
  FovDateText text;
  FovDate date = draw(&text, lane->observation, env, rng);
  FovOutputs *outputs = fov_outputs_clear(lane, ANSWERS);
  add_field(outputs, &text, FOV_DATE_YEAR, date.year);
  fov_outputs_add(outputs, DASH, fov_aligned_nowhere());
  add_field(outputs, &text, FOV_DATE_MONTH, date.month);
  fov_outputs_add(outputs, DASH, fov_aligned_nowhere());
  add_field(outputs, &text, FOV_DATE_DAY, date.day);
  fov_outputs_add(outputs, END, fov_aligned_nowhere());
  fov_outputs_show(lane);
}

static const FovOption options_table[] = {
    FOV_INT(Options, formats, "26", 1, FOV_DATE_FORMATS,
            "formats that are used, from the first on"),
    FOV_OPTIONS_END,
};

const FovEnvType fov_env_dates = {
    .plugin = {"dates", "a date as people write it, to be answered as 2017-09-27", options_table,
               sizeof(Options)},
    .create = create,
    .destroy = free,
    .reset = reset,
    .step = fov_outputs_step,
};
