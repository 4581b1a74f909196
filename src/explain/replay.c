#include <string.h>

#include "explain/held.h"

/** A replay while it runs. */
typedef struct Repeating {
  const FovHeld *held;
  FovReader reader;
  FovReplay *replay;
  FovAgentState state;
  const float *shown; // [B, F, H, W, C]: as the agent is shown them
} Repeating;

/** The pictures as the agent is shown them. */
static const float *show(FovArena *arena, const FovHeld *held, const float *pixels) {
  const FovStandard *standard = held->task.standard;
  size_t count = (size_t)held->height * held->width * held->channels;
  size_t pictures = (size_t)held->lanes * held->frames;
  if (!fov_is_standardised(standard)) return pixels;
  float *shown = FOV_NEW(arena, float, pictures *count);
  FovImage image = {
      .height = held->height, .width = held->width, .channels = held->channels, .floats = pixels};
  for (size_t i = 0; i < pictures; i++, image.floats += count)
    fov_standardise(shown + i * count, &image, standard);
  return shown;
}

/** What the lanes of a time step see: [n]. */
static FovImage *images_at(const Repeating *r, int t) {
  const FovHeld *held = r->held;
  const FovTimeStep *step = &held->rollout.at[t];
  FovImage *images = FOV_NEW(r->replay->tape.arena, FovImage, step->count);
  size_t all = fov_held_pixels(held), frame = held->frames > 1 && t > 0 ? (size_t)t - 1 : 0;
  for (int i = 0; i < step->count; i++) {
    size_t first = (size_t)step->lanes[i] * all + frame * (all / (size_t)held->frames);
    if (held->tokens) {
      images[i] = fov_observed(&held->task.env->spec.observation, held->tokens + first);
      continue;
    }
    images[i] = (FovImage){.floats = r->shown + first,
                           .height = held->height,
                           .width = held->width,
                           .channels = held->channels};
    if (r->replay->gradient) images[i].gradient = r->replay->gradient + first;
  }
  return images;
}

/** Lets the lanes leave that have no time step t. */
static void drop_lanes(Repeating *r, int t) {
  FovTape *tape = &r->replay->tape;
  const FovTimeStep *before = &r->held->rollout.at[t - 1], *step = &r->held->rollout.at[t];
  if (step->count == before->count) return;
  int *rows = FOV_NEW(tape->arena, int, step->count);
  for (int i = 0, row = 0; i < step->count; i++, row++) {
    while (before->lanes[row] != step->lanes[i]) row++;
    rows[i] = row;
  }
  fov_agent_keep(&r->state, &r->held->agent, tape, rows, step->count);
}

/** Takes the glimpses of time step t where they were taken. */
static void see(Repeating *r, int t) {
  const FovHeld *held = r->held;
  const FovTimeStep *step = &held->rollout.at[t];
  FovTape *tape = &r->replay->tape;
  FovReadout readout = {.g = NULL};
  FovView view = fov_task_view(&held->task, t - 1);
  view.images = images_at(r, t), view.lanes = step->count;
  view.deterministic = true;
  view.previous = step->previous;
  view.held = held->through ? NULL : step->read;
  view.location = fov_constant(tape, step->count, 2);
  for (int i = 0; i < step->count; i++)
    memcpy(fov_value_row(view.location, i), fov_value_row(step->location, i), 2 * sizeof(real));
  fov_agent_see(&readout, &r->state, &held->agent, tape, &view);
  r->replay->glimpses[t] = readout.rho;
}

