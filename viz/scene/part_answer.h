/** An answer that is a place: marks over the image, and how far it is from the true place. */
#ifndef FOV_VIZ_SCENE_PART_ANSWER_H
#define FOV_VIZ_SCENE_PART_ANSWER_H

#include "viz/scene/layout.h"

/** Whether the answers of a trace are places: columns "answer.place" and "answer.target". */
bool fov_answers_places(const FovTrace *trace);

/** How far the answer after glimpse t is from the true place, half widths of the image; NaN: there
 * was no answer. */
double fov_answer_distance(const FovScene *scene, int t);

/** Draws a cross at the place that was answered after this glimpse and one at the true place. */
void fov_draw_answer(cairo_t *cr, const FovScene *scene, const FovLayout *layout);

/** Explains these marks from (x, y) on; returns the x at which the next explanation may start. */
double fov_draw_answer_legend(cairo_t *cr, const FovScene *scene, double x, double y, double em);

#endif
