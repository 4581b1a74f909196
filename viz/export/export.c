#include "viz/export/export.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "draw.h"
#include "viz/export/film.h"
#include "viz/export/gif.h"
#include "viz/export/page.h"
#include "viz/scene/alignment.h"
#include "viz/scene/attention.h"
#include "viz/scene/drawing.h"
#include "viz/scene/part_alignment.h"

enum { MAX_SIDE = 8192 }; // pixels per side of a picture: bounds its memory

static FovStatus draw_gif(const char *path, const FovScene *scene) {
  FovGif *gif;
  bool done = false;
  FOV_TRY(fov_gif_begin(&gif, path, scene));
  FovStatus status = FOV_OK;
  while (status == FOV_OK && !done) status = fov_gif_step(&done, gif);
  fov_gif_destroy(gif);
  return status;
}

/** Draws the last glimpse or, of one alignment, the matrix of all glimpses alone. */
static FovStatus draw_picture(const char *path, FovScene scene) {
  FovDrawing drawing = {0};
  FOV_TRY(fov_drawing_begin(&drawing, path, scene.width, scene.height, 1));
  fov_scene_seek(&scene, fov_scene_length(&scene) - 1);
  if (!scene.beside && fov_shows_alignment(scene.trace))
    fov_draw_alignment_figure(drawing.cr, &scene);
  else
    fov_scene_draw(drawing.cr, &scene);
  return fov_drawing_commit(&drawing);
}

FovStatus fov_export(const char *path, const FovScene *scene) {
  if (fov_has_ending(path, ".gif")) return draw_gif(path, scene);
  if (fov_has_ending(path, ".mp4")) return fov_export_mp4(path, scene);
  return draw_picture(path, *scene);
}

/** Finds the episode of that index, among all or among the wrong ones. */
static FovStatus find_episode(int *episode, const FovTrace *trace, const char *path,
                              const FovDrawEpisode *what) {
  int wrong = 0;
  for (int e = 0; what->wrong && e < trace->episodes; e++) {
    if (!trace->wrong[e]) continue;
    *episode = e;
    if (wrong++ == what->episode) return FOV_OK;
  }
  *episode = what->episode;
  if (!what->wrong && what->episode >= 0 && what->episode < trace->episodes) return FOV_OK;
  if (what->wrong && wrong == 0)
    return fov_fail(FOV_ERR_USAGE, "%s: no %s among its %d episodes", path,
                    trace->control ? "missed goal" : "wrong answer", trace->episodes);
  return fov_fail(FOV_ERR_USAGE, "%s: no %sepisode %d: it has %sepisodes 0 to %d", path,
                  what->wrong ? "wrong " : "", what->episode, what->wrong ? "wrong " : "",
                  (what->wrong ? wrong : trace->episodes) - 1);
}

static FovStatus check_size(int width, int height) {
  if (width >= FOV_SCENE_MIN_WIDTH && width <= MAX_SIDE && height >= FOV_SCENE_MIN_HEIGHT &&
      height <= MAX_SIDE)
    return FOV_OK;
  return fov_fail(FOV_ERR_USAGE, "a picture of %d × %d pixels: expected %d × %d to %d × %d", width,
                  height, FOV_SCENE_MIN_WIDTH, FOV_SCENE_MIN_HEIGHT, MAX_SIDE, MAX_SIDE);
}

/** Names an agent after its run or its trace, in ASCII, which every font has: file names may have
 * any bytes. name: [FOV_SCENE_NAME] */
static void name_agent(char *name, const char *path) {
  const char *file = strrchr(path, '/'), *start = path;
  int length = (int)strlen(path);
  while (length > 1 && path[length - 1] == '/') length--;
  if (file && strcmp(file, "/trace.safetensors") == 0) length = (int)(file - path);
  for (const char *c = path; c < path + length - 1; c++)
    if (*c == '/') start = c + 1;
  snprintf(name, FOV_SCENE_NAME, "%.*s", length - (int)(start - path), start);
  fov_text_ascii(name);
}

FovStatus fov_export_episodes(const char *path, const FovScene *scene, const FovDrawEpisode *what,
                              const FovExplainer *explainer) {
  if (scene->trace->vocabulary > 0)
    return fov_fail(FOV_ERR_USAGE,
                    "%s: a page shows no sequences: write a .svg, .png, .gif or .mp4", path);
  int count = 0, most = what->count > 0 ? what->count : 20, *episodes = malloc(sizeof(int) * most);
  if (!episodes) return fov_fail(FOV_ERR_MEMORY, "%s: no memory for %d episodes", path, most);
  for (int e = scene->episode; e < scene->trace->episodes && count < most; e++)
    if ((!scene->beside || e < scene->beside->episodes) && (!what->wrong || scene->trace->wrong[e]))
      episodes[count++] = e;
  FovStatus status = fov_export_page(path, scene, episodes, count, explainer);
  free(episodes);
  return status;
}

static FovStatus draw_episode(const char *path, const FovTrace *trace, const char *trace_path,
                              const FovTrace *beside, const FovDrawEpisode *what) {
  int width = what->width ? what->width : FOV_SCENE_WIDTH;
  int height = what->height ? what->height : FOV_SCENE_HEIGHT;
  FOV_TRY(check_size(width, height));
  FOV_TRY(fov_scene_check(trace, trace_path));
  FOV_TRY(fov_check_head(trace, trace_path, what->head));
  FovScene scene =
      fov_scene(trace, width, height, what->light ? &fov_theme_light : &fov_theme_dark);
  char names[2][FOV_SCENE_NAME];
  name_agent(names[0], trace_path);
  for (int i = 0; i < 2; i++) scene.names[i] = names[i];
  scene.head = what->head;
  if (beside) {
    FOV_TRY(fov_scene_check(beside, what->beside));
    FOV_TRY(fov_trace_check_pair(trace, trace_path, beside, what->beside));
    scene.beside = beside;
    name_agent(names[1], what->beside);
  }
  FOV_TRY(find_episode(&scene.episode, trace, trace_path, what));
  if (beside && scene.episode >= beside->episodes)
    return fov_fail(FOV_ERR_USAGE, "%s: no episode %d: it has episodes 0 to %d", what->beside,
                    scene.episode, beside->episodes - 1);
  return fov_has_ending(path, ".html") ? fov_export_episodes(path, &scene, what, NULL)
                                       : fov_export(path, &scene);
}

FovStatus fov_draw_episode(const char *path, const char *trace_path, const FovDrawEpisode *what) {
  if (!fov_has_ending(path, ".png") && !fov_has_ending(path, ".svg") &&
      !fov_has_ending(path, ".gif") && !fov_has_ending(path, ".mp4") &&
      !fov_has_ending(path, ".html"))
    return fov_fail(FOV_ERR_USAGE,
                    "%s: expected a name that ends in .png, .svg, .gif, .mp4 or .html", path);
  FovTrace trace = {0}, beside = {0};
  FOV_TRY(fov_trace_read(&trace, trace_path));
  FovStatus status = what->beside ? fov_trace_read(&beside, what->beside) : FOV_OK;
  if (status == FOV_OK)
    status = draw_episode(path, &trace, trace_path, what->beside ? &beside : NULL, what);
  fov_trace_finish(&beside);
  fov_trace_finish(&trace);
  return status;
}
