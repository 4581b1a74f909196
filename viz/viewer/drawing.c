#include "viz/viewer/drawing.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "viz/scene/confusion.h"
#include "viz/scene/drawing.h"
#include "viz/viewer/bars.h"
#include "viz/viewer/keys.h"
#include "viz/viewer/sheet.h"
#include "viz/viewer/window_layout.h"

/* ---- scene, heat map, sheet ---- */

/** The note that replaces the scene if there is no episode. */
static void draw_note(cairo_t *cr, const FovViewer *viewer, FovBox box) {
  char filter[64];
  const FovTheme *theme = fov_player_theme(&viewer->player);
  double em = fov_window_layout(viewer).em, x = box.w / 2, y = box.h / 2;
  fov_fill_box(cr, box, theme->paper);
  fov_player_filter_text(&viewer->player, filter, sizeof filter);
  fov_set_colour(cr, theme->ink, 1);
  fov_set_font(cr, 1.4 * em, true);
  if (viewer->opened.snapshots == 0)
    fov_text(cr, x, y, FOV_ALIGN_CENTRE, "Waiting for the first evaluation");
  else
    fov_text(cr, x, y, FOV_ALIGN_CENTRE, "No episode: %s", filter);
  fov_set_colour(cr, theme->quiet, 1);
  fov_set_font(cr, em, false);
  if (viewer->opened.snapshots == 0)
    fov_text(cr, x, y + 2 * em, FOV_ALIGN_CENTRE, "looking at %s once a second",
             viewer->opened.name);
  else
    fov_text(cr, x, y + 2 * em, FOV_ALIGN_CENTRE,
             viewer->player.trace->control ? "F changes the filter"
                                           : "F changes the filter, C the class");
}

FovStatus fov_viewer_count_heat(FovViewer *viewer) {
  const FovPlayer *player = &viewer->player;
  if (viewer->heat.maps > 0) return FOV_OK;
  return fov_heat_build(&viewer->heat, player->trace, player->selection, player->count,
                        player->around, player->head);
}

/** The map is built when it is first shown. */
static void draw_heat(cairo_t *cr, FovViewer *viewer, FovBox box) {
  const FovPlayer *player = &viewer->player;
  char filter[64];
  if (fov_viewer_count_heat(viewer) != FOV_OK) {
    draw_note(cr, viewer, box);
    return;
  }
  fov_player_filter_text(player, filter, sizeof filter);
  fov_heat_draw(cr, &viewer->heat, player->trace, fov_player_theme(player), box.w, box.h, filter);
}

/** Counted each time: that takes less than drawing it. */
static void draw_confusion(cairo_t *cr, const FovViewer *viewer, FovBox box) {
  const FovPlayer *player = &viewer->player;
  FovConfusion confusion;
  if (fov_confusion_count(&confusion, player->trace, fov_player_episodes(player)) != FOV_OK) {
    draw_note(cr, viewer, box);
    return;
  }
  fov_confusion_draw(cr, &confusion, player->trace, fov_player_theme(player), box.w, box.h,
                     player->label, player->answer);
  fov_confusion_finish(&confusion);
}

static void describe_confusion(char *text, size_t size, const FovViewer *viewer, FovBox box) {
  const FovPlayer *player = &viewer->player;
  FovConfusion confusion;
  int label, answer;
  if (fov_confusion_count(&confusion, player->trace, fov_player_episodes(player)) != FOV_OK) return;
  if (fov_confusion_at(&label, &answer, &confusion, player->trace, box.w, box.h, viewer->x,
                       viewer->y))
    fov_confusion_describe(text, size, &confusion, player->trace, label, answer);
  fov_confusion_finish(&confusion);
}

void fov_viewer_draw_mode(cairo_t *cr, FovViewer *viewer, double width, double height) {
  FovBox box = {0, 0, width, height};
  FovPlayer *player = &viewer->player;
  if (player->count == 0) {
    draw_note(cr, viewer, box);
  } else if (player->mode == FOV_MODE_HEAT) {
    draw_heat(cr, viewer, box);
  } else if (player->mode == FOV_MODE_CONFUSION) {
    draw_confusion(cr, viewer, box);
  } else if (player->mode == FOV_MODE_SHEET) {
    fov_sheet_fit(player, box.w, box.h);
    fov_sheet_draw(cr, player, box.w, box.h);
  } else {
    FovScene scene = fov_window_scene(viewer);
    fov_scene_draw(cr, &scene);
  }
}

/* ---- what lies over it ---- */

