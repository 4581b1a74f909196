#include "viz/scene/layout.h"

#include <math.h>

#include "viz/scene/alignment.h"
#include "viz/scene/attention.h"

enum { MAX_ZOOM = 64 }; // cairo's coordinates have 24 bits

/** The image in the middle of the view, a margin left for the squares. */
static FovBox fit_image(const FovTrace *trace, FovBox view) {
  FovBox room = {view.x + 0.05 * view.w, view.y + 0.05 * view.h, 0.9 * view.w, 0.9 * view.h};
  return fov_fit(room, trace->width, trace->height);
}

static FovBox zoomed(FovBox fitted, FovZoom zoom) {
  double w = fitted.w * zoom.factor, h = fitted.h * zoom.factor;
  return (FovBox){fitted.x + fitted.w / 2 - zoom.x * w, fitted.y + fitted.h / 2 - zoom.y * h, w, h};
}

int fov_retina_tiles(const FovTrace *trace) {
  return trace->scales + !fov_reads_several(trace);
}

/** The Jacobian on the right of a box, if it is shown and leaves room; that of symbols is in the
 * cells of their alignment. */
static void cut_jacobian(FovLayout *l, const FovScene *scene, FovBox *box) {
  double pad = round(1.25 * l->em), side = fmin(box->h - 1.5 * l->em, 0.4 * box->w);
  if (!scene->explanation.method || scene->trace->vocabulary > 0 || side <= 6 * l->em) return;
  box->w -= side + pad;
  l->jacobian = (FovBox){box->x + box->w + pad, box->y, side, box->h};
}

/** The plots over time, side by side if both are there and have room, and the Jacobian. */
static void lay_out_series(FovLayout *l, const FovScene *scene, FovBox box) {
  double pad = round(1.25 * l->em);
  cut_jacobian(l, scene, &box);
  l->last = box;
  bool both = fov_has_baseline(scene) || scene->trace->control;
  if (!both || box.w < 24 * l->em) return;
  l->returns = box;
  l->returns.w = l->last.w = floor((box.w - pad) / 2);
  l->last.x = box.x + box.w - l->last.w;
}

/** The right column from its top: the retina, the bars, and the plots over time. */
static void lay_out_column(FovLayout *l, const FovScene *scene, FovBox column) {
  double em = l->em, pad = round(1.25 * em);
  int tiles = fov_retina_tiles(scene->trace);
  double tile = fmin((column.w - (tiles - 1) * em) / tiles, 0.3 * column.h);
  if (scene->trace->vocabulary == 0) l->retina = fov_cut_top(&column, floor(tile) + 3.2 * em, pad);
  l->bars = column;
  if (column.h < 15 * em || scene->trace->glimpses < 2) return;
  l->bars = fov_cut_top(&column, round(0.56 * column.h), pad);
  lay_out_series(l, scene, column);
}

/** In a scene that is as high as wide: the view, the retina on its right, the plots below. */
static void lay_out_rows(FovLayout *l, const FovScene *scene, FovBox body) {
  double em = l->em, pad = round(1.25 * em), legend = round(2.2 * em);
  double side = round(fmin(0.62 * body.w, body.h - 18 * em));
  FovBox top = fov_cut_top(&body, side + legend, pad);
  l->view = (FovBox){top.x, top.y, side, side};
  l->legend = (FovBox){top.x, top.y + side, side, legend};
  l->retina = (FovBox){top.x + side + pad, top.y, top.w - side - pad, side};
  l->bars = body;
  if (scene->trace->glimpses < 2) return;
  l->bars.w = floor(0.48 * (body.w - pad));
  lay_out_series(l, scene,
                 (FovBox){body.x + l->bars.w + pad, body.y, body.w - l->bars.w - pad, body.h});
}

/** Whether the source of alignments is too long for a view beside the plots. */
static bool is_long(const FovTrace *trace, double em, double width) {
  return trace->vocabulary > 0 ? 0.8 * em * trace->width > 0.5 * width
                               : trace->width > 2 * trace->height;
}

static FovBox cut_left(FovBox *rest, double width, double gap) {
  FovBox left = {rest->x, rest->y, width, rest->h};
  rest->x += width + gap;
  rest->w -= width + gap;
  return left;
}

/** The row below a long source from its left: the retina, the bars, the plots over time, and the
 * Jacobian. */
