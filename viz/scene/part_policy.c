#include "viz/scene/part_policy.h"

#include <math.h>
#include <stdio.h>

#include "viz/scene/attention.h"

static const double OPACITY = 0.6; // of the likeliest tile: the image stays visible

/** A distribution over tiles. */
typedef struct Tiles {
  const float *p; /**< of each tile of the grid; NULL: none */
  FovGrid grid;
  int chosen;   /**< the tile that the glimpse is in; −1: all of them are read */
  float most;   /**< the largest of p */
  bool weights; /**< of an attention; else probabilities of a policy */
} Tiles;

/** What the policy recorded about the choice of this glimpse: `width` numbers; NULL if it has no
 * such column, or if no policy chose the glimpse. */
static const float *choice_of(const FovScene *scene, const FovTraceColumn *column) {
  if (!column) return NULL;
  const float *values = column->values + (size_t)column->width * fov_glimpse_at(scene);
  return isfinite(values[0]) ? values : NULL;
}

/** Mean and sigma of a Gaussian, [2] each; false if the policy does not have both. */
static bool find_gaussian(const float **mean, const float **sigma, const FovScene *scene) {
  const FovTrace *trace = scene->trace;
  if (!fov_trace_column(trace, "policy.mean", 2) || !fov_trace_column(trace, "policy.sigma", 2))
    return false;
  *mean = choice_of(scene, fov_trace_find_column(trace, "policy.mean"));
  *sigma = choice_of(scene, fov_trace_find_column(trace, "policy.sigma"));
  return *mean && *sigma;
}

static float largest(const float *p, FovGrid grid) {
  float most = 0;
  for (int i = 0; i < grid.across * grid.down; i++) most = fmaxf(most, p[i]); // which ignores NaN
  return most;
}

/** The tiles that a policy chose from or, without these, the weights of an attention. */
static Tiles find_tiles(const FovScene *scene) {
  const FovTrace *trace = scene->trace;
  const FovTraceColumn *column = fov_trace_find_column(trace, "policy.tiles");
  Tiles tiles = {.p = choice_of(scene, column), .weights = !column, .chosen = -1};
  if (tiles.p) tiles.grid = fov_trace_grid(trace, column->width);
  if (!column)
    tiles.p = fov_weights(&tiles.grid, trace, scene->episode, scene->glimpse, scene->head);
  if (!tiles.p || tiles.grid.across == 0) return (Tiles){0};
  const float *l = trace->locations + 2 * fov_glimpse_at(scene);
  if (!fov_reads_several(trace)) tiles.chosen = fov_tile_at((double)l[0], (double)l[1], tiles.grid);
  tiles.most = largest(tiles.p, tiles.grid);
  return tiles;
}

/** Tile i over the image; neighbours share whole edges, so no seam shows between them. */
static FovBox tile_box(FovBox image, FovGrid grid, int i) {
  int column = i % grid.across, row = i / grid.across;
  double x = round(image.x + image.w * column / grid.across);
  double y = round(image.y + image.h * row / grid.down);
  return (FovBox){x, y, round(image.x + image.w * (column + 1) / grid.across) - x,
                  round(image.y + image.h * (row + 1) / grid.down) - y};
}

void fov_tint_tiles(cairo_t *cr, const FovTheme *theme, FovBox image, const float *p,
                    FovGrid grid) {
  int count = grid.across * grid.down;
  // A nearly uniform distribution is faint: full opacity needs four times its probability.
  double full = fmax(largest(p, grid), 4.0 / count);
  for (int i = 0; i < count; i++) {
    FovBox box = tile_box(image, grid, i);
    cairo_rectangle(cr, box.x, box.y, box.w, box.h);
    fov_set_colour(cr, theme->policy, OPACITY * fmax(0, p[i] / full));
    cairo_fill(cr);
  }
}

void fov_draw_policy_tiles(cairo_t *cr, const FovScene *scene, const FovLayout *l) {
  Tiles tiles = find_tiles(scene);
  if (!tiles.p) return;
  fov_tint_tiles(cr, scene->theme, l->image, tiles.p, tiles.grid);
  if (tiles.chosen < 0) return;
  FovBox box = tile_box(l->image, tiles.grid, tiles.chosen);
  cairo_rectangle(cr, box.x, box.y, box.w, box.h);
  fov_stroke_rimmed(cr, scene->theme->policy, fov_border(l->em), 1);
}

