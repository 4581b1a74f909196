#include "viz/scene/heat.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "viz/scene/attention.h"
#include "viz/scene/episode.h"
#include "viz/scene/scene.h"

enum { SIDE = FOV_HEAT_SIDE, CELLS = SIDE * SIDE };
_Static_assert((int)CELLS >= (int)FOV_COLUMN_WIDTH, "a cell or more for each tile");
enum { MEAN_BYTES = 1 << 26 }; // images that are averaged; more change nothing visible

/* ---- counting ---- */

static int cell_of(const float *location) {
  int x = (int)fmin(SIDE - 1, floor((location[0] + 1) / 2 * SIDE));
  int y = (int)fmin(SIDE - 1, floor((location[1] + 1) / 2 * SIDE));
  return y * SIDE + x;
}

/** Whether the policy chose this location; not so for a fixed first or a random location. */
static bool chosen(const FovTrace *trace, size_t moment) {
  for (int i = 0; i < trace->columns; i++)
    if (isfinite(trace->column[i].values[moment * trace->column[i].width])) return true;
  return false;
}

/** How many of the cells along one side lie in a tile, if there are `count` tiles. */
static int cells_in(int tile, int count) {
  return ((tile + 1) * SIDE + count - 1) / count - (tile * SIDE + count - 1) / count;
}

/** Spreads a glimpse over the cells of all tiles by their weights. */
static void spread(double *cells, const float *weights, FovTraceGrid grid) {
  for (int i = 0; i < CELLS; i++) {
    int row = i / SIDE * grid.down / SIDE, column = i % SIDE * grid.across / SIDE;
    double weight = fmin(1, fmax(0, weights[row * grid.across + column]));
    cells[i] += weight / (cells_in(column, grid.across) * cells_in(row, grid.down));
  }
}

/** Counts a glimpse in a map, at its location or, if it has none, where its weights are. */
static void count_glimpse(FovHeat *heat, const FovTrace *trace, int episode, int t, int map) {
  double *cells = heat->cells + (size_t)map * CELLS;
  FovTraceGrid grid;
  const float *weights = fov_reads_all(trace) ? fov_weights(&grid, trace, episode, t, 0) : NULL;
  heat->counts[map]++;
  if (weights)
    spread(cells, weights, grid);
  else
    cells[cell_of(trace->locations + 2 * fov_glimpse_index(trace, episode, t))]++;
}

