#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <SDL.h>

#include "base/text.h"
#include "draw.h"
#include "viz/viewer/drawing.h"
#include "viz/viewer/mouse.h"
#include "viz/viewer/viewer.h"

enum { FRAMES_PER_SECOND = 60, MIN_WIDTH = 480, MIN_HEIGHT = 360 };

typedef struct Window {
  SDL_Window *window;
  SDL_Renderer *renderer;
  SDL_Texture *texture;
  cairo_surface_t *surface; // what the texture shows
  FovViewer *viewer;
  char title[256];
  double density; // pixels per unit of the mouse
  SDL_Rect small; // of the window, before it filled the screen
  bool open;
} Window;

/* ---- drawing ---- */

/** Follows the size of the output in pixels, which on a dense screen exceeds that of the window. */
static FovStatus fit(Window *w) {
  int width, height, units;
  SDL_GetRendererOutputSize(w->renderer, &width, &height);
  SDL_GetWindowSize(w->window, &units, NULL);
  w->density = units > 0 ? (double)width / units : 1;
  if (w->surface && cairo_image_surface_get_width(w->surface) == width &&
      cairo_image_surface_get_height(w->surface) == height)
    return FOV_OK;
  cairo_surface_destroy(w->surface);
  if (w->texture) SDL_DestroyTexture(w->texture);
  w->surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height);
  w->texture = SDL_CreateTexture(w->renderer, SDL_PIXELFORMAT_RGB888, SDL_TEXTUREACCESS_STREAMING,
                                 width, height);
  if (!w->texture || cairo_surface_status(w->surface))
    return fov_fail(FOV_ERR_MEMORY, "no memory for a window of %d × %d pixels: %s", width, height,
                    SDL_GetError());
  fov_viewer_resize(w->viewer, width, height);
  return FOV_OK;
}

/** Draws the box and copies it to the texture. */
static void draw_box(Window *w, FovBox box) {
  int width = cairo_image_surface_get_width(w->surface);
  int height = cairo_image_surface_get_height(w->surface);
  int left = (int)fmax(0, floor(box.x)), top = (int)fmax(0, floor(box.y));
  int right = (int)fmin(width, ceil(box.x + box.w)),
      bottom = (int)fmin(height, ceil(box.y + box.h));
  if (left >= right || top >= bottom) return;
  cairo_t *cr = cairo_create(w->surface);
  cairo_rectangle(cr, left, top, right - left, bottom - top);
  cairo_clip(cr);
  fov_viewer_draw(cr, w->viewer);
  cairo_destroy(cr);
  cairo_surface_flush(w->surface);
  int stride = cairo_image_surface_get_stride(w->surface);
  const unsigned char *pixels = cairo_image_surface_get_data(w->surface);
  SDL_UpdateTexture(w->texture, &(SDL_Rect){left, top, right - left, bottom - top},
                    pixels + (size_t)top * stride + 4 * (size_t)left, stride);
}

static void present(Window *w) {
  char title[sizeof w->title];
  fov_viewer_title(w->viewer, title, sizeof title);
  if (strcmp(title, w->title) != 0) SDL_SetWindowTitle(w->window, strcpy(w->title, title));
  SDL_RenderCopy(w->renderer, w->texture, NULL, NULL);
  SDL_RenderPresent(w->renderer);
}

static FovStatus redraw(Window *w) {
  FOV_TRY(fit(w));
  FovViewer *viewer = w->viewer;
  if (viewer->damages == 0) return FOV_OK;
  for (int i = 0; i < viewer->damages; i++) draw_box(w, viewer->damage[i]);
  viewer->damages = 0;
  present(w);
  return FOV_OK;
}

/* ---- events ---- */

/** Without a window manager nobody gives the window the size that SDL then assumes, so it is set
 * before. */
static void toggle_full_screen(Window *w) {
  SDL_Rect all;
  if (SDL_GetWindowFlags(w->window) & SDL_WINDOW_FULLSCREEN_DESKTOP) {
    SDL_SetWindowFullscreen(w->window, 0);
    SDL_SetWindowPosition(w->window, w->small.x, w->small.y);
    SDL_SetWindowSize(w->window, w->small.w, w->small.h);
    return;
  }
  SDL_GetWindowPosition(w->window, &w->small.x, &w->small.y);
  SDL_GetWindowSize(w->window, &w->small.w, &w->small.h);
  if (SDL_GetDisplayBounds(SDL_GetWindowDisplayIndex(w->window), &all) == 0) {
    SDL_SetWindowPosition(w->window, all.x, all.y);
    SDL_SetWindowSize(w->window, all.w, all.h);
  }
  SDL_SetWindowFullscreen(w->window, SDL_WINDOW_FULLSCREEN_DESKTOP);
}