static void draw_plate(cairo_t *cr, FovBox box, const FovTheme *theme, FovColour edge, double em) {
  fov_round_box(cr, box, 0.4 * em);
  fov_set_colour(cr, theme->panel, 0.97);
  cairo_fill_preserve(cr);
  fov_set_colour(cr, edge, 1);
  cairo_set_line_width(cr, fmax(1, round(0.08 * em)));
  cairo_stroke(cr);
}

static void draw_message(cairo_t *cr, const FovViewer *viewer, const FovWindowLayout *f) {
  if (viewer->message_left <= 0) return;
  const FovTheme *theme = fov_player_theme(&viewer->player);
  double em = f->em, most = f->scene.w - 4 * em;
  fov_set_font(cr, em, false);
  double mark = viewer->alarm ? 1.6 * em : 0;
  double width = fmin(most, fov_text_width(cr, viewer->message) + 2.4 * em + mark);
  FovBox box = fov_snap((FovBox){(f->scene.w - width) / 2, f->bar.y - 3.6 * em, width, 2.4 * em});
  draw_plate(cr, box, theme, viewer->alarm ? theme->wrong : theme->quiet, em);
  fov_set_colour(cr, theme->wrong, 1);
  if (viewer->alarm) fov_verdict(cr, box.x + 1.1 * em, box.y + 1.65 * em, 0.9 * em, false);
  fov_set_colour(cr, theme->ink, 1);
  char text[sizeof viewer->message];
  snprintf(text, sizeof text, "%s", viewer->message);
  fov_fit_text(cr, text, sizeof text, width - 2.4 * em - mark);
  fov_text(cr, box.x + 1.2 * em + mark, box.y + 1.55 * em, FOV_ALIGN_LEFT, "%s", text);
}

/** What is typed, of a long one the end, and what to type. */
static void draw_entry(cairo_t *cr, const FovViewer *viewer, const FovWindowLayout *f) {
  const FovPlayer *player = &viewer->player;
  if (!player->asking) return;
  const FovTheme *theme = fov_player_theme(player);
  bool settings = player->asking == FOV_QUESTION_SETTINGS;
  double em = f->em, width = fmin(settings ? 40 * em : 22 * em, f->scene.w - 2 * em);
  FovBox box = fov_snap((FovBox){(f->scene.w - width) / 2, f->scene.h * 0.38, width, 4.4 * em});
  draw_plate(cr, box, theme, theme->ink, em);
  fov_set_font(cr, 1.2 * em, true);
  fov_set_colour(cr, theme->ink, 1);
  double x = box.x + 1.4 * em, y = box.y + 1.9 * em, end = box.x + box.w - 2 * em;
  x += fov_text(cr, x, y, FOV_ALIGN_LEFT, settings ? "Settings " : "Episode ");
  const char *entry = player->entry;
  while (*entry && x + fov_text_width(cr, entry) > end) entry++;
  x += fov_text(cr, x, y, FOV_ALIGN_LEFT, "%s", entry);
  fov_fill_box(cr, (FovBox){x + 2, y - 1.05 * em, fmax(2, 0.12 * em), 1.35 * em}, theme->ink);
  fov_set_font(cr, 0.85 * em, false);
  fov_set_colour(cr, theme->quiet, 1);
  char hint[96] = "key=value ..., sampled; Enter runs the agent again; an empty line closes it";
  if (!settings)
    snprintf(hint, sizeof hint, "0 to %d, then Enter", fov_player_episodes(player) - 1);
  fov_fit_text(cr, hint, sizeof hint, box.w - 2.8 * em);
  fov_text(cr, box.x + 1.4 * em, box.y + 3.5 * em, FOV_ALIGN_LEFT, "%s", hint);
}

static int help_lines(void) {
  int count = 0;
  for (const FovKey *key = fov_keys; key->letter || key->label; key++) count += key->label != NULL;
  return count;
}

/** A key and what it does, from x, the text shortened to end before `end`. */
static void draw_key(cairo_t *cr, const FovKey *key, const FovTheme *theme, double x, double y,
                     double end, double em) {
  char text[128];
  fov_set_font(cr, 0.9 * em, true);
  fov_set_colour(cr, theme->ink, 1);
  fov_text(cr, x, y, FOV_ALIGN_LEFT, "%s", key->label);
  fov_set_font(cr, 0.9 * em, false);
  fov_set_colour(cr, theme->quiet, 1);
  snprintf(text, sizeof text, "%s", key->help);
  fov_fit_text(cr, text, sizeof text, end - x - 7.4 * em);
  fov_text(cr, x + 7.4 * em, y, FOV_ALIGN_LEFT, "%s", text);
}

