#include "model/birnn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensor/ops.h"

const char *const fov_birnn_cells[] = {"none", "gru", "lstm", NULL};

enum { FORWARD, BACKWARD, DIRECTIONS };

static const char *const names[DIRECTIONS] = {"forward", "backward"};

/* ---- building ---- */

static const FovCore *find_core(const char *name) {
  const FovCore *const *core = fov_cores;
  while (strcmp((*core)->plugin.name, name) != 0) core++;
  return *core;
}

/** A core of `width` units for inputs twice as wide. */
static FovStatus add_core(void **layout, const FovCore *core, FovParams *params, int width) {
  const FovOption *option = core->plugin.options;
  char *options = calloc(1, core->plugin.options_size);
  *layout = calloc(1, core->layout_size);
  if (!options || !*layout) {
    free(options);
    return fov_fail(FOV_ERR_MEMORY, "no memory for a recurrent layer");
  }
  while (strcmp(option->name, "width") != 0) option++;
  memcpy(options + option->offset, &width, sizeof width);
  int made;
  FovStatus status =
      core->build(*layout, &made, params, options, &(FovCoreParts){.inputs = 2 * width});
  free(options);
  return status;
}

FovStatus fov_birnn_build(FovBirnn *birnn, FovParams *params, const char *owner, FovBirnnCell cell,
                          int width) {
  *birnn = (FovBirnn){.core = NULL};
  if (cell == FOV_BIRNN_NONE) return FOV_OK;
  birnn->core = find_core(fov_birnn_cells[cell]);
  for (int d = 0; d < DIRECTIONS; d++) {
    char prefix[FOV_PARAM_NAME];
    const char *outer = params->prefix;
    snprintf(prefix, sizeof prefix, "%s%s.%s.", outer ? outer : "", owner, names[d]);
    params->prefix = prefix;
    FovStatus status = add_core(&birnn->layouts[d], birnn->core, params, width / 2);
    params->prefix = outer;
    FOV_TRY(status);
  }
  return FOV_OK;
}

void fov_birnn_finish(FovBirnn *birnn) {
  for (int d = 0; d < DIRECTIONS; d++) {
    if (birnn->layouts[d] && birnn->core->finish) birnn->core->finish(birnn->layouts[d]);
    free(birnn->layouts[d]);
    birnn->layouts[d] = NULL;
  }
}

/* ---- a pass ---- */

/** Row i of each lane. x: [n·N, D]. Result: [n, D]. */
static FovVar *row_of_each(FovTape *tape, FovVar *x, int i, int lanes) {
  int N = x->rows / lanes, *rows = FOV_NEW(tape->arena, int, lanes);
  for (int b = 0; b < lanes; b++) rows[b] = b * N + i;
  return fov_gather(tape, x, rows, lanes);
}

/** The state becomes 0 in lanes whose sequence ends before site i. */
static void clear_outside(FovCoreState *state, FovTape *tape, const int *lengths, int i,
                          int lanes) {
  int outside = 0;
  for (int b = 0; b < lanes && lengths; b++) outside += i >= lengths[b];
  if (outside == 0) return;
  for (int v = 0; v < FOV_STATE_VARS; v++) {
    FovVar **var = &state->vars[v];
    if (!*var) continue;
    FovVar *inside = fov_zeros(tape, lanes, (*var)->cols);
    for (int b = 0; b < lanes; b++)
      for (int j = 0; j < inside->cols && i < lengths[b]; j++) fov_value_row(inside, b)[j] = 1;
    *var = fov_multiply(tape, *var, inside);
  }
}

/** The states of one direction at all sites. Result: [n·N, width / 2]. */
static FovVar *pass(const FovBirnn *birnn, int direction, FovTape *tape, FovVar *x,
                    const int *lengths, int lanes) {
  int N = x->rows / lanes;
  FovVar **states = FOV_NEW(tape->arena, FovVar *, N);
  FovCoreState state = {.vars = {NULL}};
  for (int t = 0; t < N; t++) {
    int i = direction == FORWARD ? t : N - 1 - t;
    birnn->core->step(&state, birnn->layouts[direction], tape, row_of_each(tape, x, i, lanes));
    if (direction == BACKWARD) clear_outside(&state, tape, lengths, i, lanes);
    states[i] = state.vars[0];
  }
  return fov_stack(tape, states, N);
}

FovVar *fov_birnn_apply(const FovBirnn *birnn, FovTape *tape, FovVar *x, const int *lengths,
                        int lanes) {
  if (!birnn->core) return x;
  int steps = tape->steps;
  tape->steps = x->rows / lanes;
  FovVar *parts[DIRECTIONS];
  for (int d = 0; d < DIRECTIONS; d++) parts[d] = pass(birnn, d, tape, x, lengths, lanes);
  tape->steps = steps;
  return fov_concat(tape, parts, DIRECTIONS);
}

FovVar *fov_birnn_last(FovTape *tape, FovVar *h, const int *lengths, int lanes) {
  int N = h->rows / lanes, half = h->cols / 2, *ends = FOV_NEW(tape->arena, int, lanes);
  for (int b = 0; b < lanes; b++) ends[b] = b * N + (lengths ? lengths[b] : N) - 1;
  FovVar *last = fov_gather(tape, h, ends, lanes), *first = row_of_each(tape, h, 0, lanes);
  FovVar *parts[DIRECTIONS] = {fov_columns(tape, last, 0, half),
                               fov_columns(tape, first, half, half)};
  return fov_concat(tape, parts, DIRECTIONS);
}
