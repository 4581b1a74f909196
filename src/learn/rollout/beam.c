#include "learn/rollout/beam.h"

#include "learn/rollout/play.h"

FovStatus fov_beam_check(const FovTask *task) {
  if (task->env->spec.ends && task->agent->options.previous > 0 && !task->stop->decide)
    return FOV_OK;
  return fov_fail(FOV_ERR_USAGE,
                  "eval.beam: expected sequences with an end as answers, previous = 1 or more and "
                  "stop = never, found env = %s, previous = %d, stop = %s; set eval.beam = 1",
                  task->env->type->plugin.name, task->agent->options.previous,
                  task->stop->plugin.name);
}

/** A sequence that is followed: an answer after those of a shorter sequence. */
typedef struct Hypothesis {
  const struct Hypothesis *before; // NULL: no answers yet
  int answer, length;              // the last one; of all
  double log_p;                    // of all its answers
  bool ended;
} Hypothesis;

/** A search under way: `width` hypotheses of each of B cases, side by side as lanes. */
typedef struct Search {
  Play play;
  FovPlan plan;
  FovRollout rollout;
  Hypothesis *of; // [B · width]
  int width, most, end;
} Search;

/** One more answer to a hypothesis: or, if it has ended, none. */
typedef struct Extension {
  int from, answer; // answer −1: none
  double log_p, score;
} Extension;

/* ---- choosing ---- */

/** Keeps the best `count` extensions in order. Returns how many there are now. */
static int keep_best(Extension *best, int held, int count, Extension extension) {
  int at = held < count ? held : count;
  while (at > 0 && best[at - 1].score < extension.score) {
    if (at < count) best[at] = best[at - 1];
    at--;
  }
  if (at < count) best[at] = extension;
  return held < count ? held + 1 : count;
}

/** Whether an earlier hypothesis of the case has the same answers: before the first one all have,
 * and later those that filled a place. */
static bool is_repeated(const Hypothesis *of, int k) {
  for (int i = 0; i < k; i++)
    if (of[i].before == of[k].before && of[i].answer == of[k].answer) return true;
  return false;
}

/** The best extensions of a case's hypotheses. */
static void choose(Extension *best, const Search *search, const real *log_p, int first) {
  int A = search->end + 1, held = 0;
  for (int k = 0; k < search->width; k++) {
    const Hypothesis *h = &search->of[first + k];
    if (is_repeated(&search->of[first], k)) continue;
    if (h->ended) {
      Extension none = {first + k, -1, h->log_p, h->log_p / h->length};
      held = keep_best(best, held, search->width, none);
      continue;
    }
    for (int a = 0; a < A; a++) {
      double sum = h->log_p + (double)log_p[(size_t)(first + k) * A + a];
      held = keep_best(best, held, search->width,
                       (Extension){first + k, a, sum, sum / (h->length + 1)});
    }
  }
  // A vocabulary smaller than the beam leaves places: the best hypothesis takes them.
  for (int k = held; k < search->width; k++) best[k] = best[0];
}

static Hypothesis extend(const Hypothesis *from, Extension extension, int end) {
  if (extension.answer < 0) return *from;
  return (Hypothesis){.before = from,
                      .answer = extension.answer,
                      .length = from->length + 1,
                      .log_p = extension.log_p,
                      .ended = extension.answer == end};
}

/** Gives every hypothesis its next answer; state and place go with it to another lane. Returns
 * whether some have not ended. */
static bool answer(Search *search, FovTimeStep *step) {
  Play *play = &search->play;
  FovArena *arena = play->tape->arena;
  int n = step->count, *from = FOV_NEW(arena, int, n);
  step->logits = fov_agent_logits(play->task->agent, play->tape, &play->state);
  const real *log_p = fov_step_log_p(step, arena);
  Extension *best = FOV_NEW(arena, Extension, search->width);
  Hypothesis *next = FOV_NEW(arena, Hypothesis, n);
  bool going_on = false;
  for (int first = 0; first < n; first += search->width) {
    choose(best, search, log_p, first);
    for (int k = 0; k < search->width; k++) {
      next[first + k] = extend(&search->of[best[k].from], best[k], search->end);
      from[first + k] = best[k].from;
      going_on = going_on || !next[first + k].ended;
    }
  }
  search->of = next;
  size_t size = 2 * (size_t)n * sizeof *play->places;
  const real *places = memcpy(fov_arena_alloc(arena, size), play->places, size);
  for (int i = 0; i < n; i++) {
    play->previous[i] = next[i].answer;
    memcpy(play->places + 2 * i, places + 2 * from[i], 2 * sizeof *places);
  }
  fov_agent_keep(&play->state, play->task->agent, play->tape, from, n);
  return going_on;
}

