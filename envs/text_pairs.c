/** text_pairs: lines of one text file, to be answered with the lines of another. */
#include <stdlib.h>
#include <string.h>

#include "envs/datasets/lines.h"
#include "envs/outputs.h"

enum { LONGEST = 1024 };

static const char *const units[] = {"character", "word", NULL};

typedef struct Options {
  char source[FOV_STRING_SIZE], target[FOV_STRING_SIZE];
  char test_source[FOV_STRING_SIZE], test_target[FOV_STRING_SIZE];
  int unit, longest;
} Options;

/** Two texts of as many lines. */
typedef struct Texts {
  FovLines source, target;
} Texts;

typedef struct TextPairs {
  Texts texts;
  int64_t *lines;      // of this split
  const char **names;  // of the answers: the target's symbols, then the end
  int shown, answered; // symbols of the longest line of each kind, of all splits
} TextPairs;

static void finish_texts(Texts *texts) {
  fov_lines_finish(&texts->source);
  fov_lines_finish(&texts->target);
}

static void destroy(void *env) {
  TextPairs *pairs = env;
  if (!pairs) return;
  finish_texts(&pairs->texts);
  free(pairs->lines);
  free(pairs->names);
  free(pairs);
}

/** known: texts whose symbols are the only ones; NULL: all are new. */
static FovStatus read_texts(Texts *texts, const char *source, const char *target, const Options *o,
                            const Texts *known) {
  FovLinesUnit unit = (FovLinesUnit)o->unit;
  FOV_TRY(fov_lines_read(&texts->source, source, unit, o->longest, known ? &known->source : NULL));
  FOV_TRY(fov_lines_read(&texts->target, target, unit, o->longest, known ? &known->target : NULL));
  const FovLines *lines = &texts->source;
  if (lines->count != texts->target.count)
    return fov_fail(FOV_ERR_FORMAT, "%s: expected as many lines as %s, found %lld and %lld", target,
                    source, (long long)texts->target.count, (long long)lines->count);
  for (int64_t i = 0; i < lines->count; i++)
    if (lines->starts[i] == lines->starts[i + 1])
      return fov_fail(FOV_ERR_FORMAT, "%s:%lld: expected some text, found an empty line", source,
                      (long long)(i + 1));
  return FOV_OK;
}

static int longer(const FovLines *a, const FovLines *b) {
  return a->longest > b->longest ? a->longest : b->longest;
}

/** Chooses the lines of a split, and counts those of each. tests: lines of the separate test
 * files, which are the whole test split; 0: there are none. */
static FovStatus divide(TextPairs *pairs, FovEnvSpec *spec, const Options *o, FovSplit split,
                        int64_t tests) {
  const FovLines *source = &pairs->texts.source;
  pairs->lines = malloc((size_t)source->count * sizeof *pairs->lines);
  if (!pairs->lines) return fov_fail(FOV_ERR_MEMORY, "%s: no memory for its lines", o->source);
  for (int64_t i = 0; i < source->count; i++) {
    size_t first = source->starts[i];
    int length = (int)(source->starts[i + 1] - first);
    FovSplit of = FOV_SPLIT_TRAIN;
    while (of < FOV_SPLIT_TEST && !fov_source_is_of(source->tokens + first, length, of)) of++;
    if (tests > 0 && of == FOV_SPLIT_TEST) of = FOV_SPLIT_TRAIN;
    if (tests > 0 && split == FOV_SPLIT_TEST) of = FOV_SPLIT_TEST;
    if (of == split) pairs->lines[spec->division[of]] = i;
    spec->division[of]++;
  }
  if (tests > 0) spec->division[FOV_SPLIT_TEST] = tests;
  spec->cases = spec->division[split];
  if (spec->cases > 0) return FOV_OK;
  return fov_fail(FOV_ERR_FORMAT,
                  "%s: expected enough lines for each split, found %lld, of which none is in the "
                  "%s split",
                  o->source, (long long)source->count, fov_split_names[split]);
}

