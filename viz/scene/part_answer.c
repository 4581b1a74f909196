#include "viz/scene/part_answer.h"

#include <math.h>

#include "viz/scene/episode.h"

/** The place in a column for glimpse t, [2]; NULL: the answers are no places. */
static const float *place_in(const FovScene *scene, const char *column, int t) {
  const float *places = fov_trace_column(scene->trace, column, 2);
  return places ? places + 2 * fov_glimpse_index(scene->trace, scene->episode, t) : NULL;
}

bool fov_answers_places(const FovTrace *trace) {
  return fov_trace_column(trace, "answer.place", 2) && fov_trace_column(trace, "answer.target", 2);
}

double fov_answer_distance(const FovScene *scene, int t) {
  const float *answer = place_in(scene, "answer.place", t);
  const float *target = place_in(scene, "answer.target", t);
  if (!answer || !target) return NAN;
  double height = fov_trace_aspect(scene->trace);
  return hypot((double)answer[0] - (double)target[0],
               height * ((double)answer[1] - (double)target[1]));
}

/** A diagonal cross; the policy's is upright. */
static void draw_cross(cairo_t *cr, double x, double y, double arm, double line, FovColour colour) {
  cairo_move_to(cr, x - arm, y - arm);
  cairo_line_to(cr, x + arm, y + arm);
  cairo_move_to(cr, x - arm, y + arm);
  cairo_line_to(cr, x + arm, y - arm);
  fov_stroke_rimmed(cr, colour, line, 1);
}

static void draw_place(cairo_t *cr, const FovLayout *l, const float *place, FovColour colour) {
  FovPoint at = fov_point_at(l->image, place);
  draw_cross(cr, at.x, at.y, 0.5 * l->em, fmax(1.5, 0.16 * l->em), colour);
}

void fov_draw_answer(cairo_t *cr, const FovScene *scene, const FovLayout *l) {
  if (!isfinite(fov_answer_distance(scene, scene->glimpse))) return;
  draw_place(cr, l, place_in(scene, "answer.target", scene->glimpse), scene->theme->right);
  draw_place(cr, l, place_in(scene, "answer.place", scene->glimpse), scene->theme->wrong);
}

double fov_draw_answer_legend(cairo_t *cr, const FovScene *scene, double x, double y, double em) {
  const char *const words[2] = {"true place", "answer"};
  const FovColour colours[2] = {scene->theme->right, scene->theme->wrong};
  if (!fov_answers_places(scene->trace)) return x;
  for (int i = 0; i < 2; i++) {
    draw_cross(cr, x + 0.4 * em, y - 0.3 * em, 0.35 * em, fmax(1.5, 0.14 * em), colours[i]);
    fov_set_colour(cr, scene->theme->quiet, 1);
    x += 1.15 * em + fov_text(cr, x + 1.15 * em, y, FOV_ALIGN_LEFT, "%s", words[i]) + 1.4 * em;
  }
  return x;
}
