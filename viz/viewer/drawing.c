#include "viz/viewer/drawing.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "viz/scene/drawing.h"
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

/** The map is built when it is first shown. */
static void draw_heat(cairo_t *cr, FovViewer *viewer, FovBox box) {
  const FovPlayer *player = &viewer->player;
  char filter[64];
  if (viewer->heat.maps == 0 &&
      fov_heat_build(&viewer->heat, player->trace, player->selection, player->count) != FOV_OK) {
    viewer->heat = (FovHeat){0};
    draw_note(cr, viewer, box);
    return;
  }
  fov_player_filter_text(player, filter, sizeof filter);
  fov_heat_draw(cr, &viewer->heat, player->trace, fov_player_theme(player), box.w, box.h, filter);
}

void fov_viewer_draw_mode(cairo_t *cr, FovViewer *viewer) {
  FovBox box = fov_window_layout(viewer).scene;
  FovPlayer *player = &viewer->player;
  if (player->count == 0) {
    draw_note(cr, viewer, box);
  } else if (player->mode == FOV_MODE_HEAT) {
    draw_heat(cr, viewer, box);
  } else if (player->mode == FOV_MODE_SHEET) {
    fov_sheet_fit(player, box.w, box.h);
    fov_sheet_draw(cr, player, box.w, box.h);
  } else {
    FovScene scene = fov_window_scene(viewer);
    fov_scene_draw(cr, &scene);
  }
}

/* ---- the timeline ---- */

static void draw_button(cairo_t *cr, const FovWindowLayout *f, const FovTheme *theme,
                        bool playing) {
  double size = 1.1 * f->em, x = f->button.x + 0.2 * f->em, y = f->bar.y + f->bar.h / 2 - size / 2;
  fov_set_colour(cr, theme->ink, 1);
  if (playing) {
    cairo_rectangle(cr, x, y, 0.34 * size, size);
    cairo_rectangle(cr, x + 0.6 * size, y, 0.34 * size, size);
  } else {
    cairo_move_to(cr, x, y);
    cairo_line_to(cr, x + 0.95 * size, y + size / 2);
    cairo_line_to(cr, x, y + size);
    cairo_close_path(cr);
  }
  cairo_fill(cr);
}

static void draw_knob(cairo_t *cr, const FovTheme *theme, double x, double y, double radius) {
  fov_disc(cr, x, y, radius);
  fov_set_colour(cr, theme->ink, 1);
  cairo_fill(cr);
  fov_disc(cr, x, y, 0.45 * radius);
  fov_set_colour(cr, theme->paper, 1);
  cairo_fill(cr);
}

static void draw_track(cairo_t *cr, const FovViewer *viewer, const FovWindowLayout *f,
                       const FovTheme *theme) {
  const FovPlayer *player = &viewer->player;
  double y = round(f->bar.y + f->bar.h / 2), now = fov_axis_at(&f->time, player->time);
  cairo_set_line_width(cr, fmax(2, round(0.14 * f->em)));
  fov_set_colour(cr, theme->rule, 1);
  fov_line(cr, f->time.from, y, f->time.to, y);
  fov_set_colour(cr, theme->quiet, 1);
  fov_line(cr, f->time.from, y, now, y);
  double pitch = (f->time.to - f->time.from) / f->time.hi;
  int every = (int)ceil(0.8 * f->em / pitch); // so that dots do not touch
  for (int t = 0; t <= fov_player_last(player); t += every) {
    fov_disc(cr, fov_axis_at(&f->time, t), y, 0.26 * f->em);
    fov_set_colour(cr, t <= player->time ? theme->quiet : theme->rule, 1);
    cairo_fill(cr);
  }
  draw_knob(cr, theme, now, y, 0.55 * f->em);
}

static void draw_bar(cairo_t *cr, const FovViewer *viewer, const FovWindowLayout *f) {
  if (!fov_shows(cr, f->bar)) return;
  const FovPlayer *player = &viewer->player;
  const FovTheme *theme = fov_player_theme(player);
  char filter[64];
  double right = f->bar.w - round(1.25 * f->em), y = f->bar.y + f->bar.h / 2 + 0.36 * f->em;
  fov_fill_box(cr, f->bar, theme->paper);
  cairo_set_line_width(cr, 1);
  fov_set_colour(cr, theme->rule, 1);
  fov_line(cr, 0, f->bar.y + 0.5, f->bar.w, f->bar.y + 0.5);
  draw_button(cr, f, theme, player->playing);
  draw_track(cr, viewer, f, theme);
  fov_player_filter_text(player, filter, sizeof filter);
  fov_set_font(cr, f->em, false);
  fov_fit_text(cr, filter, sizeof filter, f->filter.x + f->filter.w - f->time.to - 1.6 * f->em);
  fov_set_colour(cr, theme->quiet, 1);
  fov_text(cr, f->time.to + 1.6 * f->em, y, FOV_ALIGN_LEFT, "%s", filter);
  fov_set_colour(cr, theme->ink, 1);
  fov_text(cr, right, y, FOV_ALIGN_RIGHT, "%g×", player->speed);
}