static void lay_out_row(FovLayout *l, const FovScene *scene, FovBox row) {
  double em = l->em, pad = round(1.25 * em);
  int tiles = fov_retina_tiles(scene->trace);
  double side = fmin(row.h - 3.2 * em, (0.4 * row.w - (tiles - 1) * em) / tiles);
  if (scene->trace->vocabulary == 0) {
    l->retina = cut_left(&row, floor(tiles * side + (tiles - 1) * em), pad);
    l->retina.h = floor(side) + 3.2 * em;
  }
  cut_jacobian(l, scene, &row);
  bool returns = fov_has_baseline(scene) || scene->trace->control;
  double part = floor((row.w - (returns ? 2 : 1) * pad) / (returns ? 4 : 3));
  if (part < 8 * em) { // without room for plots over time
    l->bars = row;
    return;
  }
  l->bars = cut_left(&row, row.w - (part + pad) * (returns ? 2 : 1), pad);
  if (returns) l->returns = cut_left(&row, part, pad);
  l->last = row;
}

/** The view of a long source has all of the width. */
static void lay_out_long(FovLayout *l, const FovScene *scene, FovBox body, double legend) {
  bool plots = body.h > 20 * l->em; // left out of a small scene
  double pad = round(1.25 * l->em), below = plots ? round(0.3 * body.h) : 0;
  FovBox row = fov_cut_bottom(&body, below);
  if (plots) body.h -= pad;
  l->legend = fov_cut_bottom(&body, legend);
  l->view = body;
  if (plots) lay_out_row(l, scene, row);
}

/** The part that is zoomed: the cells of an alignment, or the image. */
static FovBox fit_view(const FovLayout *l, const FovScene *scene) {
  if (!fov_shows_alignment(scene->trace)) return fit_image(scene->trace, l->view);
  return fov_alignment_frame(scene->trace, scene->episode, l->view, l->em, true).matrix;
}

FovLayout fov_layout(const FovScene *scene) {
  FovLayout l = {.em = fov_em(scene->width, scene->height)};
  double em = l.em, pad = round(1.25 * em);
  FovBox body = {pad, pad, scene->width - 2 * pad, scene->height - 2 * pad};
  l.title = fov_cut_top(&body, round(1.5 * em), round(0.75 * pad));
  bool tall = body.h > 0.8 * body.w && fmin(body.w, body.h) > 36 * em;
  bool words = fmin(body.h, 0.54 * body.w) > 27 * em; // left out of a small scene
  double legend = words ? round(2.2 * em) : 0;
  if (fov_shows_alignment(scene->trace) && (tall || is_long(scene->trace, em, body.w))) {
    lay_out_long(&l, scene, body, legend);
  } else if (tall) {
    lay_out_rows(&l, scene, body);
  } else {
    double side = round(fmin(body.h - legend, 0.54 * body.w)), left = side + round(1.5 * pad);
    l.view = (FovBox){body.x, body.y, side, side};
    l.legend = (FovBox){body.x, body.y + side, side, legend};
    lay_out_column(&l, scene, (FovBox){body.x + left, body.y, body.w - left, body.h});
  }
  l.fitted = fit_view(&l, scene);
  l.image = zoomed(l.fitted, scene->zoom);
  return l;
}

FovBox fov_scene_view(const FovScene *scene) {
  return fov_layout(scene).view;
}

FovBox fov_scene_image(const FovScene *scene) {
  return fov_layout(scene).image;
}

FovZoom fov_scene_zoom(const FovScene *scene, double factor, double x, double y) {
  FovLayout l = fov_layout(scene);
  FovZoom zoom = {fmin(MAX_ZOOM, fmax(1, scene->zoom.factor * factor)), 0.5, 0.5};
  if (zoom.factor == 1) return zoom;
  double w = l.fitted.w * zoom.factor, h = l.fitted.h * zoom.factor;
  zoom.x = (x - l.image.x) / l.image.w - (x - l.fitted.x - l.fitted.w / 2) / w;
  zoom.y = (y - l.image.y) / l.image.h - (y - l.fitted.y - l.fitted.h / 2) / h;
  zoom.x = fmin(1, fmax(0, zoom.x));
  zoom.y = fmin(1, fmax(0, zoom.y));
  return zoom;
}

static FovBox patch_box(const FovScene *scene, FovBox image, int glimpse, int scale) {
  const FovTrace *trace = scene->trace;
  FovPatchArea patch = fov_patch_area(trace, scene->episode, glimpse, scale);
  double pixel_x = image.w / trace->width, pixel_y = image.h / trace->height;
  return (FovBox){image.x + patch.x * pixel_x, image.y + patch.y * pixel_y, patch.w * pixel_x,
                  patch.h * pixel_y};
}

FovBox fov_scene_patch(const FovScene *scene, int scale) {
  FovBox image = fov_scene_image(scene), box = patch_box(scene, image, scene->glimpse, scale);
  if (scene->glide > 0) {
    FovBox next = patch_box(scene, image, scene->glimpse + 1, scale);
    if (next.w == 0) return box;
    box.x += scene->glide * (next.x - box.x);
    box.y += scene->glide * (next.y - box.y);
    box.w += scene->glide * (next.w - box.w);
    box.h += scene->glide * (next.h - box.h);
  }
  return box;
}
