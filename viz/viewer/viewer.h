/** What a window shows and how it reacts to keys, mouse and time. It needs no window itself, only
 * its size, so tests can check it. */
#ifndef FOV_VIZ_VIEWER_VIEWER_H
#define FOV_VIZ_VIEWER_VIEWER_H

#include "draw.h"
#include "viz/viewer/state.h"

/** Opens a trace or run. The caller finishes it on success. */
FovStatus fov_viewer_open(FovViewer *viewer, const char *path);
void fov_viewer_finish(FovViewer *viewer);

/** Opens it at what is asked for; fails, naming the file, if it has no such episode or head. */
FovStatus fov_viewer_open_at(FovViewer *viewer, const char *path, const FovDrawEpisode *what);

/** Shows another trace or run, or the agent of the run looking at a PNG; on failure shows the
 * reason and keeps what was there. */
void fov_viewer_drop(FovViewer *viewer, const char *path);

void fov_viewer_resize(FovViewer *viewer, double width, double height);

/** Performs an action; the window handles FULLSCREEN and QUIT. */
void fov_viewer_do(FovViewer *viewer, FovAction action);

/** Handles a typed character: the key of an action, or part of an episode's number. Returns the
 * action to perform, or NONE. */
FovAction fov_viewer_type(FovViewer *viewer, char letter);

/** Whether Esc closes something inside the window rather than the window. */
bool fov_viewer_can_cancel(const FovViewer *viewer);

/** Shows a snapshot of the training, if there is one of that index. */
void fov_viewer_show_snapshot(FovViewer *viewer, size_t snapshot);

/** Lets time pass. */
void fov_viewer_tick(FovViewer *viewer, double seconds);

/** Seconds until something changes without input: 0 while it moves, −1 if nothing will. */
double fov_viewer_wait(const FovViewer *viewer);

/** The title of the window: "cluttered-60-s0: episode 3, glimpse 2 of 8, all, 1x, paused".
 * text: [size] */
void fov_viewer_title(const FovViewer *viewer, char *text, size_t size);

#endif
