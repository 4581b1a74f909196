#include "viz/scene/drawing.h"

#include <math.h>
#include <stdio.h>

#include "viz/scene/alignment.h"
#include "viz/scene/episode.h"
#include "viz/scene/layout.h"
#include "viz/scene/part_alignment.h"
#include "viz/scene/part_jacobian.h"
#include "viz/scene/part_plots.h"
#include "viz/scene/part_retina.h"
#include "viz/scene/part_view.h"
#include "viz/scene/sides.h"

/** The turns to draw labels of: one if all have the same. */
static int count_labels(const FovScene *scene) {
  const FovTrace *trace = scene->trace;
  size_t first = fov_glimpse_index(trace, scene->episode, 0);
  int length = fov_scene_length(scene), label = -1;
  for (size_t m = first; m < first + (size_t)length; m++) {
    if (trace->answers[m] < 0) continue; // no turn ended here
    if (label >= 0 && trace->labels[m] != label) return length;
    label = trace->labels[m];
  }
  return 1;
}

/** Draws the labels or the answers of an episode's first turns, or as many as fit; wrong ones in
 * their colour. Returns the x at which they end. */
static double draw_turns(cairo_t *cr, const FovScene *scene, double x, double y, double end,
                         const int32_t *values, int turns) {
  const FovTrace *trace = scene->trace;
  size_t first = fov_glimpse_index(trace, scene->episode, 0);
  double more = fov_text_width(cr, " ... ");
  for (size_t m = first; m < first + (size_t)fov_scene_length(scene) && turns > 0; m++) {
    char name[FOV_ACTION_NAME];
    if (trace->answers[m] < 0) continue;
    turns--;
    fov_action_name(name, trace, values[m]);
    bool fits = x + fov_text_width(cr, name) + more < end,
         wrong = values[m] != trace->labels[m] && trace->labels[m] >= 0;
    fov_set_colour(cr, wrong ? scene->theme->wrong : scene->theme->ink, 1);
    x += fov_text(cr, x, y, FOV_ALIGN_LEFT, fits ? " %s" : " ...", name);
    if (!fits) break;
  }
  return x;
}

/** Whether it is known which answer is right; not of a picture of one's own. */
static bool has_label(const FovScene *scene) {
  return scene->trace->control || fov_first_label(scene->trace, scene->episode) >= 0;
}

/** Draws labels and answers between x and `end`. */
static double draw_answers(cairo_t *cr, const FovScene *scene, double x, double y, double end) {
  const FovTrace *trace = scene->trace;
  if (!has_label(scene)) {
    x += fov_text(cr, x, y, FOV_ALIGN_LEFT, "answer");
    return draw_turns(cr, scene, x, y, end, trace->answers, fov_scene_length(scene));
  }
  x += fov_text(cr, x, y, FOV_ALIGN_LEFT, "label");
  x = draw_turns(cr, scene, x, y, (x + end) / 2, trace->labels, count_labels(scene));
  fov_set_colour(cr, scene->theme->ink, 1);
  x += fov_text(cr, x, y, FOV_ALIGN_LEFT, ", answer");
  return draw_turns(cr, scene, x, y, end, trace->answers, fov_scene_length(scene));
}

/** The result of the episode in a word. */
static const char *verdict_of(const FovScene *scene) {
  static const char *const words[2][2] = {{"right", "wrong"}, {"goal met", "goal missed"}};
  return words[scene->trace->control][scene->trace->wrong[scene->episode]];
}

static void draw_verdict(cairo_t *cr, const FovScene *scene, double x, double y, const char *words,
                         double em) {
  bool wrong = scene->trace->wrong[scene->episode];
  fov_set_colour(cr, wrong ? scene->theme->wrong : scene->theme->right, 1);
  fov_verdict(cr, x, y, 0.95 * em, !wrong);
  fov_text(cr, x + 1.35 * em, y, FOV_ALIGN_LEFT, "%s", words);
}

