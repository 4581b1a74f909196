#include "viz/scene/alignment.h"

#include <math.h>

#include "viz/scene/attention.h"
#include "viz/scene/episode.h"

static const double LETTER = 0.62; // the width of a letter, in font sizes

bool fov_shows_alignment(const FovTrace *trace) {
  const FovTraceColumn *tiles = fov_trace_find_column(trace, "attention.tiles");
  if (trace->vocabulary > 0) return true;
  return tiles && tiles->width > 1 && fov_trace_grid(trace, tiles->width).down == 1;
}

int fov_alignment_columns(const FovTrace *trace, int episode) {
  if (trace->vocabulary > 0) return fov_trace_length(trace, episode);
  return fov_trace_find_column(trace, "attention.tiles")->width;
}

/* ---- letters ---- */

/** The width of a name, in letters; those of East Asia are twice as wide. */
static int letters_of(const char *name) {
  int letters = 0;
  for (const unsigned char *c = (const unsigned char *)name; *c; c++)
    letters += (*c & 0xc0) == 0x80 ? 0 : *c < 0xe3 ? 1 : 2;
  return letters;
}

static int longest_symbol(const FovTrace *trace, int episode) {
  int longest = 1;
  const int32_t *symbols = trace->symbols + (size_t)episode * trace->width;
  for (int i = 0; i < fov_trace_length(trace, episode); i++) {
    char name[FOV_ACTION_NAME];
    fov_symbol_name(name, trace, symbols[i]);
    longest = (int)fmax(longest, letters_of(name));
  }
  return longest;
}

/** The longest name among the answers or the labels, in characters. values: [E, T] */
static int longest_output(const FovTrace *trace, int episode, const int32_t *values) {
  int longest = 1;
  for (int t = 0; t <= fov_last_glimpse(trace, episode); t++) {
    char name[FOV_ACTION_NAME];
    size_t m = fov_glimpse_index(trace, episode, t);
    if (values[m] < 0) continue;
    fov_action_name(name, trace, values[m]);
    longest = (int)fmax(longest, letters_of(name));
  }
  return longest;
}

/** Between the smallest legible size and the usual one. */
static double font_size(double wanted, double em) {
  return fmin(0.95 * em, fmax(9, wanted));
}

FovLettering fov_letter_columns(const FovTrace *trace, int episode, double pitch, double em) {
  int longest = longest_symbol(trace, episode);
  FovLettering flat = {.size = font_size(longest == 1 ? 1.25 * pitch : 0.95 * em, em)};
  flat.spacing = (LETTER * longest + (longest > 1 ? 0.5 : 0)) * flat.size;
  if (longest == 1 || flat.spacing <= pitch) return flat;
  double size = font_size(0.95 * pitch, em);
  return (FovLettering){size, 1.05 * size, true};
}

FovLettering fov_letter_rows(double pitch, double em) {
  double size = font_size(0.85 * pitch, em);
  return (FovLettering){.size = size, .spacing = 1.05 * size};
}

/* ---- layout ---- */

/** Fits the strip into the width, less of it if the strip is not flat. */
static double strip_height(const FovTrace *trace, double *width, double most) {
  double height = *width * trace->height / trace->width;
  if (height <= most) return height;
  *width *= most / height;
  return most;
}

/** The height of the symbols that stand above the matrix. */
static double names_height(const FovTrace *trace, int episode, double pitch, double em,
                           double most) {
  FovLettering letters = fov_letter_columns(trace, episode, pitch, em);
  if (!letters.turned) return 1.5 * letters.size;
  double height = (LETTER * longest_symbol(trace, episode) + 0.8) * letters.size;
  return fmin(most, height);
}

/** The height of a row for each head. */
static double heads_height(const FovTrace *trace, double em, double most) {
  int heads = fov_heads(trace);
  return fmin(most, heads == 1 ? 2 * em : 1.3 * em * heads);
}

static double output_width(const FovTrace *trace, int episode, const int32_t *values, double em) {
  return fmin(9, fmax(3.4, 0.6 * longest_output(trace, episode, values) + 1.6)) * em;
}

FovAlignmentFrame fov_alignment_frame(const FovTrace *trace, int episode, FovBox room, double em,
                                      bool heads) {
  FovAlignmentFrame f = {.columns = fov_alignment_columns(trace, episode),
                         .rows = fov_last_glimpse(trace, episode) + 1};
  double answers = output_width(trace, episode, trace->answers, em);
  double labels = trace->wrong[episode] ? output_width(trace, episode, trace->labels, em) : 0;
  double sides = fmin(answers + labels, 0.4 * room.w), gap = round(0.4 * em);
  double left = round(room.x + sides), w = fmax(1, floor(room.x + room.w - left));
  w = fmax(1, fmin(w, 5 * em * f.columns));
  double source = trace->vocabulary > 0
                      ? names_height(trace, episode, w / fmax(1, f.columns), em, 0.3 * room.h)
                      : strip_height(trace, &w, 0.4 * room.h);
  double above = heads ? round(heads_height(trace, em, 0.25 * room.h)) : 0;
  f.source = (FovBox){left, round(room.y), fmax(1, round(w)), fmax(1, round(source))};
  f.heads = (FovBox){left, f.source.y + f.source.h + gap, f.source.w, above};
  double top = f.heads.y + (above > 0 ? above + gap : 0);
  double h = room.y + room.h - top - 1.5 * em; // headings stand below
  f.matrix = (FovBox){left, top, f.source.w, round(fmax(1, fmin(h, 4 * em * f.rows)))};
  f.answers = (FovBox){left - sides * answers / (answers + labels), top,
                       sides * answers / (answers + labels), f.matrix.h};
  f.labels = (FovBox){f.answers.x - (sides - f.answers.w), top, sides - f.answers.w, f.matrix.h};
  return f;
}
