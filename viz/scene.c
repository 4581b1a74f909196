#include "viz/scene.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/** Half image widths beyond which nothing is drawn: cairo's coordinates are 24 bits wide. */
enum { FAR = 8 };

/** The parts of a scene; a part of no height is left out. */
typedef struct Layout {
  double em; // text size, the unit of every distance
  FovBox title, view, image, legend, retina, classes, returns;
} Layout;

static size_t moment(const FovScene *scene) {
  return (size_t)scene->episode * scene->trace->glimpses + scene->glimpse;
}

static bool has_baseline(const FovScene *scene) {
  const FovTrace *trace = scene->trace;
  const float *b = trace->baselines + (size_t)scene->episode * trace->glimpses;
  for (int t = 0; t < trace->glimpses; t++)
    if (isfinite(b[t])) return trace->glimpses > 1;
  return false;
}

/** The largest box of the image's shape in the middle of `view`, a margin left for the squares. */
static FovBox fit_image(const FovTrace *trace, FovBox view) {
  double scale = 0.9 * fmin(view.w / trace->width, view.h / trace->height);
  double w = round(scale * trace->width), h = round(scale * trace->height);
  return (FovBox){round(view.x + (view.w - w) / 2), round(view.y + (view.h - h) / 2), w, h};
}

static FovBox cut_top(FovBox *rest, double height, double gap) {
  FovBox top = {rest->x, rest->y, rest->w, height};
  rest->y += height + gap;
  rest->h -= height + gap;
  return top;
}

static Layout lay_out(const FovScene *scene) {
  Layout l = {
      .em = fmax(9, 16 * fmin(scene->width / FOV_SCENE_WIDTH, scene->height / FOV_SCENE_HEIGHT))};
  double em = l.em, pad = round(1.25 * em);
  FovBox body = {pad, pad, scene->width - 2 * pad, scene->height - 2 * pad};
  l.title = cut_top(&body, round(1.5 * em), pad * 0.75);
  bool words = fmin(body.h, 0.54 * body.w) > 27 * em; // a small scene has no room for them
  double legend = words ? round(2.2 * em) : 0;
  double side = round(fmin(body.h - legend, 0.54 * body.w));
  l.view = (FovBox){body.x, body.y, side, side};
  l.legend = (FovBox){body.x, body.y + side, side, legend};
  l.image = fit_image(scene->trace, l.view);
  FovBox column = {body.x + side + 1.5 * pad, body.y, body.w - side - 1.5 * pad, body.h};
  int s = scene->trace->scales;
  double patch = fmin((column.w - (s - 1) * em) / s, 0.31 * column.h);
  l.retina = cut_top(&column, floor(patch) + 3.2 * em, pad);
  if (has_baseline(scene) && column.h > 17 * em) {
    l.classes = cut_top(&column, round(0.6 * column.h), pad);
    l.returns = column;
  } else {
    l.classes = column;
  }
  return l;
}

FovBox fov_scene_image(const FovScene *scene) {
  return lay_out(scene).image;
}

/** Canvas coordinates of a location in the image. */
static void place(double *x, double *y, FovBox image, const float *location) {
  *x = image.x + (location[0] + 1) / 2 * image.w;
  *y = image.y + (location[1] + 1) / 2 * image.h;
}

FovBox fov_scene_patch(const FovScene *scene, int scale) {
  const FovTrace *trace = scene->trace;
  const float *location = trace->locations + 2 * moment(scene);
  FovBox image = fov_scene_image(scene);
  double pixel_x = image.w / trace->width, pixel_y = image.h / trace->height;
  double covers = ldexp(trace->side, scale); // pixels
  double column = round((location[0] + 1) / 2 * trace->width) - floor(covers / 2);
  double row = round((location[1] + 1) / 2 * trace->height) - floor(covers / 2);
  return (FovBox){image.x + column * pixel_x, image.y + row * pixel_y, covers * pixel_x,
                  covers * pixel_y};
}

