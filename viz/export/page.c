#include "viz/export/page.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "viz/scene/attention.h"
#include "viz/scene/episode.h"
#include "viz/scene/part_answer.h"

extern const char fov_page_before[], fov_page_after[]; // the parts of page.html around the data

/* ---- JSON ---- */

/** A string of UTF-8. '<' is escaped, so that no text ends the script around it. */
static void put_string(FILE *out, const char *text, size_t length) {
  putc('"', out);
  for (size_t i = 0; i < length; i++) {
    unsigned char c = (unsigned char)text[i];
    if (c < ' ' || c == '"' || c == '\\' || c == '<' || c == 127)
      fprintf(out, "\\u%04x", c);
    else
      putc(c, out);
  }
  putc('"', out);
}

/** Numbers as an array; null for what is not finite. */
static void put_numbers(FILE *out, const float *numbers, int count) {
  for (int i = 0; i < count; i++) {
    putc(i ? ',' : '[', out);
    if (isfinite(numbers[i]))
      fprintf(out, "%.5g", (double)numbers[i]);
    else
      fputs("null", out);
  }
  fputs(count ? "]" : "[]", out);
}

static void put_integers(FILE *out, const int32_t *numbers, int count) {
  for (int i = 0; i < count; i++) fprintf(out, "%c%d", i ? ',' : '[', (int)numbers[i]);
  putc(']', out);
}

/** A key, then for each glimpse `width` numbers, or null without values. values: [T, width] */
static void put_rows(FILE *out, const char *key, const float *values, int glimpses, int width) {
  fprintf(out, ",\"%s\":", key);
  for (int t = 0; t < glimpses; t++) {
    const float *row = values ? values + (size_t)t * width : NULL;
    putc(t ? ',' : '[', out);
    if (row && isfinite(row[0]))
      put_numbers(out, row, width);
    else
      fputs("null", out);
  }
  putc(']', out);
}

/** A key and bytes in base64 (RFC 4648). */
static void put_bytes(FILE *out, const char *key, const uint8_t *bytes, size_t size) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  fprintf(out, ",\"%s\":\"", key);
  for (size_t i = 0; i < size; i += 3) {
    size_t left = size - i;
    uint32_t three = (uint32_t)bytes[i] << 16 | (uint32_t)(left > 1 ? bytes[i + 1] : 0) << 8 |
                     (left > 2 ? bytes[i + 2] : 0);
    putc(digits[three >> 18], out);
    putc(digits[three >> 12 & 63], out);
    putc(left > 1 ? digits[three >> 6 & 63] : '=', out);
    putc(left > 2 ? digits[three & 63] : '=', out);
  }
  putc('"', out);
}

/* ---- an agent ---- */

/** A column of pairs at an episode, [T, 2]; NULL: there is none. */
static const float *pairs_of(const FovTrace *trace, const char *name, int episode) {
  const float *values = fov_trace_column(trace, name, 2);
  return values ? values + 2 * fov_glimpse_index(trace, episode, 0) : NULL;
}

static void put_patches(FILE *out, const FovTrace *trace, int episode) {
  fputs(",\"patches\":", out);
  for (int t = 0; t < trace->lengths[episode]; t++) {
    fputs(t ? ",[" : "[[", out);
    for (int s = 0; s < trace->scales; s++) {
      FovPatchArea p = fov_patch_area(trace, episode, t, s);
      fprintf(out, "%s[%.6g,%.6g,%.6g,%.6g]", s ? "," : "", p.x, p.y, p.w, p.h);
    }
    putc(']', out);
  }
  putc(']', out);
}