static void act(Window *w, FovAction action) {
  if (action == FOV_ACTION_CANCEL && !fov_viewer_can_cancel(w->viewer)) action = FOV_ACTION_QUIT;
  if (action == FOV_ACTION_QUIT) {
    w->open = false;
  } else if (action == FOV_ACTION_FULLSCREEN) {
    toggle_full_screen(w);
  } else {
    fov_viewer_do(w->viewer, action);
  }
}

/** The action of a key that types no character. The others arrive as text, whatever the layout. */
static FovAction key_action(SDL_Keycode key, bool shift) {
  switch (key) {
  case SDLK_LEFT:
    return shift ? FOV_ACTION_PREVIOUS : FOV_ACTION_BACK;
  case SDLK_RIGHT:
    return shift ? FOV_ACTION_NEXT : FOV_ACTION_FORWARD;
  case SDLK_PAGEUP:
    return FOV_ACTION_PREVIOUS;
  case SDLK_PAGEDOWN:
    return FOV_ACTION_NEXT;
  case SDLK_HOME:
    return shift ? FOV_ACTION_FIRST_EPISODE : FOV_ACTION_FIRST;
  case SDLK_END:
    return shift ? FOV_ACTION_LAST_EPISODE : FOV_ACTION_LAST;
  case SDLK_F1:
    return FOV_ACTION_HELP;
  case SDLK_F5:
  case SDLK_F11:
    return FOV_ACTION_FULLSCREEN;
  case SDLK_ESCAPE:
    return FOV_ACTION_CANCEL;
  default:
    return FOV_ACTION_NONE;
  }
}

static void take_key(Window *w, const SDL_Keysym *key) {
  bool asking = w->viewer->player.asking;
  if (asking && (key->sym == SDLK_RETURN || key->sym == SDLK_KP_ENTER))
    fov_viewer_type(w->viewer, '\r');
  else if (asking && key->sym == SDLK_BACKSPACE)
    fov_viewer_type(w->viewer, '\b');
  else if (!asking || key->sym == SDLK_ESCAPE)
    act(w, key_action(key->sym, key->mod & KMOD_SHIFT));
}

static void take_window_event(Window *w, Uint8 event) {
  if (event == SDL_WINDOWEVENT_LEAVE) fov_viewer_leave(w->viewer);
  bool uncovered = event == SDL_WINDOWEVENT_EXPOSED;
  if (uncovered && w->texture) present(w);
}

static void take_event(Window *w, const SDL_Event *event) {
  FovViewer *viewer = w->viewer;
  switch (event->type) {
  case SDL_QUIT:
    w->open = false;
    break;
  case SDL_KEYDOWN:
    take_key(w, &event->key.keysym);
    break;
  case SDL_TEXTINPUT: // one character, unless an input method has composed more
    if (!event->text.text[1]) act(w, fov_viewer_type(viewer, event->text.text[0]));
    break;
  case SDL_MOUSEBUTTONDOWN:
    if (event->button.button == SDL_BUTTON_LEFT)
      fov_viewer_press(viewer, event->button.x * w->density, event->button.y * w->density);
    break;
  case SDL_MOUSEBUTTONUP:
    fov_viewer_release(viewer);
    break;
  case SDL_MOUSEMOTION:
    fov_viewer_move(viewer, event->motion.x * w->density, event->motion.y * w->density);
    break;
  case SDL_MOUSEWHEEL:
    fov_viewer_wheel(viewer, (double)event->wheel.preciseY);
    break;
  case SDL_DROPFILE:
    fov_viewer_drop(viewer, event->drop.file);
    SDL_free(event->drop.file);
    break;
  case SDL_WINDOWEVENT:
    take_window_event(w, event->window.event);
    break;
  case SDL_RENDER_TARGETS_RESET:
  case SDL_RENDER_DEVICE_RESET: // the texture is lost
    cairo_surface_destroy(w->surface);
    w->surface = NULL;
    break;
  }
}