/** Shows w × h pixels of C channels, enlarged with sharp edges; C other than 3 is grey. */
static void draw_pixels(cairo_t *cr, FovBox box, const uint8_t *pixels, int w, int h,
                        int channels) {
  cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, w, h);
  unsigned char *data = cairo_image_surface_get_data(surface);
  int stride = cairo_image_surface_get_stride(surface), green = channels == 3 ? 1 : 0;
  for (int y = 0; data && y < h; y++)
    for (int x = 0; x < w; x++) {
      const uint8_t *from = pixels + ((size_t)y * w + x) * channels;
      uint32_t rgb = (uint32_t)from[0] << 16 | from[green] << 8 | from[2 * green];
      memcpy(data + (size_t)y * stride + 4 * (size_t)x, &rgb, sizeof rgb);
    }
  cairo_surface_mark_dirty(surface);
  cairo_save(cr);
  cairo_translate(cr, box.x, box.y);
  cairo_scale(cr, box.w / w, box.h / h);
  cairo_set_source_surface(cr, surface, 0, 0);
  cairo_pattern_set_filter(cairo_get_source(cr), CAIRO_FILTER_NEAREST);
  cairo_rectangle(cr, 0, 0, w, h);
  cairo_fill(cr);
  cairo_restore(cr);
  cairo_surface_destroy(surface);
}

/** Moves the edges to whole units, where an even line is crisp. */
static FovBox snap(FovBox box) {
  double x = round(box.x), y = round(box.y);
  return (FovBox){x, y, round(box.x + box.w) - x, round(box.y + box.h) - y};
}

/** The thickness of frames: even, two units or more. */
static double frame_line(double em) {
  return 2 * fmax(1, round(0.07 * em));
}

static void draw_disc(cairo_t *cr, double x, double y, double radius) {
  cairo_new_sub_path(cr);
  cairo_arc(cr, x, y, radius, 0, 2 * M_PI);
}

/** Strokes the path in a colour over a dark rim, so that it shows on white and on black. */
static void stroke_rimmed(cairo_t *cr, FovColor color, double line, double alpha) {
  cairo_set_line_width(cr, line + fmax(2, line));
  fov_set_color(cr, fov_theme_dark.paper, 0.7 * alpha);
  cairo_stroke_preserve(cr);
  cairo_set_line_width(cr, line);
  fov_set_color(cr, color, alpha);
  cairo_stroke(cr);
}

