#include "viz/scene/episode.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

int fov_last_glimpse(const FovTrace *trace, int episode) {
  return trace->lengths[episode] - 1;
}

FovPixels fov_picture(const FovTrace *trace, int episode, int glimpse) {
  size_t size = (size_t)trace->height * trace->width * trace->channels;
  size_t frame = (size_t)episode * trace->frames + (trace->frames > 1 ? glimpse : 0);
  return (FovPixels){trace->images + frame * size, trace->width, trace->height, trace->channels};
}

int fov_first_label(const FovTrace *trace, int episode) {
  const int32_t *labels = trace->labels + fov_glimpse_index(trace, episode, 0);
  for (int t = 0; t < trace->lengths[episode]; t++)
    if (labels[t] >= 0) return labels[t];
  return -1;
}

int fov_next_answer(const FovTrace *trace, int episode, int glimpse) {
  const int32_t *answers = trace->answers + fov_glimpse_index(trace, episode, 0);
  for (int t = glimpse; t < trace->lengths[episode]; t++)
    if (answers[t] >= 0) return answers[t];
  return -1;
}

/** Finds the next answer from a glimpse on, and the glimpse after it; −1: none. */
static int take_answer(int *t, const FovTrace *trace, int episode) {
  const int32_t *answers = trace->answers + fov_glimpse_index(trace, episode, 0);
  while (*t < trace->lengths[episode] && answers[*t] < 0) ++*t;
  return *t < trace->lengths[episode] ? answers[(*t)++] : -1;
}

bool fov_disagree(const FovTrace *a, const FovTrace *b, int episode) {
  int s = 0, t = 0, answer, other;
  if (a->control) return a->wrong[episode] != b->wrong[episode];
  do {
    answer = take_answer(&s, a, episode);
    other = take_answer(&t, b, episode);
  } while (answer == other && answer >= 0);
  return answer != other;
}

double fov_return(const FovTrace *trace, int episode, int glimpse) {
  const float *rewards = trace->rewards + fov_glimpse_index(trace, episode, 0);
  double sum = 0;
  for (int t = glimpse; t < trace->lengths[episode]; t++) sum += rewards[t];
  return sum;
}

double fov_step_cost(const FovTrace *trace, int episode, int glimpse) {
  const float *costs = fov_trace_column(trace, "policy.cost", 1);
  if (!costs || glimpse + 1 == trace->glimpses) return NAN;
  return costs[fov_glimpse_index(trace, episode, glimpse + 1)];
}

bool fov_has_targets(const FovTrace *trace) {
  return fov_trace_column(trace, "answer.target", 2);
}

const float *fov_target_place(const FovTrace *trace, int episode, int glimpse) {
  const float *targets = fov_trace_column(trace, "answer.target", 2), *found = NULL;
  if (!targets) return NULL;
  targets += 2 * fov_glimpse_index(trace, episode, 0);
  for (int t = trace->lengths[episode] - 1; t >= 0 && (t >= glimpse || !found); t--)
    if (isfinite(targets[2 * t])) found = targets + 2 * t;
  return found;
}

double fov_entropy(const FovTrace *trace, int episode, int glimpse) {
  const float *p =
      trace->probabilities + fov_glimpse_index(trace, episode, glimpse) * trace->actions;
  double bits = 0;
  for (int a = 0; a < trace->actions; a++)
    if (p[a] > 0) bits -= p[a] * log2(p[a]);
  return bits;
}

/** Cuts off a character of UTF-8 that did not fit whole. */
static void cut_character(char *text) {
  size_t end = strlen(text), start = end;
  while (start > 0 && ((unsigned char)text[start - 1] & 0xc0) == 0x80) start--;
  if (start == 0) return;
  unsigned char lead = (unsigned char)text[start - 1];
  size_t bytes = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  if (end - start + 1 < bytes) text[start - 1] = '\0';
}

/** Makes a name that a buffer may have cut, or from any file, one that can be drawn. */
static void clean_name(char *text) {
  cut_character(text);
  fov_text_clean(text);
}

void fov_action_name(char text[FOV_ACTION_NAME], const FovTrace *trace, int action) {
  if (action < 0)
    snprintf(text, FOV_ACTION_NAME, "none");
  else
    fov_trace_name(text, FOV_ACTION_NAME, trace, action);
  clean_name(text);
}

void fov_symbol_name(char text[FOV_ACTION_NAME], const FovTrace *trace, int symbol) {
  fov_trace_symbol(text, FOV_ACTION_NAME, trace, symbol);
  clean_name(text);
}
