#include "viz/viewer/sheet.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "viz/scene/alignment.h"
#include "viz/scene/alignment_view.h"
#include "viz/scene/attention.h"
#include "viz/scene/episode.h"
#include "viz/scene/part_alignment.h"
#include "viz/scene/part_policy.h"

typedef struct Layout {
  double em, pitch_x, pitch_y;
  FovBox title, body;
  int columns, rows;
  double top; // of the weights of sequences
} Layout;

/** Sets the size of tiles, which have the images' shape, for a number of columns. */
static void cut(Layout *l, const FovTrace *trace, int columns) {
  int height = trace->vocabulary > 0 ? trace->glimpses : trace->height;
  double shape = trace->width > 0 ? (double)height / trace->width : 1;
  l->columns = columns;
  l->pitch_x = (l->body.w + l->em) / columns;
  l->pitch_y = (l->pitch_x - l->em) * fmin(2, fmax(0.25, shape)) + 2.2 * l->em;
  l->rows = (int)fmax(1, floor((l->body.h + 0.5 * l->em) / l->pitch_y));
}

/** How many columns make tiles of about nine text sizes; one more or less if that leaves less of
 * the height empty. */
static int usual_columns(Layout l, const FovTrace *trace) {
  int usual = (int)fmax(2, floor((l.body.w + l.em) / (10 * l.em))), columns = usual;
  double best = 0;
  for (int i = usual - 1; i <= usual + 2; i++) {
    cut(&l, trace, i);
    double filled = l.rows * l.pitch_y / l.body.h;
    if (filled <= best || filled > 1.05) continue;
    best = filled;
    columns = i;
  }
  return columns;
}

static FovScene scene_of(const FovPlayer *player, FovBox tile, int episode) {
  FovScene scene = fov_scene(player->trace, tile.w, tile.h, fov_player_theme(player));
  scene.episode = episode;
  scene.head = player->head;
  return scene;
}

/** The weight of the full colour, the same for the matrices of all episodes of the filter. */
static double find_top(const FovPlayer *player) {
  double most = 0;
  for (int i = 0; i < player->count; i++) {
    FovScene scene = scene_of(player, (FovBox){0}, player->selection[i]);
    most = fmax(most, fov_alignment_most(&scene, player->head));
  }
  return fov_alignment_scale(most, player->head);
}

/** Tiles of the usual size, or larger ones if all of the episodes fit the page then. */
static Layout lay_out(const FovPlayer *player, double width, double height) {
  Layout l = {.em = fov_em(width, height)};
  double pad = round(1.25 * l.em);
  l.body = (FovBox){pad, pad, width - 2 * pad, height - 2 * pad};
  l.title = fov_cut_top(&l.body, round(1.5 * l.em), round(0.75 * pad));
  int usual = usual_columns(l, player->trace);
  for (int columns = 1; columns <= usual; columns++) {
    cut(&l, player->trace, columns);
    bool whole = l.rows * l.pitch_y <= l.body.h + 0.5 * l.em;
    if (whole && l.rows * l.columns >= player->count) break;
  }
  return l;
}

void fov_sheet_fit(FovPlayer *player, double width, double height) {
  Layout l = lay_out(player, width, height);
  bool same = player->columns == l.columns && player->rows == l.rows;
  player->columns = l.columns;
  player->rows = l.rows;
  if (!same) player->scroll = player->place / l.columns;
  fov_player_scroll(player, 0);
}

static FovBox tile_box(const Layout *l, int index) {
  return (FovBox){l->body.x + index % l->columns * l->pitch_x,
                  l->body.y + index / l->columns * l->pitch_y, l->pitch_x - l->em,
                  l->pitch_y - 2.2 * l->em};
}

static void draw_path(cairo_t *cr, const FovTrace *trace, const FovTheme *theme, FovBox image,
                      int episode, double em) {
  FovPoint at = {0, 0};
  for (int t = 0; t <= fov_last_glimpse(trace, episode); t++) {
    at = fov_point_at(image, fov_gaze(trace, episode, t));
    cairo_line_to(cr, at.x, at.y);
  }
  fov_stroke_rimmed(cr, theme->path, fmax(1, 0.09 * em), 0.9);
  fov_disc(cr, at.x, at.y, 0.3 * em);
  fov_stroke_rimmed(cr, theme->path, fmax(1, 0.11 * em), 1);
  at = fov_point_at(image, fov_gaze(trace, episode, 0));
  fov_disc(cr, at.x, at.y, 0.22 * em);
  fov_set_colour(cr, theme->path, 1);
  cairo_fill(cr);
}

