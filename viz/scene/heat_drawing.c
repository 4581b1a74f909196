/** The layout and the drawing of heat maps. */
#include "viz/scene/heat.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "viz/scene/attention.h"
#include "viz/scene/episode.h"
#include "viz/scene/pixels.h"
#include "viz/scene/scene.h"

enum { SIDE = FOV_HEAT_SIDE, CELLS = SIDE * SIDE };

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

/** The density at the densest place of a map, relative to glimpses spread evenly over an image, of
 * which a map around a target has the area of four. */
static double times_uniform(const FovHeat *heat, int map) {
  return CELLS * (double)heat->most[map] / (heat->around ? 4 : 1);
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
  write_density(number, times_uniform(heat, 0));
  double room = w - fov_text(cr, x + w, y + 2 * em, FOV_ALIGN_RIGHT, "%s", number);
  write_density(number, times_uniform(heat, 0) / 2);
  if (w / 2 + fov_text_width(cr, number) / 2 < room - 0.4 * em)
    fov_text(cr, x + w / 2, y + 2 * em, FOV_ALIGN_CENTRE, "%s", number);
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

/** A diagonal cross in the middle, as a scene marks the true place. */
static void draw_target(cairo_t *cr, const FovTheme *theme, FovBox box, double em) {
  double x = box.x + box.w / 2, y = box.y + box.h / 2, arm = 0.4 * em;
  cairo_move_to(cr, x - arm, y - arm);
  cairo_line_to(cr, x + arm, y + arm);
  cairo_move_to(cr, x - arm, y + arm);
  cairo_line_to(cr, x + arm, y - arm);
  fov_stroke_rimmed(cr, theme->right, fmax(1.5, 0.14 * em), 1);
}

static void draw_one(cairo_t *cr, const FovHeat *heat, const FovTrace *trace, const Layout *l,
                     const FovTheme *theme, int map) {
  FovBox box = map_box(l, heat, trace, map);
  FovBox with_heading = {box.x, box.y - 1.6 * l->em, box.w, box.h + 1.6 * l->em};
  if (box.w < 4 || box.h < 4 || !fov_shows(cr, with_heading)) return;
  draw_map(cr, heat, trace, box, map);
  if (heat->around) draw_target(cr, theme, box, l->em);
  if (map > 0) draw_map_heading(cr, heat, theme, box, map, l->em);
}

void fov_heat_draw(cairo_t *cr, const FovHeat *heat, const FovTrace *trace, const FovTheme *theme,
                   double width, double height, const char *what) {
  char aside[96], head[40] = "";
  Layout l = lay_out(heat, trace, width, height);
  fov_fill_box(cr, (FovBox){0, 0, width, height}, theme->paper);
  const char *title = heat->around ? "Where it looks, from the target" : "Where it looks";
  if (fov_reads_several(trace)) fov_describe_head(head, sizeof head, trace, heat->head);
  int length =
      snprintf(aside, sizeof aside, "%s%s%d episodes, %lld %sglimpses", head, head[0] ? ", " : "",
               heat->episodes, (long long)heat->counts[0], heat->chosen ? "chosen " : "");
  if (heat->maps - 1 > FOV_HEAT_PAGE)
    snprintf(aside + length, sizeof aside - (size_t)length, ", maps %d to %d of %d", heat->first,
             page_end(heat) - 1, heat->maps - 1);
  fov_draw_title(cr, theme, l.title, l.em, title, what, aside);
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
    double reach = heat->around ? 2 : 1;
    snprintf(text, size, "at %.2f, %.2f%s: %.3f %% of the glimpses", reach * (double)at[0],
             reach * (double)at[1], heat->around ? " from the target" : "",
             100 * heat->cells[(size_t)map * CELLS + fov_heat_cell(at)]);
    return true;
  }
  return false;
}
