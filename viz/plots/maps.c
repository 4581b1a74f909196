/** Maps of pixels over their pictures. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "draw.h"
#include "viz/scene/explanation.h"
#include "viz/scene/pixels.h"

enum { SIDE = 150, GAP = 14, CAPTION = 20, COLUMNS = 6, MARGIN = 24, TITLE = 40, BAR = 44 };

/** What all panels share. */
typedef struct Sheet {
  const FovDrawMaps *drawing;
  float *sums; // [H·W]: a map, its channels added
  float *room; // [H·W]
  double w, h; // of a panel
  int columns;
} Sheet;

/** sums = the map of a picture. Returns Σ |sums|. */
static double add_channels(float *sums, const FovDrawMaps *d, const FovDrawMap *map, int frame) {
  size_t pixels = (size_t)d->height * d->width, C = (size_t)d->channels;
  const float *from = map->map + (size_t)frame * pixels * C;
  double total = 0;
  for (size_t i = 0; i < pixels; i++) {
    double sum = 0;
    for (size_t c = 0; c < C; c++) sum += (double)from[i * C + c];
    sums[i] = (float)sum;
    total += fabs(sum);
  }
  return total;
}

/** The picture with the largest numbers, whose map is left in sheet->sums. */
static int find_frame(const Sheet *sheet, const FovDrawMap *map) {
  int best = 0;
  double most = -1;
  for (int f = 0; f < sheet->drawing->frames; f++) {
    double total = add_channels(sheet->sums, sheet->drawing, map, f);
    if (total > most) most = total, best = f;
  }
  add_channels(sheet->sums, sheet->drawing, map, best);
  return best;
}

static uint32_t level(double brightness) {
  return (uint32_t)lround(255 * fmin(1, fmax(0, brightness)));
}

/** The colour of a pixel under a number in units of the scale. */
static uint32_t pixel(const float *brightness, int channels, double number) {
  uint32_t over = fov_map_colour(number), rgb = 0;
  double below = 1 - (over >> 24) / 255.0;
  for (int c = 0; c < 3; c++) {
    double light = fmin(1, fmax(0, (double)brightness[channels == 3 ? c : 0]));
    rgb = rgb << 8 | level(below * light + (over >> (16 - 8 * c) & 255) / 255.0);
  }
  return rgb;
}

/** The picture under its map, which is in sheet->sums. */
static cairo_surface_t *blend(const Sheet *sheet, const FovDrawMap *map, int frame, double scale) {
  const FovDrawMaps *d = sheet->drawing;
  cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, d->width, d->height);
  unsigned char *data = cairo_image_surface_get_data(surface);
  size_t stride = (size_t)cairo_image_surface_get_stride(surface);
  const float *brightness = map->pixels + (size_t)frame * d->height * d->width * d->channels;
  for (int y = 0; data && y < d->height; y++)
    for (int x = 0; x < d->width; x++) {
      size_t i = (size_t)y * d->width + (size_t)x;
      uint32_t rgb = pixel(brightness + i * (size_t)d->channels, d->channels,
                           scale > 0 ? (double)sheet->sums[i] / scale : 0);
      memcpy(data + (size_t)y * stride + 4 * (size_t)x, &rgb, sizeof rgb);
    }
  cairo_surface_mark_dirty(surface);
  return surface;
}

/** The path of the glimpses: a disc at the first, a ring around the last. */
static void draw_places(cairo_t *cr, const FovDrawMap *map, FovBox box) {
  FovPoint last = {0, 0};
  for (int t = 0; t < map->place_count && !isnan(map->places[2 * t]); t++) {
    last = fov_point_at(box, map->places + 2 * t);
    cairo_line_to(cr, last.x, last.y);
  }
  fov_stroke_rimmed(cr, (FovColour){1, 1, 1}, 1, 0.8);
  if (map->place_count == 0 || isnan(map->places[0])) return;
  FovPoint first = fov_point_at(box, map->places);
  fov_disc(cr, first.x, first.y, 2);
  fov_set_colour(cr, (FovColour){1, 1, 1}, 0.8);
  cairo_fill(cr);
  fov_disc(cr, last.x, last.y, 3.5);
  fov_stroke_rimmed(cr, (FovColour){1, 1, 1}, 1, 0.8);
}

/** Draws a text, cut to the room that it has. */
static void draw_words(cairo_t *cr, double x, double y, char *text, size_t size, double room) {
  fov_fit_text(cr, text, size, room);
  fov_text(cr, x, y, FOV_ALIGN_LEFT, "%s", text);
}