static void draw_title(cairo_t *cr, const FovScene *scene, const FovLayout *l) {
  if (!fov_shows(cr, l->title)) return;
  double em = l->em, x = l->title.x, y = l->title.y + 1.15 * em, gap = 1.5 * em;
  double end = l->title.x + l->title.w;
  fov_set_font(cr, 1.2 * em, true);
  fov_set_colour(cr, scene->theme->ink, 1);
  x += gap + fov_text(cr, x, y, FOV_ALIGN_LEFT, "Episode %d", scene->episode);
  fov_set_font(cr, 1.2 * em, false);
  fov_set_colour(cr, scene->theme->quiet, 1);
  end -= fov_text(cr, end, y, FOV_ALIGN_RIGHT, l->title.w > 36 * em ? "glimpse %d of %d" : "%d/%d",
                  scene->glimpse + 1, fov_scene_length(scene));
  fov_set_colour(cr, scene->theme->ink, 1);
  const char *verdict = l->title.w > 30 * em ? verdict_of(scene) : ""; // the mark alone
  if (scene->trace->control)
    x += fov_text(cr, x, y, FOV_ALIGN_LEFT, "return %.3g",
                  fov_return(scene->trace, scene->episode, 0));
  else
    x = draw_answers(cr, scene, x, y, end - fov_text_width(cr, verdict) - 4.2 * em);
  if (has_label(scene)) draw_verdict(cr, scene, x + 0.9 * gap, y, verdict, em);
}

/** The scene of one agent. */
static void draw_one(cairo_t *cr, const FovScene *scene) {
  FovLayout layout = fov_layout(scene);
  fov_fill_box(cr, (FovBox){0, 0, scene->width, scene->height}, scene->theme->paper);
  draw_title(cr, scene, &layout);
  if (fov_shows_alignment(scene->trace)) {
    fov_draw_alignment(cr, scene, &layout);
  } else {
    fov_draw_view(cr, scene, &layout);
    fov_draw_legend(cr, scene, &layout);
  }
  fov_draw_retina(cr, scene, &layout);
  fov_draw_plots(cr, scene, &layout);
  fov_draw_jacobian(cr, scene, &layout);
}

static bool describe_one(char *text, size_t size, const FovScene *scene, double x, double y) {
  bool alignment = fov_shows_alignment(scene->trace);
  return (alignment ? fov_describe_alignment(text, size, scene, x, y)
                    : fov_describe_view(text, size, scene, x, y)) ||
         fov_describe_retina(text, size, scene, x, y) ||
         fov_describe_jacobian(text, size, scene, x, y) ||
         fov_describe_plots(text, size, scene, x, y);
}

/** The name of one of two agents. */
static void draw_name(cairo_t *cr, const FovScene *scene, int side) {
  FovBox box = fov_scene_name(scene, side);
  double em = fov_em(scene->width, scene->height);
  char text[FOV_SCENE_NAME];
  if (!fov_shows(cr, box)) return;
  fov_fill_box(cr, box, scene->theme->panel);
  if (side) fov_fill_box(cr, (FovBox){box.x, box.y, 1, box.h}, scene->theme->rule);
  fov_set_font(cr, 1.1 * em, true);
  fov_set_colour(cr, scene->theme->ink, 1);
  snprintf(text, sizeof text, "%s", scene->names[side]);
  fov_fit_text(cr, text, sizeof text, box.w - 2.5 * em);
  fov_text(cr, box.x + round(1.25 * em), box.y + 1.6 * em, FOV_ALIGN_LEFT, "%s", text);
}

static void draw_side(cairo_t *cr, const FovScene *scene, int side) {
  FovBox box;
  FovScene one = fov_scene_side(&box, scene, side);
  cairo_save(cr);
  cairo_translate(cr, box.x, box.y);
  cairo_rectangle(cr, 0, 0, box.w, box.h);
  cairo_clip(cr);
  draw_one(cr, &one);
  cairo_restore(cr);
  if (!scene->beside) return;
  if (side) fov_fill_box(cr, (FovBox){box.x, box.y, 1, box.h}, scene->theme->rule);
  draw_name(cr, scene, side);
}

void fov_scene_draw(cairo_t *cr, const FovScene *scene) {
  const FovTrace *trace = scene->trace;
  FOV_CHECK(scene->episode >= 0 && scene->episode < trace->episodes, "episode %d of %d",
            scene->episode, trace->episodes);
  FOV_CHECK(scene->glimpse >= 0 && scene->glimpse < fov_scene_length(scene), "glimpse %d of %d",
            scene->glimpse, fov_scene_length(scene));
  FOV_CHECK(scene->width >= FOV_SCENE_MIN_WIDTH && scene->height >= FOV_SCENE_MIN_HEIGHT,
            "a scene of %g × %g", scene->width, scene->height);
  for (int i = 0; i < fov_scene_sides(scene); i++) draw_side(cr, scene, i);
}

bool fov_scene_describe(char *text, size_t size, const FovScene *scene, double x, double y) {
  for (int i = 0; i < fov_scene_sides(scene); i++) {
    FovBox box;
    FovScene one = fov_scene_side(&box, scene, i);
    double u = x - box.x, v = y - box.y;
    if (fov_inside(box, x, y)) return describe_one(text, size, &one, u, v);
  }
  return false;
}
