#include "viz/scene/alignment_view.h"

#include <math.h>

#include "viz/scene/attention.h"

static const double LATER = 0.25; // the opacity of glimpses after the scene's

double fov_alignment_share(float weight, double top) {
  return fmin(1, fmax(0, (double)weight) / top); // NaN is 0
}

int fov_alignment_head(const FovScene *scene) {
  bool norms = scene->explanation.method && scene->trace->vocabulary > 0;
  return norms ? FOV_ALIGNMENT_NORMS : scene->head;
}

const float *fov_alignment_weights(const FovScene *scene, int t, int head) {
  FovGrid grid;
  const float *norms = scene->explanation.jacobian;
  if (head == FOV_ALIGNMENT_NORMS) return norms ? norms + t * scene->trace->width : NULL;
  return fov_weights(&grid, scene->trace, scene->episode, t, head);
}

double fov_alignment_most(const FovScene *scene, int head) {
  float most = 0;
  int count = fov_alignment_columns(scene->trace, scene->episode);
  for (int t = 0; t < fov_scene_length(scene); t++) {
    const float *weights = fov_alignment_weights(scene, t, head);
    for (int i = 0; weights && i < count; i++) most = fmaxf(most, weights[i]);
  }
  return (double)most;
}

double fov_alignment_scale(double most, int head) {
  if (most <= 0) return 1;
  return head == FOV_ALIGNMENT_NORMS ? most : fov_round_up(most);
}

double fov_alignment_top(const FovScene *scene, int head) {
  return fov_alignment_scale(fov_alignment_most(scene, head), head);
}

void fov_alignment_shares(float *shares, const FovAlignmentView *a, int head, double top) {
  const FovScene *scene = a->scene;
  const float *here = fov_alignment_weights(scene, scene->glimpse, head),
              *next =
                  scene->glide > 0 ? fov_alignment_weights(scene, scene->glimpse + 1, head) : NULL;
  for (int i = 0; i < a->f.columns; i++) {
    double share = here ? fov_alignment_share(here[i], top) : 0;
    if (next) share += scene->glide * (fov_alignment_share(next[i], top) - share);
    shares[i] = (float)share;
  }
  for (int t = 0; a->figure && t < a->f.rows; t++) {
    const float *weights = fov_alignment_weights(scene, t, head);
    for (int i = 0; weights && i < a->f.columns; i++)
      shares[i] = fmaxf(shares[i], (float)fov_alignment_share(weights[i], top));
  }
}

FovColour fov_alignment_colour(const FovTheme *theme, FovColour ground, double share) {
  FovColour full = theme->series[0];
  return (FovColour){ground.r + share * (full.r - ground.r), ground.g + share * (full.g - ground.g),
                     ground.b + share * (full.b - ground.b)};
}

double fov_alignment_opacity(const FovAlignmentView *a, int t) {
  if (a->figure || t <= a->scene->glimpse) return 1;
  return t == a->scene->glimpse + 1 ? LATER + a->scene->glide * (1 - LATER) : LATER;
}

FovBox fov_alignment_cell(const FovAlignmentView *a, int row, int column, int columns) {
  double x = round(a->image.x + a->image.w * column / a->f.columns);
  double y = round(a->image.y + a->image.h * row / a->f.rows);
  return (FovBox){x, y, round(a->image.x + a->image.w * (column + columns) / a->f.columns) - x,
                  round(a->image.y + a->image.h * (row + 1) / a->f.rows) - y};
}
