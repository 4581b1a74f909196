/** Pictures of scenes, for the tests of the viewer; include after cmocka.h. */
#ifndef FOV_TESTS_DRAWN_H
#define FOV_TESTS_DRAWN_H

#include "viz/scene/drawing.h"

/** The scene in its size; freed by the caller. Fails the test if it cannot be drawn. */
static cairo_surface_t *draw(const FovScene *scene) {
  cairo_surface_t *picture =
      cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)scene->width, (int)scene->height);
  cairo_t *cr = cairo_create(picture);
  fov_scene_draw(cr, scene);
  assert_int_equal(cairo_status(cr), CAIRO_STATUS_SUCCESS);
  cairo_destroy(cr);
  cairo_surface_flush(picture);
  return picture;
}

#endif
