#include "viz/scene/attention.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "viz/scene/episode.h"

static const FovTraceColumn *tiles_of(const FovTrace *trace) {
  const FovTraceColumn *tiles = fov_trace_find_column(trace, "attention.tiles");
  if (!tiles || fov_trace_grid(trace, tiles->width).across == 0) return NULL;
  return trace->vocabulary == 0 || tiles->width == trace->width ? tiles : NULL;
}

bool fov_reads_all(const FovTrace *trace) {
  return tiles_of(trace) && strcmp(trace->policy, "sites") != 0;
}

int fov_heads(const FovTrace *trace) {
  const FovTraceColumn *tiles = tiles_of(trace),
                       *heads = fov_trace_find_column(trace, "attention.heads");
  if (!tiles) return 0;
  return heads && heads->width % tiles->width == 0 ? heads->width / tiles->width : 1;
}

FovStatus fov_check_head(const FovTrace *trace, const char *path, int head) {
  int heads = fov_heads(trace);
  if (head == 0 || (head > 0 && head <= heads)) return FOV_OK;
  return fov_fail(FOV_ERR_USAGE,
                  "%s: --head %d: expected 0 to %d, the heads that it has weights of", path, head,
                  heads);
}

void fov_describe_head(char *text, size_t size, const FovTrace *trace, int head) {
  int heads = fov_heads(trace);
  text[0] = '\0';
  if (heads < 2) return;
  if (head == 0)
    snprintf(text, size, "mean of %d heads", heads);
  else
    snprintf(text, size, "head %d of %d", head, heads);
}

const float *fov_weights(FovTraceGrid *grid, const FovTrace *trace, int episode, int glimpse,
                         int head) {
  const FovTraceColumn *tiles = tiles_of(trace), *column = tiles;
  int heads = fov_heads(trace);
  if (!tiles) return NULL;
  FOV_CHECK(head >= 0 && head <= heads, "head %d of %d", head, heads);
  if (head > 0 && heads > 1) column = fov_trace_find_column(trace, "attention.heads");
  *grid = fov_trace_grid(trace, tiles->width);
  const float *all = column->values + column->width * fov_glimpse_index(trace, episode, glimpse);
  const float *weights = column == tiles ? all : all + (size_t)(head - 1) * tiles->width;
  return isfinite(weights[0]) ? weights : NULL;
}

bool fov_has_window(const FovTrace *trace) {
  return fov_trace_column(trace, "attention.window", 4) != NULL;
}

const float *fov_attention_window(const FovTrace *trace, int episode, int glimpse) {
  const float *windows = fov_trace_column(trace, "attention.window", 4);
  if (!windows) return NULL;
  const float *window = windows + 4 * fov_glimpse_index(trace, episode, glimpse);
  for (int i = 0; i < 4; i++)
    if (!isfinite(window[i])) return NULL;
  return window[2] > 0 && window[3] > 0 ? window : NULL;
}

const float *fov_gaze(const FovTrace *trace, int episode, int glimpse) {
  const float *window = fov_attention_window(trace, episode, glimpse);
  return window ? window : trace->locations + 2 * fov_glimpse_index(trace, episode, glimpse);
}
