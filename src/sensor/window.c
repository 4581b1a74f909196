/**
 * Windows: glimpse = γ · F_y · image · F_xᵀ and its derivative.
 *
 * Filters are kept by pixel, weights[p, j], so that in every matrix product the inner loop runs
 * over samples, or over pixels of a line: over whole vectors, since both are padded to `lanes` and
 * `padded`.
 *
 *     crop [C, rows, padded]     the pixels that the filters reach, one channel after another;
 *                                Gaussians of all patches share that of the widest one
 *     lines [G, C, padded]       F_y · crop
 *     samples [G, C, lanes]      lines · F_xᵀ, or its gradient
 */
#include "sensor/window.h"

#include "base/error.h"
#include "base/profile.h"
#include "tensor/rows.h"

/** Bytes of a vector. Vectors longer than those of the CPU go through memory, which slows down only
 * the clone for CPUs without AVX. */
#if defined(FOV_CLONES) || defined(__AVX__)
enum { BYTES = 32 };
#else
enum { BYTES = 16 };
#endif

/** Numbers side by side in memory. Filters and products take BLOCK numbers at a time, which are
 * VECTORS vectors. */
typedef real Vector __attribute__((vector_size(BYTES), aligned(sizeof(real)), may_alias));
enum { BLOCK = 64 / sizeof(real), VECTORS = 64 / BYTES };

/** Gaussians are cut off where the exponent is less than this below its maximum. */
static const double CUT = sizeof(real) == sizeof(double) ? 40 : 18;

static int pad(int count) {
  return (count + BLOCK - 1) / BLOCK * BLOCK;
}

/** The filters along one axis. */
typedef struct Axis {
  FovWindowKind kind;
  int count;     /**< pixels of the image that filters reach */
  int begin;     /**< Gaussian: the first of them; bilinear: 0 */
  int low, high; /**< Gaussian: pixels with weights are low … high−1, which may lie outside */
  int pixels[2 * FOV_MAX_SIDE]; /**< bilinear: each of them, ascending */
  int side, lanes, extent;      /**< G, G padded, W or H */
  real stride, sigma;           /**< δ and σ of this patch */
  real centres[FOV_MAX_SIDE];   /**< μ_j */
  real means[FOV_MAX_SIDE];     /**< Gaussian: Σ_p F[j, p] (p − μ_j), over all integers */
  real squares[FOV_MAX_SIDE];   /**< Gaussian: Σ_p F[j, p] (p − μ_j)² */
  real *weights;                /**< [count, lanes] */
} Axis;

/** NaN gives `low`. */
static real bounded(double number, double low, double high) {
  return (real)fmin(fmax(number, low), high);
}

/* ---- filters ---- */

/** e^−((p − μ)² − (nearest pixel − μ)²) / 2σ²: a filter's largest weight is 1 before it is divided
 * by their sum, however small σ is. */
FOV_INLINE void weigh_pixel(real *restrict weights, const real *restrict centres,
                            const real *restrict least, real factor, int p) {
  real cut = (real)-CUT;
  for (int j = 0; j < BLOCK; j++) {
    real d = (real)p - centres[j], exponent = (least[j] - d * d) * factor;
    weights[j] = exponent < cut ? 0 : fov_exp(exponent);
  }
}

/** One block of filters, from filter j on; weights outside the image are only summed. The sums stay
 * in registers. */
FOV_INLINE void fill_filters(Axis *axis, const real *least, int j) {
  Vector sums[VECTORS] = {0}, means[VECTORS] = {0}, squares[VECTORS] = {0};
  const Vector *centres = (const Vector *)(axis->centres + j);
  real outside[BLOCK], *weights = axis->weights + j, factor = 1 / (2 * axis->sigma * axis->sigma);
  for (int p = axis->low; p < axis->high; p++) {
    bool inside = p >= axis->begin && p < axis->begin + axis->count;
    real *to = inside ? weights + (size_t)(p - axis->begin) * axis->lanes : outside;
    weigh_pixel(to, axis->centres + j, least + j, factor, p);
    for (int i = 0; i < VECTORS; i++) {
      Vector w = ((Vector *)to)[i], d = (real)p - centres[i], first = w * d;
      sums[i] += w, means[i] += first, squares[i] += first * d;
    }
  }
  for (int i = 0; i < VECTORS; i++) {
    sums[i] = 1 / sums[i];
    ((Vector *)(axis->means + j))[i] = means[i] * sums[i];
    ((Vector *)(axis->squares + j))[i] = squares[i] * sums[i];
    for (int k = 0; k < axis->count; k++)
      ((Vector *)(weights + (size_t)k * axis->lanes))[i] *= sums[i];
  }
}