static FovStatus name_answers(TextPairs *pairs, FovEnvSpec *spec) {
  const FovLines *target = &pairs->texts.target;
  spec->actions = target->vocabulary + 1;
  pairs->names = malloc((size_t)spec->actions * sizeof *pairs->names);
  if (!pairs->names) return fov_fail(FOV_ERR_MEMORY, "no memory for the names of answers");
  for (int i = 0; i < target->vocabulary; i++) pairs->names[i] = target->names[i];
  pairs->names[target->vocabulary] = "end";
  spec->names = pairs->names;
  return FOV_OK;
}

static FovStatus check_options(const Options *o) {
  if (!*o->source || !*o->target)
    return fov_fail(FOV_ERR_USAGE, "env = text_pairs: expected two text files; set env.source and "
                                   "env.target");
  if (!*o->test_source == !*o->test_target) return FOV_OK;
  return fov_fail(FOV_ERR_USAGE, "env = text_pairs: expected env.test_source and env.test_target, "
                                 "or neither");
}

/** Reads all texts, and keeps those of the split. tests: lines of the separate test files; 0: there
 * are none. */
static FovStatus read_files(TextPairs *pairs, int64_t *tests, const Options *o, FovSplit split) {
  Texts held = {.source = {.count = 0}};
  FOV_TRY(check_options(o));
  FOV_TRY(read_texts(&pairs->texts, o->source, o->target, o, NULL));
  FovStatus status = FOV_OK;
  if (*o->test_source) status = read_texts(&held, o->test_source, o->test_target, o, &pairs->texts);
  *tests = held.source.count;
  pairs->shown = longer(&pairs->texts.source, &held.source);
  pairs->answered = longer(&pairs->texts.target, &held.target);
  if (status == FOV_OK && *tests > 0 && split == FOV_SPLIT_TEST) {
    Texts training = pairs->texts;
    pairs->texts = held;
    held = training;
  }
  finish_texts(&held);
  return status;
}

static FovStatus fill(TextPairs *pairs, FovEnvSpec *spec, const Options *o, FovSplit split) {
  int64_t tests;
  FOV_TRY(read_files(pairs, &tests, o, split));
  const FovLines *source = &pairs->texts.source;
  *spec = (FovEnvSpec){.observation = {.kind = FOV_OBSERVATION_TOKENS,
                                       .length = pairs->shown,
                                       .vocabulary = source->vocabulary},
                       .symbols = (const char *const *)source->names,
                       .answer = FOV_ANSWER_CLASS,
                       .steps = pairs->answered + 1,
                       .ends = true,
                       .digest = source->digest ^ (pairs->texts.target.digest * 3),
                       .state_size = fov_outputs_bytes(pairs->answered)};
  FOV_TRY(divide(pairs, spec, o, split, tests));
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
  const FovLines *source = &pairs->texts.source, *target = &pairs->texts.target;
  FovOutputs *outputs = fov_outputs_clear(lane, pairs->answered);
  int64_t line = pairs->lines[index];
  int32_t *tokens = lane->observation;
  size_t first = source->starts[line], length = source->starts[line + 1] - first;
  for (size_t i = 0; i < (size_t)pairs->shown; i++)
    tokens[i] = i < length ? source->tokens[first + i] : -1;
  for (size_t i = target->starts[line]; i < target->starts[line + 1]; i++)
    fov_outputs_add(outputs, target->tokens[i], fov_aligned_nowhere());
  fov_outputs_add(outputs, target->vocabulary, fov_aligned_nowhere());
  fov_outputs_show(lane);
}

static const FovOption options_table[] = {
    FOV_STRING(Options, source, "", "UTF-8 text file whose lines are shown"),
    FOV_STRING(Options, target, "", "UTF-8 text file of as many lines, which are the answers"),
    FOV_STRING(
        Options, test_source, "",
        "text file of the test split, with no other symbols than source; \"\": a tenth of its "
        "lines"),
    FOV_STRING(Options, test_target, "", "text file of as many lines, which are its answers"),
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
