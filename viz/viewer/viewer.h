/** What a window shows and how it reacts to keys, mouse and time. It needs no window itself, only
 * its size, so tests can check it. */
#ifndef FOV_VIZ_VIEWER_VIEWER_H
#define FOV_VIZ_VIEWER_VIEWER_H

#include "viz/viewer/state.h"

/** Opens a trace or run. The caller finishes it on success. */
FovStatus fov_viewer_open(FovViewer *viewer, const char *path);
void fov_viewer_finish(FovViewer *viewer);

/** Begins with the `index`-th episode of the filter; fails, naming the file, if there is none. */
FovStatus fov_viewer_start(FovViewer *viewer, int index);

/** Shows another trace or run; on failure shows the reason and keeps the one before. */
void fov_viewer_drop(FovViewer *viewer, const char *path);

void fov_viewer_resize(FovViewer *viewer, double width, double height);

/** Performs an action; the window handles FULLSCREEN and QUIT. */
void fov_viewer_do(FovViewer *viewer, FovAction action);

/** Handles a typed character: the key of an action, or part of an episode's number. Returns the
 * action to perform, or NONE. */
FovAction fov_viewer_type(FovViewer *viewer, char letter);

/** Whether Esc closes something inside the window rather than the window. */
bool fov_viewer_can_cancel(const FovViewer *viewer);

void fov_viewer_press(FovViewer *viewer, double x, double y);
void fov_viewer_move(FovViewer *viewer, double x, double y);
void fov_viewer_release(FovViewer *viewer);

/** The pointer has left the window. */
void fov_viewer_leave(FovViewer *viewer);

/** steps > 0: away from the user. */
void fov_viewer_wheel(FovViewer *viewer, double steps);

/** Lets time pass. */
void fov_viewer_tick(FovViewer *viewer, double seconds);

/** Seconds until something changes without input: 0 while it moves, −1 if nothing will. */
double fov_viewer_wait(const FovViewer *viewer);

/** The title of the window: "cluttered-60-s0: episode 3, glimpse 2 of 8, all, 1x, paused".
 * text: [size] */
void fov_viewer_title(const FovViewer *viewer, char *text, size_t size);

#endif