/** Where the glimpses were; or the weights of tiles, of a head or the mean of all. */
static void put_gaze(FILE *out, const FovTrace *trace, int episode, int head) {
  int T = trace->lengths[episode];
  FovGrid grid;
  if (fov_heads(trace) > 0) {
    fputs(",\"weights\":", out);
    for (int t = 0; t < T; t++) {
      const float *weights = fov_weights(&grid, trace, episode, t, head);
      putc(t ? ',' : '[', out);
      if (weights)
        put_numbers(out, weights, grid.across * grid.down);
      else
        fputs("null", out);
    }
    putc(']', out);
  }
  if (!fov_has_places(trace)) return;
  fputs(",\"places\":", out);
  for (int t = 0; t < T; t++) {
    putc(t ? ',' : '[', out);
    put_numbers(out, fov_gaze(trace, episode, t), 2);
  }
  putc(']', out);
  if (!fov_reads_several(trace)) put_patches(out, trace, episode);
  put_rows(out, "means", pairs_of(trace, "policy.mean", episode), T, 2);
  put_rows(out, "sigmas", pairs_of(trace, "policy.sigma", episode), T, 2);
  const FovTraceColumn *tiles = fov_trace_find_column(trace, "policy.tiles");
  if (!tiles) return;
  size_t first = fov_glimpse_index(trace, episode, 0);
  put_rows(out, "tiles", tiles->values + first * tiles->width, T, tiles->width);
}

/** A map as signed bytes: 127 is its scale, in full colour. bytes: [pixels] */
static void write_map(int8_t *bytes, const FovExplanation *explanation, size_t pixels) {
  for (size_t i = 0; i < pixels; i++) {
    double share = explanation->scale > 0 ? (double)explanation->map[i] / explanation->scale : 0;
    bytes[i] = (int8_t)lround(127 * fmax(-1, fmin(1, share)));
  }
}

/** The maps of T glimpses with their scales, and the rows of the Jacobian up to its diagonal. */
static FovStatus put_explanation(FILE *out, const FovTrace *trace, const FovExplanation *glimpses,
                                 int T) {
  size_t pixels = (size_t)trace->height * trace->width;
  int8_t *maps = malloc((size_t)T * pixels);
  if (!maps) return fov_fail(FOV_ERR_MEMORY, "no memory for %d maps of %zu pixels", T, pixels);
  for (int t = 0; t < T; t++) write_map(maps + (size_t)t * pixels, &glimpses[t], pixels);
  fputs(",\"method\":", out);
  put_string(out, glimpses[0].method, strlen(glimpses[0].method));
  put_bytes(out, "maps", (uint8_t *)maps, (size_t)T * pixels);
  free(maps);
  for (int t = 0; t < T; t++) fprintf(out, "%s%.5g", t ? "," : ",\"scales\":[", glimpses[t].scale);
  fputs("],\"jacobian\":", out);
  for (int t = 0; t < T; t++) {
    putc(t ? ',' : '[', out);
    put_numbers(out, glimpses[t].jacobian + (size_t)t * trace->glimpses, t + 1);
  }
  putc(']', out);
  return FOV_OK;
}

static FovStatus put_episode(FILE *out, const FovTrace *trace, int episode, int head,
                             const FovExplainer *explainer) {
  int T = trace->lengths[episode], C = trace->channels;
  size_t m = fov_glimpse_index(trace, episode, 0);
  size_t image = (size_t)trace->height * trace->width * C;
  size_t glimpse = (size_t)trace->scales * trace->side * trace->side * C;
  fprintf(out, "{\"number\":%d,\"wrong\":%d,\"length\":%d", episode, (int)trace->wrong[episode], T);
  put_bytes(out, "images", fov_picture(trace, episode, 0).bytes,
            image * (trace->frames > 1 ? (size_t)T : 1));
  put_bytes(out, "retina", trace->retina + m * glimpse, (size_t)T * glimpse);
  put_gaze(out, trace, episode, head);
  if (fov_answers_places(trace)) {
    put_rows(out, "targets", pairs_of(trace, "answer.target", episode), T, 2);
    put_rows(out, "answered", pairs_of(trace, "answer.place", episode), T, 2);
  } else {
    put_rows(out, "p", trace->probabilities + m * trace->actions, T, trace->actions);
  }
  fputs(",\"baselines\":", out);
  put_numbers(out, trace->baselines + m, T);
  fputs(",\"rewards\":", out);
  put_numbers(out, trace->rewards + m, T);
  fputs(",\"labels\":", out);
  put_integers(out, trace->labels + m, T);
  fputs(",\"answers\":", out);
  put_integers(out, trace->answers + m, T);
  if (explainer) {
    const FovExplanation *glimpses;
    FOV_TRY(explainer->explain(&glimpses, explainer->context, episode));
    FOV_TRY(put_explanation(out, trace, glimpses, T));
  }
  putc('}', out);
  return FOV_OK;
}

