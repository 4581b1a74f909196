#include "viz/scene/attention.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "viz/scene/episode.h"

int fov_heads(const FovTrace *trace) {
  const FovTraceColumn *tiles = fov_attention_tiles(trace),
                       *heads = fov_trace_find_column(trace, "attention.heads");
  if (!tiles) return 0;
  return heads && heads->width % tiles->width == 0 ? heads->width / tiles->width : 1;
}

FovStatus fov_check_head(const FovTrace *trace, const char *path, int head) {
  int heads = fov_heads(trace);
  if (head == 0 || (head > 0 && head <= heads)) return FOV_OK;
  if (heads == 0)
    return fov_fail(FOV_ERR_USAGE, "%s: --head %d: it has no weights of tiles or symbols", path,
                    head);
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

const float *fov_weights(FovGrid *grid, const FovTrace *trace, int episode, int glimpse, int head) {
  const FovTraceColumn *tiles = fov_attention_tiles(trace), *column = tiles;
  int heads = fov_heads(trace);
  if (!tiles) return NULL;
  FOV_CHECK(head >= 0 && head <= heads, "head %d of %d", head, heads);
  if (head > 0 && heads > 1) column = fov_trace_find_column(trace, "attention.heads");
  *grid = fov_trace_grid(trace, tiles->width);
  const float *all = column->values + column->width * fov_glimpse_index(trace, episode, glimpse);
  const float *weights = column == tiles ? all : all + (size_t)(head - 1) * tiles->width;
  return isfinite(weights[0]) ? weights : NULL;
}