/* ---- a search ---- */

/** Every case `width` times. */
static FovPlan repeat_cases(const FovPlan *plan, FovArena *arena, int width) {
  int n = plan->lanes * width;
  int64_t *cases = FOV_NEW(arena, int64_t, n);
  FovRng *env_rng = FOV_NEW(arena, FovRng, n), *policy_rng = FOV_NEW(arena, FovRng, n);
  for (int i = 0; i < n; i++) {
    cases[i] = plan->cases[i / width];
    env_rng[i] = plan->env_rng[i / width];
    policy_rng[i] = plan->policy_rng[i / width];
  }
  FovPlan repeated = *plan;
  repeated.lanes = n;
  repeated.cases = cases;
  repeated.env_rng = env_rng;
  repeated.policy_rng = policy_rng;
  repeated.copies = width;
  repeated.deterministic = true;
  repeated.predict = repeated.every = repeated.frames = false;
  return repeated;
}

static void begin(Search *search, FovTape *tape, const FovTask *task, const FovPlan *plan,
                  int width) {
  FovArena *arena = tape->arena;
  search->width = width;
  search->most = task->env->spec.steps;
  search->end = task->agent->actions - 1;
  search->plan = repeat_cases(plan, arena, width);
  fov_play_begin(&search->play, &search->rollout, tape, task, &search->plan);
  search->of = FOV_NEW_ZEROS(arena, Hypothesis, search->plan.lanes);
}

/** The best of a case's hypotheses. */
static const Hypothesis *best_of(const Search *search, int first) {
  const Hypothesis *best = &search->of[first];
  for (int k = 1; k < search->width; k++) {
    const Hypothesis *h = &search->of[first + k];
    bool better = h->log_p / h->length > best->log_p / best->length;
    if (h->ended > best->ended || (h->ended == best->ended && better)) best = h;
  }
  return best;
}

/** All answers of a hypothesis, in the arena. */
static int *read_answers(FovArena *arena, const Hypothesis *h) {
  int *answers = FOV_NEW(arena, int, h->length);
  for (; h->length > 0; h = h->before) answers[h->length - 1] = h->answer;
  return answers;
}

/** The right answers, by giving them. Returns how many. */
static int read_labels(int *labels, const Search *search, int lane) {
  const FovEnv *env = search->play.task->env;
  FovEnvLane *shown = &search->play.env[lane];
  int count = 0;
  while (!fov_env_over(shown)) {
    labels[count++] = shown->label;
    fov_env_step(env, shown, &(FovAnswer){.action = shown->label}, &search->play.env_rng[lane]);
  }
  return count;
}

void fov_beam_search(FovBeamed *found, FovTape *tape, const FovTask *task, const FovPlan *plan,
                     int width) {
  Search search;
  begin(&search, tape, task, plan, width);
  Play *play = &search.play;
  bool going_on = true;
  for (int t = 0; going_on && t < search.most; t++)
    for (int g = 1; g <= task->options.glimpses; g++) {
      FovTimeStep *step = fov_play_begin_step(play);
      fov_play_see(step, play);
      if (g == task->options.glimpses) going_on = answer(&search, step);
      fov_play_choose_place(step, play);
    }
  for (int b = 0; b < plan->lanes; b++) {
    const Hypothesis *best = best_of(&search, b * width);
    int *labels = FOV_NEW(tape->arena, int, search.most);
    int count = read_labels(labels, &search, b * width);
    found[b] = (FovBeamed){.answers = read_answers(tape->arena, best),
                           .labels = labels,
                           .length = best->length,
                           .count = count,
                           .log_p = best->log_p,
                           .shown = play->env[b * width].observation};
  }
}