/** The outline of the finest patch of the last glimpse. */
static void draw_window(cairo_t *cr, const FovTrace *trace, const FovTheme *theme, FovBox image,
                        int episode, double em) {
  FovPatchArea patch = fov_patch_area(trace, episode, fov_last_glimpse(trace, episode), 0);
  double unit_x = image.w / trace->width, unit_y = image.h / trace->height;
  FovBox box = {image.x + patch.x * unit_x, image.y + patch.y * unit_y, patch.w * unit_x,
                patch.h * unit_y};
  if (patch.w == 0) return;
  box = fov_cut_far(box, image);
  cairo_rectangle(cr, box.x, box.y, box.w, box.h);
  fov_stroke_rimmed(cr, theme->patches[0], fmax(1, 0.11 * em), 1);
}

/** Tints the tiles by the mean of their weights over the glimpses. */
static void draw_weights(cairo_t *cr, const FovPlayer *player, const FovTheme *theme, FovBox image,
                         int episode) {
  float sum[FOV_COLUMN_WIDTH] = {0};
  FovGrid grid = {0};
  int glimpses = fov_last_glimpse(player->trace, episode) + 1;
  for (int t = 0; t < glimpses; t++) {
    const float *p = fov_weights(&grid, player->trace, episode, t, player->head);
    for (int i = 0; p && i < grid.across * grid.down; i++) sum[i] += p[i] / (float)glimpses;
  }
  fov_tint_tiles(cr, theme, image, sum, grid);
}

/** What the episode's glimpses read: a path, with the window at its end, or weights. */
static void draw_glimpses(cairo_t *cr, const FovPlayer *player, const FovTheme *theme, FovBox image,
                          int episode, double em) {
  const FovTrace *trace = player->trace;
  cairo_save(cr);
  cairo_rectangle(cr, image.x, image.y, image.w, image.h);
  cairo_clip(cr);
  if (fov_reads_several(trace)) {
    draw_weights(cr, player, theme, image, episode);
  } else {
    if (fov_has_window(trace)) draw_window(cr, trace, theme, image, episode, em);
    draw_path(cr, trace, theme, image, episode, em);
  }
  cairo_restore(cr);
}

/** The alignment of a sequence, which has no image. */
static void draw_matrix(cairo_t *cr, const FovPlayer *player, FovBox tile, int episode,
                        double top) {
  FovScene scene = scene_of(player, tile, episode);
  fov_draw_alignment_cells(cr, &scene, fov_snap(tile), top);
}

/** Writes the labels or answers of an episode's turns, each after a space, and "..." where there is
 * no room; returns the length, at most size − 1. */
static size_t write_turns(char *text, size_t size, const FovTrace *trace, int episode,
                          const int32_t *values) {
  size_t length = 0, first = fov_glimpse_index(trace, episode, 0);
  for (size_t m = first; m < first + (size_t)trace->lengths[episode]; m++) {
    char name[FOV_ACTION_NAME];
    if (trace->answers[m] < 0) continue;
    fov_action_name(name, trace, values[m]);
    if (length + strlen(name) + sizeof " ..." + 1 > size)
      return length + (size_t)sprintf(text + length, " ...");
    length += (size_t)sprintf(text + length, " %s", name);
  }
  return length;
}

/** The labels, and the answers if one of them is wrong; without a label the answers alone. */
static void write_caption(char *text, size_t size, const FovTrace *trace, int episode) {
  if (trace->control) {
    snprintf(text, size, "return %.3g", fov_return(trace, episode, 0));
    return;
  }
  bool labelled = fov_first_label(trace, episode) >= 0;
  size_t length =
      write_turns(text, size / 2, trace, episode, labelled ? trace->labels : trace->answers);
  if (!trace->wrong[episode]) return;
  length += (size_t)sprintf(text + length, " as");
  write_turns(text + length, size - length, trace, episode, trace->answers);
}