FOV_KERNEL static void fill_gaussian(Axis *axis, const real *least) {
  for (int j = 0; j < axis->lanes; j += BLOCK) fill_filters(axis, least, j);
}

static void make_gaussian(Axis *axis) {
  real least[FOV_MAX_SIDE];
  for (int j = 0; j < axis->lanes; j++) {
    double d = (double)axis->centres[j] - round((double)axis->centres[j]);
    least[j] = (real)(d * d);
  }
  if (axis->count > 0) fill_gaussian(axis, least);
}

static void reach_gaussian(Axis *axis) {
  double widest = sqrt(0.25 + 2 * CUT * (double)axis->sigma * (double)axis->sigma);
  axis->low = (int)floor((double)axis->centres[0] - widest);
  axis->high = (int)ceil((double)axis->centres[axis->side - 1] + widest) + 1;
  axis->begin = axis->low < 0 ? 0 : axis->low;
  axis->count = (axis->high < axis->extent ? axis->high : axis->extent) - axis->begin;
  if (axis->count < 0) axis->count = 0;
}

FOV_KERNEL static void fill_bilinear(Axis *axis) {
  real *weights = axis->weights;
  for (int k = 0; k < axis->count; k++, weights += axis->lanes)
    for (int j = 0; j < axis->lanes; j++) {
      real d = (real)axis->pixels[k] - axis->centres[j], weight = 1 - (d < 0 ? -d : d);
      weights[j] = weight > 0 ? weight : 0;
    }
}

/** The two pixels around each sample, each once; samples are in order. */
static void reach_bilinear(Axis *axis) {
  axis->count = 0;
  for (int j = 0; j < axis->side; j++) {
    int left = (int)floor((double)axis->centres[j]);
    for (int p = left; p <= left + 1; p++)
      if (p >= 0 && p < axis->extent && (axis->count == 0 || p > axis->pixels[axis->count - 1]))
        axis->pixels[axis->count++] = p;
  }
}

/** Centres the filters around a location, and finds the pixels that they reach. */
static void place_axis(Axis *axis, real location) {
  double place = fmin(fmax((double)location, -1e4), 1e4);
  double middle = (place + 1) / 2 * axis->extent - 0.5;
  for (int j = 0; j < axis->lanes; j++) {
    int sample = j < axis->side ? j : axis->side - 1;
    axis->centres[j] = (real)(middle + (sample - (axis->side - 1) / 2.0) * (double)axis->stride);
  }
  if (axis->kind == FOV_WINDOW_GAUSSIAN)
    reach_gaussian(axis);
  else
    reach_bilinear(axis);
}

/** The filters' weights. */
static void fill_axis(Axis *axis) {
  if (axis->kind == FOV_WINDOW_GAUSSIAN)
    make_gaussian(axis);
  else
    fill_bilinear(axis);
}

/* ---- the derivative of filters ---- */

/** dL/dμ_j [lanes] and dL/dσ of Gaussians, given dL/dF [count, lanes]. With d = p − μ_j,
 * dF/dμ = F (d − Σ F d) / σ² and dF/dσ = F (d² − Σ F d²) / σ³. */
FOV_KERNEL static void gaussian_back(real *restrict centres, real *sigma, const Axis *axis,
                                     const real *restrict gradient) {
  real sums[3][FOV_MAX_SIDE] = {{0}}, s = axis->sigma;
  const real *weights = axis->weights;
  for (int k = 0; k < axis->count; k++, weights += axis->lanes, gradient += axis->lanes)
    for (int j = 0; j < axis->lanes; j++) {
      real d = (real)(axis->begin + k) - axis->centres[j], g = gradient[j] * weights[j];
      sums[0][j] += g;
      sums[1][j] += g * d;
      sums[2][j] += g * d * d;
    }
  for (int j = 0; j < axis->side; j++) {
    centres[j] = (sums[1][j] - axis->means[j] * sums[0][j]) / (s * s);
    *sigma += (sums[2][j] - axis->squares[j] * sums[0][j]) / (s * s * s);
  }
}