/* ---- the training ---- */

/** The validation error over the updates, scaled to its box. */
static void draw_curve(cairo_t *cr, const FovOpenedRun *opened, const FovWindowLayout *f,
                       FovBox box, const FovTheme *theme) {
  double most = 0;
  for (size_t i = 0; i < opened->row_count; i++)
    if (isfinite(opened->rows[i].valid_error)) most = fmax(most, opened->rows[i].valid_error);
  FovAxis error = {.lo = 0, .hi = fmax(1e-6, most), .from = box.y + box.h, .to = box.y};
  for (size_t i = 0; i < opened->row_count; i++)
    if (isfinite(opened->rows[i].valid_error))
      cairo_line_to(cr, fov_axis_at(&f->updates, (double)opened->rows[i].update),
                    fov_axis_at(&error, opened->rows[i].valid_error));
  fov_set_colour(cr, theme->series[0], 1);
  cairo_set_line_width(cr, fmax(1.25, 0.12 * f->em));
  cairo_stroke(cr);
}

static void draw_snapshots(cairo_t *cr, const FovOpenedRun *opened, const FovWindowLayout *f,
                           double y, const FovTheme *theme) {
  cairo_set_line_width(cr, fmax(2, round(0.14 * f->em)));
  fov_set_colour(cr, theme->rule, 1);
  fov_line(cr, f->updates.from, y, f->updates.to, y);
  fov_set_colour(cr, theme->quiet, 1);
  for (size_t i = 0; i < opened->snapshots; i++)
    fov_disc(cr, fov_axis_at(&f->updates, (double)opened->updates[i]), y, 0.2 * f->em);
  cairo_fill(cr);
  if (opened->snapshots > 0)
    draw_knob(cr, theme, fov_axis_at(&f->updates, (double)opened->updates[opened->snapshot]), y,
              0.55 * f->em);
}

/** The row of progress.csv from the evaluation of a snapshot. */
static const FovProgress *row_of(const FovOpenedRun *opened, int64_t update) {
  for (size_t i = 0; i < opened->row_count; i++)
    if (opened->rows[i].update == update) return &opened->rows[i];
  return NULL;
}

