#include "viz/scene/heat.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "viz/scene/attention.h"
#include "viz/scene/episode.h"

enum { SIDE = FOV_HEAT_SIDE, CELLS = SIDE * SIDE };
_Static_assert((int)CELLS >= (int)FOV_COLUMN_WIDTH, "a cell or more for each tile");
enum { MEAN_BYTES = 1 << 26 }; // images that are averaged; more change nothing visible

/* ---- counting ---- */

/** −1 … 1 as 0 … SIDE − 1. */
static int cell_along(float x) {
  return (int)fmax(0, fmin(SIDE - 1, floor(((double)x + 1) / 2 * SIDE)));
}

int fov_heat_cell(const float *location) {
  return cell_along(location[1]) * SIDE + cell_along(location[0]);
}

/** Whether the policy chose this location; not so for a fixed first or a random location. */
static bool chosen(const FovTrace *trace, size_t m) {
  for (int i = 0; i < trace->columns; i++) {
    const FovTraceColumn *column = &trace->column[i];
    bool of_policy = strncmp(column->name, "policy.", 7) == 0;
    if (of_policy && isfinite(column->values[m * column->width])) return true;
  }
  return false;
}

/** The share of a tile that lies in a cell, along a side with `count` tiles. */
static double overlap(int tile, int cell, int count) {
  int first = tile * SIDE > cell * count ? tile * SIDE : cell * count;
  int last = (tile + 1) * SIDE < (cell + 1) * count ? (tile + 1) * SIDE : (cell + 1) * count;
  return (double)(last - first) / SIDE;
}

/** Spreads a glimpse over the cells of all tiles by their weights. */
static void spread(double *cells, const float *weights, FovGrid grid) {
  for (int i = 0; i < CELLS; i++) {
    int y = i / SIDE, x = i % SIDE;
    for (int row = y * grid.down / SIDE; row * SIDE < (y + 1) * grid.down; row++)
      for (int column = x * grid.across / SIDE; column * SIDE < (x + 1) * grid.across; column++)
        cells[i] += fmin(1, fmax(0, (double)weights[row * grid.across + column])) *
                    overlap(row, y, grid.down) * overlap(column, x, grid.across);
  }
}

/** The cell of a place relative to a target, −2 … 2. */
static int cell_around(const float *target, double x, double y) {
  const float from[] = {(float)(x - (double)target[0]) / 2, (float)(y - (double)target[1]) / 2};
  return fov_heat_cell(from);
}

/** Spreads a glimpse over the cells of the middles of all tiles, relative to a target. */
static void spread_around(double *cells, const float *target, const float *weights, FovGrid grid) {
  for (int i = 0; i < grid.across * grid.down; i++)
    cells[cell_around(target, (2 * (i % grid.across) + 1.0) / grid.across - 1,
                      (2 * (i / grid.across) + 1.0) / grid.down - 1)] +=
        fmin(1, fmax(0, (double)weights[i]));
}

/** Counts a glimpse around the target, unless its place is not known. weights: NULL: it has a
 * location. */
static void count_around(FovHeat *heat, const FovTrace *trace, int episode, int t, int map,
                         const float *weights, FovGrid grid) {
  double *cells = heat->cells + (size_t)map * CELLS;
  const float *target = fov_target_place(trace, episode, t), *at = fov_gaze(trace, episode, t);
  if (!target) return;
  heat->counts[map]++;
  if (weights)
    spread_around(cells, target, weights, grid);
  else
    cells[cell_around(target, (double)at[0], (double)at[1])]++;
}

/** Counts a glimpse in a map, at its location or, if it has none, where its weights are; without
 * either not at all. */