/** dL/dμ_j of bilinear filters: dF/dμ is −1 at the pixel on the left, 1 at that on the right. */
FOV_KERNEL static void bilinear_back(real *restrict centres, const Axis *axis,
                                     const real *restrict gradient) {
  for (int k = 0; k < axis->count; k++, gradient += axis->lanes)
    for (int j = 0; j < axis->lanes; j++) {
      real d = (real)axis->pixels[k] - axis->centres[j];
      real slope = (real)(d > 0 && d <= 1) - (real)(d <= 0 && d > -1);
      centres[j] += slope * gradient[j];
    }
}

/** Adds to dL/dlocation, and to dL/dstride and dL/dsigma of this patch. */
static void axis_back(real *location, FovWindow *patch, const Axis *axis, const real *gradient) {
  real centres[FOV_MAX_SIDE] = {0};
  if (axis->kind == FOV_WINDOW_GAUSSIAN)
    gaussian_back(centres, &patch->sigma, axis, gradient);
  else
    bilinear_back(centres, axis, gradient);
  for (int j = 0; j < axis->side; j++) {
    *location += centres[j] * (real)axis->extent / 2;
    patch->stride += centres[j] * ((real)j - (real)(axis->side - 1) / 2);
  }
}

/* ---- matrix products ---- */

enum { ROWS = 6 };

/** c += a · b for `rows` rows, at most ROWS, and a block of columns, which stay in registers. */
FOV_INLINE void add_block(int rows, real *c, int c_row, const real *a, int a_row, int a_col,
                          const real *b, int b_row, int count) {
  Vector sums[ROWS][VECTORS];
  for (int m = 0; m < rows; m++)
    for (int i = 0; i < VECTORS; i++) sums[m][i] = ((Vector *)(c + m * c_row))[i];
  for (int k = 0; k < count; k++, a += a_col, b += b_row)
    for (int m = 0; m < rows; m++)
      for (int i = 0; i < VECTORS; i++) sums[m][i] += a[m * a_row] * ((const Vector *)b)[i];
  for (int m = 0; m < rows; m++)
    for (int i = 0; i < VECTORS; i++) ((Vector *)(c + m * c_row))[i] = sums[m][i];
}

/** c += a · b, small matrices with c_row, a_row and b_row numbers from a row to the next one. c:
 * [M, N], its rows padded to whole blocks; a: [M, K], a_col numbers from a column to the next one;
 * b: [K, N], padded likewise. */
FOV_KERNEL static void add_small_product(real *c, int c_row, const real *a, int a_row, int a_col,
                                         const real *b, int b_row, int M, int N, int K) {
  fov_profile_flops(2.0 * M * N * K);
  for (int n = 0; n < N; n += BLOCK) {
    int m = 0;
    for (; m + ROWS <= M; m += ROWS)
      add_block(ROWS, c + m * c_row + n, c_row, a + m * a_row, a_row, a_col, b + n, b_row, K);
    for (; m + 2 <= M; m += 2)
      add_block(2, c + m * c_row + n, c_row, a + m * a_row, a_row, a_col, b + n, b_row, K);
    if (m < M) add_block(1, c + m * c_row + n, c_row, a + m * a_row, a_row, a_col, b + n, b_row, K);
  }
}

/** A patch of a window, in scratch memory. */
typedef struct Patch {
  Axis down, across;
  int rows, cols, padded, channels;   // pixels that this patch reaches
  int top, left, crop_rows, crop_row; // the crop's first pixel, its rows, and numbers of a row
  real *crop, *lines;
  real *samples, *turned; // [G, C, lanes]: by row and sample, or by sample and row
  real *line_gradient, *across_gradient, *down_gradient;
} Patch;

static void clear(real *numbers, size_t count) {
  memset(numbers, 0, count * sizeof *numbers);
}