void fov_draw_policy_gaussian(cairo_t *cr, const FovScene *scene, const FovLayout *l) {
  const float *mean, *sigma;
  if (!find_gaussian(&mean, &sigma, scene)) return;
  if (!(fabsf(mean[0]) < FOV_FAR && fabsf(mean[1]) < FOV_FAR)) return;
  double arm = 0.4 * l->em, line = fmax(1.25, 0.11 * l->em);
  FovPoint at = fov_point_at(l->image, mean);
  cairo_move_to(cr, at.x - arm, at.y);
  cairo_line_to(cr, at.x + arm, at.y);
  cairo_move_to(cr, at.x, at.y - arm);
  cairo_line_to(cr, at.x, at.y + arm);
  fov_stroke_rimmed(cr, scene->theme->policy, line, 1);
  if (!(sigma[0] > 0 && sigma[0] < FOV_FAR && sigma[1] > 0 && sigma[1] < FOV_FAR)) return;
  cairo_save(cr);
  cairo_translate(cr, at.x, at.y);
  cairo_scale(cr, sigma[0] / 2 * l->image.w, sigma[1] / 2 * l->image.h);
  fov_disc(cr, 0, 0, 1);
  cairo_restore(cr);
  cairo_set_dash(cr, (double[]){0.45 * l->em, 0.3 * l->em}, 2, 0);
  fov_stroke_rimmed(cr, scene->theme->policy, line, 1);
  cairo_set_dash(cr, NULL, 0, 0);
}

/* ---- words ---- */

/** slot, name: "policy" and which. */
static void legend_text(cairo_t *cr, const FovScene *scene, double x, double y, double end,
                        const char *slot, const char *name, const char *what) {
  char text[128];
  snprintf(text, sizeof text, "%s%s%s: %s", slot, name[0] ? " " : "", name, what);
  if (fov_text_width(cr, text) > end - x) snprintf(text, sizeof text, "%s: %s", slot, what);
  if (fov_text_width(cr, text) > end - x) snprintf(text, sizeof text, "%s", what);
  fov_fit_text(cr, text, sizeof text, end - x);
  fov_set_colour(cr, scene->theme->quiet, 1);
  fov_text(cr, x, y, FOV_ALIGN_LEFT, "%s", text);
}

static void legend_tiles(cairo_t *cr, const FovScene *scene, const Tiles *tiles, double x, double y,
                         double end, double em) {
  char text[80], head[40];
  FovBox box = {x, y - 0.75 * em, 0.9 * em, 0.9 * em};
  cairo_rectangle(cr, box.x, box.y, box.w, box.h);
  fov_set_colour(cr, scene->theme->policy, OPACITY);
  cairo_fill(cr);
  const FovTrace *trace = scene->trace;
  fov_describe_head(head, sizeof head, trace, scene->head);
  if (tiles->chosen >= 0) fov_stroke_box(cr, box, scene->theme->policy, fmax(1.5, 0.14 * em));
  if (tiles->weights && head[0])
    snprintf(text, sizeof text, "%s, weights up to %.2g", head, (double)tiles->most);
  else
    snprintf(text, sizeof text, "%s up to %.2g", tiles->weights ? "weights" : "probability",
             (double)tiles->most);
  legend_text(cr, scene, x + 1.4 * em, y, end, tiles->weights ? "attention" : "policy",
              tiles->weights ? trace->attention : trace->policy, text);
}

void fov_draw_policy_legend(cairo_t *cr, const FovScene *scene, double x, double y, double end,
                            double em) {
  Tiles tiles = find_tiles(scene);
  const float *mean, *sigma;
  if (tiles.p) {
    legend_tiles(cr, scene, &tiles, x, y, end, em);
  } else if (find_gaussian(&mean, &sigma, scene)) {
    double middle = y - 0.3 * em, arm = 0.4 * em;
    cairo_set_line_width(cr, fmax(1.5, 0.14 * em));
    fov_set_colour(cr, scene->theme->policy, 1);
    fov_line(cr, x, middle, x + 2 * arm, middle);
    fov_line(cr, x + arm, middle - arm, x + arm, middle + arm);
    // A deterministic choice has no ellipse to explain.
    legend_text(cr, scene, x + 1.2 * em, y, end, "policy", scene->trace->policy,
                sigma[0] > 0 ? "mean, 1 σ" : "mean");
  }
}

void fov_draw_window_legend(cairo_t *cr, const FovScene *scene, double x, double y, double end,
                            double em) {
  fov_stroke_box(cr, (FovBox){x, y - 0.75 * em, 0.9 * em, 0.9 * em}, scene->theme->patches[0],
                 fmax(1.5, 0.14 * em));
  legend_text(cr, scene, x + 1.4 * em, y, end, "attention", scene->trace->attention, "window");
}

int fov_describe_policy(char *text, size_t size, const FovScene *scene, float x, float y) {
  Tiles tiles = find_tiles(scene);
  if (!tiles.p || !(scene->overlays & FOV_OVERLAY_POLICY)) return 0;
  char head[40] = "";
  if (tiles.weights) fov_describe_head(head, sizeof head, scene->trace, scene->head);
  int column = fov_part_of((double)x, tiles.grid.across),
      row = fov_part_of((double)y, tiles.grid.down);
  return snprintf(text, size, "%s%stile %d, %d: %.3g; ", head, head[0] ? ", " : "", column, row,
                  (double)tiles.p[row * tiles.grid.across + column]);
}
