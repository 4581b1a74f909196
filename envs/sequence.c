/**
 * sequence: digits in a row, to be read from left to right, one answer each, and then an end (Ba et
 * al. 2015, section 3.2). The list of labels is the target; an episode is right if all of it is.
 *
 * A reset draws how many digits there are; their columns, by cutting what is left free at uniform
 * places; then for each digit which it is, but for the first, and its row.
 */
#include <stdio.h>
#include <stdlib.h>

#include "envs/digits.h"

enum { LONGEST = 16 };

typedef struct Options {
  FovDigitsOptions digits;
  int length, least;
} Options;

typedef struct Sequence {
  FovDigits digits;
  int longest, least, end; // end: the answer that says that there is no more
} Sequence;

typedef struct State {
  int count, read; // labels in all, with the end; and answered
  int labels[LONGEST + 1];
} State;

static void name_answer(char name[FOV_DIGITS_NAME], int answer, int classes) {
  snprintf(name, FOV_DIGITS_NAME, answer == classes ? "end" : "%d", answer);
}

static FovStatus prepare(Sequence *sequence, FovEnvSpec *spec, const Options *o) {
  int classes = sequence->digits.pictures.classes, width = sequence->digits.pictures.width;
  sequence->longest = o->length;
  sequence->least = o->least ? o->least : o->length;
  sequence->end = classes;
  if (sequence->least > o->length)
    return fov_fail(FOV_ERR_USAGE, "env.least = %d: expected at most env.length = %d", o->least,
                    o->length);
  if (sequence->digits.width < o->length * width)
    return fov_fail(FOV_ERR_USAGE,
                    "env.size = %d: expected room for %d images of %d columns side by side: %d or "
                    "more",
                    o->digits.size, o->length, width, o->length * width);
  spec->steps = o->length + 1;
  spec->state_size = sizeof(State);
  spec->actions = classes + 1;
  return fov_digits_name(&sequence->digits, spec, name_answer);
}

static FovStatus create(void **env, FovEnvSpec *spec, const void *options, FovSplit split) {
  const Options *o = options;
  FOV_TRY(fov_digits_create(env, sizeof(Sequence), spec, &o->digits, split));
  FovStatus status = prepare(*env, spec, o);
  if (status == FOV_OK) return FOV_OK;
  fov_digits_destroy(*env);
  *env = NULL;
  return status;
}

static int compare(const void *a, const void *b) {
  return *(const int *)a - *(const int *)b;
}

/** Columns left of each digit that belong to none: sorted, from 0 to what is free. */
static void draw_gaps(int gaps[LONGEST], const FovDigits *digits, int count, FovRng *rng) {
  int free_columns = digits->width - count * digits->pictures.width;
  for (int i = 0; i < count; i++) gaps[i] = (int)fov_rng_below(rng, (uint32_t)(free_columns + 1));
  qsort(gaps, (size_t)count, sizeof *gaps, compare);
}

static void reset(const void *env, FovEnvLane *lane, int64_t index, FovRng *rng) {
  const Sequence *sequence = env;
  const FovDigits *digits = &sequence->digits;
  State *state = lane->state;
  int gaps[LONGEST], spread = sequence->longest - sequence->least;
  int count = sequence->least + (int)fov_rng_below(rng, (uint32_t)(spread + 1));
  *state = (State){.count = count + 1};
  fov_digits_clear(digits, fov_lane_pixels(lane));
  draw_gaps(gaps, digits, count, rng);
  for (int i = 0; i < count; i++) {
    int64_t which = i == 0 ? index : fov_rng_below(rng, (uint32_t)digits->pictures.count);
    FovPatch digit = fov_digits_image(digits, which);
    int y = (int)fov_rng_below(rng, (uint32_t)(digits->height - digit.height + 1));
    fov_digits_paste(digits, fov_lane_pixels(lane), digit, gaps[i] + i * digit.width, y);
    state->labels[i] = fov_digits_label(digits, which);
  }
  state->labels[count] = sequence->end;
  lane->label = state->labels[0];
}

static void step(const void *env, FovEnvLane *lane, const FovAnswer *answer, FovRng *rng) {
  (void)env, (void)rng;
  State *state = lane->state;
  lane->reward = answer->action == lane->label;
  lane->terminated = ++state->read == state->count;
  lane->label = lane->terminated ? -1 : state->labels[state->read];
}

static const FovOption options_table[] = {
    FOV_DIGITS_OPTIONS,
    FOV_INT(FovDigitsOptions, size, "100", 1, 4096, "side of the canvas, pixels"),
    FOV_INT(Options, length, "2", 1, LONGEST, "digits in a row, at most"),
    FOV_INT(Options, least, "0", 0, LONGEST, "digits in a row, at least; 0: as many as at most"),
    FOV_OPTIONS_END,
};

const FovEnvType fov_env_sequence = {
    .plugin = {"sequence", "digits to read from left to right", options_table, sizeof(Options)},
    .create = create,
    .destroy = fov_digits_destroy,
    .reset = reset,
    .step = step,
};