static void draw_training(cairo_t *cr, const FovViewer *viewer, const FovWindowLayout *f) {
  if (f->training.h == 0 || !fov_shows(cr, f->training)) return;
  const FovOpenedRun *opened = &viewer->opened;
  const FovTheme *theme = fov_player_theme(&viewer->player);
  FovBox box = f->training;
  double em = f->em, y = round(box.y + box.h - 1.3 * em), right = box.w - round(1.25 * em);
  fov_fill_box(cr, box, theme->paper);
  draw_curve(cr, opened, f, (FovBox){box.x, box.y + 0.3 * em, box.w, box.h - 2.2 * em}, theme);
  draw_snapshots(cr, opened, f, y, theme);
  const FovProgress *row = row_of(opened, opened->trace.update);
  fov_set_font(cr, 0.85 * em, false);
  fov_set_colour(cr, theme->quiet, 1);
  fov_text(cr, f->button.x, y + 0.3 * em, FOV_ALIGN_LEFT, "training");
  fov_text(cr, right, y + 0.3 * em, FOV_ALIGN_RIGHT, "update %lld",
           (long long)opened->trace.update);
  fov_set_colour(cr, theme->series[0], 1);
  if (row)
    fov_text(cr, right, y - 1.1 * em, FOV_ALIGN_RIGHT, "validation error %.2f %%",
             100 * row->valid_error);
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

static void draw_entry(cairo_t *cr, const FovViewer *viewer, const FovWindowLayout *f) {
  if (!viewer->player.asking) return;
  const FovTheme *theme = fov_player_theme(&viewer->player);
  double em = f->em, width = 22 * em;
  FovBox box = fov_snap((FovBox){(f->scene.w - width) / 2, f->scene.h * 0.38, width, 4.4 * em});
  draw_plate(cr, box, theme, theme->ink, em);
  fov_set_font(cr, 1.2 * em, true);
  fov_set_colour(cr, theme->ink, 1);
  double x = box.x + 1.4 * em, y = box.y + 1.9 * em;
  x += fov_text(cr, x, y, FOV_ALIGN_LEFT, "Episode ");
  x += fov_text(cr, x, y, FOV_ALIGN_LEFT, "%s", viewer->player.entry);
  fov_fill_box(cr, (FovBox){x + 2, y - 1.05 * em, fmax(2, 0.12 * em), 1.35 * em}, theme->ink);
  fov_set_font(cr, 0.85 * em, false);
  fov_set_colour(cr, theme->quiet, 1);
  fov_text(cr, box.x + 1.4 * em, box.y + 3.5 * em, FOV_ALIGN_LEFT, "0 to %d, then Enter",
           viewer->player.trace->episodes - 1);
}

static int help_lines(void) {
  int count = 0;
  for (const FovKey *key = fov_keys; key->letter || key->label; key++) count += key->label != NULL;
  return count;
}

static void draw_help(cairo_t *cr, const FovViewer *viewer, const FovWindowLayout *f) {
  if (!viewer->player.help) return;
  const FovTheme *theme = fov_player_theme(&viewer->player);
  int lines = help_lines();
  double room = f->scene.h + f->bar.h - 2 * f->em, em = fmin(f->em, room / (1.55 * lines + 4.5));
  double width = 36 * em, height = (1.55 * lines + 4.5) * em;
  FovBox box =
      fov_snap((FovBox){(viewer->width - width) / 2, (viewer->height - height) / 2, width, height});
  cairo_rectangle(cr, 0, 0, viewer->width, viewer->height);
  fov_set_colour(cr, theme->paper, 0.6);
  cairo_fill(cr);
  draw_plate(cr, box, theme, theme->quiet, em);
  fov_set_font(cr, 1.2 * em, true);
  fov_set_colour(cr, theme->ink, 1);
  fov_text(cr, box.x + 2 * em, box.y + 2.4 * em, FOV_ALIGN_LEFT, "Keys");
  double y = box.y + 4.4 * em;
  for (const FovKey *key = fov_keys; key->letter || key->label; key++) {
    if (!key->label) continue;
    fov_set_font(cr, 0.9 * em, true);
    fov_set_colour(cr, theme->ink, 1);
    fov_text(cr, box.x + 2 * em, y, FOV_ALIGN_LEFT, "%s", key->label);
    fov_set_font(cr, 0.9 * em, false);
    fov_set_colour(cr, theme->quiet, 1);
    fov_text(cr, box.x + 10 * em, y, FOV_ALIGN_LEFT, "%s", key->help);
    y += 1.55 * em;
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

static void tell_bars(char *text, size_t size, const FovViewer *viewer, const FovWindowLayout *f) {
  double x = viewer->x, y = viewer->y;
  const FovOpenedRun *opened = &viewer->opened;
  if (fov_inside(f->training, x, y) && opened->snapshots > 0 && x >= f->updates.from - f->em) {
    int64_t update = opened->updates[fov_window_snapshot(viewer, f, x)];
    const FovProgress *row = row_of(opened, update);
    snprintf(text, size, "update %lld", (long long)update);
    if (row)
      snprintf(text, size, "update %lld: validation error %.2f %%", (long long)update,
               100 * row->valid_error);
  } else if (fov_inside(f->timeline, x, y)) {
    double time =
        fmin(fov_player_last(&viewer->player), fmax(0, round(fov_axis_value(&f->time, x))));
    snprintf(text, size, "glimpse %g", time + 1);
  } else if (fov_inside(f->filter, x, y)) {
    snprintf(text, size, "%s",
             viewer->player.trace->control ? "click: goals missed, met"
                                           : "click: wrong, right answers");
  } else if (fov_inside(f->speed, x, y)) {
    snprintf(text, size, "click: another speed");
  }
}

void fov_viewer_describe(char *text, size_t size, const FovViewer *viewer) {
  FovWindowLayout f = fov_window_layout(viewer);
  const FovPlayer *player = &viewer->player;
  double x = viewer->x, y = viewer->y;
  text[0] = '\0';
  if (player->count == 0 || player->help || player->asking) return;
  tell_bars(text, size, viewer, &f);
  if (!fov_inside(f.scene, x, y)) return;
  if (player->mode == FOV_MODE_SCENE) {
    FovScene scene = fov_window_scene(viewer);
    fov_scene_describe(text, size, &scene, x, y);
  } else if (player->mode == FOV_MODE_HEAT && viewer->heat.maps > 0) {
    fov_heat_describe(text, size, &viewer->heat, player->trace, f.scene.w, f.scene.h, x, y);
  }
}

void fov_viewer_draw(cairo_t *cr, FovViewer *viewer) {
  FovWindowLayout f = fov_window_layout(viewer);
  cairo_save(cr);
  cairo_rectangle(cr, f.scene.x, f.scene.y, f.scene.w, f.scene.h);
  cairo_clip(cr);
  if (fov_shows(cr, f.scene)) fov_viewer_draw_mode(cr, viewer);
  cairo_restore(cr);
  draw_bar(cr, viewer, &f);
  draw_training(cr, viewer, &f);
  draw_message(cr, viewer, &f);
  draw_entry(cr, viewer, &f);
  draw_help(cr, viewer, &f);
  draw_hint(cr, viewer, &f);
}
