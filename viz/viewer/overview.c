/** The heat map, the contact sheet and the confusion matrix as files, and the exports of episodes
 * that need the agent of the run. */
#include "base/text.h"
#include "draw.h"
#include "viz/export/export.h"
#include "viz/scene/episode.h"
#include "viz/viewer/drawing.h"
#include "viz/viewer/explained_episodes.h"
#include "viz/viewer/sheet.h"
#include "viz/viewer/viewer.h"

static FovStatus no_page(const char *path, int page, int pages) {
  return fov_fail(FOV_ERR_USAGE, "%s: --page %d: it has %d page%s", path, page, pages,
                  fov_plural(pages));
}

/** Turns to page 1 … of the sheet or of the small maps. */
static FovStatus turn(FovViewer *viewer, int page, double width, double height) {
  FovPlayer *player = &viewer->player;
  if (player->mode == FOV_MODE_SHEET) {
    fov_sheet_fit(player, width, height);
    int tiles = player->columns * player->rows, pages = (player->count + tiles - 1) / tiles;
    if (page > pages) return no_page(viewer->opened.path, page, pages);
    fov_player_scroll(player, (page - 1) * player->rows - player->scroll);
    return FOV_OK;
  }
  if (player->mode == FOV_MODE_CONFUSION) return FOV_OK;
  FOV_TRY(fov_viewer_count_heat(viewer));
  int pages = (viewer->heat.maps - 2) / FOV_HEAT_PAGE + 1;
  if (page > pages) return no_page(viewer->opened.path, page, pages);
  fov_heat_turn(&viewer->heat, page - 1);
  return FOV_OK;
}

static FovStatus draw(const char *path, FovViewer *viewer, const FovDrawEpisode *what) {
  double width = what->width ? what->width : FOV_SCENE_WIDTH;
  double height = what->height ? what->height : FOV_SCENE_HEIGHT;
  FovDrawing drawing = {0};
  FOV_TRY(turn(viewer, what->page, width, height));
  FOV_TRY(fov_drawing_begin(&drawing, path, width, height, 1));
  fov_viewer_draw_mode(drawing.cr, viewer, width, height);
  return fov_drawing_commit(&drawing);
}

/* ---- exports that need the agent ---- */

static FovStatus explain(const FovExplanation **glimpses, void *context, int episode) {
  return fov_explained_episode(glimpses, context, episode, 0);
}

/** Explains the episode, or those of a page; of a picture only the glimpse that it shows. */
static FovStatus export_explained(const char *path, FovScene *scene, const FovDrawEpisode *what,
                                  FovExplainedEpisodes *explained) {
  const FovExplainer explainer = {.explain = explain, .context = explained};
  bool all = fov_has_ending(path, ".gif") || fov_has_ending(path, ".mp4");
  int last = fov_last_glimpse(scene->trace, scene->episode);
  if (fov_has_ending(path, ".html")) return fov_export_episodes(path, scene, what, &explainer);
  FOV_TRY(fov_explained_episode(&scene->explanations, explained, scene->episode, all ? 0 : last));
  return fov_export(path, scene);
}

/** An episode that the viewer has. */
static FovStatus export_scene(const char *path, const FovViewer *viewer,
                              const FovDrawEpisode *what) {
  double width = what->width ? what->width : FOV_SCENE_WIDTH;
  double height = what->height ? what->height : FOV_SCENE_HEIGHT;
  FovScene scene = fov_player_scene(&viewer->player, width, height);
  scene.names[0] = viewer->opened.name;
  scene.names[1] = viewer->other.name;
  scene.gazes = fov_viewer_gazes(viewer);
  if (scene.gazes && scene.episode >= scene.gazes->episodes)
    return fov_fail(FOV_ERR_USAGE,
                    "%s: --gazes: episode %d is not one of the first %d cases of its split, which "
                    "are played again",
                    viewer->opened.path, scene.episode, scene.gazes->episodes);
  if (!what->method) return fov_export(path, &scene);
  FovExplainedEpisodes explained = {.how = what->explain,
                                    .opened = &viewer->opened,
                                    .picture = what->picture,
                                    .method = fov_viewer_method(viewer)};
  FovStatus status = export_explained(path, &scene, what, &explained);
  fov_explained_episodes_finish(&explained);
  return status;
}

/** A page shows neither a picture of one's own nor sampled gazes. */
static FovStatus check_ending(const char *path, const FovDrawEpisode *what) {
  bool page = !what->picture && !what->gazes;
  if (fov_has_ending(path, ".png") || fov_has_ending(path, ".svg") ||
      fov_has_ending(path, ".gif") || fov_has_ending(path, ".mp4") ||
      (page && fov_has_ending(path, ".html")))
    return FOV_OK;
  return fov_fail(FOV_ERR_USAGE, "%s: expected a name that ends in .png, .svg, .gif%s", path,
                  page ? ", .mp4 or .html" : " or .mp4");
}

FovStatus fov_draw_overview(const char *path, const char *source, const FovDrawEpisode *what) {
  FovViewer viewer;
  bool played = what->picture || what->gazes || what->method;
  bool episode = played && what->show == FOV_DRAW_EPISODE;
  FOV_TRY(episode ? check_ending(path, what) : fov_draw_check(path));
  FOV_TRY(fov_viewer_open_at(&viewer, source, what));
  FovStatus status;
  if (viewer.player.count == 0)
    status = fov_fail(FOV_ERR_USAGE, "%s: no episodes to draw", source);
  else
    status = episode ? export_scene(path, &viewer, what) : draw(path, &viewer, what);
  fov_viewer_finish(&viewer);
  return status;
}