/** Defines the copy of a channel of a line's pixels that the filters reach; the rest is 0. */
#define DEFINE_CROP(name, Pixel)                                                                   \
  FOV_KERNEL static void name(real *restrict crop, const Pixel *restrict line, const Axis *across, \
                              int channels, int padded) {                                          \
    int cols = across->count;                                                                      \
    const Pixel *first = line + (size_t)across->begin * channels;                                  \
    if (across->kind == FOV_WINDOW_BILINEAR)                                                       \
      for (int k = 0; k < cols; k++) crop[k] = line[across->pixels[k] * channels];                 \
    else if (channels == 1)                                                                        \
      for (int k = 0; k < cols; k++) crop[k] = first[k];                                           \
    else                                                                                           \
      for (int k = 0; k < cols; k++) crop[k] = first[k * channels];                                \
    for (int k = cols; k < padded; k++) crop[k] = 0;                                               \
  }

DEFINE_CROP(crop_bytes, uint8_t)
DEFINE_CROP(crop_floats, float)

/** The crop is what this patch reaches. */
static void crop_image(Patch *p, const FovImage *image) {
  const Axis *down = &p->down;
  int C = p->channels;
  real *crop = p->crop;
  p->top = down->begin, p->left = p->across.begin;
  p->crop_rows = p->rows, p->crop_row = p->padded;
  for (int c = 0; c < C; c++)
    for (int k = 0; k < p->rows; k++, crop += p->padded) {
      int y = down->kind == FOV_WINDOW_BILINEAR ? down->pixels[k] : down->begin + k;
      size_t first = (size_t)y * image->width * C + c;
      if (image->floats)
        crop_floats(crop, image->floats + first, &p->across, C, p->padded);
      else
        crop_bytes(crop, image->bytes + first, &p->across, C, p->padded);
    }
}

/** The pixels of a channel that this patch reaches, in the crop. After a row's pixels there may be
 * others: they become padding of the lines, which nobody reads. */
static const real *pixels_of(const Patch *p, int c) {
  if (p->rows == 0 || p->cols == 0) return p->crop;
  size_t row = (size_t)c * p->crop_rows + (size_t)(p->down.begin - p->top);
  return p->crop + row * p->crop_row + (p->across.begin - p->left);
}

/** lines = F_y · crop. */
static void filter_rows(const Patch *p) {
  int G = p->down.side, C = p->channels, padded = p->padded;
  clear(p->lines, (size_t)G * C * padded);
  for (int c = 0; c < C; c++)
    add_small_product(p->lines + c * padded, C * padded, p->down.weights, 1, p->down.lanes,
                      pixels_of(p, c), p->crop_row, G, p->cols, p->rows);
}

/** samples = lines · F_xᵀ. */
static void filter_columns(const Patch *p) {
  int rows = p->across.side * p->channels, lanes = p->across.lanes;
  clear(p->samples, (size_t)rows * lanes);
  add_small_product(p->samples, lanes, p->lines, p->padded, 1, p->across.weights, lanes, rows,
                    p->across.side, p->cols);
}

/** dL/dF_x as across_gradient [cols, lanes], and dL/dlines as line_gradient [C, cols, lanes]. */
static void filter_columns_back(const Patch *p) {
  int G = p->across.side, C = p->channels, lanes = p->across.lanes, cols = p->cols;
  clear(p->across_gradient, (size_t)cols * lanes);
  clear(p->line_gradient, (size_t)C * cols * lanes);
  add_small_product(p->across_gradient, lanes, p->lines, 1, p->padded, p->samples, lanes, cols, G,
                    G * C);
  for (int c = 0; c < C; c++)
    add_small_product(p->line_gradient + (size_t)c * cols * lanes, lanes, p->across.weights, lanes,
                      1, p->turned + c * lanes, C * lanes, cols, G, G);
}

/** dL/dF_y as down_gradient [rows, lanes]. */
static void filter_rows_back(const Patch *p) {
  int lanes = p->down.lanes, rows = p->rows, cols = p->cols;
  clear(p->down_gradient, (size_t)rows * lanes);
  for (int c = 0; c < p->channels; c++)
    add_small_product(p->down_gradient, lanes, pixels_of(p, c), p->crop_row, 1,
                      p->line_gradient + (size_t)c * cols * lanes, lanes, rows, p->down.side, cols);
}

