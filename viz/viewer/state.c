#include "viz/viewer/state.h"

#include <stdio.h>

#include "base/text.h"
#include "viz/scene/episode.h"

static const double message_seconds = 4;

void fov_viewer_damage(FovViewer *viewer, FovBox box) {
  if (viewer->damages == FOV_DAMAGES) { // too many: redraw everything
    viewer->damages = 1;
    box = (FovBox){0, 0, viewer->width, viewer->height};
    viewer->damage[0] = box;
    return;
  }
  viewer->damage[viewer->damages++] = box;
}

void fov_viewer_damage_all(FovViewer *viewer) {
  viewer->damages = FOV_DAMAGES;
  fov_viewer_damage(viewer, (FovBox){0});
}

void fov_viewer_forget_heat(FovViewer *viewer) {
  fov_heat_finish(&viewer->heat);
}

void fov_viewer_show_message(FovViewer *viewer, bool alarm, const char *text) {
  snprintf(viewer->message, sizeof viewer->message, "%s", text);
  fov_text_clean(viewer->message); // the end may be half a character
  viewer->message_left = message_seconds * (alarm ? 2 : 1);
  viewer->alarm = alarm;
  fov_viewer_damage_all(viewer);
}

const FovGazes *fov_viewer_gazes(const FovViewer *viewer) {
  return viewer->gazes.count > 0 && !viewer->picture[0] ? &viewer->gazes : NULL;
}

int fov_viewer_method(const FovViewer *viewer) {
  return viewer->opened.trace.vocabulary > 0 ? FOV_EXPLAINED_JACOBIAN : viewer->method;
}

FovWanted fov_viewer_wanted(const FovViewer *viewer, int episode, int glimpse, int method) {
  int last = episode < 0 ? 0 : fov_last_glimpse(&viewer->opened.trace, episode);
  if (glimpse > last) glimpse = last; // of two agents, the other one looks longer
  return (FovWanted){.opened = &viewer->opened,
                     .picture = viewer->picture[0] ? viewer->picture : NULL,
                     .episode = episode,
                     .method = method,
                     .glimpse = glimpse,
                     .next = glimpse};
}

FovExplanation fov_viewer_explanation(const FovViewer *viewer) {
  const FovPlayer *player = &viewer->player;
  if (!viewer->explaining || !(player->overlays & FOV_OVERLAY_EXPLANATION))
    return (FovExplanation){0};
  const FovWanted shown = fov_viewer_wanted(viewer, fov_player_episode(player), (int)player->time,
                                            fov_viewer_method(viewer));
  return fov_explaining_get(viewer->explaining, &shown);
}

bool fov_viewer_check(FovViewer *viewer, FovStatus status) {
  if (status != FOV_OK) fov_viewer_show_message(viewer, true, fov_error_message());
  return status == FOV_OK;
}
