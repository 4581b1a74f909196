#include "viz/scene/style.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cairo-pdf.h>
#include <cairo-svg.h>

#include "base/text.h"

#define RGB(hex)                                                                                   \
  { ((hex) >> 16) / 255.0, ((hex) >> 8 & 255) / 255.0, ((hex)&255) / 255.0 }

const FovTheme fov_theme_light = {
    .paper = RGB(0xffffff),
    .panel = RGB(0xeef1f4),
    .ink = RGB(0x1f2328),
    .quiet = RGB(0x59636e),
    .rule = RGB(0xdfe3e8),
    .path = RGB(0xf0e442),
    .policy = RGB(0xd55e00),
    .right = RGB(0x009e73),
    .wrong = RGB(0xd55e00),
    .patches = {RGB(0x1f5fd0), RGB(0xcc79a7), RGB(0x56b4e9), RGB(0x7b4fc9)},
    .series = {RGB(0x0072b2), RGB(0xd55e00), RGB(0x009e73), RGB(0xcc79a7), RGB(0xe69f00),
               RGB(0x56b4e9), RGB(0x000000)},
};

// Okabe-Ito too, with the dark colours lightened for contrast on a dark ground.
const FovTheme fov_theme_dark = {
    .paper = RGB(0x14171c),
    .panel = RGB(0x1e232a),
    .ink = RGB(0xeceff3),
    .quiet = RGB(0x98a2ae),
    .rule = RGB(0x3a434e),
    .path = RGB(0xf0e442),
    .policy = RGB(0xff7f2a),
    .right = RGB(0x1fc796),
    .wrong = RGB(0xff7f2a),
    .patches = {RGB(0x56b4e9), RGB(0xe08dbd), RGB(0xc9d6e8), RGB(0x9a7df0)},
    .series = {RGB(0x56b4e9), RGB(0xe69f00), RGB(0x1fc796), RGB(0xe08dbd), RGB(0xf0e442),
               RGB(0xff7f2a), RGB(0x4a9be0)},
};

void fov_set_colour(cairo_t *cr, FovColour colour, double alpha) {
  cairo_set_source_rgba(cr, colour.r, colour.g, colour.b, alpha);
}

FovColour fov_text_on(FovColour ground) {
  double light = 0.2126 * pow(ground.r, 2.2) + 0.7152 * pow(ground.g, 2.2) +
                 0.0722 * pow(ground.b, 2.2); // relative luminance; 0.18 appears as middle grey
  return light < 0.18 ? fov_theme_light.paper : fov_theme_dark.paper;
}

void fov_fill_box(cairo_t *cr, FovBox box, FovColour colour) {
  fov_set_colour(cr, colour, 1);
  cairo_rectangle(cr, box.x, box.y, box.w, box.h);
  cairo_fill(cr);
}

void fov_stroke_box(cairo_t *cr, FovBox box, FovColour colour, double line) {
  fov_set_colour(cr, colour, 1);
  cairo_set_line_width(cr, line);
  cairo_rectangle(cr, box.x, box.y, box.w, box.h);
  cairo_stroke(cr);
}

void fov_line(cairo_t *cr, double x0, double y0, double x1, double y1) {
  cairo_move_to(cr, x0, y0);
  cairo_line_to(cr, x1, y1);
  cairo_stroke(cr);
}

void fov_disc(cairo_t *cr, double x, double y, double radius) {
  cairo_new_sub_path(cr);
  cairo_arc(cr, x, y, radius, 0, 2 * M_PI);
}

void fov_round_box(cairo_t *cr, FovBox box, double radius) {
  double right = box.x + box.w - radius, bottom = box.y + box.h - radius;
  cairo_new_sub_path(cr);
  cairo_arc(cr, right, box.y + radius, radius, -M_PI / 2, 0);
  cairo_arc(cr, right, bottom, radius, 0, M_PI / 2);
  cairo_arc(cr, box.x + radius, bottom, radius, M_PI / 2, M_PI);
  cairo_arc(cr, box.x + radius, box.y + radius, radius, M_PI, 1.5 * M_PI);
  cairo_close_path(cr);
}

void fov_stroke_rimmed(cairo_t *cr, FovColour colour, double line, double alpha) {
  cairo_set_line_width(cr, line + fmax(2, line));
  fov_set_colour(cr, fov_theme_dark.paper, 0.7 * alpha);
  cairo_stroke_preserve(cr);
  cairo_set_line_width(cr, line);
  fov_set_colour(cr, colour, alpha);
  cairo_stroke(cr);
}