static void count_glimpse(FovHeat *heat, const FovTrace *trace, int episode, int t, int map) {
  double *cells = heat->cells + (size_t)map * CELLS;
  FovGrid grid = {0};
  bool all = fov_reads_several(trace);
  const float *weights = all ? fov_weights(&grid, trace, episode, t, heat->head) : NULL;
  if (all && !weights) return;
  if (heat->around) {
    count_around(heat, trace, episode, t, map, weights, grid);
    return;
  }
  heat->counts[map]++;
  if (weights)
    spread(cells, weights, grid);
  else
    cells[fov_heat_cell(trace->locations + 2 * fov_glimpse_index(trace, episode, t))]++;
}

/** Divides cells by their sum: the weights of a glimpse need not sum to 1. */
static void make_shares(double *cells) {
  double sum = 0;
  for (int i = 0; i < CELLS; i++) sum += cells[i];
  for (int i = 0; i < CELLS && sum > 0; i++) cells[i] /= sum;
}

/** Counts the glimpses that the policy chose, or all if it chose none. */
static void count_glimpses(FovHeat *heat, const FovTrace *trace, const int *selection) {
  for (int i = 0; i < heat->episodes; i++)
    for (int t = 0; t <= fov_last_glimpse(trace, selection[i]); t++)
      heat->chosen |= chosen(trace, fov_glimpse_index(trace, selection[i], t));
  for (int i = 0; i < heat->episodes; i++)
    for (int t = 0; t <= fov_last_glimpse(trace, selection[i]); t++) {
      size_t m = fov_glimpse_index(trace, selection[i], t);
      if (!heat->chosen || chosen(trace, m)) count_glimpse(heat, trace, selection[i], t, 0);
      if (t + 1 < heat->maps) count_glimpse(heat, trace, selection[i], t, t + 1);
    }
  for (int map = 0; map < heat->maps; map++) make_shares(heat->cells + (size_t)map * CELLS);
}

enum { REACH = 24 };

/** A Gaussian blur along one dimension; the edge values continue outside. */
static void blur(float *to, const double *from, int across, int along, double sigma) {
  double weights[REACH + 1], sum = 0;
  for (int k = 0; k <= REACH; k++)
    sum += (k ? 2 : 1) * (weights[k] = exp(-k * k / (2 * sigma * sigma)));
  for (int i = 0; i < SIDE; i++)
    for (int j = 0; j < SIDE; j++) {
      double value = 0;
      for (int k = -REACH; k <= REACH; k++) {
        int at = j + k < 0 ? 0 : j + k >= SIDE ? SIDE - 1 : j + k;
        value += weights[abs(k)] * from[i * across + at * along];
      }
      to[i * across + j * along] = (float)(value / sum);
    }
}

/** Scott's rule: proportional to the standard deviation, and to count^(−1/6). */
static double bandwidth(const double *cells, double count) {
  double x = 0, y = 0, squares = 0;
  for (int i = 0; i < CELLS; i++) {
    x += cells[i] * (i % SIDE);
    y += cells[i] * (i / SIDE);
    squares += cells[i] * ((i % SIDE) * (i % SIDE) + (i / SIDE) * (i / SIDE));
  }
  double scatter = sqrt(fmax(0, squares - x * x - y * y) / 2);
  return fmin(REACH / 3.0, fmax(0.8, scatter * pow(count, -1.0 / 6)));
}

static void smooth(FovHeat *heat, int map) {
  double rows[CELLS], count = (double)heat->counts[map];
  const double *cells = heat->cells + (size_t)map * CELLS;
  float *density = heat->density + (size_t)map * CELLS;
  double sigma = bandwidth(cells, count);
  blur(density, cells, SIDE, 1, sigma);
  for (int i = 0; i < CELLS; i++) rows[i] = density[i];
  blur(density, rows, 1, SIDE, sigma);
  for (int i = 0; i < CELLS; i++) heat->most[map] = fmaxf(heat->most[map], density[i]);
}

