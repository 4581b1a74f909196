/** Operations of local attention. */
#include "tensor/ops.h"

typedef struct TileGaussian {
  FovVar *place, *y;
  int across;
  real factor; /**< 1 / σ² */
} TileGaussian;

/** c_i − p, of x and y. */
FOV_INLINE void from_place(real d[2], const real *place, int i, int across) {
  d[0] = (real)(i % across) + (real)0.5 - place[0];
  d[1] = (real)(i / across) + (real)0.5 - place[1];
}

FOV_KERNEL static void tile_gaussian_forward(real *restrict y, const real *restrict place,
                                             int tiles, int across, real factor) {
  for (int i = 0; i < tiles; i++) {
    real d[2];
    from_place(d, place, i, across);
    y[i] = fov_exp(-factor / 2 * (d[0] * d[0] + d[1] * d[1]));
  }
}

/** dp += Σ_i dy_i y_i (c_i − p) / σ² */
FOV_KERNEL static void tile_gaussian_to(real *restrict dplace, const real *restrict dy,
                                        const real *restrict y, const real *restrict place,
                                        int tiles, int across, real factor) {
  for (int i = 0; i < tiles; i++) {
    real d[2];
    from_place(d, place, i, across);
    for (int j = 0; j < 2; j++) dplace[j] += dy[i] * y[i] * d[j] * factor;
  }
}

static void tile_gaussian_backward(FovTape *tape, void *saved) {
  TileGaussian *op = saved;
  fov_grad(tape, op->place);
  for (int b = 0; b < op->place->rows; b++)
    tile_gaussian_to(fov_grad_row(op->place, b), fov_grad_row(op->y, b), fov_value_row(op->y, b),
                     fov_value_row(op->place, b), op->y->cols, op->across, op->factor);
}

FovVar *fov_tile_gaussian(FovTape *tape, FovVar *place, int across, int down, real sigma) {
  FOV_CHECK(place->cols == 2 && across > 0 && down > 0 && sigma > 0,
            "place [%d, %d], %d x %d tiles, sigma %g", place->rows, place->cols, across, down,
            (double)sigma);
  FovVar *y = fov_result_of(tape, place, 0, place->rows, across * down, place->wants_grad);
  TileGaussian *op = FOV_NEW(tape->arena, TileGaussian, 1);
  *op = (TileGaussian){.place = place, .y = y, .across = across, .factor = 1 / (sigma * sigma)};
  for (int b = 0; b < place->rows; b++)
    tile_gaussian_forward(fov_value_row(y, b), fov_value_row(place, b), y->cols, across,
                          op->factor);
  fov_note(tape, y, NULL, tile_gaussian_backward, op);
  return y;
}