/** The episode's number, what it is sorted by, its label and answer. */
static void draw_caption(cairo_t *cr, const FovPlayer *player, const FovTheme *theme, FovBox tile,
                         int episode, double em) {
  const FovTrace *trace = player->trace;
  double y = tile.y + tile.h + 1.15 * em, right = tile.x + tile.w, mark = 0.75 * em;
  bool wrong = trace->wrong[episode];
  char text[256] = "";
  fov_set_colour(cr, theme->quiet, 1);
  double left = tile.x + fov_text(cr, tile.x, y, FOV_ALIGN_LEFT, "%d", episode) + 0.5 * em;
  if (player->order != FOV_ORDER_NUMBER && isfinite(player->values[episode]))
    left += 0.5 * em + fov_text(cr, left, y, FOV_ALIGN_LEFT, "%.3g", player->values[episode]);
  fov_set_colour(cr, wrong ? theme->wrong : theme->right, 1);
  if (trace->control || fov_first_label(trace, episode) >= 0)
    fov_verdict(cr, right - mark, y, mark, !wrong);
  fov_set_colour(cr, theme->ink, 1);
  right -= mark + 0.4 * em;
  write_caption(text, sizeof text, trace, episode);
  fov_fit_text(cr, text, sizeof text, right - left);
  fov_text(cr, right, y, FOV_ALIGN_RIGHT, "%s", text);
}

static void draw_tile(cairo_t *cr, const FovPlayer *player, const FovTheme *theme, FovBox tile,
                      int place, const Layout *l) {
  const FovTrace *trace = player->trace;
  int episode = player->selection[place];
  FovBox image = fov_fit(tile, trace->width, trace->height);
  if (trace->vocabulary > 0) {
    image = tile;
    draw_matrix(cr, player, tile, episode, l->top);
  } else {
    FovPixels pixels = fov_picture(trace, episode, fov_last_glimpse(trace, episode));
    fov_draw_pixels(cr, image, &pixels);
    draw_glimpses(cr, player, theme, image, episode, l->em);
  }
  draw_caption(cr, player, theme, tile, episode, l->em);
  if (place == player->place)
    fov_stroke_box(cr, (FovBox){image.x - 2, image.y - 2, image.w + 4, image.h + 4}, theme->ink, 2);
}

static void draw_title(cairo_t *cr, const FovPlayer *player, const Layout *l,
                       const FovTheme *theme) {
  char what[112], head[40] = "", aside[96];
  int first = player->scroll * l->columns, last = first + l->rows * l->columns - 1;
  if (last >= player->count) last = player->count - 1;
  fov_player_filter_text(player, what, sizeof what);
  if (fov_reads_several(player->trace))
    fov_describe_head(head, sizeof head, player->trace, player->head);
  snprintf(what + strlen(what), sizeof what - strlen(what), "%s%s", head[0] ? ", " : "", head);
  if (player->order == FOV_ORDER_NUMBER && !player->reversed)
    snprintf(aside, sizeof aside, "episodes %d to %d, %d in all", player->selection[first],
             player->selection[last], player->count);
  else
    snprintf(aside, sizeof aside, "by %s%s, %d episodes", fov_order_names[player->order],
             player->reversed ? " reversed" : "", player->count);
  fov_draw_title(cr, theme, l->title, l->em, "Episodes", what, aside);
}

void fov_sheet_draw(cairo_t *cr, const FovPlayer *player, double width, double height) {
  Layout l = lay_out(player, width, height);
  const FovTheme *theme = fov_player_theme(player);
  fov_fill_box(cr, (FovBox){0, 0, width, height}, theme->paper);
  if (player->trace->vocabulary > 0) l.top = find_top(player);
  draw_title(cr, player, &l, theme);
  fov_set_font(cr, 0.85 * l.em, false);
  for (int i = 0; i < l.rows * l.columns; i++) {
    int place = player->scroll * l.columns + i;
    FovBox tile = tile_box(&l, i);
    FovBox with_caption = {tile.x - 2, tile.y - 2, tile.w + 4, l.pitch_y};
    if (place < player->count && fov_shows(cr, with_caption))
      draw_tile(cr, player, theme, tile, place, &l);
  }
}

int fov_sheet_at(const FovPlayer *player, double width, double height, double x, double y) {
  Layout l = lay_out(player, width, height);
  for (int i = 0; i < l.rows * l.columns; i++) {
    int place = player->scroll * l.columns + i;
    if (place < player->count && fov_inside(tile_box(&l, i), x, y)) return place;
  }
  return -1;
}