static void put_names(FILE *out, const FovTrace *trace) {
  fputs(",\"names\":", out);
  if (!trace->names) {
    fputs("null", out);
    return;
  }
  const char *name = trace->names;
  for (int a = 0; a < trace->actions; a++) {
    size_t length = strcspn(name, "\n");
    putc(a ? ',' : '[', out);
    put_string(out, name, length);
    name += length + (name[length] == '\n');
  }
  putc(']', out);
}

static const char *truth(bool value) {
  return value ? "true" : "false";
}

/** With the mean of all heads if it does not have this one. */
static FovStatus put_agent(FILE *out, const FovTrace *trace, const char *name, int head,
                           const int *episodes, int count, const FovExplainer *explainer) {
  char weights[40];
  const FovTraceColumn *tiles = fov_attention_tiles(trace);
  FovGrid grid = tiles ? fov_trace_grid(trace, tiles->width) : (FovGrid){0};
  const FovTraceColumn *policy = fov_trace_find_column(trace, "policy.tiles");
  FovGrid places =
      policy && fov_has_places(trace) ? fov_trace_grid(trace, policy->width) : (FovGrid){0};
  bool gaussian =
      fov_trace_column(trace, "policy.mean", 2) && fov_trace_column(trace, "policy.sigma", 2);
  fputs("{\"name\":", out);
  put_string(out, name, strlen(name));
  put_names(out, trace);
  if (head > fov_heads(trace)) head = 0;
  fov_describe_head(weights, sizeof weights, trace, head);
  fprintf(
      out,
      ",\"width\":%d,\"height\":%d,\"channels\":%d,\"side\":%d,\"scales\":%d,"
      "\"across\":%d,\"down\":%d,\"head\":\"%s\",\"policyAcross\":%d,\"policyDown\":%d,\"vectors\":"
      "%s,"
      "\"changes\":%s,\"control\":%s,\"placed\":%s,\"patched\":%s,\"gaussian\":%s,\"episodes\":",
      trace->width, trace->height, trace->channels, trace->side, trace->scales, grid.across,
      grid.down, weights, places.across, places.down, truth(fov_answers_places(trace)),
      truth(trace->frames > 1), truth(trace->control), truth(fov_has_places(trace)),
      truth(!fov_reads_several(trace)), truth(gaussian && !fov_reads_several(trace)));
  for (int i = 0; i < count; i++) {
    fputs(i ? ",\n" : "[\n", out);
    FOV_TRY(put_episode(out, trace, episodes[i], head, explainer));
  }
  fputs("]}", out);
  return FOV_OK;
}

static FovStatus put_page(FILE *out, const FovScene *scene, const int *episodes, int count,
                          const FovExplainer *explainer) {
  fputs(fov_page_before, out);
  fprintf(out, "{\"light\":%s,\"agents\":[", truth(scene->theme == &fov_theme_light));
  FOV_TRY(put_agent(out, scene->trace, scene->names[0], scene->head, episodes, count, explainer));
  if (scene->beside) {
    putc(',', out);
    FOV_TRY(put_agent(out, scene->beside, scene->names[1], scene->head, episodes, count, NULL));
  }
  fputs("]}\n", out);
  fputs(fov_page_after, out);
  return FOV_OK;
}

FovStatus fov_export_page(const char *path, const FovScene *scene, const int *episodes, int count,
                          const FovExplainer *explainer) {
  FovReplace file;
  FOV_TRY(fov_replace_begin(&file, path));
  FovStatus status = put_page(file.stream, scene, episodes, count, explainer);
  if (status == FOV_OK) return fov_replace_commit(&file);
  fov_replace_abort(&file);
  return status;
}
