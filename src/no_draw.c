/** Replaces viz/ in a program that is built without drawing. */
#include "draw.h"

static FovStatus refuse(const char *path) {
  return fov_fail(FOV_ERR_USAGE,
                  "%s: this program was built without drawing; install cairo and giflib and build "
                  "it with -Dviz=enabled",
                  path);
}

FovStatus fov_draw_curves(const char *path, const FovCurves *curves, bool seeds) {
  (void)curves, (void)seeds;
  return refuse(path);
}

FovStatus fov_draw_check(const char *path) {
  return refuse(path);
}

FovStatus fov_draw_lines(const char *path, const FovDrawLine *lines, int count, const char *x_label,
                         const char *y_label) {
  (void)lines, (void)count, (void)x_label, (void)y_label;
  return refuse(path);
}

FovStatus fov_draw_comparison(const char *path, const FovDrawComparison *comparison) {
  (void)comparison;
  return refuse(path);
}

FovStatus fov_draw_maps(const char *path, const FovDrawMaps *drawing) {
  (void)drawing;
  return refuse(path);
}

FovStatus fov_draw_matrix(const char *path, const FovDrawMatrix *matrix) {
  (void)matrix;
  return refuse(path);
}

FovStatus fov_draw_episode(const char *path, const char *trace, const FovDrawEpisode *what) {
  (void)trace, (void)what;
  return refuse(path);
}

FovStatus fov_draw_overview(const char *path, const char *source, const FovDrawEpisode *what) {
  (void)source, (void)what;
  return refuse(path);
}

FovStatus fov_draw_window(const char *source, const FovDrawEpisode *what) {
  (void)what;
  return refuse(source);
}
