/** text_pairs: lines of one text file, to be answered with the lines of another. */
#include <stdlib.h>
#include <string.h>

#include "envs/datasets/lines.h"
#include "envs/outputs.h"

enum { LONGEST = 1024 };

static const char *const units[] = {"character", "word", NULL};

typedef struct Options {
  char source[FOV_STRING_SIZE], target[FOV_STRING_SIZE];
  int unit, longest;
} Options;

typedef struct TextPairs {
  FovLines source, target;
  int64_t *lines;     // of this split
  const char **names; // of the answers: the target's symbols, then the end
} TextPairs;

static void destroy(void *env) {
  TextPairs *pairs = env;
  if (!pairs) return;
  fov_lines_finish(&pairs->source);
  fov_lines_finish(&pairs->target);
  free(pairs->lines);
  free(pairs->names);
  free(pairs);
}

static FovStatus read_files(TextPairs *pairs, const Options *o) {
  if (!*o->source || !*o->target)
    return fov_fail(FOV_ERR_USAGE, "env = text_pairs: expected two text files; set env.source and "
                                   "env.target");
  FovLinesUnit unit = (FovLinesUnit)o->unit;
  FOV_TRY(fov_lines_read(&pairs->source, o->source, unit, o->longest));
  FOV_TRY(fov_lines_read(&pairs->target, o->target, unit, o->longest));
  const FovLines *source = &pairs->source, *target = &pairs->target;
  if (source->count != target->count)
    return fov_fail(FOV_ERR_FORMAT, "%s: expected as many lines as %s, found %lld and %lld",
                    o->target, o->source, (long long)target->count, (long long)source->count);
  for (int64_t i = 0; i < source->count; i++)
    if (source->starts[i] == source->starts[i + 1])
      return fov_fail(FOV_ERR_FORMAT, "%s:%lld: expected some text, found an empty line", o->source,
                      (long long)(i + 1));
  return FOV_OK;
}

/** Chooses the lines of a split, and counts those of each. */
static FovStatus divide(TextPairs *pairs, FovEnvSpec *spec, const Options *o, FovSplit split) {
  const FovLines *source = &pairs->source;
  pairs->lines = malloc((size_t)source->count * sizeof *pairs->lines);
  if (!pairs->lines) return fov_fail(FOV_ERR_MEMORY, "%s: no memory for its lines", o->source);
  for (int64_t i = 0; i < source->count; i++) {
    size_t first = source->starts[i];
    int length = (int)(source->starts[i + 1] - first);
    for (FovSplit s = FOV_SPLIT_TRAIN; s <= FOV_SPLIT_TEST; s++) {
      if (!fov_source_is_of(source->tokens + first, length, s)) continue;
      if (s == split) pairs->lines[spec->division[s]] = i;
      spec->division[s]++;
    }
  }
  spec->cases = spec->division[split];
  if (spec->cases > 0) return FOV_OK;
  return fov_fail(FOV_ERR_FORMAT,
                  "%s: expected enough lines for each split, found %lld, of which none is in the "
                  "%s split",
                  o->source, (long long)source->count, fov_split_names[split]);
}

static FovStatus name_answers(TextPairs *pairs, FovEnvSpec *spec) {
  const FovLines *target = &pairs->target;
  spec->actions = target->vocabulary + 1;
  pairs->names = malloc((size_t)spec->actions * sizeof *pairs->names);
  if (!pairs->names) return fov_fail(FOV_ERR_MEMORY, "no memory for the names of answers");
  for (int i = 0; i < target->vocabulary; i++) pairs->names[i] = target->names[i];
  pairs->names[target->vocabulary] = "end";
  spec->names = pairs->names;
  return FOV_OK;
}

static FovStatus fill(TextPairs *pairs, FovEnvSpec *spec, const Options *o, FovSplit split) {
  FOV_TRY(read_files(pairs, o));
  *spec = (FovEnvSpec){.observation = {.kind = FOV_OBSERVATION_TOKENS,
                                       .length = pairs->source.longest,
                                       .vocabulary = pairs->source.vocabulary},
                       .symbols = (const char *const *)pairs->source.names,
                       .answer = FOV_ANSWER_CLASS,
                       .steps = pairs->target.longest + 1,
                       .ends = true,
                       .digest = pairs->source.digest ^ (pairs->target.digest * 3),
                       .state_size = fov_outputs_bytes(pairs->target.longest)};
  FOV_TRY(divide(pairs, spec, o, split));
  return name_answers(pairs, spec);
}

static FovStatus create(void **env, FovEnvSpec *spec, const void *options, FovSplit split) {
  TextPairs *pairs = *env = calloc(1, sizeof *pairs);
  if (!pairs) return fov_fail(FOV_ERR_MEMORY, "no memory for an environment");
  FovStatus status = fill(pairs, spec, options, split);
  if (status == FOV_OK) return FOV_OK;
  destroy(pairs);
  *env = NULL;
  return status;
}

static void reset(const void *env, FovEnvLane *lane, int64_t index, FovRng *rng) {
  (void)rng;
  const TextPairs *pairs = env;
  const FovLines *source = &pairs->source, *target = &pairs->target;
  FovOutputs *outputs = fov_outputs_clear(lane, target->longest);
  int64_t line = pairs->lines[index];
  int32_t *tokens = lane->observation;
  size_t first = source->starts[line], length = source->starts[line + 1] - first;
  for (size_t i = 0; i < (size_t)source->longest; i++)
    tokens[i] = i < length ? source->tokens[first + i] : -1;
  for (size_t i = target->starts[line]; i < target->starts[line + 1]; i++)
    fov_outputs_add(outputs, target->tokens[i], fov_aligned_nowhere());
  fov_outputs_add(outputs, target->vocabulary, fov_aligned_nowhere());
  fov_outputs_show(lane);
}

static const FovOption options_table[] = {
    FOV_STRING(Options, source, "", "UTF-8 text file whose lines are shown"),
    FOV_STRING(Options, target, "", "UTF-8 text file of as many lines, which are the answers"),
    FOV_CHOICE(Options, unit, "character", units, "what a symbol is"),
    FOV_INT(Options, longest, "100", 1, LONGEST, "most symbols of a line"),
    FOV_OPTIONS_END,
};

const FovEnvType fov_env_text_pairs = {
    .plugin = {"text_pairs", "lines of a text, to be answered with those of another", options_table,
               sizeof(Options)},
    .create = create,
    .destroy = destroy,
    .reset = reset,
    .step = fov_outputs_step,
};