bool fov_inside(FovBox box, double x, double y) {
  return x >= box.x && x <= box.x + box.w && y >= box.y && y <= box.y + box.h;
}

FovBox fov_snap(FovBox box) {
  double x = round(box.x), y = round(box.y);
  return (FovBox){x, y, round(box.x + box.w) - x, round(box.y + box.h) - y};
}

static double clamp(double value, double least, double most) {
  return fmin(most, fmax(least, value));
}

FovBox fov_cut_far(FovBox box, FovBox view) {
  double left = clamp(box.x, view.x - view.w, view.x + 2 * view.w);
  double right = clamp(box.x + box.w, view.x - view.w, view.x + 2 * view.w);
  double top = clamp(box.y, view.y - view.h, view.y + 2 * view.h);
  double bottom = clamp(box.y + box.h, view.y - view.h, view.y + 2 * view.h);
  return (FovBox){left, top, right - left, bottom - top};
}

FovBox fov_cut_top(FovBox *rest, double height, double gap) {
  FovBox top = {rest->x, rest->y, rest->w, height};
  rest->y += height + gap;
  rest->h -= height + gap;
  return top;
}

FovBox fov_cut_bottom(FovBox *rest, double height) {
  rest->h -= height;
  return (FovBox){rest->x, rest->y + rest->h, rest->w, height};
}

static double near_image(float location) {
  return fmin(FOV_FAR, fmax(-FOV_FAR, location));
}

FovPoint fov_point_at(FovBox image, const float *location) {
  return (FovPoint){image.x + (near_image(location[0]) + 1) / 2 * image.w,
                    image.y + (near_image(location[1]) + 1) / 2 * image.h};
}

FovBox fov_fit(FovBox room, double w, double h) {
  double scale = fmin(room.w / w, room.h / h);
  FovBox box = {0, 0, fmax(1, round(scale * w)), fmax(1, round(scale * h))};
  box.x = round(room.x + (room.w - box.w) / 2);
  box.y = round(room.y + (room.h - box.h) / 2);
  return box;
}

bool fov_shows(cairo_t *cr, FovBox box) {
  double x0, y0, x1, y1;
  cairo_clip_extents(cr, &x0, &y0, &x1, &y1);
  return x0 < box.x + box.w && box.x < x1 && y0 < box.y + box.h && box.y < y1;
}

void fov_verdict(cairo_t *cr, double x, double y, double size, bool right) {
  cairo_set_line_width(cr, size * 0.18);
  if (right) {
    cairo_move_to(cr, x, y - 0.4 * size);
    cairo_line_to(cr, x + 0.35 * size, y - 0.05 * size);
    cairo_line_to(cr, x + size, y - 0.9 * size);
  } else {
    cairo_move_to(cr, x + 0.1 * size, y - 0.05 * size);
    cairo_line_to(cr, x + 0.9 * size, y - 0.85 * size);
    cairo_move_to(cr, x + 0.9 * size, y - 0.05 * size);
    cairo_line_to(cr, x + 0.1 * size, y - 0.85 * size);
  }
  cairo_stroke(cr);
}

/**
 * Where cairo or Fontconfig finds no memory, it may end the process by a signal. So the first text,
 * which follows the allocation of the surface, checks that there is enough for fonts and drawing.
 */
static void check_memory(void) {
  enum { RESERVE = 32 << 20 }; // bytes
  static bool checked;
  void *reserve = checked ? NULL : malloc(RESERVE);
  if (!checked && !reserve) fov_no_memory(RESERVE);
  free(reserve);
  checked = true;
}

void fov_set_font(cairo_t *cr, double size, bool bold) {
  cairo_font_weight_t weight = bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL;
  check_memory();
  cairo_select_font_face(cr, "sans", CAIRO_FONT_SLANT_NORMAL, weight);
  cairo_set_font_size(cr, size);
}

double fov_text_width(cairo_t *cr, const char *text) {
  cairo_text_extents_t extents;
  cairo_text_extents(cr, text, &extents);
  return extents.x_advance;
}

void fov_fit_text(cairo_t *cr, char *text, size_t size, double room) {
  size_t length = strlen(text);
  fov_text_clean(text); // the end may be half a character
  while (length > 4 && fov_text_width(cr, text) > room) {
    do length--;
    while (length > 0 && (text[length] & 0xc0) == 0x80); // of a character of several bytes
    snprintf(text + length, size - length, "...");
    length = strlen(text) - 3;
  }
}