/** A tick or a cross, drawn because not every font has them; size × size, y its bottom. */
static void draw_verdict(cairo_t *cr, double x, double y, double size, bool right) {
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

static void draw_title(cairo_t *cr, const FovScene *scene, const Layout *l) {
  const FovTheme *theme = scene->theme;
  const FovTrace *trace = scene->trace;
  int label = trace->labels[scene->episode], answer = trace->answers[scene->episode];
  double x = l->title.x, y = l->title.y + 1.15 * l->em, gap = 1.5 * l->em;
  fov_set_font(cr, 1.2 * l->em, true);
  fov_set_color(cr, theme->ink, 1);
  x += gap + fov_text(cr, x, y, FOV_ALIGN_LEFT, "Episode %d", scene->episode);
  fov_set_font(cr, 1.2 * l->em, false);
  x += 0.9 * gap + fov_text(cr, x, y, FOV_ALIGN_LEFT, "label %d, answer %d", label, answer);
  fov_set_color(cr, label == answer ? theme->right : theme->wrong, 1);
  draw_verdict(cr, x, y, 0.95 * l->em, label == answer);
  fov_text(cr, x + 1.35 * l->em, y, FOV_ALIGN_LEFT, label == answer ? "right" : "wrong");
  fov_set_color(cr, theme->quiet, 1);
  fov_text(cr, l->title.x + l->title.w, y, FOV_ALIGN_RIGHT,
           l->title.w > 36 * l->em ? "glimpse %d of %d" : "%d/%d", scene->glimpse + 1,
           trace->glimpses);
}

static bool inside(FovBox box, double x, double y) {
  return x >= box.x && x <= box.x + box.w && y >= box.y && y <= box.y + box.h;
}

/** Numbers a square at the first of its corners that lies in the view, outside the square. */
static void draw_tag(cairo_t *cr, FovBox square, FovBox view, int scale, double em) {
  double size = 1.1 * em;
  for (int corner = 0; corner < 4; corner++) {
    bool right = corner & 1, bottom = corner >> 1;
    FovBox tag = {square.x + (right ? square.w - size : 0), square.y + (bottom ? square.h : -size),
                  size, size};
    if (!inside(view, tag.x, tag.y) || !inside(view, tag.x + size, tag.y + size)) continue;
    cairo_rectangle(cr, tag.x, tag.y, size, size);
    cairo_fill(cr);
    fov_set_color(cr, fov_theme_dark.paper, 1);
    fov_text(cr, tag.x + size / 2, tag.y + 0.86 * em, FOV_ALIGN_CENTER, "%d", scale + 1);
    return;
  }
}

static void draw_squares(cairo_t *cr, const FovScene *scene, const Layout *l) {
  double line = frame_line(l->em);
  fov_set_font(cr, 0.85 * l->em, true);
  for (int s = scene->trace->scales - 1; s >= 0; s--) { // the fovea on top
    FovBox square = snap(fov_scene_patch(scene, s));
    FovColor color = scene->theme->series[s % FOV_SERIES];
    cairo_rectangle(cr, square.x, square.y, square.w, square.h);
    stroke_rimmed(cr, color, line, 1);
    draw_tag(cr, square, l->view, s, l->em);
  }
}

/** The policy that chose this place: a cross at its mean, a dashed ellipse at one sigma. */
static void draw_policy(cairo_t *cr, const FovScene *scene, const Layout *l) {
  const float *mean = scene->trace->means + 2 * moment(scene);
  const float *sigma = scene->trace->sigmas + 2 * moment(scene);
  if (!(fabsf(mean[0]) < FAR && fabsf(mean[1]) < FAR)) return; // NaN: no policy chose it
  double x, y, arm = 0.4 * l->em, line = fmax(1.25, 0.11 * l->em);
  place(&x, &y, l->image, mean);
  cairo_move_to(cr, x - arm, y);
  cairo_line_to(cr, x + arm, y);
  cairo_move_to(cr, x, y - arm);
  cairo_line_to(cr, x, y + arm);
  stroke_rimmed(cr, scene->theme->policy, line, 1);
  if (!(sigma[0] > 0 && sigma[0] < FAR && sigma[1] > 0 && sigma[1] < FAR)) return;
  cairo_save(cr);
  cairo_translate(cr, x, y);
  cairo_scale(cr, sigma[0] / 2 * l->image.w, sigma[1] / 2 * l->image.h);
  draw_disc(cr, 0, 0, 1);
  cairo_restore(cr);
  cairo_set_dash(cr, (double[]){0.45 * l->em, 0.3 * l->em}, 2, 0);
  stroke_rimmed(cr, scene->theme->policy, line, 1);
  cairo_set_dash(cr, NULL, 0, 0);
}

/** A step of the path, cut short so that it does not enter the ring around its end. */
static void draw_step(cairo_t *cr, const FovScene *scene, double x, double y, double end_x,
                      double end_y, double ring, double line, double alpha) {
  double length = hypot(end_x - x, end_y - y), part = 1 - ring / length;
  if (!(part > 0)) return;
  cairo_move_to(cr, x, y);
  cairo_line_to(cr, x + part * (end_x - x), y + part * (end_y - y));
  stroke_rimmed(cr, scene->theme->path, line, alpha);
}

static void draw_dot(cairo_t *cr, const FovScene *scene, double x, double y, double radius,
                     double alpha) {
  draw_disc(cr, x, y, radius + 1.5);
  fov_set_color(cr, fov_theme_dark.paper, 0.7 * alpha);
  cairo_fill(cr);
  draw_disc(cr, x, y, radius);
  fov_set_color(cr, scene->theme->path, alpha);
  cairo_fill(cr);
}

/** From the first glimpse, a disc, to the present one, a ring; older steps are fainter. */
static void draw_path(cairo_t *cr, const FovScene *scene, const Layout *l) {
  const float *first = scene->trace->locations + 2 * (moment(scene) - scene->glimpse);
  double radius = 0.34 * l->em, ring = 1.5 * radius, line = fmax(1.5, 0.14 * l->em);
  double x, y, next_x, next_y;
  place(&x, &y, l->image, first);
  for (int t = 0; t < scene->glimpse; t++, x = next_x, y = next_y) {
    bool last = t + 1 == scene->glimpse;
    double alpha = 0.35 + 0.65 * (t + 1) / scene->glimpse;
    place(&next_x, &next_y, l->image, first + 2 * (t + 1));
    draw_step(cr, scene, x, y, next_x, next_y, last ? ring : 0, line, alpha);
    draw_dot(cr, scene, x, y, t == 0 ? radius : 0.55 * radius, t == 0 ? 1 : alpha);
  }
  draw_disc(cr, x, y, ring);
  stroke_rimmed(cr, scene->theme->path, line, 1);
  if (scene->glimpse == 0) draw_dot(cr, scene, x, y, 0.8 * radius, 1); // it is the first, too
}

static void draw_view(cairo_t *cr, const FovScene *scene, const Layout *l) {
  const FovTrace *trace = scene->trace;
  size_t image = (size_t)trace->height * trace->width * trace->channels;
  fov_fill_box(cr, l->view, scene->theme->panel);
  cairo_save(cr);
  cairo_rectangle(cr, l->view.x, l->view.y, l->view.w, l->view.h);
  cairo_clip(cr);
  draw_pixels(cr, l->image, trace->images + scene->episode * image, trace->width, trace->height,
              trace->channels);
  draw_squares(cr, scene, l);
  draw_policy(cr, scene, l);
  draw_path(cr, scene, l);
  cairo_restore(cr);
}

/** Explains the marks on the image. */
static void draw_legend(cairo_t *cr, const FovScene *scene, const Layout *l) {
  if (l->legend.h == 0) return;
  double em = l->em, x = l->legend.x + 0.4 * em, y = l->legend.y + l->legend.h - 0.3 * em;
  double middle = y - 0.3 * em, gap = 1.8 * em;
  const FovTheme *theme = scene->theme;
  fov_set_font(cr, 0.85 * em, false);
  fov_set_color(cr, theme->path, 1);
  draw_disc(cr, x, middle, 0.36 * em);
  cairo_fill(cr);
  fov_set_color(cr, theme->quiet, 1);
  x += 0.75 * em;
  x += gap + fov_text(cr, x, y, FOV_ALIGN_LEFT, "first glimpse");
  fov_set_color(cr, theme->path, 1);
  cairo_set_line_width(cr, fmax(1.5, 0.14 * em));
  draw_disc(cr, x, middle, 0.42 * em);
  cairo_stroke(cr);
  fov_set_color(cr, theme->quiet, 1);
  x += 0.85 * em;
  x += gap + fov_text(cr, x, y, FOV_ALIGN_LEFT, "this glimpse");
  if (!isfinite(scene->trace->means[2 * moment(scene)])) return;
  fov_set_color(cr, theme->policy, 1);
  fov_line(cr, x - 0.4 * em, middle, x + 0.4 * em, middle);
  fov_line(cr, x, middle - 0.4 * em, x, middle + 0.4 * em);
  fov_set_color(cr, theme->quiet, 1);
  // A policy that follows its mean has no ellipse to explain.
  bool spread = scene->trace->sigmas[2 * moment(scene)] > 0;
  fov_text(cr, x + 0.85 * em, y, FOV_ALIGN_LEFT, spread ? "policy: mean, 1 σ" : "policy: mean");
}

/** Draws a section's heading and cuts it off the box. */
static void draw_heading(cairo_t *cr, FovBox *box, const FovScene *scene, double em,
                         const char *text) {
  fov_set_font(cr, 0.95 * em, true);
  fov_set_color(cr, scene->theme->ink, 1);
  fov_text(cr, box->x, box->y + 0.85 * em, FOV_ALIGN_LEFT, "%s", text);
  cut_top(box, 1.6 * em, 0);
  fov_set_font(cr, 0.85 * em, false);
}

static void draw_retina(cairo_t *cr, const FovScene *scene, const Layout *l) {
  const FovTrace *trace = scene->trace;
  double em = l->em;
  size_t patch = (size_t)trace->side * trace->side * trace->channels;
  const uint8_t *pixels = trace->retina + moment(scene) * trace->scales * patch;
  FovBox box = l->retina;
  draw_heading(cr, &box, scene, em, "Retina, as received");
  double side = box.h - 1.6 * em;
  for (int s = 0; s < trace->scales; s++) {
    FovBox frame = snap((FovBox){box.x + s * (side + em), box.y, side, side});
    double covers = ldexp(trace->side, s); // pixels of the image
    draw_pixels(cr, frame, pixels + s * patch, trace->side, trace->side, trace->channels);
    fov_stroke_box(cr, frame, scene->theme->series[s % FOV_SERIES], frame_line(em));
    fov_text(cr, frame.x + side / 2, frame.y + side + 1.15 * em, FOV_ALIGN_CENTER,
             side > 8 * em ? "%d: %g × %g px" : "%d", s + 1, covers, covers);
  }
}

/** A row under the bars that points out one class. */
static void draw_class_mark(cairo_t *cr, const FovScene *scene, FovBox row, double pitch, int class,
                            const char *name, bool filled) {
  double em = row.h / 1.35, x = row.x + (class + 0.5) * pitch, y = row.y + 0.75 * em;
  double radius = fmin(0.32 * em, 0.4 * pitch);
  fov_set_color(cr, scene->theme->quiet, 1);
  fov_text(cr, row.x - 0.6 * em, y + 0.3 * em, FOV_ALIGN_RIGHT, "%s", name);
  fov_set_color(cr, scene->theme->ink, 1);
  cairo_set_line_width(cr, fmax(1.25, 0.12 * em));
  draw_disc(cr, x, y, radius);
  if (filled)
    cairo_fill(cr);
  else
    cairo_stroke(cr);
}

static void draw_bars(cairo_t *cr, const FovScene *scene, FovBox plot, double em) {
  const FovTrace *trace = scene->trace;
  const FovTheme *theme = scene->theme;
  const float *p = trace->probabilities + moment(scene) * trace->actions;
  int label = trace->labels[scene->episode], answer = trace->answers[scene->episode];
  double pitch = plot.w / trace->actions, width = fmin(0.68 * pitch, 3 * em);
  int every = (int)ceil(1.7 * em / pitch); // thinned so that numbers do not touch
  for (int a = 0; a < trace->actions; a++) {
    double x = plot.x + (a + 0.5) * pitch, h = isnan(p[a]) ? 0 : fmax(1, p[a] * plot.h);
    FovColor color = a == label ? theme->right : a == answer ? theme->wrong : theme->quiet;
    fov_fill_box(cr, (FovBox){x - width / 2, plot.y + plot.h - h, width, h}, color);
    fov_set_color(cr, a == label || a == answer ? theme->ink : theme->quiet, 1);
    if (a % every == 0) fov_text(cr, x, plot.y + plot.h + 1.15 * em, FOV_ALIGN_CENTER, "%d", a);
  }
}

/** Horizontal lines at the axis's round values, numbered on the left. */
static void draw_grid(cairo_t *cr, const FovScene *scene, FovBox plot, const FovAxis *axis,
                      double em) {
  double ticks[FOV_TICKS];
  int count = fov_axis_ticks(ticks, axis, plot.h > 4 * em ? 3 : 1);
  cairo_set_line_width(cr, 1);
  for (int i = 0; i < count; i++) {
    double y = round(fov_axis_at(axis, ticks[i])) + 0.5;
    fov_set_color(cr, scene->theme->rule, 1);
    fov_line(cr, plot.x, y, plot.x + plot.w, y);
    fov_set_color(cr, scene->theme->quiet, 1);
    fov_text(cr, plot.x - 0.6 * em, y + 0.3 * em, FOV_ALIGN_RIGHT, "%g", ticks[i]);
  }
}

static FovBox plot_box(FovBox box, double em, double foot) {
  double gutter = 3.6 * em;
  return (FovBox){box.x + gutter, box.y + 0.3 * em, box.w - gutter, box.h - 0.3 * em - foot};
}

static void draw_class_marks(cairo_t *cr, const FovScene *scene, FovBox row) {
  const FovTrace *trace = scene->trace;
  double pitch = row.w / trace->actions;
  draw_class_mark(cr, scene, row, pitch, trace->labels[scene->episode], "label", true);
  row.y += row.h;
  draw_class_mark(cr, scene, row, pitch, trace->answers[scene->episode], "answer", false);
}

static void draw_classes(cairo_t *cr, const FovScene *scene, const Layout *l) {
  double em = l->em, numbers = 1.5 * em;
  double row = l->classes.h > 8 * em ? 1.35 * em : 0; // else the title must do
  FovBox box = l->classes;
  draw_heading(cr, &box, scene, em, "Probability of each class");
  FovBox plot = plot_box(box, em, numbers + 2 * row);
  FovAxis axis = {.lo = 0, .hi = 1, .from = plot.y + plot.h, .to = plot.y};
  draw_grid(cr, scene, plot, &axis, em);
  draw_bars(cr, scene, plot, em);
  if (row > 0)
    draw_class_marks(cr, scene, (FovBox){plot.x, plot.y + plot.h + numbers, plot.w, row});
}

/** The return still to come at glimpse t: what the baseline there should have foretold. */
static double return_from(const FovScene *scene, int t) {
  const float *rewards = scene->trace->rewards + (size_t)scene->episode * scene->trace->glimpses;
  double sum = 0;
  for (; t < scene->trace->glimpses; t++) sum += rewards[t];
  return sum;
}

static double baseline_at(const FovScene *scene, int t) {
  return scene->trace->baselines[(size_t)scene->episode * scene->trace->glimpses + t];
}

static FovAxis return_axis(const FovScene *scene, FovBox plot) {
  FovAxis axis = {.lo = 0, .hi = 1, .from = plot.y + plot.h, .to = plot.y};
  for (int t = 0; t < scene->trace->glimpses; t++) { // fmin and fmax pass over NaN
    axis.lo = fmin(axis.lo, fmin(return_from(scene, t), baseline_at(scene, t)));
    axis.hi = fmax(axis.hi, fmax(return_from(scene, t), baseline_at(scene, t)));
  }
  return axis;
}

/** A line through the finite values with a dot of radius `dot` at each. */
static void draw_series(cairo_t *cr, const FovScene *scene, FovBox plot, const FovAxis *axis,
                        double value_at(const FovScene *scene, int t), double dot) {
  double pitch = plot.w / scene->trace->glimpses;
  for (int pass = 0; pass < 2; pass++) {
    for (int t = 0; t < scene->trace->glimpses; t++) {
      double value = value_at(scene, t), x = plot.x + (t + 0.5) * pitch;
      if (!isfinite(value)) continue;
      if (pass == 0)
        cairo_line_to(cr, x, fov_axis_at(axis, value));
      else
        draw_disc(cr, x, fov_axis_at(axis, value), dot);
    }
    if (pass == 0)
      cairo_stroke(cr);
    else
      cairo_fill(cr);
  }
}

/** Names the two lines at the right end of the heading. */
static void draw_return_key(cairo_t *cr, const FovScene *scene, FovBox box, double em) {
  if (box.w < 24 * em) return; // no room beside the heading
  double y = box.y + 0.85 * em, x = box.x + box.w, dash[] = {0.4 * em, 0.25 * em};
  fov_set_font(cr, 0.85 * em, false);
  fov_set_color(cr, scene->theme->quiet, 1);
  cairo_set_line_width(cr, fmax(1.25, 0.12 * em));
  x -= fov_text(cr, x, y, FOV_ALIGN_RIGHT, "return") + 0.5 * em;
  cairo_set_dash(cr, dash, 2, 0);
  fov_line(cr, x - 2 * em, y - 0.28 * em, x, y - 0.28 * em);
  cairo_set_dash(cr, NULL, 0, 0);
  x -= 3.2 * em;
  x -= fov_text(cr, x, y, FOV_ALIGN_RIGHT, "baseline") + 0.5 * em;
  fov_set_color(cr, scene->theme->ink, 1);
  fov_line(cr, x - 2 * em, y - 0.28 * em, x, y - 0.28 * em);
}

static void draw_returns(cairo_t *cr, const FovScene *scene, const Layout *l) {
  if (l->returns.h == 0) return;
  double em = l->em, dash[] = {0.4 * em, 0.25 * em};
  FovBox box = l->returns;
  draw_return_key(cr, scene, box, em);
  draw_heading(cr, &box, scene, em, "Baseline and return");
  FovBox plot = plot_box(box, em, 1.4 * em);
  FovAxis axis = return_axis(scene, plot);
  double pitch = plot.w / scene->trace->glimpses, now = plot.x + scene->glimpse * pitch;
  fov_fill_box(cr, (FovBox){now, plot.y, pitch, plot.h}, scene->theme->panel);
  draw_grid(cr, scene, plot, &axis, em);
  int every = (int)ceil(1.7 * em / pitch);
  for (int t = 0; t < scene->trace->glimpses; t += every)
    fov_text(cr, plot.x + (t + 0.5) * pitch, plot.y + plot.h + 1.15 * em, FOV_ALIGN_CENTER, "%d",
             t + 1);
  cairo_set_line_width(cr, fmax(1.25, 0.12 * em));
  cairo_set_dash(cr, dash, 2, 0);
  draw_series(cr, scene, plot, &axis, return_from, 0);
  cairo_set_dash(cr, NULL, 0, 0);
  fov_set_color(cr, scene->theme->ink, 1);
  draw_series(cr, scene, plot, &axis, baseline_at, 0.24 * em);
}

void fov_scene_draw(cairo_t *cr, const FovScene *scene) {
  const FovTrace *trace = scene->trace;
  FOV_CHECK(scene->episode >= 0 && scene->episode < trace->episodes, "episode %d of %d",
            scene->episode, trace->episodes);
  FOV_CHECK(scene->glimpse >= 0 && scene->glimpse < trace->glimpses, "glimpse %d of %d",
            scene->glimpse, trace->glimpses);
  FOV_CHECK(scene->width >= FOV_SCENE_MIN_WIDTH && scene->height >= FOV_SCENE_MIN_HEIGHT,
            "a scene of %g × %g", scene->width, scene->height);
  Layout layout = lay_out(scene);
  fov_fill_box(cr, (FovBox){0, 0, scene->width, scene->height}, scene->theme->paper);
  draw_title(cr, scene, &layout);
  draw_view(cr, scene, &layout);
  draw_legend(cr, scene, &layout);
  draw_retina(cr, scene, &layout);
  draw_classes(cr, scene, &layout);
  draw_returns(cr, scene, &layout);
}
