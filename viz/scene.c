#include "viz/scene.h"

#include <math.h>
#include <stdlib.h>

#include "viz/episode.h"
#include "viz/parts.h"

enum { MAX_ZOOM = 64 }; // beyond it lie cairo's 24 bits of coordinates

FovScene fov_scene(const FovTrace *trace, double width, double height, const FovTheme *theme) {
  return (FovScene){.trace = trace,
                    .width = width,
                    .height = height,
                    .theme = theme,
                    .overlays = FOV_OVERLAYS_DEFAULT,
                    .zoom = {1, 0.5, 0.5}};
}

FovStatus fov_scene_check(const FovTrace *trace, const char *path) {
  const struct {
    const char *what;
    int found, most;
  } limits[] = {{"scales of the retina", trace->scales, FOV_SCENE_SCALES},
                {"glimpses", trace->glimpses, 4096},
                {"classes", trace->actions, 32768},
                {"columns of pixels", trace->width, 16384}, // cairo's limit is near
                {"rows of pixels", trace->height, 16384},
                {"pixels across the retina", trace->side, 16384}};
  for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
    if (limits[i].found > limits[i].most)
      return fov_fail(FOV_ERR_FORMAT, "%s: %d %s: at most %d can be shown", path, limits[i].found,
                      limits[i].what, limits[i].most);
  return FOV_OK;
}

void fov_scene_seek(FovScene *scene, double time) {
  int last = fov_last_glimpse(scene->trace, scene->episode);
  scene->glimpse = (int)fmin(last, fmax(0, floor(time)));
  double moving = fmin(1, fmax(0, (time - scene->glimpse - FOV_REST) / (1 - FOV_REST)));
  scene->glide = scene->glimpse < last ? moving * moving * (3 - 2 * moving) : 0;
}

size_t fov_moment(const FovScene *scene) {
  return fov_glimpse_index(scene->trace, scene->episode, scene->glimpse);
}

int fov_length(const FovScene *scene) {
  return fov_last_glimpse(scene->trace, scene->episode) + 1;
}

bool fov_has_baseline(const FovScene *scene) {
  const FovTrace *trace = scene->trace;
  const float *b = trace->baselines + fov_glimpse_index(trace, scene->episode, 0);
  for (int t = 0; t < fov_length(scene); t++)
    if (isfinite(b[t])) return trace->glimpses > 1;
  return false;
}

double fov_frame_line(double em) {
  return 2 * fmax(1, round(0.07 * em));
}

/* ---- layout ---- */

/** The image in the middle of the view, a margin left for the squares. */
static FovBox fit_image(const FovTrace *trace, FovBox view) {
  FovBox room = {view.x + 0.05 * view.w, view.y + 0.05 * view.h, 0.9 * view.w, 0.9 * view.h};
  return fov_fit(room, trace->width, trace->height);
}

static FovBox zoomed(FovBox fitted, FovZoom zoom) {
  double w = fitted.w * zoom.factor, h = fitted.h * zoom.factor;
  return (FovBox){fitted.x + fitted.w / 2 - zoom.x * w, fitted.y + fitted.h / 2 - zoom.y * h, w, h};
}

/** The right column from its top: the retina, the bars, and what goes on over time. */
static void lay_out_column(FovLayout *l, const FovScene *scene, FovBox column) {
  double em = l->em, pad = round(1.25 * em);
  int tiles = scene->trace->scales + 1; // one is what it knows
  double tile = fmin((column.w - (tiles - 1) * em) / tiles, 0.3 * column.h);
  l->retina = fov_cut_top(&column, floor(tile) + 3.2 * em, pad);
  l->bars = column;
  if (column.h < 17 * em || scene->trace->glimpses < 2) return;
  l->bars = fov_cut_top(&column, round(0.56 * column.h), pad);
  l->last = column;
  if (!fov_has_baseline(scene) && !scene->trace->control) return;
  l->returns = column;
  l->returns.w = l->last.w = floor((column.w - pad) / 2);
  l->last.x = column.x + column.w - l->last.w;
}