/** The keys in one column, or in two if the window is not high enough for one. */
static void draw_help(cairo_t *cr, const FovViewer *viewer, const FovWindowLayout *f) {
  if (!viewer->player.help) return;
  const FovTheme *theme = fov_player_theme(&viewer->player);
  double em = f->em, pitch = 1.55 * em;
  int lines = help_lines(), columns = lines * pitch + 6.5 * em > viewer->height ? 2 : 1;
  int rows = (lines + columns - 1) / columns;
  double width = fmin(30 * em, (viewer->width - 3 * em) / columns) * columns + 2 * em;
  double height = fmin(viewer->height, rows * pitch + 4.5 * em);
  FovBox box =
      fov_snap((FovBox){(viewer->width - width) / 2, (viewer->height - height) / 2, width, height});
  cairo_rectangle(cr, 0, 0, viewer->width, viewer->height);
  fov_set_colour(cr, theme->paper, 0.6);
  cairo_fill(cr);
  draw_plate(cr, box, theme, theme->quiet, em);
  fov_set_font(cr, 1.2 * em, true);
  fov_set_colour(cr, theme->ink, 1);
  fov_text(cr, box.x + 1.5 * em, box.y + 2.2 * em, FOV_ALIGN_LEFT, "Keys");
  int line = 0;
  for (const FovKey *key = fov_keys; key->letter || key->label; key++) {
    if (!key->label) continue;
    double column = (box.w - 2 * em) / columns, x = box.x + 1.5 * em + line / rows * column;
    draw_key(cr, key, theme, x, box.y + 4.1 * em + line % rows * pitch, x + column - em, em);
    line++;
  }
}

static void draw_hint(cairo_t *cr, const FovViewer *viewer, const FovWindowLayout *f) {
  if (!viewer->hint[0]) return;
  const FovTheme *theme = fov_player_theme(&viewer->player);
  FovBox box = fov_window_hint(viewer);
  double em = f->em;
  cairo_save(cr);
  cairo_rectangle(cr, box.x, box.y, box.w, box.h); // the box that is redrawn when the hint goes
  cairo_clip(cr);
  fov_set_font(cr, 0.9 * em, false);
  box.w = fmin(box.w - 4, fov_text_width(cr, viewer->hint) + 1.6 * em); // the box is an upper bound
  draw_plate(cr, (FovBox){box.x + 2, box.y + 2, box.w, box.h - 4}, theme, theme->quiet, em);
  fov_set_colour(cr, theme->ink, 1);
  fov_text(cr, box.x + 2 + 0.8 * em, box.y + 2 + 1.27 * em, FOV_ALIGN_LEFT, "%s", viewer->hint);
  cairo_restore(cr);
}

void fov_viewer_describe(char *text, size_t size, const FovViewer *viewer) {
  FovWindowLayout f = fov_window_layout(viewer);
  const FovPlayer *player = &viewer->player;
  double x = viewer->x, y = viewer->y;
  text[0] = '\0';
  if (player->count == 0 || player->help || player->asking) return;
  fov_viewer_describe_bars(text, size, viewer, &f);
  if (!fov_inside(f.scene, x, y)) return;
  if (player->mode == FOV_MODE_SCENE) {
    FovScene scene = fov_window_scene(viewer);
    fov_scene_describe(text, size, &scene, x, y);
  } else if (player->mode == FOV_MODE_CONFUSION) {
    describe_confusion(text, size, viewer, f.scene);
  } else if (player->mode == FOV_MODE_HEAT && viewer->heat.maps > 0) {
    fov_heat_describe(text, size, &viewer->heat, player->trace, f.scene.w, f.scene.h, x, y);
  }
}

void fov_viewer_draw(cairo_t *cr, FovViewer *viewer) {
  FovWindowLayout f = fov_window_layout(viewer);
  cairo_save(cr);
  cairo_rectangle(cr, f.scene.x, f.scene.y, f.scene.w, f.scene.h);
  cairo_clip(cr);
  if (fov_shows(cr, f.scene)) fov_viewer_draw_mode(cr, viewer, f.scene.w, f.scene.h);
  cairo_restore(cr);
  fov_viewer_draw_bars(cr, viewer, &f);
  draw_message(cr, viewer, &f);
  draw_entry(cr, viewer, &f);
  draw_help(cr, viewer, &f);
  draw_hint(cr, viewer, &f);
}
