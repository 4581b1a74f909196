#include "model/coarse_tiles.h"

#include <string.h>

#include "base/profile.h"

static FovStatus check(const FovAttentionParts *parts) {
  const FovTilesOptions *o = &parts->tiles;
  int side = o->side * o->cells;
  if (parts->vocabulary)
    return fov_fail(FOV_ERR_USAGE, "tiles.keys = coarse: expected an environment of images, found "
                                   "sequences of symbols; set tiles.keys = projected");
  if (o->down != 0 && o->down != o->side)
    return fov_fail(FOV_ERR_USAGE,
                    "tiles.keys = coarse: expected as many tiles down as across, found %d and %d; "
                    "set tiles.down = 0",
                    o->down, o->side);
  if (side > FOV_MAX_SIDE)
    return fov_fail(FOV_ERR_USAGE,
                    "tiles.cells = %d: %d tiles make a coarse view of %d cells each way, expected "
                    "at most %d; set tiles.cells = %d or less",
                    o->cells, o->side, side, FOV_MAX_SIDE, FOV_MAX_SIDE / o->side);
  if (parts->height > FOV_MAX_WHOLE || parts->width > FOV_MAX_WHOLE)
    return fov_fail(FOV_ERR_USAGE,
                    "tiles.keys = coarse: images of %d x %d pixels, expected at most %d each way; "
                    "make them smaller or set tiles.keys = projected",
                    parts->width, parts->height, FOV_MAX_WHOLE);
  return FOV_OK;
}

/** Cells across and down of c_i. */
static int extent(const FovCoarseTiles *coarse) {
  return coarse->cells + 2 * (coarse->cells / 2);
}

static int features(const FovCoarseTiles *coarse) {
  return extent(coarse) * extent(coarse) * coarse->channels;
}

FovStatus fov_coarse_tiles_build(FovCoarseTiles *coarse, FovParams *params,
                                 const FovAttentionParts *parts) {
  FOV_TRY(check(parts));
  int width = parts->tiles.width;
  *coarse = (FovCoarseTiles){.tiles = parts->tiles.side,
                             .cells = parts->tiles.cells,
                             .channels = parts->glimpse.shape.channels};
  coarse->cells_w =
      fov_params_add(params, "tiles.coarse.w", width, features(coarse), FOV_INIT_HE, 1);
  coarse->place_w = fov_params_add(params, "tiles.coarse.place", width, 2, FOV_INIT_UNIFORM, 1);
  coarse->bias = fov_params_add(params, "tiles.coarse.bias", 1, width, FOV_INIT_ZERO, 0);
  return FOV_OK;
}

/** c_i of a tile, [extent, extent, C], from a view [K·m, K·m, C]; back: added to the view. */
static void cut(real *c_i, real *view, const FovCoarseTiles *coarse, int tile, bool back) {
  int m = coarse->cells, side = coarse->tiles * m, C = coarse->channels, count = extent(coarse);
  int top = tile / coarse->tiles * m - m / 2, left = tile % coarse->tiles * m - m / 2;
  for (int y = top; y < top + count; y++)
    for (int x = left; x < left + count; x++, c_i += C) {
      bool inside = y >= 0 && y < side && x >= 0 && x < side;
      real *cell = inside ? view + (y * side + x) * C : NULL;
      for (int c = 0; c < C && back && inside; c++) cell[c] += c_i[c];
      for (int c = 0; c < C && !back; c++) c_i[c] = inside ? cell[c] : 0;
    }
}

typedef struct Cells {
  FovVar *cells;
  const FovCoarseTiles *coarse;
  const FovImage *images;
  real *view; // room for one
} Cells;

static void cells_backward(FovTape *tape, void *saved) {
  (void)tape;
  Cells *op = saved;
  int K = op->coarse->tiles, N = K * K, side = K * op->coarse->cells;
  FovPhase before = fov_profile_enter(FOV_PHASE_SENSOR);
  for (int i = 0; i < op->cells->rows; i++) {
    const FovImage *image = &op->images[i / N];
    if (i % N == 0) memset(op->view, 0, (size_t)side * side * image->channels * sizeof(real));
    cut(fov_grad_row(op->cells, i), op->view, op->coarse, i % N, true);
    if (i % N == N - 1)
      fov_sensor_shrink_back(image->gradient, op->view, side, image->height, image->width,
                             image->channels);
  }
  fov_profile_enter(before);
}

/** Notes the backward pass of c_i, if the images want a gradient. */
static void note_cells(FovTape *tape, const Cells *cells) {
  if (!cells->images->gradient) return;
  Cells *op = FOV_NEW(tape->arena, Cells, 1);
  *op = *cells;
  int N = op->coarse->tiles * op->coarse->tiles;
  size_t bytes = (size_t)(op->cells->rows / N) * sizeof *op->images;
  op->images = memcpy(fov_arena_alloc(tape->arena, bytes), cells->images, bytes);
  op->cells->wants_grad = true;
  fov_note(tape, op->cells, NULL, cells_backward, op);
}

FovVar *fov_coarse_tiles_see(FovTape *tape, const FovCoarseTiles *coarse, const FovImage *images,
                             FovVar *places) {
  int K = coarse->tiles, N = K * K, side = K * coarse->cells;
  FovVar *p = tape->params, *cells = fov_constant(tape, places->rows, features(coarse));
  real *view = FOV_NEW(tape->arena, real, (size_t)side * side * coarse->channels);
  FovPhase before = fov_profile_enter(FOV_PHASE_SENSOR);
  for (int i = 0; i < cells->rows; i++) {
    if (i % N == 0) fov_sensor_shrink(view, &images[i / N], side);
    cut(fov_value_row(cells, i), view, coarse, i % N, false);
  }
  fov_profile_enter(before);
  note_cells(tape, &(Cells){cells, coarse, images, view});
  return fov_linear2(tape, cells, &p[coarse->cells_w], places, &p[coarse->place_w],
                     &p[coarse->bias], FOV_RELU);
}