double fov_text(cairo_t *cr, double x, double y, FovAlign align, const char *format, ...) {
  char text[256];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  fov_text_clean(text); // the end may be half a character
  double width = fov_text_width(cr, text);
  static const double shift[] = {0, 0.5, 1};
  cairo_move_to(cr, x - shift[align] * width, y);
  cairo_show_text(cr, text);
  cairo_new_path(cr);
  return width;
}

double fov_axis_at(const FovAxis *axis, double value) {
  double lo = axis->lo, hi = axis->hi;
  if (axis->log) {
    value = log10(fmax(value, lo));
    lo = log10(lo);
    hi = log10(hi);
  }
  return axis->from + (value - lo) / (hi - lo) * (axis->to - axis->from);
}

double fov_axis_value(const FovAxis *axis, double at) {
  return axis->lo + (at - axis->from) / (axis->to - axis->from) * (axis->hi - axis->lo);
}

double fov_round_up(double probability) {
  static const double steps[] = {1, 0.5, 0.2};
  double top = 1;
  for (int i = 1; i <= 12; i++) { // down to 1e-4
    double next = steps[i % 3] * pow(10, -(i / 3));
    if (next < 0.9999 * probability) break; // a float may be just above it
    top = next;
  }
  return top;
}

/** Powers of ten, or 1, 2 and 5 times them; for many decades, of every n-th decade. */
static int log_ticks(double ticks[FOV_TICKS], const FovAxis *axis) {
  static const double mantissas[] = {1, 2, 5};
  int first = (int)floor(log10(axis->lo)), last = (int)floor(log10(axis->hi)), count = 0;
  int each = axis->hi / axis->lo > 2000 ? 1 : 3, every = 1 + (last - first) / (FOV_TICKS / 2);
  for (int power = first; power <= last; power += every)
    for (int i = 0; i < each && count < FOV_TICKS; i++) {
      double tick = mantissas[i] * pow(10, power);
      if (tick >= axis->lo && tick <= axis->hi) ticks[count++] = tick;
    }
  return count;
}

/** The smallest of 1, 2, 5 × 10^k that cuts `span` into no more than `wanted` parts. */
static double round_step(double span, int wanted) {
  double decade = pow(10, floor(log10(span / wanted)));
  double mantissa = span / wanted / decade;
  return decade * (mantissa <= 1 ? 1 : mantissa <= 2 ? 2 : mantissa <= 5 ? 5 : 10);
}

int fov_axis_ticks(double ticks[FOV_TICKS], const FovAxis *axis, int wanted) {
  FOV_CHECK(axis->hi > axis->lo && isfinite(axis->hi - axis->lo), "an axis from %g to %g", axis->lo,
            axis->hi);
  FOV_CHECK(!axis->log || axis->lo > 0, "a logarithmic axis from %g", axis->lo);
  FOV_CHECK(wanted > 0 && wanted < FOV_TICKS - 1, "%d ticks wanted", wanted);
  if (axis->log) return log_ticks(ticks, axis);
  double step = round_step(axis->hi - axis->lo, wanted), slack = 1e-9;
  double first = ceil(axis->lo / step - slack), last = axis->hi / step + slack;
  int count = 0;
  for (; count < FOV_TICKS && first + count <= last; count++) {
    double k = first + count;
    ticks[count] = k == 0 ? 0 : k * step; // k may be −0
  }
  return count;
}

static cairo_status_t write_stream(void *stream, const unsigned char *data, unsigned size) {
  return fwrite(data, 1, size, stream) == size ? CAIRO_STATUS_SUCCESS : CAIRO_STATUS_WRITE_ERROR;
}

void fov_draw_value_ticks(cairo_t *cr, const FovAxis *axis, FovBox box) {
  double ticks[FOV_TICKS];
  int count = fov_axis_ticks(ticks, axis, 6);
  cairo_set_line_width(cr, 1);
  for (int i = 0; i < count; i++) {
    double y = round(fov_axis_at(axis, ticks[i])) + 0.5;
    fov_set_colour(cr, fov_theme_light.rule, 1);
    fov_line(cr, box.x, y, box.x + box.w, y);
    fov_set_colour(cr, fov_theme_light.quiet, 1);
    fov_text(cr, box.x - 10, y + 4.5, FOV_ALIGN_RIGHT, "%g", ticks[i]);
  }
}

/** Draws a text from x to `end` at most, if more than a few letters of it fit; returns its width.
 */
static double draw_fitted(cairo_t *cr, double x, double y, double end, const char *words) {
  char text[128];
  snprintf(text, sizeof text, "%s", words);
  fov_fit_text(cr, text, sizeof text, end - x);
  if (fov_text_width(cr, text) > end - x) return 0;
  return fov_text(cr, x, y, FOV_ALIGN_LEFT, "%s", text);
}

