#include "envs/letters.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 1024, MOST_SYMBOLS = 52, CASES = 10000 };

static const char *const names[MOST_SYMBOLS] = {
    "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q", "r",
    "s", "t", "u", "v", "w", "x", "y", "z", "A", "B", "C", "D", "E", "F", "G", "H", "I", "J",
    "K", "L", "M", "N", "O", "P", "Q", "R", "S", "T", "U", "V", "W", "X", "Y", "Z"};

const FovOption fov_letters_options[] = {
    FOV_INT(FovLettersOptions, alphabet, "26", 1, MOST_SYMBOLS, "different symbols"),
    FOV_INT(FovLettersOptions, shortest, "1", 1, LONGEST, "fewest symbols of a sequence"),
    FOV_INT(FovLettersOptions, longest, "20", 1, LONGEST, "most symbols of a sequence"),
    FOV_INT(FovLettersOptions, room, "0", 0, LONGEST,
            "length that sequences are padded to, at least env.longest; score = location has a "
            "weight for each place; 0: env.longest"),
    FOV_OPTIONS_END,
};

struct FovLetters {
  FovLettersOptions options;
  FovSplit split;
  const char *names[MOST_SYMBOLS + 1]; // of the answers: the symbols, then the end
};

/** Fails if there are so few sequences that a split might have none. */
static FovStatus check(const FovLettersOptions *o) {
  if (o->shortest > o->longest)
    return fov_fail(FOV_ERR_USAGE, "env.shortest = %d: expected at most env.longest = %d",
                    o->shortest, o->longest);
  if (o->room && o->room < o->longest)
    return fov_fail(FOV_ERR_USAGE, "env.room = %d: expected 0, or at least env.longest = %d",
                    o->room, o->longest);
  if (pow(o->alphabet, o->longest) >= 1000) return FOV_OK;
  return fov_fail(
      FOV_ERR_USAGE,
      "env.alphabet = %d, env.longest = %d: expected at least 1000 different sequences, "
      "to be divided among the splits, found %.0f of the greatest length",
      o->alphabet, o->longest, pow(o->alphabet, o->longest));
}

FovStatus fov_letters_create(void **env, FovEnvSpec *spec, const void *options, FovSplit split) {
  const FovLettersOptions *o = options;
  *env = NULL;
  FOV_TRY(check(o));
  FovLetters *letters = malloc(sizeof *letters);
  if (!letters) return fov_fail(FOV_ERR_MEMORY, "no memory for an environment");
  *env = letters;
  *letters = (FovLetters){.options = *o, .split = split};
  memcpy(letters->names, names, sizeof names);
  letters->names[o->alphabet] = "end";
  int room = o->room ? o->room : o->longest;
  *spec = (FovEnvSpec){
      .observation = {.kind = FOV_OBSERVATION_TOKENS, .length = room, .vocabulary = o->alphabet},
      .symbols = names,
      .answer = FOV_ANSWER_CLASS,
      .actions = o->alphabet + 1,
      .names = letters->names,
      .steps = o->longest + 1,
      .ends = true,
      .cases = CASES,
      .state_size = fov_outputs_bytes(o->longest)};
  return FOV_OK;
}

/** Draws sources until one is of the split. Returns its length. */
static int draw_source(int32_t *source, const FovLetters *letters, FovRng *rng) {
  const FovLettersOptions *o = &letters->options;
  int length;
  do {
    length = o->shortest + (int)fov_rng_below(rng, (uint32_t)(o->longest - o->shortest + 1));
    for (int i = 0; i < length; i++) source[i] = (int32_t)fov_rng_below(rng, (uint32_t)o->alphabet);
  } while (!fov_source_is_of(source, length, letters->split));
  return length;
}

/** Where an answer comes from; nowhere if the symbol stands in several places. */
static FovAlignment aligned(const int32_t *source, int length, int at) {
  for (int i = 0; i < length; i++)
    if (i != at && source[i] == source[at]) return fov_aligned_nowhere();
  return (FovAlignment){.sure = at, .first = at, .last = at};
}

void fov_letters_draw(const void *env, FovEnvLane *lane, FovRng *rng, FovLettersOrder *order) {
  const FovLetters *letters = env;
  const FovLettersOptions *o = &letters->options;
  FovOutputs *outputs = fov_outputs_clear(lane, o->longest);
  int32_t *source = lane->observation;
  int room = o->room ? o->room : o->longest, length = draw_source(source, letters, rng);
  int which[LONGEST];
  for (int i = length; i < room; i++) source[i] = -1;
  order(which, source, length);
  for (int i = 0; i < length; i++)
    fov_outputs_add(outputs, source[which[i]], aligned(source, length, which[i]));
  fov_outputs_add(outputs, o->alphabet, fov_aligned_nowhere());
  fov_outputs_show(lane);
}