/** gradient[row, col, c] += factor · (F_yᵀ · dL/dlines)[row, col] */
FOV_KERNEL static void add_row_gradient(real *restrict gradient, const Patch *p, int row,
                                        const real *line_gradient, real factor) {
  const real *weights = p->down.weights + (size_t)row * p->down.lanes;
  for (int k = 0; k < p->cols; k++) {
    const Axis *across = &p->across;
    int x = across->kind == FOV_WINDOW_BILINEAR ? across->pixels[k] : across->begin + k;
    gradient[x * p->channels] +=
        factor * fov_row_dot(weights, line_gradient + (size_t)k * across->lanes, p->down.side);
  }
}

/** Adds to the gradient of the image's pixels that the filters reach: γ F_yᵀ dL/dsamples F_x. */
static void pixels_back(const FovImage *image, const Patch *p, real unit) {
  const Axis *down = &p->down;
  int C = p->channels, lanes = down->lanes;
  fov_profile_flops(2.0 * down->side * p->rows * p->cols * C);
  for (int k = 0; k < p->rows; k++) {
    int y = down->kind == FOV_WINDOW_BILINEAR ? down->pixels[k] : down->begin + k;
    for (int c = 0; c < C; c++)
      add_row_gradient(image->gradient + (size_t)y * image->width * C + c, p, k,
                       p->line_gradient + (size_t)c * p->cols * lanes, unit);
  }
}

/* ---- windows ---- */

size_t fov_window_scratch(const FovSensor *sensor, int height, int width, int channels) {
  size_t H = (size_t)height, W = (size_t)width, C = (size_t)channels, padded = (size_t)pad(width);
  size_t G = (size_t)sensor->side, lanes = (size_t)pad(sensor->side);
  return (H + G) * C * padded + BLOCK + 2 * G * C * lanes + W * C * lanes + 2 * (W + H) * lanes;
}

static real *take(real **scratch, size_t count) {
  real *taken = *scratch;
  *scratch += count;
  return taken;
}

/** Divides the scratch memory. */
static Patch divide_scratch(const FovSensor *sensor, const FovImage *image, real *scratch) {
  size_t H = (size_t)image->height, W = (size_t)image->width, C = (size_t)image->channels;
  size_t G = (size_t)sensor->side, lanes = (size_t)pad(sensor->side), padded = (size_t)pad((int)W);
  Patch p = {.channels = image->channels};
  p.crop = take(&scratch, H * C * padded + BLOCK);
  p.lines = take(&scratch, G * C * padded);
  p.samples = take(&scratch, G * C * lanes);
  p.turned = take(&scratch, G * C * lanes);
  p.line_gradient = take(&scratch, W * C * lanes);
  p.across.weights = take(&scratch, W * lanes);
  p.across_gradient = take(&scratch, W * lanes);
  p.down.weights = take(&scratch, H * lanes);
  p.down_gradient = take(&scratch, H * lanes);
  return p;
}

/** The filters' places of patch s, and what they reach. */
static void place_patch(Patch *p, const FovWindow *window, int s) {
  Axis *axes[] = {&p->across, &p->down};
  for (int i = 0; i < 2; i++) {
    axes[i]->stride = bounded((double)window->stride, 0, 1e4) * (real)(1 << s);
    axes[i]->sigma = bounded((double)window->sigma, 1e-3, 1e4) * (real)(1 << s);
    place_axis(axes[i], i == 0 ? window->x : window->y);
  }
  p->rows = p->down.count;
  p->cols = p->across.count;
  p->padded = pad(p->cols);
}

/** Begins with what all patches share: of Gaussians, the crop. */
static Patch make_patch(FovWindowKind kind, const FovSensor *sensor, const FovImage *image,
                        const FovWindow *window, real *scratch) {
  Patch p = divide_scratch(sensor, image, scratch);
  Axis *axes[] = {&p.across, &p.down};
  for (int i = 0; i < 2; i++) {
    axes[i]->kind = kind;
    axes[i]->side = sensor->side;
    axes[i]->lanes = pad(sensor->side);
    axes[i]->extent = i == 0 ? image->width : image->height;
  }
  if (kind == FOV_WINDOW_BILINEAR) return p;
  place_patch(&p, window, sensor->scales - 1);
  crop_image(&p, image);
  return p;
}