FovLayout fov_layout(const FovScene *scene) {
  FovLayout l = {
      .em = fmax(9, 16 * fmin(scene->width / FOV_SCENE_WIDTH, scene->height / FOV_SCENE_HEIGHT))};
  double em = l.em, pad = round(1.25 * em);
  FovBox body = {pad, pad, scene->width - 2 * pad, scene->height - 2 * pad};
  l.title = fov_cut_top(&body, round(1.5 * em), round(0.75 * pad));
  bool words = fmin(body.h, 0.54 * body.w) > 27 * em; // a small scene has no room for them
  double legend = words ? round(2.2 * em) : 0;
  double side = round(fmin(body.h - legend, 0.54 * body.w));
  l.view = (FovBox){body.x, body.y, side, side};
  l.legend = (FovBox){body.x, body.y + side, side, legend};
  l.fitted = fit_image(scene->trace, l.view);
  l.image = zoomed(l.fitted, scene->zoom);
  double left = side + round(1.5 * pad);
  lay_out_column(&l, scene, (FovBox){body.x + left, body.y, body.w - left, body.h});
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

/* ---- drawing ---- */

/** Draws the labels or the answers of an episode's turns, or as many as there is room for; wrong
 * ones in their colour. Returns where they end. */
static double draw_turns(cairo_t *cr, const FovScene *scene, double x, double y, double end,
                         const int32_t *values) {
  const FovTrace *trace = scene->trace;
  size_t first = fov_glimpse_index(trace, scene->episode, 0);
  for (size_t m = first; m < first + (size_t)fov_length(scene); m++) {
    char name[FOV_ACTION_NAME];
    if (trace->answers[m] < 0) continue; // no turn ended here
    fov_action_name(name, trace, values[m]);
    bool fits = x + fov_text_width(cr, name) < end, wrong = values[m] != trace->labels[m];
    fov_set_color(cr, wrong ? scene->theme->wrong : scene->theme->ink, 1);
    x += fov_text(cr, x, y, FOV_ALIGN_LEFT, fits ? " %s" : " ...", name);
    if (!fits) break;
  }
  return x;
}

/** What was asked and what was answered, between x and `end`. */
static double draw_answers(cairo_t *cr, const FovScene *scene, double x, double y, double end) {
  const FovTrace *trace = scene->trace;
  x += fov_text(cr, x, y, FOV_ALIGN_LEFT, "label");
  x = draw_turns(cr, scene, x, y, (x + end) / 2, trace->labels);
  fov_set_color(cr, scene->theme->ink, 1);
  x += fov_text(cr, x, y, FOV_ALIGN_LEFT, ", answer");
  return draw_turns(cr, scene, x, y, end, trace->answers);
}

/** How it ended, in a word. */
static const char *verdict_of(const FovScene *scene) {
  static const char *const words[2][2] = {{"right", "wrong"}, {"goal met", "goal missed"}};
  return words[scene->trace->control][scene->trace->wrong[scene->episode]];
}

static void draw_verdict(cairo_t *cr, const FovScene *scene, double x, double y, double em) {
  bool wrong = scene->trace->wrong[scene->episode];
  fov_set_color(cr, wrong ? scene->theme->wrong : scene->theme->right, 1);
  fov_verdict(cr, x, y, 0.95 * em, !wrong);
  fov_text(cr, x + 1.35 * em, y, FOV_ALIGN_LEFT, "%s", verdict_of(scene));
}

static void draw_title(cairo_t *cr, const FovScene *scene, const FovLayout *l) {
  if (!fov_shows(cr, l->title)) return;
  double em = l->em, x = l->title.x, y = l->title.y + 1.15 * em, gap = 1.5 * em;
  double end = l->title.x + l->title.w;
  fov_set_font(cr, 1.2 * em, true);
  fov_set_color(cr, scene->theme->ink, 1);
  x += gap + fov_text(cr, x, y, FOV_ALIGN_LEFT, "Episode %d", scene->episode);
  fov_set_font(cr, 1.2 * em, false);
  fov_set_color(cr, scene->theme->quiet, 1);
  end -= fov_text(cr, end, y, FOV_ALIGN_RIGHT, l->title.w > 36 * em ? "glimpse %d of %d" : "%d/%d",
                  scene->glimpse + 1, fov_length(scene));
  fov_set_color(cr, scene->theme->ink, 1);
  if (scene->trace->control)
    x += fov_text(cr, x, y, FOV_ALIGN_LEFT, "return %g",
                  fov_return(scene->trace, scene->episode, 0));
  else
    x = draw_answers(cr, scene, x, y, end - fov_text_width(cr, verdict_of(scene)) - 4.2 * em);
  draw_verdict(cr, scene, x + 0.9 * gap, y, em);
}

void fov_draw_heading(cairo_t *cr, FovBox *box, const FovScene *scene, double em,
                      const char *text) {
  fov_set_font(cr, 0.95 * em, true);
  fov_set_color(cr, scene->theme->ink, 1);
  fov_text(cr, box->x, box->y + 0.85 * em, FOV_ALIGN_LEFT, "%s", text);
  fov_cut_top(box, 1.6 * em, 0);
  fov_set_font(cr, 0.85 * em, false);
}

void fov_scene_draw(cairo_t *cr, const FovScene *scene) {
  const FovTrace *trace = scene->trace;
  FOV_CHECK(scene->episode >= 0 && scene->episode < trace->episodes, "episode %d of %d",
            scene->episode, trace->episodes);
  FOV_CHECK(scene->glimpse >= 0 && scene->glimpse < fov_length(scene), "glimpse %d of %d",
            scene->glimpse, fov_length(scene));
  FOV_CHECK(scene->width >= FOV_SCENE_MIN_WIDTH && scene->height >= FOV_SCENE_MIN_HEIGHT,
            "a scene of %g × %g", scene->width, scene->height);
  FovLayout layout = fov_layout(scene);
  fov_fill_box(cr, (FovBox){0, 0, scene->width, scene->height}, scene->theme->paper);
  draw_title(cr, scene, &layout);
  fov_draw_view(cr, scene, &layout);
  fov_draw_legend(cr, scene, &layout);
  fov_draw_retina(cr, scene, &layout);
  fov_draw_plots(cr, scene, &layout);
}

bool fov_scene_tell(char *text, size_t size, const FovScene *scene, double x, double y) {
  return fov_tell_view(text, size, scene, x, y) || fov_tell_retina(text, size, scene, x, y) ||
         fov_tell_plots(text, size, scene, x, y);
}

/* ---- what is kept ---- */

FovSceneCache *fov_scene_cache_create(void) {
  return calloc(1, sizeof(FovSceneCache)); // without one, scenes are only drawn more slowly
}

void fov_scene_cache_clear(FovSceneCache *cache) {
  if (!cache) return;
  cairo_surface_destroy(cache->ground); // all of which accept NULL
  cairo_surface_destroy(cache->known.seen);
  cairo_surface_destroy(cache->known.unseen);
  *cache = (FovSceneCache){0};
}

void fov_scene_cache_destroy(FovSceneCache *cache) {
  fov_scene_cache_clear(cache);
  free(cache);
}
