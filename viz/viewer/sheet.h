/** A contact sheet: many episodes at once, a small picture each. */
#ifndef FOV_VIZ_VIEWER_SHEET_H
#define FOV_VIZ_VIEWER_SHEET_H

#include "viz/viewer/player.h"

/** Sets how many columns and rows fit a sheet of this size, and keeps the scroll within them. */
void fov_sheet_fit(FovPlayer *player, double width, double height);

/** Draws the rows that show; fov_sheet_fit must have been called for the size. */
void fov_sheet_draw(cairo_t *cr, const FovPlayer *player, double width, double height);

/** The place in the player's selection at (x, y), or −1. */
int fov_sheet_at(const FovPlayer *player, double width, double height, double x, double y);

#endif
