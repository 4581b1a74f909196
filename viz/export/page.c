#include "viz/export/page.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "viz/scene/attention.h"
#include "viz/scene/episode.h"
#include "viz/scene/reconstruction.h"

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

/** The column of a trace's policy at an episode, [T, 2]; NULL: there is none. */
static const float *policy_column(const FovTrace *trace, const char *name, int episode) {
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

/** Where the glimpses were; or the weights of tiles, the mean of the heads. */
static void put_gaze(FILE *out, const FovTrace *trace, int episode) {
  int T = trace->lengths[episode];
  FovGrid grid;
  if (fov_heads(trace) > 0) {
    fputs(",\"weights\":", out);
    for (int t = 0; t < T; t++) {
      const float *weights = fov_weights(&grid, trace, episode, t, 0);
      putc(t ? ',' : '[', out);
      if (weights)
        put_numbers(out, weights, grid.across * grid.down);
      else
        fputs("null", out);
    }
    putc(']', out);
  }
  if (fov_reads_all(trace)) return;
  fputs(",\"places\":", out);
  for (int t = 0; t < T; t++) {
    putc(t ? ',' : '[', out);
    put_numbers(out, fov_gaze(trace, episode, t), 2);
  }
  putc(']', out);
  put_patches(out, trace, episode);
  put_rows(out, "means", policy_column(trace, "policy.mean", episode), T, 2);
  put_rows(out, "sigmas", policy_column(trace, "policy.sigma", episode), T, 2);
}

static void put_episode(FILE *out, const FovTrace *trace, int episode) {
  int T = trace->lengths[episode], C = trace->channels;
  size_t m = fov_glimpse_index(trace, episode, 0);
  size_t image = (size_t)trace->height * trace->width * C;
  size_t glimpse = (size_t)trace->scales * trace->side * trace->side * C;
  fprintf(out, "{\"number\":%d,\"wrong\":%d,\"length\":%d", episode, (int)trace->wrong[episode], T);
  put_bytes(out, "images", fov_picture(trace, episode, 0).bytes,
            image * (trace->frames > 1 ? (size_t)T : 1));
  put_bytes(out, "retina", trace->retina + m * glimpse, (size_t)T * glimpse);
  put_gaze(out, trace, episode);
  put_rows(out, "p", trace->probabilities + m * trace->actions, T, trace->actions);
  fputs(",\"baselines\":", out);
  put_numbers(out, trace->baselines + m, T);
  fputs(",\"rewards\":", out);
  put_numbers(out, trace->rewards + m, T);
  fputs(",\"labels\":", out);
  put_integers(out, trace->labels + m, T);
  fputs(",\"answers\":", out);
  put_integers(out, trace->answers + m, T);
  putc('}', out);
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

static void put_agent(FILE *out, const FovTrace *trace, const char *name, const int *episodes,
                      int count) {
  const FovTraceColumn *tiles = fov_attention_tiles(trace);
  FovGrid grid = tiles ? fov_trace_grid(trace, tiles->width) : (FovGrid){0};
  bool gaussian =
      fov_trace_column(trace, "policy.mean", 2) && fov_trace_column(trace, "policy.sigma", 2);
  fputs("{\"name\":", out);
  put_string(out, name, strlen(name));
  put_names(out, trace);
  fprintf(out,
          ",\"width\":%d,\"height\":%d,\"channels\":%d,\"side\":%d,\"scales\":%d,"
          "\"across\":%d,\"down\":%d,"
          "\"changes\":%s,\"control\":%s,\"placed\":%s,\"gaussian\":%s,\"episodes\":",
          trace->width, trace->height, trace->channels, trace->side, trace->scales, grid.across,
          grid.down, truth(trace->frames > 1), truth(trace->control), truth(!fov_reads_all(trace)),
          truth(gaussian && !fov_reads_all(trace)));
  for (int i = 0; i < count; i++) {
    fputs(i ? ",\n" : "[\n", out);
    put_episode(out, trace, episodes[i]);
  }
  fputs("]}", out);
}

FovStatus fov_export_page(const char *path, const FovScene *scene, const int *episodes, int count) {
  FovReplace file;
  FOV_TRY(fov_replace_begin(&file, path));
  FILE *out = file.stream;
  fputs(fov_page_before, out);
  fprintf(out, "{\"light\":%s,\"agents\":[", truth(scene->theme == &fov_theme_light));
  put_agent(out, scene->trace, scene->names[0], episodes, count);
  if (scene->beside) {
    putc(',', out);
    put_agent(out, scene->beside, scene->names[1], episodes, count);
  }
  fputs("]}\n", out);
  fputs(fov_page_after, out);
  return fov_replace_commit(&file);
}