/** Prepares patch s: filters, crop and lines. */
static void see_patch(Patch *p, const FovImage *image, const FovWindow *window, int s) {
  place_patch(p, window, s);
  fill_axis(&p->across);
  fill_axis(&p->down);
  if (p->down.kind == FOV_WINDOW_BILINEAR) crop_image(p, image);
  filter_rows(p);
}

/** What a sample of patch 0 is multiplied by. */
static real factor_of(const FovWindow *window, const FovImage *image) {
  return window->intensity / (image->bytes ? 255 : 1);
}

static void check(const FovSensor *sensor, const FovImage *image) {
  FOV_CHECK(image->channels == 1 || image->channels == 3, "%d channels", image->channels);
  FOV_CHECK(!sensor->whole && sensor->side <= FOV_MAX_SIDE, "a window of a whole image");
  fov_image_check(image);
}

void fov_window_look(real *glimpse, FovWindowKind kind, const FovSensor *sensor,
                     const FovImage *image, const FovWindow *window, real *scratch) {
  check(sensor, image);
  int G = sensor->side, C = image->channels, lanes = pad(G);
  real factor = factor_of(window, image);
  Patch p = make_patch(kind, sensor, image, window, scratch);
  for (int s = 0; s < sensor->scales; s++, factor *= (real)sensor->gain) {
    see_patch(&p, image, window, s);
    filter_columns(&p);
    fov_profile_input((double)G * G * C, (double)p.rows * p.cols);
    for (int i = 0; i < G; i++)
      for (int j = 0; j < G; j++)
        for (int c = 0; c < C; c++) *glimpse++ = factor * p.samples[(i * C + c) * lanes + j];
  }
}

/** Writes dL/dsamples by row and sample, and by sample and row. */
static void take_gradient(const Patch *p, const real *gradient, real factor) {
  int G = p->across.side, C = p->channels, lanes = p->across.lanes;
  clear(p->samples, (size_t)G * C * lanes);
  clear(p->turned, (size_t)G * C * lanes);
  for (int i = 0; i < G; i++)
    for (int j = 0; j < G; j++)
      for (int c = 0; c < C; c++, gradient++)
        p->samples[(i * C + c) * lanes + j] = p->turned[(j * C + c) * lanes + i] =
            factor * *gradient;
}

FOV_KERNEL static real dot_glimpses(const real *x, const real *y, int count) {
  return fov_row_dot(x, y, count);
}

void fov_window_look_back(FovWindow *gradient, const real *glimpse_gradient, const real *glimpse,
                          FovWindowKind kind, const FovSensor *sensor, const FovImage *image,
                          const FovWindow *window, real *scratch) {
  check(sensor, image);
  int numbers = sensor->side * sensor->side * image->channels;
  real factor = factor_of(window, image);
  Patch p = make_patch(kind, sensor, image, window, scratch);
  for (int s = 0; s < sensor->scales; s++, factor *= (real)sensor->gain) {
    FovWindow patch = {0};
    see_patch(&p, image, window, s);
    take_gradient(&p, glimpse_gradient, factor);
    filter_columns_back(&p);
    filter_rows_back(&p);
    // Bytes have been divided by 255: the gradient is that of their brightness.
    if (image->gradient) pixels_back(image, &p, image->bytes ? 255 : 1);
    axis_back(&gradient->x, &patch, &p.across, p.across_gradient);
    axis_back(&gradient->y, &patch, &p.down, p.down_gradient);
    gradient->stride += patch.stride * (real)(1 << s);
    gradient->sigma += patch.sigma * (real)(1 << s);
    // A glimpse is linear in the intensity.
    gradient->intensity += dot_glimpses(glimpse_gradient, glimpse, numbers) / window->intensity;
    glimpse_gradient += numbers, glimpse += numbers;
  }
}
