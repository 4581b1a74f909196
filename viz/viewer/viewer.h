/** All that a window shows and all that happens when it is touched; of the window it knows the size
 * only, so tests can hold it to what it does. */
#ifndef FOV_VIZ_VIEWER_VIEWER_H
#define FOV_VIZ_VIEWER_VIEWER_H

#include "viz/viewer/state.h"

/** Opens a trace or run. To be finished by the caller on success. */
FovStatus fov_viewer_open(FovViewer *viewer, const char *path);
void fov_viewer_finish(FovViewer *viewer);

/** Begins with the `index`-th episode of the filter; fails, naming the opened, if it has none. */
FovStatus fov_viewer_start(FovViewer *viewer, int index);

/** Shows another trace or run; on failure says why and goes on with the one before. */
void fov_viewer_drop(FovViewer *viewer, const char *path);

void fov_viewer_resize(FovViewer *viewer, double width, double height);

/** Does what a key asks for; FULLSCREEN and QUIT are the window's. */
void fov_viewer_do(FovViewer *viewer, FovAction action);

/** A character was typed: an action, or part of a number that was asked for. Returns the action
 * that is left to do. */
FovAction fov_viewer_type(FovViewer *viewer, char letter);

/** Whether Esc leaves something that is open, rather than the window. */
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

/** Seconds until something changes by itself: 0 while it moves, −1 if nothing will. */
double fov_viewer_wait(const FovViewer *viewer);

/** What is shown, in words: "cluttered-60-s0: episode 3, glimpse 2 of 8, all, 1x, paused".
 * text: [size] */
void fov_viewer_title(const FovViewer *viewer, char *text, size_t size);

#endif