/** Milliseconds until something changes without input, or until the next frame; −1: never. */
static int patience(const Window *w, Uint64 frame_start) {
  double wait = fov_viewer_wait(w->viewer);
  if (wait != 0) return wait < 0 ? -1 : (int)ceil(1000 * wait);
  double spent = (double)(SDL_GetTicks64() - frame_start);
  return (int)fmax(0, 1000.0 / FRAMES_PER_SECOND - spent);
}

static FovStatus run(Window *w) {
  Uint64 before = SDL_GetTicks64();
  SDL_Event event;
  w->open = true;
  while (w->open) {
    FOV_TRY(redraw(w));
    bool any = SDL_WaitEventTimeout(&event, patience(w, before));
    // Before the events: a movement that they start begins now.
    fov_viewer_tick(w->viewer, (double)(SDL_GetTicks64() - before) / 1000);
    before = SDL_GetTicks64(); // the time it took to write a file does not count
    for (; any; any = SDL_PollEvent(&event)) take_event(w, &event);
  }
  return FOV_OK;
}

/* ---- opening ---- */

static FovStatus no_display(const char *source, const char *why) {
  char quoted[FOV_PATH_SIZE];
  return fov_fail(FOV_ERR_USAGE,
                  "%s: no display to open a window on (%s); write a file instead: fovea view %s "
                  "--export gaze.gif",
                  source, why, fov_text_word(quoted, sizeof quoted, source));
}

/** Restricts SDL to drivers of a display: others draw into memory only, or over a console that
 * another user may be using. */
static FovStatus choose_driver(const char *source) {
  bool x11 = SDL_getenv("DISPLAY"), wayland = SDL_getenv("WAYLAND_DISPLAY");
  if (SDL_getenv("SDL_VIDEODRIVER") || strcmp(SDL_GetPlatform(), "Linux") != 0) return FOV_OK;
  if (!x11 && !wayland) return no_display(source, "neither DISPLAY nor WAYLAND_DISPLAY is set");
  SDL_SetHint(SDL_HINT_VIDEODRIVER, !x11 ? "wayland" : wayland ? "x11,wayland" : "x11");
  return FOV_OK;
}

static FovStatus start_video(const char *source) {
  FOV_TRY(choose_driver(source));
  SDL_SetHint(SDL_HINT_VIDEO_ALLOW_SCREENSAVER, "1");
  SDL_SetHint(SDL_HINT_VIDEO_X11_NET_WM_BYPASS_COMPOSITOR, "0");
  if (SDL_Init(SDL_INIT_VIDEO) != 0) return no_display(source, SDL_GetError());
  const char *driver = SDL_GetCurrentVideoDriver();
  if (strcmp(driver, "dummy") != 0 && strcmp(driver, "offscreen") != 0) return FOV_OK;
  return no_display(source, "SDL_VIDEODRIVER names a driver without a display");
}

static FovStatus open_window(Window *w, const char *source, const FovDrawEpisode *what) {
  FOV_TRY(start_video(source));
  int width = what->width ? what->width : FOV_SCENE_WIDTH;
  int height = what->height ? what->height : FOV_SCENE_HEIGHT;
  w->window = SDL_CreateWindow("fovea", SDL_WINDOWPOS_UNDEFINED, SDL_WINDOWPOS_UNDEFINED, width,
                               height, SDL_WINDOW_RESIZABLE | SDL_WINDOW_ALLOW_HIGHDPI);
  if (w->window) w->renderer = SDL_CreateRenderer(w->window, -1, SDL_RENDERER_PRESENTVSYNC);
  if (!w->renderer) return no_display(source, SDL_GetError());
  SDL_SetWindowMinimumSize(w->window, MIN_WIDTH, MIN_HEIGHT);
  SDL_StartTextInput();
  return run(w);
}

FovStatus fov_draw_window(const char *source, const FovDrawEpisode *what) {
  FovViewer viewer;
  FOV_TRY(fov_viewer_open_at(&viewer, source, what));
  Window w = {.viewer = &viewer};
  FovStatus status = open_window(&w, source, what);
  cairo_surface_destroy(w.surface);
  // The end of the process closes the window. SDL's own closing (2.26) destroys it while the
  // wake-up message that SDL sent to it on another connection may be on its way, which Xlib takes
  // for fatal.
  fov_viewer_finish(&viewer);
  return status;
}