/** Adds a pixel of the image, if it has it, to the sums of pixel i. */
static void add_pixel(uint32_t *sums, const FovPixels *image, int i, double x, double y) {
  int C = image->channels;
  if (!(x >= 0 && x < image->width && y >= 0 && y < image->height)) return;
  const uint8_t *pixel = image->bytes + ((int)y * image->width + (int)x) * C;
  for (int c = 0; c < C; c++) sums[i * C + c] += pixel[c];
}

/** Adds an image. `around` a target: reduced to half its size, with the target in the middle. */
static void add_image(uint32_t *sums, const FovPixels *image, const float *around) {
  int H = image->height, W = image->width;
  for (int i = 0; i < H * W; i++) {
    int x = i % W, y = i / W;
    if (!around) add_pixel(sums, image, i, x, y);
    for (int k = 0; k < 4 && around; k++)
      add_pixel(sums, image, i, floor(2 * x + k % 2 + 0.5 + ((double)around[0] - 1) / 2 * W),
                floor(2 * y + k / 2 + 0.5 + ((double)around[1] - 1) / 2 * H));
  }
}

static FovStatus take_mean(FovHeat *heat, const FovTrace *trace, const int *selection) {
  size_t size = (size_t)trace->height * trace->width * trace->channels,
         bytes = size * trace->frames;
  int most = bytes < MEAN_BYTES ? (int)(MEAN_BYTES / bytes) : 1;
  int every = (heat->episodes + most - 1) / most;
  uint32_t *sums = calloc(size, sizeof *sums), images = 0;
  if (!sums) return fov_fail(FOV_ERR_MEMORY, "no memory for the mean of the images");
  for (int i = 0; i < heat->episodes; i += every)
    for (int t = 0; t < (trace->frames > 1 ? trace->lengths[selection[i]] : 1); t++) {
      FovPixels image = fov_picture(trace, selection[i], t);
      const float *target = heat->around ? fov_target_place(trace, selection[i], t) : NULL;
      if (heat->around && !target) continue;
      add_image(sums, &image, target);
      images++;
    }
  uint32_t divisor = images * (heat->around ? 4 : 1); // what an image lacks is black
  for (size_t j = 0; j < size && images > 0; j++) heat->mean[j] = (uint8_t)(sums[j] / divisor);
  free(sums);
  return FOV_OK;
}

FovStatus fov_heat_build(FovHeat *heat, const FovTrace *trace, const int *selection, int count,
                         bool around, int head) {
  FOV_CHECK(count > 0, "a heat map of no episodes");
  int longest = 0;
  for (int i = 0; i < count; i++)
    if (trace->lengths[selection[i]] > longest) longest = trace->lengths[selection[i]];
  int maps = 1 + (longest < FOV_HEAT_MAPS ? longest : FOV_HEAT_MAPS);
  size_t image = (size_t)trace->height * trace->width * trace->channels;
  *heat = (FovHeat){.maps = maps, .episodes = count, .first = 1, .around = around, .head = head};
  heat->density = calloc((size_t)maps * CELLS, sizeof *heat->density);
  heat->cells = calloc((size_t)maps * CELLS, sizeof *heat->cells);
  heat->most = calloc((size_t)maps, sizeof *heat->most);
  heat->mean = calloc(1, image);
  FovStatus status = heat->density && heat->cells && heat->most && heat->mean
                         ? take_mean(heat, trace, selection)
                         : fov_fail(FOV_ERR_MEMORY, "no memory for a heat map");
  if (status != FOV_OK) {
    fov_heat_finish(heat);
    return status;
  }
  count_glimpses(heat, trace, selection);
  for (int map = 0; map < maps; map++) smooth(heat, map);
  return FOV_OK;
}

void fov_heat_finish(FovHeat *heat) {
  free(heat->density);
  free(heat->cells);
  free(heat->most);
  free(heat->mean);
  *heat = (FovHeat){0};
}

void fov_heat_turn(FovHeat *heat, int pages) {
  int first = heat->first + pages * FOV_HEAT_PAGE;
  if (first >= 1 && first < heat->maps) heat->first = first;
}