/** Counts the glimpses that the policy chose, or all if it chose none. */
static void count_glimpses(FovHeat *heat, const FovTrace *trace, const int *selection) {
  bool any = false;
  for (int i = 0; i < heat->episodes; i++)
    for (int t = 0; t <= fov_last_glimpse(trace, selection[i]); t++)
      any = any || chosen(trace, fov_glimpse_index(trace, selection[i], t));
  for (int i = 0; i < heat->episodes; i++)
    for (int t = 0; t <= fov_last_glimpse(trace, selection[i]); t++) {
      size_t moment = fov_glimpse_index(trace, selection[i], t);
      if (!any || chosen(trace, moment)) count_glimpse(heat, trace, selection[i], t, 0);
      if (t + 1 < heat->maps) count_glimpse(heat, trace, selection[i], t, t + 1);
    }
  for (int i = 0; i < heat->maps * CELLS; i++) heat->cells[i] /= (double)heat->counts[i / CELLS];
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

static FovStatus take_mean(FovHeat *heat, const FovTrace *trace, const int *selection) {
  size_t size = (size_t)trace->height * trace->width * trace->channels,
         bytes = size * trace->frames;
  int most = bytes < MEAN_BYTES ? (int)(MEAN_BYTES / bytes) : 1;
  int every = (heat->episodes + most - 1) / most;
  uint32_t *sums = calloc(size, sizeof *sums), count = 0;
  if (!sums) return fov_fail(FOV_ERR_MEMORY, "no memory for the mean of the images");
  for (int i = 0; i < heat->episodes; i += every)
    for (int t = 0; t < (trace->frames > 1 ? trace->lengths[selection[i]] : 1); t++, count++) {
      const uint8_t *image = fov_picture(trace, selection[i], t).bytes;
      for (size_t j = 0; j < size; j++) sums[j] += image[j];
    }
  for (size_t j = 0; j < size; j++) heat->mean[j] = (uint8_t)(sums[j] / count);
  free(sums);
  return FOV_OK;
}

FovStatus fov_heat_build(FovHeat *heat, const FovTrace *trace, const int *selection, int count) {
  FOV_CHECK(count > 0, "a heat map of no episodes");
  int longest = 0;
  for (int i = 0; i < count; i++)
    if (trace->lengths[selection[i]] > longest) longest = trace->lengths[selection[i]];
  int maps = 1 + (longest < FOV_HEAT_MAPS ? longest : FOV_HEAT_MAPS);
  size_t image = (size_t)trace->height * trace->width * trace->channels;
  *heat = (FovHeat){.maps = maps, .episodes = count, .first = 1};
  heat->density = calloc((size_t)maps * CELLS, sizeof *heat->density);
  heat->cells = calloc((size_t)maps * CELLS, sizeof *heat->cells);
  heat->most = calloc((size_t)maps, sizeof *heat->most);
  heat->mean = malloc(image);
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

/* ---- layout ---- */

typedef struct Layout {
  double em;
  FovBox title, all, scale, each;
  int columns, rows; // of the small maps
} Layout;

/** Number of small maps on a page. */
static int page_size(const FovHeat *heat) {
  return heat->maps - 1 < FOV_HEAT_PAGE ? heat->maps - 1 : FOV_HEAT_PAGE;
}

/** One past the last small map that is shown. */
static int page_end(const FovHeat *heat) {
  int end = heat->first + FOV_HEAT_PAGE;
  return end < heat->maps ? end : heat->maps;
}

/** Chooses the number of columns that makes the maps largest. */
static void lay_out_grid(Layout *l, int maps) {
  double best = 0;
  for (int columns = 1; columns <= maps; columns++) {
    int rows = (maps + columns - 1) / columns;
    double side = fmin(l->each.w / columns - l->em, l->each.h / rows - 2.6 * l->em);
    if (side <= best) continue;
    best = side;
    l->columns = columns;
    l->rows = rows;
  }
}

static Layout lay_out(const FovHeat *heat, const FovTrace *trace, double width, double height) {
  Layout l = {.em = fov_em(width, height), .columns = 1, .rows = 1};
  double em = l.em, pad = round(1.25 * em);
  FovBox body = {pad, pad, width - 2 * pad, height - 2 * pad};
  l.title = fov_cut_top(&body, round(1.5 * em), round(0.75 * pad));
  FovBox left = body;
  left.w = round(fmin(body.h - 3.4 * em, 0.54 * body.w));
  l.scale = fov_cut_bottom(&left, 3.4 * em);
  l.all =
      fov_fit((FovBox){left.x, left.y, left.w, fmin(left.h, left.w)}, trace->width, trace->height);
  l.scale.y = l.all.y + l.all.h;
  l.each = (FovBox){left.x + left.w + 1.5 * pad, body.y, body.w - left.w - 1.5 * pad, body.h};
  lay_out_grid(&l, page_size(heat));
  return l;
}

/** The box of a map: 0 is the large one, the others fill their page from its top left. */
static FovBox map_box(const Layout *l, const FovHeat *heat, const FovTrace *trace, int map) {
  if (map == 0) return l->all;
  int place = map - heat->first;
  double w = (l->each.w - (l->columns - 1) * l->em) / l->columns;
  FovBox box =
      fov_fit((FovBox){0, 0, w, l->each.h / l->rows - 2.6 * l->em}, trace->width, trace->height);
  int column = place % l->columns, row = place / l->columns;
  box.x = round(l->each.x + column * (box.w + l->em));
  box.y = round(l->each.y + row * (box.h + 2.6 * l->em) + 1.6 * l->em);
  return box;
}

/* ---- drawing ---- */

/** Black, purple, red, orange, pale yellow: lightness increases, so that grey print keeps the
 * order. */
static FovColour ramp(double share) {
  static const FovColour stops[] = {{0.0, 0.0, 0.02},
                                    {0.34, 0.06, 0.43},
                                    {0.74, 0.22, 0.33},
                                    {0.98, 0.56, 0.04},
                                    {0.99, 1.0, 0.64}};
  double at = fmin(1, fmax(0, share)) * 4;
  int i = at < 4 ? (int)at : 3;
  double part = at - i;
  FovColour a = stops[i], b = stops[i + 1];
  return (FovColour){a.r + part * (b.r - a.r), a.g + part * (b.g - a.g), a.b + part * (b.b - a.b)};
}

/** Where there are no glimpses, the mean image is visible. */
static double opacity(double share) {
  return 0.9 * fmin(1, 3 * share);
}

static uint32_t premultiplied(FovColour colour, double alpha) {
  uint32_t a = (uint32_t)lround(255 * alpha), r = (uint32_t)lround(255 * colour.r * alpha);
  uint32_t g = (uint32_t)lround(255 * colour.g * alpha);
  uint32_t b = (uint32_t)lround(255 * colour.b * alpha);
  return a << 24 | r << 16 | g << 8 | b;
}

static cairo_surface_t *density_surface(const FovHeat *heat, int map) {
  cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, SIDE, SIDE);
  unsigned char *data = cairo_image_surface_get_data(surface);
  const float *density = heat->density + (size_t)map * CELLS;
  for (int i = 0; data && i < CELLS; i++) { // a row of 64 has no padding
    double share = heat->most[map] > 0 ? density[i] / heat->most[map] : 0;
    uint32_t argb = premultiplied(ramp(share), opacity(share));
    memcpy(data + 4 * (size_t)i, &argb, sizeof argb);
  }
  cairo_surface_mark_dirty(surface);
  return surface;
}

static void draw_map(cairo_t *cr, const FovHeat *heat, const FovTrace *trace, FovBox box, int map) {
  FovPixels mean = {heat->mean, trace->width, trace->height, trace->channels};
  cairo_surface_t *density = density_surface(heat, map);
  fov_draw_pixels(cr, box, &mean);
  cairo_save(cr);
  cairo_translate(cr, box.x, box.y);
  cairo_scale(cr, box.w / SIDE, box.h / SIDE);
  cairo_set_source_surface(cr, density, 0, 0);
  cairo_pattern_set_filter(cairo_get_source(cr), CAIRO_FILTER_BILINEAR);
  cairo_pattern_set_extend(cairo_get_source(cr), CAIRO_EXTEND_PAD);
  cairo_rectangle(cr, 0, 0, SIDE, SIDE);
  cairo_fill(cr);
  cairo_restore(cr);
  cairo_surface_destroy(density);
}

/** The density at the densest place of a map, relative to glimpses spread evenly. */
static double times_uniform(const FovHeat *heat, int map) {
  return CELLS * (double)heat->most[map];
}

/** Writes a density with two digits or all of its whole ones. text: [16] */
static void write_density(char text[16], double density) {
  snprintf(text, 16, density < 100 ? "%.2g" : "%.0f", density);
}

/** The colours of the large map from 0 to its densest place, numbered. */
static void draw_scale(cairo_t *cr, const FovHeat *heat, const Layout *l, const FovTheme *theme) {
  double em = l->em, y = l->scale.y + em, x = l->all.x, w = fmin(0.4 * l->all.w, 14 * em);
  fov_set_font(cr, 0.85 * em, false);
  for (int i = 0; i < 64; i++)
    fov_fill_box(cr, (FovBox){floor(x + i * w / 64), y, ceil(w / 64) + 1, em}, ramp(i / 63.0));
  fov_set_colour(cr, theme->quiet, 1);
  fov_text(cr, x, y + 2 * em, FOV_ALIGN_LEFT, "0");
  char number[16];
  write_density(number, times_uniform(heat, 0) / 2);
  fov_text(cr, x + w / 2, y + 2 * em, FOV_ALIGN_CENTRE, "%s", number);
  write_density(number, times_uniform(heat, 0));
  fov_text(cr, x + w, y + 2 * em, FOV_ALIGN_RIGHT, "%s", number);
  char text[] = "times the uniform density";
  fov_fit_text(cr, text, sizeof text, l->all.w - w - em);
  fov_text(cr, x + w + em, y + 0.8 * em, FOV_ALIGN_LEFT, "%s", text);
}

/** A small map's number, and the density at the upper end of its colours. */
static void draw_map_heading(cairo_t *cr, const FovHeat *heat, const FovTheme *theme, FovBox box,
                             int map, double em) {
  fov_set_font(cr, 0.85 * em, true);
  fov_set_colour(cr, theme->ink, 1);
  fov_text(cr, box.x, box.y - 0.6 * em, FOV_ALIGN_LEFT, box.w > 5 * em ? "Glimpse %d" : "%d", map);
  fov_set_font(cr, 0.85 * em, false);
  fov_set_colour(cr, theme->quiet, 1);
  char number[16];
  write_density(number, times_uniform(heat, map));
  if (box.w > 9 * em)
    fov_text(cr, box.x + box.w, box.y - 0.6 * em, FOV_ALIGN_RIGHT, "0 to %s", number);
}

static void draw_one(cairo_t *cr, const FovHeat *heat, const FovTrace *trace, const Layout *l,
                     const FovTheme *theme, int map) {
  FovBox box = map_box(l, heat, trace, map);
  FovBox with_heading = {box.x, box.y - 1.6 * l->em, box.w, box.h + 1.6 * l->em};
  if (box.w < 4 || box.h < 4 || !fov_shows(cr, with_heading)) return;
  draw_map(cr, heat, trace, box, map);
  if (map > 0) draw_map_heading(cr, heat, theme, box, map, l->em);
}

void fov_heat_draw(cairo_t *cr, const FovHeat *heat, const FovTrace *trace, const FovTheme *theme,
                   double width, double height, const char *what) {
  char aside[96];
  Layout l = lay_out(heat, trace, width, height);
  fov_fill_box(cr, (FovBox){0, 0, width, height}, theme->paper);
  int length = snprintf(aside, sizeof aside, "%d episodes, %lld chosen glimpses", heat->episodes,
                        (long long)heat->counts[0]);
  if (heat->maps - 1 > FOV_HEAT_PAGE)
    snprintf(aside + length, sizeof aside - (size_t)length, ", maps %d to %d of %d", heat->first,
             page_end(heat) - 1, heat->maps - 1);
  fov_draw_title(cr, theme, l.title, l.em, "Where it looks", what, aside);
  draw_scale(cr, heat, &l, theme);
  draw_one(cr, heat, trace, &l, theme, 0);
  for (int map = heat->first; map < page_end(heat); map++)
    draw_one(cr, heat, trace, &l, theme, map);
}

bool fov_heat_describe(char *text, size_t size, const FovHeat *heat, const FovTrace *trace,
                       double width, double height, double x, double y) {
  Layout l = lay_out(heat, trace, width, height);
  for (int map = 0; map < page_end(heat); map = map == 0 ? heat->first : map + 1) {
    FovBox box = map_box(&l, heat, trace, map);
    if (!fov_inside(box, x, y)) continue;
    float at[] = {(float)(2 * (x - box.x) / box.w - 1), (float)(2 * (y - box.y) / box.h - 1)};
    snprintf(text, size, "at %.2f, %.2f: %.3f %% of the glimpses", (double)at[0], (double)at[1],
             100 * heat->cells[(size_t)map * CELLS + cell_of(at)]);
    return true;
  }
  return false;
}
