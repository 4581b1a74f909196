/** Operations that move numbers and change none. */
#include "tensor/ops.h"
#include "tensor/rows.h"

/** to = from, [rows, cols] each, whatever their strides. */
static void copy_block(real *to, int to_stride, const real *from, int from_stride, int rows,
                       int cols) {
  for (int i = 0; i < rows; i++)
    memcpy(to + (size_t)i * to_stride, from + (size_t)i * from_stride, (size_t)cols * sizeof(real));
}

/** to += from, likewise. */
FOV_KERNEL static void add_strided(real *to, int to_stride, const real *from, int from_stride,
                                   int rows, int cols) {
  for (int i = 0; i < rows; i++)
    fov_row_add(to + (size_t)i * to_stride, from + (size_t)i * from_stride, cols);
}

typedef struct Gather {
  FovVar *x, *y;
  const int *lanes;
  int count, each; /**< lanes that are kept, rows of each */
} Gather;

static void gather_backward(FovTape *tape, void *saved) {
  Gather *op = saved;
  FovVar *x = op->x, *y = op->y;
  fov_grad(tape, x);
  for (int i = 0; i < op->count; i++)
    add_strided(fov_grad_row(x, op->lanes[i] * op->each), x->stride, fov_grad_row(y, i * op->each),
                y->stride, op->each, x->cols);
}

FovVar *fov_gather_lanes(FovTape *tape, FovVar *x, int lanes, const int *kept, int count) {
  FOV_CHECK(lanes > 0 && x->rows % lanes == 0, "[%d, %d] of %d lanes", x->rows, x->cols, lanes);
  Gather *op = FOV_NEW(tape->arena, Gather, 1);
  int each = x->rows / lanes, *numbers = FOV_NEW(tape->arena, int, count);
  FovVar *y = fov_result(tape, count * each, x->cols, x->wants_grad);
  for (int i = 0; i < count; i++) {
    FOV_CHECK(kept[i] >= 0 && kept[i] < lanes, "row %d of %d", kept[i], lanes);
    numbers[i] = kept[i];
    copy_block(fov_value_row(y, i * each), y->stride, fov_value_row(x, kept[i] * each), x->stride,
               each, x->cols);
  }
  *op = (Gather){.x = x, .y = y, .lanes = numbers, .count = count, .each = each};
  fov_note(tape, y, NULL, gather_backward, op);
  return y;
}

FovVar *fov_gather(FovTape *tape, FovVar *x, const int *rows, int count) {
  return fov_gather_lanes(tape, x, x->rows, rows, count);
}

typedef struct Concat {
  FovVar *y, **parts;
  int count;
} Concat;

static void concat_backward(FovTape *tape, void *saved) {
  Concat *op = saved;
  const real *from = op->y->grad;
  for (int i = 0; i < op->count; from += op->parts[i++]->cols) {
    FovVar *part = op->parts[i];
    if (part->wants_grad)
      add_strided(fov_grad(tape, part), part->stride, from, op->y->stride, part->rows, part->cols);
  }
}

FovVar *fov_concat(FovTape *tape, FovVar *const *parts, int count) {
  FOV_CHECK(count > 0, "%d parts", count);
  Concat *op = FOV_NEW(tape->arena, Concat, 1);
  FovVar **kept = FOV_NEW(tape->arena, FovVar *, count);
  int rows = parts[0]->rows, cols = 0;
  bool wants_grad = false;
  for (int i = 0; i < count; i++) {
    FOV_CHECK(parts[i]->rows == rows, "[%d, %d] beside %d rows", parts[i]->rows, parts[i]->cols,
              rows);
    kept[i] = parts[i];
    cols += parts[i]->cols;
    wants_grad = wants_grad || parts[i]->wants_grad;
  }
  FovVar *y = fov_result_of(tape, parts[0], 0, rows, cols, wants_grad);
  real *to = y->value;
  for (int i = 0; i < count; to += parts[i++]->cols)
    copy_block(to, y->stride, parts[i]->value, parts[i]->stride, rows, parts[i]->cols);
  *op = (Concat){.y = y, .parts = kept, .count = count};
  fov_note(tape, y, NULL, concat_backward, op);
  return y;
}

typedef struct Columns {
  FovVar *x, *y;
  int first;
} Columns;

