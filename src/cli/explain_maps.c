#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/profile.h"
#include "base/text.h"
#include "cli/explain.h"
#include "cli/print.h"
#include "record/npy.h"

static const char axes[] =
    "map, pixels: episode, picture, row, column, channel; an environment that changes has a "
    "picture for "
    "each glimpse, others one. place: episode, glimpse, x and y; NaN: not taken. y: what is "
    "explained. label, answer: -1: none. pixels, and what the maps are a derivative of, are "
    "brightness: black is 0 and white 1";

/** [E, F, H, W, C] */
static FovBlob map_blob(const char *name, const FovMaps *maps, float *data) {
  FovBlob blob = {
      .dtype = FOV_DTYPE_F32,
      .dims = 5,
      .shape = {maps->episodes, maps->frames, maps->height, maps->width, maps->channels},
      .data = data};
  snprintf(blob.name, sizeof blob.name, "%s", name);
  return blob;
}

/** The mean of the maps: [F, H, W, C]. */
static FovBlob mean_blob(const FovMaps *maps) {
  FovBlob blob = map_blob("mean", maps, maps->mean);
  memmove(blob.shape, blob.shape + 1, 4 * sizeof *blob.shape);
  blob.dims = 4;
  return blob;
}

static FovBlob list_blob(const char *name, FovDtype dtype, int64_t count, const void *data) {
  FovBlob blob = {.dtype = dtype, .dims = 1, .shape = {count}, .data = (void *)data};
  snprintf(blob.name, sizeof blob.name, "%s", name);
  return blob;
}

/** The name of the target; that of a vector is by default its number 0. */
static const char *target_of(const FovExplainSubject *subject, const FovExplainCommand *command) {
  const char *target = command->target ? command->target : "logit";
  bool vector = subject->trained.env.spec.answer == FOV_ANSWER_VECTOR;
  return vector && strcmp(target, "logit") == 0 ? "logit:0" : target;
}

static FovStatus write_maps(const FovMaps *maps, const FovExplainSubject *subject,
                            const FovExplainCommand *command, const FovMethod *method) {
  char path[FOV_PATH_SIZE], source[FOV_PATH_SIZE];
  int64_t E = maps->episodes;
  FovBlob map = map_blob("map", maps, maps->map);
  const FovBlob blobs[] = {
      map,
      map_blob("pixels", maps, maps->pixels),
      mean_blob(maps),
      {.name = "place",
       .dtype = FOV_DTYPE_F32,
       .dims = 3,
       .shape = {E, maps->glimpses, 2},
       .data = maps->places},
      list_blob("case", FOV_DTYPE_I64, E, subject->cases),
      list_blob("label", FOV_DTYPE_I32, E, maps->labels),
      list_blob("answer", FOV_DTYPE_I32, E, maps->answers),
      list_blob("y", FOV_DTYPE_F64, E, maps->y),
      list_blob("completeness", FOV_DTYPE_F64, E, maps->completeness),
  };
  const FovText texts[] = {{"axes", axes},
                           {"method", method->plugin.name},
                           {"target", target_of(subject, command)},
                           {"checkpoint", fov_explain_source(source, subject)},
                           {"split", fov_split_names[subject->trained.split]}};
  FOV_TRY(fov_safetensors_write(fov_explain_path(path, command, "maps.safetensors"), blobs,
                                sizeof blobs / sizeof *blobs, texts, sizeof texts / sizeof *texts));
  FOV_TRY(fov_npy_write(fov_explain_path(path, command, "maps.npy"), &map));
  FovBlob mean = mean_blob(maps);
  return fov_npy_write(fov_explain_path(path, command, "mean.npy"), &mean);
}

/* ---- pictures ---- */

enum { DRAWN = 24 }; // episodes

/** Writes the method and, if it depends on them, the requested target and time. */
static void describe(char text[256], const FovExplainSubject *subject,
                     const FovExplainCommand *command, const FovMethod *method) {
  const char *name = method->plugin.name, *target = target_of(subject, command);
  if (method->ignores_target)
    snprintf(text, 256, "%s", name);
  else if (command->time == 0)
    snprintf(text, 256, "%s of %s", name, target);
  else
    snprintf(text, 256, "%s of %s after glimpse %d", name, target, command->time);
}

