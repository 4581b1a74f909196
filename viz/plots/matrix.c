/** A matrix as coloured cells with their numbers. */
#include <math.h>
#include <stdio.h>

#include "draw.h"
#include "viz/scene/style.h"

enum { LEFT = 70, RIGHT = 28, TOP = 66, BOTTOM = 40, LARGEST = 52, SMALLEST = 6, READABLE = 34 };

typedef struct Sheet {
  const FovDrawMatrix *matrix;
  double cell, most;
} Sheet;

/** From white to dark blue: lightness falls, so that grey print keeps the order. */
static FovColour shade(double share) {
  return (FovColour){1 - 0.95 * share, 1 - 0.72 * share, 1 - 0.42 * share};
}

static void draw_cell(cairo_t *cr, const Sheet *sheet, int row, int column) {
  double value = sheet->matrix->values[row * sheet->matrix->columns + column];
  FovBox box = {LEFT + column * sheet->cell, TOP + row * sheet->cell, sheet->cell, sheet->cell};
  if (isnan(value)) {
    fov_fill_box(cr, box, fov_theme_light.panel);
    return;
  }
  FovColour ground = shade(sheet->most > 0 ? value / sheet->most : 0);
  fov_fill_box(cr, box, ground);
  if (sheet->cell < READABLE || value == 0) return;
  fov_set_colour(cr, fov_text_on(ground), 1);
  fov_text(cr, box.x + box.w / 2, box.y + box.h / 2 + 4, FOV_ALIGN_CENTRE, "%.2g", value);
}

/** Draws the name of row or column i, or its number from 1 on, in at most `room` pixels. */
static void draw_name(cairo_t *cr, double x, double y, FovAlign align, const char *const *names,
                      int i, double room) {
  char text[64];
  if (names)
    snprintf(text, sizeof text, "%s", names[i]);
  else
    snprintf(text, sizeof text, "%d", i + 1);
  fov_fit_text(cr, text, sizeof text, room);
  fov_text(cr, x, y, align, "%s", text);
}

/** Names beside the rows and above the columns, as many as there is room for. */
static void draw_names(cairo_t *cr, const Sheet *sheet) {
  const FovDrawMatrix *m = sheet->matrix;
  double cell = sheet->cell;
  int every = cell < 18 ? (int)ceil(18 / cell) : 1;
  for (int i = 0; i < m->columns; i += every)
    draw_name(cr, LEFT + (i + 0.5) * cell, TOP - 6, FOV_ALIGN_CENTRE, m->column_names, i,
              every * cell);
  for (int i = 0; i < m->rows; i += every)
    draw_name(cr, LEFT - 8, TOP + (i + 0.5) * cell + 4, FOV_ALIGN_RIGHT, m->row_names, i,
              LEFT - 40);
}

static void draw_sheet(cairo_t *cr, const Sheet *sheet, double width, double height) {
  const FovDrawMatrix *m = sheet->matrix;
  fov_fill_box(cr, (FovBox){0, 0, width, height}, fov_theme_light.paper);
  fov_set_font(cr, 11, false);
  for (int i = 0; i < m->rows * m->columns; i++)
    draw_cell(cr, sheet, i / m->columns, i % m->columns);
  fov_set_colour(cr, fov_theme_light.ink, 1);
  draw_names(cr, sheet);
  double bottom = TOP + m->rows * sheet->cell;
  fov_text(cr, LEFT + m->columns * sheet->cell / 2, bottom + 22, FOV_ALIGN_CENTRE, "%s",
           m->column_label);
  cairo_save(cr);
  cairo_translate(cr, 24, TOP + m->rows * sheet->cell / 2);
  cairo_rotate(cr, -M_PI / 2);
  fov_text(cr, 0, 0, FOV_ALIGN_CENTRE, "%s", m->row_label);
  cairo_restore(cr);
  fov_set_font(cr, 13, true);
  fov_text(cr, 24, 28, FOV_ALIGN_LEFT, "%s", m->title);
}

FovStatus fov_draw_matrix(const char *path, const FovDrawMatrix *matrix) {
  FovDrawing drawing = {0};
  int longer = matrix->rows > matrix->columns ? matrix->rows : matrix->columns;
  Sheet sheet = {.matrix = matrix, .cell = fmax(SMALLEST, fmin(LARGEST, 640.0 / longer))};
  for (int i = 0; i < matrix->rows * matrix->columns; i++)
    if (!isnan(matrix->values[i])) sheet.most = fmax(sheet.most, matrix->values[i]);
  double width = fmax(LEFT + matrix->columns * sheet.cell + RIGHT, 360);
  double height = TOP + matrix->rows * sheet.cell + BOTTOM;
  FOV_TRY(fov_draw_check(path));
  FOV_TRY(fov_drawing_begin(&drawing, path, width, height, 2));
  draw_sheet(drawing.cr, &sheet, width, height);
  return fov_drawing_commit(&drawing);
}