static void columns_backward(FovTape *tape, void *saved) {
  Columns *op = saved;
  add_strided(fov_grad(tape, op->x) + op->first, op->x->stride, op->y->grad, op->y->stride,
              op->y->rows, op->y->cols);
}

FovVar *fov_columns(FovTape *tape, FovVar *x, int first, int count) {
  FOV_CHECK(first >= 0 && count > 0 && count <= x->cols - first, "columns %d to %d of [%d, %d]",
            first, first + count - 1, x->rows, x->cols);
  // fov_result, not fov_result_of: several slices of one x would share a series and break it up.
  FovVar *y = fov_result(tape, x->rows, count, x->wants_grad);
  copy_block(y->value, y->stride, x->value + first, x->stride, x->rows, count);
  Columns *op = FOV_NEW(tape->arena, Columns, 1);
  *op = (Columns){.x = x, .y = y, .first = first};
  fov_note(tape, y, NULL, columns_backward, op);
  return y;
}

typedef struct Append {
  FovVar *memory, *x, *y;
} Append;

static void append_backward(FovTape *tape, void *saved) {
  Append *op = saved;
  FovVar *memory = op->memory, *x = op->x, *y = op->y;
  int each = memory->rows / x->rows;
  if (memory->wants_grad) fov_grad(tape, memory);
  if (x->wants_grad) fov_grad(tape, x);
  for (int b = 0; b < x->rows; b++) {
    const real *from = fov_grad_row(y, b * (each + 1));
    if (memory->wants_grad)
      add_strided(fov_grad_row(memory, b * each), memory->stride, from, y->stride, each, y->cols);
    if (x->wants_grad)
      add_strided(fov_grad_row(x, b), x->stride, from + (size_t)each * y->stride, y->stride, 1,
                  y->cols);
  }
}

FovVar *fov_append(FovTape *tape, FovVar *memory, FovVar *x) {
  if (!memory) return x;
  FOV_CHECK(memory->rows % x->rows == 0 && memory->cols == x->cols, "[%d, %d] after [%d, %d]",
            x->rows, x->cols, memory->rows, memory->cols);
  int each = memory->rows / x->rows, stride = memory->stride;
  FovVar *y =
      fov_result(tape, memory->rows + x->rows, x->cols, memory->wants_grad || x->wants_grad);
  for (int b = 0; b < x->rows; b++) {
    real *to = fov_value_row(y, b * (each + 1));
    copy_block(to, y->stride, fov_value_row(memory, b * each), stride, each, x->cols);
    copy_block(to + (size_t)each * y->stride, y->stride, fov_value_row(x, b), x->stride, 1,
               x->cols);
  }
  Append *op = FOV_NEW(tape->arena, Append, 1);
  *op = (Append){.memory = memory, .x = x, .y = y};
  fov_note(tape, y, NULL, append_backward, op);
  return y;
}

typedef struct Stack {
  FovVar *y, **parts;
  int count;
} Stack;

static void stack_backward(FovTape *tape, void *saved) {
  Stack *op = saved;
  FovVar *y = op->y;
  for (int i = 0; i < op->count; i++) {
    FovVar *part = op->parts[i];
    if (part->wants_grad)
      add_strided(fov_grad(tape, part), part->stride, fov_grad_row(y, i), op->count * y->stride,
                  part->rows, part->cols);
  }
}

FovVar *fov_stack(FovTape *tape, FovVar *const *parts, int count) {
  FOV_CHECK(count > 0, "%d parts", count);
  Stack *op = FOV_NEW(tape->arena, Stack, 1);
  FovVar **kept = FOV_NEW(tape->arena, FovVar *, count);
  int rows = parts[0]->rows, cols = parts[0]->cols;
  bool wants_grad = false;
  for (int i = 0; i < count; i++) {
    FOV_CHECK(parts[i]->rows == rows && parts[i]->cols == cols, "[%d, %d] after [%d, %d]",
              parts[i]->rows, parts[i]->cols, rows, cols);
    kept[i] = parts[i];
    wants_grad = wants_grad || parts[i]->wants_grad;
  }
  FovVar *y = fov_result(tape, rows * count, cols, wants_grad);
  for (int i = 0; i < count; i++)
    copy_block(fov_value_row(y, i), count * y->stride, parts[i]->value, parts[i]->stride, rows,
               cols);
  *op = (Stack){.y = y, .parts = kept, .count = count};
  fov_note(tape, y, NULL, stack_backward, op);
  return y;
}
