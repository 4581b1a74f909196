/**
 * sequence: digits in a row, read from left to right with one answer each and a last answer, "end"
 * (Ba et al. 2015, section 3.2). An episode is right if all its answers are right.
 *
 * A reset draws how many digits there are; their columns, by cutting the free columns at uniform
 * places; then, for each digit from left to right, which it is (the first is the case's own digit),
 * its row and, if there is any, its distortion. Digits never share a column.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "envs/canvas.h"

enum { LONGEST = 16 };

typedef struct Options {
  FovCanvasOptions canvas;
  int length, least;
} Options;

typedef struct Sequence {
  FovCanvas canvas;
  int longest, least, end; // end: the answer after the last digit
} Sequence;

typedef struct State {
  int count, read; // labels in all, including the end; labels answered so far
  int labels[LONGEST + 1];
  int columns[LONGEST], rows[LONGEST]; // the first of each digit
} State;

static void name_answer(char name[FOV_CANVAS_NAME], int answer, const FovPictures *pictures) {
  char number[12];
  bool end = answer == pictures->classes;
  snprintf(name, FOV_CANVAS_NAME, "%s", end ? "end" : fov_canvas_class(number, pictures, answer));
}

static FovStatus prepare(Sequence *sequence, FovEnvSpec *spec, const Options *o) {
  int classes = sequence->canvas.pictures->classes, width = sequence->canvas.most[1];
  sequence->longest = o->length;
  sequence->least = o->least ? o->least : o->length;
  sequence->end = classes;
  if (sequence->least > o->length)
    return fov_fail(FOV_ERR_USAGE, "env.least = %d: expected at most env.length = %d", o->least,
                    o->length);
  if (sequence->canvas.width < o->length * width)
    return fov_fail(FOV_ERR_USAGE,
                    "env.size = %d: expected a canvas on which %d images of %d columns fit side by "
                    "side: set it to %d or more",
                    o->canvas.size, o->length, width, o->length * width);
  spec->steps = o->length + 1;
  spec->ends = true;
  spec->located = true;
  spec->state_size = sizeof(State);
  spec->actions = classes + 1;
  return fov_canvas_name(&sequence->canvas, spec, name_answer);
}

static FovStatus create(void **env, FovEnvSpec *spec, const void *options, FovSplit split) {
  const Options *o = options;
  FOV_TRY(fov_canvas_create(env, sizeof(Sequence), spec, &o->canvas, split));
  FovStatus status = prepare(*env, spec, o);
  if (status == FOV_OK) return FOV_OK;
  fov_canvas_destroy(*env);
  *env = NULL;
  return status;
}

static int compare(const void *a, const void *b) {
  return *(const int *)a - *(const int *)b;
}

/** gaps: free columns left of each digit: sorted, 0 to the number of free columns. */
static void draw_gaps(int gaps[LONGEST], const FovCanvas *canvas, int count, FovRng *rng) {
  int free_columns = canvas->width - count * canvas->pictures->width;
  for (int i = 0; i < count; i++) gaps[i] = (int)fov_rng_below(rng, (uint32_t)(free_columns + 1));
  qsort(gaps, (size_t)count, sizeof *gaps, compare);
}

/** Sets the lane's next label, and where its digit is. */
static void show(const Sequence *sequence, FovEnvLane *lane) {
  const State *state = lane->state;
  const FovCanvas *canvas = &sequence->canvas;
  int width = canvas->pictures->width;
  lane->label = state->labels[state->read];
  lane->where[0] = lane->where[1] = NAN;
  if (state->read == state->count - 1) return;
  int first = state->columns[state->read], row = state->rows[state->read];
  lane->from = (FovAlignment){.sure = first + width / 2, .first = first, .last = first + width - 1};
  lane->where[0] = fov_location_of(first, width, canvas->width);
  lane->where[1] = fov_location_of(row, canvas->pictures->height, canvas->height);
}

static void reset(const void *env, FovEnvLane *lane, int64_t index, FovRng *rng) {
  const Sequence *sequence = env;
  const FovCanvas *canvas = &sequence->canvas;
  State *state = lane->state;
  int gaps[LONGEST], spread = sequence->longest - sequence->least;
  int count = sequence->least + (int)fov_rng_below(rng, (uint32_t)(spread + 1));
  uint8_t *image = fov_lane_pixels(lane);
  *state = (State){.count = count + 1};
  fov_canvas_clear(canvas, image);
  draw_gaps(gaps, canvas, count, rng);
  for (int i = 0; i < count; i++) {
    int64_t which = i == 0 ? index : fov_rng_below(rng, (uint32_t)canvas->pictures->count);
    FovCrop digit = fov_canvas_picture(canvas, which);
    int y = (int)fov_rng_below(rng, (uint32_t)(canvas->height - digit.height + 1));
    fov_canvas_draw(canvas, image, digit, gaps[i] + i * digit.width, y, rng);
    state->labels[i] = fov_canvas_label(canvas, which);
    state->columns[i] = gaps[i] + i * digit.width;
    state->rows[i] = y;
  }
  state->labels[count] = sequence->end;
  show(sequence, lane);
}

static void step(const void *env, FovEnvLane *lane, const FovAnswer *answer, FovRng *rng) {
  (void)rng;
  State *state = lane->state;
  lane->reward = answer->action == lane->label;
  lane->terminated = ++state->read == state->count;
  lane->label = -1;
  if (!lane->terminated) show(env, lane);
}

static const FovOption options_table[] = {
    FOV_CANVAS_OPTIONS,
    FOV_INT(FovCanvasOptions, size, "100", 1, 4096, "width of the canvas, pixels"),
    FOV_INT(FovCanvasOptions, height, "0", 0, 4096,
            "height of the canvas, pixels; 0: as its width"),
    FOV_INT(Options, length, "2", 1, LONGEST, "most digits in a row"),
    FOV_INT(Options, least, "0", 0, LONGEST, "fewest digits in a row; 0: as many as env.length"),
    FOV_OPTIONS_END,
};

const FovEnvType fov_env_sequence = {
    .plugin = {"sequence", "digits to read from left to right", options_table, sizeof(Options)},
    .create = create,
    .destroy = fov_canvas_destroy,
    .reset = reset,
    .step = step,
};