/** Episode e, and what was answered. */
static FovDrawMap panel_of(const FovMaps *maps, int64_t e, int64_t number,
                           const FovMethod *method) {
  size_t numbers = fov_maps_numbers(maps);
  int label = maps->labels[e], answer = maps->answers[e];
  FovDrawMap map = {.map = maps->map + (size_t)e * numbers,
                    .pixels = maps->pixels + (size_t)e * numbers,
                    .places = maps->places + e * maps->glimpses * 2,
                    .place_count = method->ignores_target ? maps->glimpses : maps->times[e],
                    .wrong = label >= 0 && answer != label};
  if (label < 0)
    snprintf(map.caption, sizeof map.caption, "case %lld", (long long)number);
  else if (map.wrong)
    snprintf(map.caption, sizeof map.caption, "case %lld: %d, answer %d", (long long)number, label,
             answer);
  else
    snprintf(map.caption, sizeof map.caption, "case %lld: %d", (long long)number, label);
  return map;
}

/** Draws some episodes, and the mean of all; without drawing in the program, nothing. */
static FovStatus draw(const FovMaps *maps, const FovExplainSubject *subject,
                      const FovExplainCommand *command, const FovMethod *method) {
  char path[FOV_PATH_SIZE], title[256];
  FovDrawMap list[DRAWN], mean = {.map = maps->mean, .pixels = maps->mean_pixels};
  FovDrawMaps drawing = {.maps = list,
                         .count = maps->episodes < DRAWN ? (int)maps->episodes : DRAWN,
                         .frames = maps->frames,
                         .height = maps->height,
                         .width = maps->width,
                         .channels = maps->channels,
                         .title = title};
  if (!fov_explain_draws(command)) return FOV_OK;
  for (int i = 0; i < drawing.count; i++) list[i] = panel_of(maps, i, subject->cases[i], method);
  describe(title, subject, command, method);
  fov_explain_picture(path, command, "maps");
  FOV_TRY(fov_draw_maps(path, &drawing));
  drawing.maps = &mean;
  drawing.count = 1;
  snprintf(mean.caption, sizeof mean.caption, "mean of %lld episode%s", (long long)maps->episodes,
           fov_plural(maps->episodes));
  fov_explain_picture(path, command, "mean");
  return fov_draw_maps(path, &drawing);
}

/* ---- printing ---- */

static void print_completeness(const FovMaps *maps) {
  double sum = 0, most = 0, size = 0;
  if (isnan(maps->completeness[0])) return;
  for (int64_t e = 0; e < maps->episodes; e++) {
    sum += fabs(maps->completeness[e]) / (double)maps->episodes;
    most = fmax(most, fabs(maps->completeness[e]));
    size += fabs(maps->y[e]) / (double)maps->episodes;
  }
  fov_print(stdout, "completeness error: mean %.2g, largest %.2g (mean |y| %.3g)\n", sum, most,
            size);
}

FovStatus fov_explain_maps(const FovExplainSubject *subject, const FovExplainCommand *command,
                           const FovMethodOptions *options) {
  const FovMethod *method;
  FovMaps maps;
  char what[256];
  FOV_TRY(fov_method_choose(&method, command));
  double start = fov_now();
  FovStatus status =
      fov_maps_make(&maps, &subject->request, method, fov_method_options_of(options, method));
  double seconds = fov_now() - start;
  if (status == FOV_OK) status = fov_make_folders(command->output);
  if (status == FOV_OK) status = write_maps(&maps, subject, command, method);
  if (status == FOV_OK) status = draw(&maps, subject, command, method);
  if (status == FOV_OK) {
    describe(what, subject, command, method);
    fov_print(stdout, "%s: %s, %lld episode%s of %s, %.2f s\n", command->output, what,
              (long long)maps.episodes, fov_plural(maps.episodes), subject->trained.path, seconds);
    print_completeness(&maps);
  }
  fov_maps_finish(&maps);
  return status;
}