/** Returns the scale. */
static double draw_panel(cairo_t *cr, const Sheet *sheet, int index) {
  const FovDrawMap *map = &sheet->drawing->maps[index];
  FovBox box = {.x = MARGIN + index % sheet->columns * (sheet->w + GAP),
                .y = TITLE + index / sheet->columns * (sheet->h + CAPTION + GAP) + CAPTION,
                .w = sheet->w,
                .h = sheet->h};
  int frame = find_frame(sheet, map);
  double scale = fov_map_scale(sheet->sums, sheet->room,
                               (size_t)sheet->drawing->height * sheet->drawing->width);
  cairo_surface_t *surface = blend(sheet, map, frame, scale);
  fov_draw_surface(cr, box, surface);
  cairo_surface_destroy(surface);
  cairo_save(cr);
  cairo_rectangle(cr, box.x, box.y, box.w, box.h);
  cairo_clip(cr);
  if (map->places) draw_places(cr, map, box);
  cairo_restore(cr);
  fov_set_colour(cr, map->wrong ? fov_theme_light.wrong : fov_theme_light.ink, 1);
  char caption[256];
  if (sheet->drawing->frames > 1)
    snprintf(caption, sizeof caption, "%s, picture %d", map->caption, frame + 1);
  else
    snprintf(caption, sizeof caption, "%s", map->caption);
  draw_words(cr, box.x, box.y - 6, caption, sizeof caption, sheet->w + GAP - 4);
  return scale;
}

/** The colours from −scale to scale, over a grey picture. */
static void draw_bar(cairo_t *cr, double top, double scale, int count) {
  enum { WIDTH = 180, HEIGHT = 12, STEPS = 90 };
  const float grey = 0.5f;
  for (int i = 0; i < STEPS; i++) {
    uint32_t rgb = pixel(&grey, 1, (2.0 * i + 1) / STEPS - 1);
    cairo_set_source_rgb(cr, (rgb >> 16) / 255.0, (rgb >> 8 & 255) / 255.0, (rgb & 255) / 255.0);
    cairo_rectangle(cr, MARGIN + i * (double)WIDTH / STEPS, top, (double)WIDTH / STEPS + 0.5,
                    HEIGHT);
    cairo_fill(cr);
  }
  fov_set_colour(cr, fov_theme_light.ink, 1);
  double y = top + HEIGHT + 15;
  if (count == 1) {
    fov_text(cr, MARGIN, y, FOV_ALIGN_LEFT, "%.2g", -scale);
    fov_text(cr, MARGIN + WIDTH, y, FOV_ALIGN_RIGHT, "%.2g", scale);
  } else {
    fov_text(cr, MARGIN, y, FOV_ALIGN_LEFT, "negative");
    fov_text(cr, MARGIN + WIDTH, y, FOV_ALIGN_RIGHT, "positive");
  }
  fov_text(cr, MARGIN + WIDTH / 2.0, y, FOV_ALIGN_CENTRE, "0");
}

static void draw_sheet(cairo_t *cr, const Sheet *sheet, double width, double height) {
  double scale = 0;
  fov_fill_box(cr, (FovBox){0, 0, width, height}, fov_theme_light.paper);
  fov_set_font(cr, 14, true);
  fov_set_colour(cr, fov_theme_light.ink, 1);
  char title[256];
  snprintf(title, sizeof title, "%s", sheet->drawing->title);
  draw_words(cr, MARGIN, 28, title, sizeof title, width - 2 * MARGIN);
  fov_set_font(cr, 11, false);
  for (int i = 0; i < sheet->drawing->count; i++) scale = draw_panel(cr, sheet, i);
  draw_bar(cr, height - BAR, scale, sheet->drawing->count);
}

/** Panels of the pictures' shape, and larger if there is only one. */
static Sheet lay_out(const FovDrawMaps *d) {
  double side = d->count == 1 ? 2.4 * SIDE : SIDE;
  FovBox panel = fov_fit((FovBox){0, 0, side, side}, d->width, d->height);
  return (Sheet){
      .drawing = d, .w = panel.w, .h = panel.h, .columns = d->count < COLUMNS ? d->count : COLUMNS};
}

FovStatus fov_draw_maps(const char *path, const FovDrawMaps *drawing) {
  FOV_CHECK(drawing->count > 0, "%d maps", drawing->count);
  FOV_TRY(fov_draw_check(path));
  FovDrawing file = {0};
  Sheet sheet = lay_out(drawing);
  size_t pixels = (size_t)drawing->height * drawing->width;
  int rows = (drawing->count + sheet.columns - 1) / sheet.columns;
  double width = fmax(2 * MARGIN + sheet.columns * (sheet.w + GAP) - GAP, 380);
  double height = TITLE + rows * (sheet.h + CAPTION + GAP) + BAR;
  sheet.sums = calloc(pixels, sizeof *sheet.sums);
  sheet.room = calloc(pixels, sizeof *sheet.room);
  FovStatus status = sheet.sums && sheet.room
                         ? fov_drawing_begin(&file, path, width, height, 2)
                         : fov_fail(FOV_ERR_MEMORY, "no memory for a map of %zu pixels", pixels);
  if (status == FOV_OK) draw_sheet(file.cr, &sheet, width, height);
  if (status == FOV_OK) status = fov_drawing_commit(&file);
  free(sheet.sums), free(sheet.room);
  return status;
}