/** The mean of the next place; of a relative policy, of the step there. */
static FovVar *mean_of(const Repeating *r, int t, FovVar *h) {
  const FovTask *task = &r->held->task;
  const FovTimeStep *step = &r->held->rollout.at[t];
  FovTape *tape = &r->replay->tape;
  int n = step->count;
  real *places = FOV_NEW_ZEROS(tape->arena, real, 2 * n);
  for (int i = 0; i < 2 * n && step->location; i++)
    places[i] = fov_value_row(step->location, i / 2)[i % 2];
  FovPolicyInput input = {.h = h,
                          .places = places,
                          .width = r->held->width,
                          .height = r->held->height,
                          .bounds = {1, 1},
                          .deterministic = true,
                          .lanes = n};
  FovPolicyOutput output = {.choices = FOV_NEW(tape->arena, FovChoice, n),
                            .places = FOV_NEW(tape->arena, real, 2 * n),
                            .costs = FOV_NEW(tape->arena, real, n)};
  FovColumn columns[FOV_COLUMNS];
  int count = fov_task_columns(columns, task);
  for (int c = 0; c < count; c++)
    output.columns[c] = FOV_NEW(tape->arena, real, (size_t)n * columns[c].width);
  task->policy->choose(&output, tape, &input, r->held->agent.heads[FOV_READER_POLICY],
                       task->policy_options);
  return output.mean;
}

/** Runs the head on the states of time step t. */
static void read(Repeating *r, int t) {
  const FovAgent *agent = &r->held->agent;
  FovReplay *replay = r->replay;
  FovVar *h = fov_agent_read(agent, &replay->tape, &r->state, r->reader);
  replay->states[t] = h;
  if (r->reader == FOV_READER_ANSWER)
    replay->outputs[t] = fov_agent_logits(agent, &replay->tape, &r->state);
  else if (r->reader == FOV_READER_BASELINE)
    replay->outputs[t] =
        r->held->task.baseline->predict(&replay->tape, h, agent->heads[FOV_READER_BASELINE]);
  else
    replay->outputs[t] = mean_of(r, t, h);
}

void fov_replay_run(FovReplay *replay, FovArena *arena, const FovHeld *held,
                    const FovReplayRequest *request) {
  const FovRollout *rollout = &held->rollout;
  int M = rollout->time_steps;
  *replay = (FovReplay){.outputs = FOV_NEW_ZEROS(arena, FovVar *, M),
                        .states = FOV_NEW_ZEROS(arena, FovVar *, M),
                        .glimpses = FOV_NEW_ZEROS(arena, FovVar *, M)};
  if (request->gradient)
    replay->gradient =
        fov_arena_zeros(arena, (size_t)held->lanes * fov_held_pixels(held) * sizeof(real));
  fov_tape_begin(&replay->tape, arena, &held->agent.params, held->values, NULL);
  replay->tape.watching = request->watching;
  Repeating r = {.held = held, .reader = request->reader, .replay = replay};
  r.shown = show(arena, held, request->pixels ? request->pixels : held->pixels);
  r.state = fov_agent_begin(&held->agent, &replay->tape, images_at(&r, 0), rollout->cues,
                            held->lanes, fov_task_glimpses(&held->task));
  read(&r, 0);
  for (int t = 1; t < M; t++) {
    drop_lanes(&r, t);
    see(&r, t);
    read(&r, t);
  }
}

/** The gradient with respect to brightness p, of that with respect to (p − mean) / deviation. */
static void unstandardise(real *gradient, const FovHeld *held) {
  const FovStandard *standard = held->task.standard;
  size_t count = (size_t)held->lanes * fov_held_pixels(held);
  if (!fov_is_standardised(standard)) return;
  for (size_t i = 0; i < count; i++)
    gradient[i] /= (real)standard->deviation[i % (size_t)held->channels];
}

void fov_replay_backward(FovReplay *replay, const FovHeld *held) {
  fov_tape_backward(&replay->tape);
  if (replay->gradient) unstandardise(replay->gradient, held);
}

void fov_replay_clear(FovReplay *replay, const FovHeld *held) {
  size_t count = (size_t)held->lanes * fov_held_pixels(held);
  fov_tape_clear_grads(&replay->tape);
  if (replay->gradient) memset(replay->gradient, 0, count * sizeof *replay->gradient);
}