void fov_draw_title(cairo_t *cr, const FovTheme *theme, FovBox box, double em, const char *title,
                    const char *what, const char *aside) {
  double y = box.y + 1.15 * em, x = box.x, end = box.x + box.w, gap = 1.4 * em;
  char note[128];
  fov_set_font(cr, 1.2 * em, true);
  fov_set_colour(cr, theme->ink, 1);
  x += draw_fitted(cr, x, y, end, title) + gap;
  fov_set_font(cr, 1.2 * em, false);
  x += draw_fitted(cr, x, y, end, what) + gap;
  fov_set_colour(cr, theme->quiet, 1);
  snprintf(note, sizeof note, "%s", aside);
  while (note[0] && fov_text_width(cr, note) > end - x) { // a part of a number is another number
    char *comma = strrchr(note, ',');
    *(comma ? comma : note) = '\0';
  }
  fov_text(cr, end, y, FOV_ALIGN_RIGHT, "%s", note);
}

double fov_border(double em) {
  return 2 * fmax(1, round(0.07 * em));
}

void fov_draw_hatch(cairo_t *cr, const FovTheme *theme, FovBox box, double em) {
  double step = round(0.6 * em);
  cairo_save(cr);
  cairo_rectangle(cr, box.x, box.y, box.w, box.h);
  cairo_clip_preserve(cr);
  fov_set_colour(cr, theme->panel, 1);
  cairo_fill(cr);
  for (double x = box.x - box.h; x < box.x + box.w; x += step) {
    cairo_move_to(cr, x, box.y + box.h);
    cairo_line_to(cr, x + box.h, box.y);
  }
  cairo_set_line_width(cr, 1);
  fov_set_colour(cr, theme->rule, 1);
  cairo_stroke(cr);
  cairo_restore(cr);
}

void fov_draw_heading(cairo_t *cr, FovBox *box, const FovTheme *theme, double em,
                      const char *text) {
  char fitting[128];
  snprintf(fitting, sizeof fitting, "%s", text);
  fov_set_font(cr, 0.95 * em, true);
  fov_fit_text(cr, fitting, sizeof fitting, box->w);
  fov_set_colour(cr, theme->ink, 1);
  fov_text(cr, box->x, box->y + 0.85 * em, FOV_ALIGN_LEFT, "%s", fitting);
  fov_cut_top(box, 1.6 * em, 0);
  fov_set_font(cr, 0.85 * em, false);
}

FovStatus fov_drawing_begin(FovDrawing *drawing, const char *path, double width, double height,
                            double density) {
  FOV_TRY(fov_replace_begin(&drawing->file, path));
  FILE *stream = drawing->file.stream;
  bool svg = fov_has_ending(path, ".svg"), pdf = fov_has_ending(path, ".pdf");
  drawing->raster = !svg && !pdf;
  cairo_surface_t *surface =
      svg   ? cairo_svg_surface_create_for_stream(write_stream, stream, width, height)
      : pdf ? cairo_pdf_surface_create_for_stream(write_stream, stream, width, height)
            : cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)lround(width * density),
                                         (int)lround(height * density));
  if (drawing->raster) cairo_surface_set_device_scale(surface, density, density);
  if (svg) cairo_svg_surface_set_document_unit(surface, CAIRO_SVG_UNIT_PX); // not points
  drawing->cr = cairo_create(surface); // has the status of a failed surface, which commit checks
  cairo_surface_destroy(surface);
  return FOV_OK;
}

FovStatus fov_drawing_commit(FovDrawing *drawing) {
  cairo_surface_t *surface = cairo_surface_reference(cairo_get_target(drawing->cr));
  cairo_status_t status = cairo_status(drawing->cr);
  cairo_destroy(drawing->cr);
  drawing->cr = NULL;
  if (!status && drawing->raster)
    status = cairo_surface_write_to_png_stream(surface, write_stream, drawing->file.stream);
  cairo_surface_finish(surface);
  if (!status) status = cairo_surface_status(surface);
  cairo_surface_destroy(surface);
  // A commit after a write that failed reports the reason.
  if (!status || status == CAIRO_STATUS_WRITE_ERROR) return fov_replace_commit(&drawing->file);
  FovStatus kind = status == CAIRO_STATUS_NO_MEMORY ? FOV_ERR_MEMORY : FOV_ERR_IO;
  fov_fail(kind, "%s: the picture is not written: %s", drawing->file.path,
           cairo_status_to_string(status));
  fov_replace_abort(&drawing->file);
  return kind;
}
