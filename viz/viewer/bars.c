#include "viz/viewer/bars.h"

#include <math.h>
#include <stdio.h>

static void draw_play(cairo_t *cr, const FovWindowLayout *f, const FovTheme *theme, bool playing) {
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
  int every = (int)ceil(0.8 * f->em / fmax(pitch, 0.01)); // so that dots do not touch
  for (int t = 0; t <= fov_player_last(player); t += every) {
    fov_disc(cr, fov_axis_at(&f->time, t), y, 0.26 * f->em);
    fov_set_colour(cr, t <= player->time ? theme->quiet : theme->rule, 1);
    cairo_fill(cr);
  }
  draw_knob(cr, theme, now, y, 0.55 * f->em);
}

/** A button with a text; one that is on is filled. */
static void draw_button(cairo_t *cr, FovBox box, const FovTheme *theme, bool on, const char *words,
                        double em) {
  char text[64];
  FovColour ground = on ? theme->quiet : theme->panel;
  snprintf(text, sizeof text, "%s", words);
  fov_fit_text(cr, text, sizeof text, box.w - 0.4 * em);
  fov_round_box(cr, (FovBox){box.x + 0.5, box.y + 0.5, box.w - 1, box.h - 1}, 0.3 * em);
  fov_set_colour(cr, ground, 1);
  cairo_fill_preserve(cr);
  fov_set_colour(cr, theme->quiet, 1);
  cairo_set_line_width(cr, 1);
  cairo_stroke(cr);
  fov_set_colour(cr, on ? theme->paper : theme->ink, 1);
  fov_text(cr, box.x + box.w / 2, box.y + box.h / 2 + 0.34 * em, FOV_ALIGN_CENTRE, "%s", text);
}

/** The switches of the overlays, the filter and the speed. */
static void draw_buttons(cairo_t *cr, const FovPlayer *player, const FovWindowLayout *f) {
  const FovTheme *theme = fov_player_theme(player);
  char text[64];
  fov_set_font(cr, 0.9 * f->em, false);
  for (int i = 0; i < FOV_OVERLAYS; i++) {
    snprintf(text, sizeof text, "%d", i + 1);
    draw_button(cr, fov_window_overlay(f, i), theme, player->overlays >> i & 1, text, f->em);
  }
  fov_player_filter_text(player, text, sizeof text);
  draw_button(cr, f->filter, theme, player->count < fov_player_episodes(player), text, f->em);
  snprintf(text, sizeof text, "%g×", player->speed);
  draw_button(cr, f->speed, theme, false, text, f->em);
}

static void draw_bar(cairo_t *cr, const FovViewer *viewer, const FovWindowLayout *f) {
  if (!fov_shows(cr, f->bar)) return;
  const FovPlayer *player = &viewer->player;
  const FovTheme *theme = fov_player_theme(player);
  fov_fill_box(cr, f->bar, theme->paper);
  cairo_set_line_width(cr, 1);
  fov_set_colour(cr, theme->rule, 1);
  fov_line(cr, 0, f->bar.y + 0.5, f->bar.w, f->bar.y + 0.5);
  draw_play(cr, f, theme, player->playing);
  draw_track(cr, viewer, f, theme);
  draw_buttons(cr, player, f);
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

void fov_viewer_draw_bars(cairo_t *cr, const FovViewer *viewer, const FovWindowLayout *f) {
  draw_bar(cr, viewer, f);
  draw_training(cr, viewer, f);
}

void fov_viewer_describe_bars(char *text, size_t size, const FovViewer *viewer,
                              const FovWindowLayout *f) {
  double x = viewer->x, y = viewer->y;
  const FovOpenedRun *opened = &viewer->opened;
  int overlay = fov_window_overlay_at(f, x, y);
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
  } else if (overlay >= 0) {
    snprintf(text, size, "%s: %s", fov_overlay_names[overlay],
             viewer->player.overlays >> overlay & 1 ? "shown" : "hidden");
  }
}
