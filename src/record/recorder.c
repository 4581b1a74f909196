#include "record/recorder.h"

#include <stdio.h>

#include "base/digest.h"
#include "base/memory.h"
#include "base/team.h"
#include "base/text.h"
#include "record/checkpoint.h"

// Before the names of the columns, which come in this order.
#define POLICY "policy."
#define ATTENTION "attention."
#define ANSWER "answer."

enum { NUMBERS = 6 }; // of a glimpse: its place, baseline, reward, label and answer

/** Copies row i of a var; nothing of NULL. */
static void copy_row(float *to, const FovVar *var, int i) {
  for (int j = 0; var && j < var->cols; j++) to[j] = (float)var->value[(size_t)i * var->stride + j];
}

/** Brightness as a byte, 0 to 1 as 0 to 255; what is brighter or darker is cut. */
static uint8_t byte_of(double brightness) {
  return (uint8_t)(255 * fmin(1, fmax(0, brightness)) + 0.5);
}

/** Copies the glimpse of lane i as brightness times gain^s: number j of it is of channel j mod C.
 * Where patches are multiplied by gain^s, the mean is, too. */
static void copy_retina(uint8_t *to, const FovVar *rho, const FovTask *task, int i) {
  const FovStandard *standard = task->standard;
  FovGlimpseShape shape = task->agent->glimpse;
  int patch = shape.side * shape.side * shape.channels;
  for (int j = 0; j < rho->cols; j++) {
    double v = (double)rho->value[(size_t)i * rho->stride + j];
    if (fov_is_standardised(standard)) {
      int c = j % shape.channels;
      v = v * standard->deviation[c] + standard->mean[c] * pow(task->agent->sensor.gain, j / patch);
    }
    to[j] = byte_of(v);
  }
}

static void copy_probabilities(float *to, const real *log_p, int actions) {
  for (int a = 0; a < actions; a++) to[a] = (float)fmin(1, exp(log_p[a]));
}

static void copy_frame(FovTrace *trace, const void *image, bool floats, int episode, int t) {
  size_t pixels = (size_t)trace->height * trace->width * trace->channels;
  size_t frame = (size_t)episode * trace->frames + (trace->frames > 1 ? t : 0);
  uint8_t *to = trace->images + frame * pixels;
  if (!floats) memcpy(to, image, pixels);
  for (size_t i = 0; i < pixels && floats; i++) to[i] = byte_of((double)((const float *)image)[i]);
}

/** Where the columns after column `first` begin whose names have another prefix. */
static int end_of_columns(const FovTrace *trace, int first, const char *prefix) {
  int c = first;
  while (c < trace->columns && strncmp(trace->column[c].name, prefix, strlen(prefix)) == 0) c++;
  return c;
}

/** Where the columns of the attention begin: after those of the policy. */
static int attention_columns(const FovTrace *trace) {
  return end_of_columns(trace, 0, POLICY);
}

/** Whether answers are places. */
static bool answers_places(const FovEnvSpec *spec) {
  return spec->answer == FOV_ANSWER_VECTOR && spec->actions == 2 && spec->place[0] > 0 &&
         spec->place[1] > 0;
}

/** The last columns: where the target is, and before it the place that was answered, if answers are
 * places. Returns how many there are. */
static int answer_columns(FovColumn columns[2], const FovEnvSpec *spec) {
  int count = 0;
  if (answers_places(spec)) columns[count++] = (FovColumn){"place", 2};
  if (count > 0 || spec->located) columns[count++] = (FovColumn){"target", 2};
  return count;
}

/** The place that lane i answered and where its target is, as locations. */
static void copy_places(FovTrace *trace, const FovTimeStep *step, const FovEnvSpec *spec, size_t at,
                        int i) {
  const FovTraceColumn *end = trace->column + trace->columns;
  if (step->where) memcpy(end[-1].values + 2 * at, step->where + 2 * i, 2 * sizeof(float));
  if (!answers_places(spec) || !(step->events[i] & FOV_EVENT_ACT)) return;
  for (int j = 0; j < 2; j++) {
    end[-2].values[2 * at + j] = (float)fov_value_row(step->logits, i)[j] * spec->place[j];
    end[-1].values[2 * at + j] = (float)step->targets[2 * i + j] * spec->place[j];
  }
}

/** What lane i saw and did at a step: glimpse t of the trace. log_p: [n, A], of all lanes; NULL:
 * answers are vectors. */
static void copy_glimpse(FovTrace *trace, const FovTimeStep *step, const FovTask *task,
                         const real *log_p, real reward, int episode, int t, int i) {
  size_t at = (size_t)episode * trace->glimpses + t;
  copy_row(trace->locations + 2 * at, step->location, i);
  if (!trace->vocabulary) copy_retina(trace->retina + at * step->rho->cols, step->rho, task, i);
  if (log_p)
    copy_probabilities(trace->probabilities + at * trace->actions,
                       log_p + (size_t)i * trace->actions, trace->actions);
  const FovEnvSpec *spec = &task->env->spec;
  if (trace->vocabulary)
    memcpy(trace->symbols + (size_t)episode * trace->width, step->frames[i],
           (size_t)trace->width * sizeof *trace->symbols);
  else
    copy_frame(trace, step->frames[i], fov_observed(&spec->observation, step->frames[i]).floats,
               episode, t);
  copy_places(trace, step, spec, at, i);
  int first = attention_columns(trace);
  for (int c = first; c < end_of_columns(trace, first, ATTENTION); c++)
    copy_row(trace->column[c].values + at * trace->column[c].width, step->read[c - first], i);
  trace->rewards[at] = (float)reward;
  trace->labels[at] = step->labels[i];
  trace->answers[at] = step->actions[i];
}

/** What lane i chose and expected of its next glimpse, t of the trace. offset: what the baseline
 * adds to its head's prediction. */
static void copy_choice(FovTrace *trace, const FovTimeStep *step, real offset, int episode, int t,
                        int i) {
  size_t at = (size_t)episode * trace->glimpses + t;
  if (!(step->events[i] & FOV_EVENT_LOOK)) return;
  copy_row(trace->baselines + at, step->baseline, i);
  trace->baselines[at] += (float)offset;
  for (int c = 0, count = attention_columns(trace); c < count; c++) {
    const FovTraceColumn *column = &trace->column[c];
    int width = column->width;
    for (int j = 0; j < width; j++)
      column->values[width * at + j] = (float)step->columns[c][width * i + j];
  }
}

/** Copies a rollout's lanes into the trace. episodes: [B], of each lane; negative: not recorded. */
static void copy_rollout(FovTrace *trace, const FovTask *task, const FovRollout *rollout,
                         FovArena *arena, const int *episodes) {
  int B = rollout->lanes;
  for (int t = 0; t < rollout->time_steps; t++) {
    FovTimeStep *step = &rollout->at[t];
    const real *log_p = fov_step_log_p(step, arena);
    for (int i = 0; i < step->count; i++) {
      int b = step->lanes[i], episode = episodes[b];
      if (episode < 0) continue;
      if (t > 0)
        copy_glimpse(trace, step, task, log_p, rollout->rewards[t * B + b], episode, t - 1, i);
      copy_choice(trace, step, fov_step_offset(step, task, log_p, (real)NAN, i), episode, t, i);
    }
  }
  for (int b = 0; b < B; b++) {
    if (episodes[b] < 0) continue;
    trace->lengths[episodes[b]] = rollout->glimpses[b];
    trace->wrong[episodes[b]] = rollout->wrong[b];
  }
}

/** Images of an episode that differ. */
static double count_frames(const FovTask *task) {
  return task->env->spec.changes ? fov_task_glimpses(task) : 1;
}

static double episode_bytes(const FovTask *task) {
  FovColumn columns[FOV_COLUMNS];
  double numbers = NUMBERS + (double)task->env->spec.actions;
  for (int c = fov_task_columns(columns, task); c-- > 0;) numbers += columns[c].width;
  for (int c = fov_agent_columns(columns, task->agent); c-- > 0;) numbers += columns[c].width;
  for (int c = answer_columns(columns, &task->env->spec); c-- > 0;) numbers += columns[c].width;
  double glimpse = numbers * sizeof(float) + fov_glimpse_features(task->agent->glimpse);
  FovImage shown = fov_observed(&task->env->spec.observation, NULL);
  double pixels = (double)shown.height * shown.width * shown.channels;
  if (task->env->spec.observation.kind == FOV_OBSERVATION_TOKENS)
    pixels += (double)shown.width * sizeof(int32_t);
  return count_frames(task) * pixels + fov_task_glimpses(task) * glimpse;
}

static int least(int64_t a, int64_t b) {
  return (int)(a < b ? a : b);
}

/** Episodes that are recorded whether right or wrong. */
static int first_episodes(const FovRecordRequest *request) {
  int64_t cases = request->task->env->spec.cases;
  double fit = request->room > 0 ? request->room / episode_bytes(request->task) : (double)cases;
  int episodes = least(request->episodes, cases);
  return fit >= episodes ? episodes : fit > 1 ? (int)fit : 1;
}

/** Episodes of the trace, at most. */
static int all_episodes(const FovRecordRequest *request) {
  return least((int64_t)first_episodes(request) + request->wrong, request->task->env->spec.cases);
}

/** workspace: what the episodes will be played in; NULL: not known yet. */
static FovStatus check_memory(const FovRecordRequest *request, const FovWorkspace *workspace) {
  int episodes = all_episodes(request);
  int lanes = request->wrong > 0 ? FOV_SHARD : least(episodes, FOV_SHARD);
  // A game's frames are kept twice: by the rollout, then in the trace.
  const FovEnvSpec *spec = &request->task->env->spec;
  double frame = (double)fov_observation_bytes(&spec->observation);
  double kept = spec->changes ? lanes * count_frames(request->task) * frame : 0;
  char name[80];
  snprintf(name, sizeof name, "a trace of %d episode%s", episodes, fov_plural(episodes));
  double shard = 0;
  if (!workspace || !fov_workspace_is_used(workspace, 1))
    FOV_TRY(fov_shard_bytes(&shard, request->task, request->values));
  return fov_memory_check(shard + kept + episodes * episode_bytes(request->task), name,
                          "eval.episodes, --episodes");
}

FovStatus fov_record_check(const FovRecordRequest *request) {
  return check_memory(request, NULL);
}

/** A recording under way. */
typedef struct Recording {
  const FovRecordRequest *request;
  FovTrace *trace;
  FovArena *arena;
  int first;    /**< episodes that are recorded whether right or wrong */
  int recorded; /**< so far */
} Recording;

/** Numbers the episodes of a rollout: of the first cases all, of the others the wrong ones. */
static void choose_episodes(int *episodes, Recording *recording, const FovRollout *rollout,
                            int first_case) {
  for (int b = 0; b < rollout->lanes; b++) {
    bool wanted = first_case + b < recording->first || rollout->wrong[b];
    bool fits = recording->recorded < recording->trace->episodes;
    episodes[b] = wanted && fits ? recording->recorded++ : -1;
  }
}

static void record_shard(void *context, int shard, int worker) {
  (void)worker;
  Recording *recording = context;
  const FovRecordRequest *request = recording->request;
  FovArena *arena = recording->arena;
  int64_t cases = request->wrong > 0 ? request->task->env->spec.cases : recording->first;
  int first = shard * FOV_SHARD, episodes[FOV_SHARD];
  if (recording->recorded == recording->trace->episodes) return;
  FovTape tape;
  FovRollout rollout;
  fov_arena_rewind(arena);
  fov_tape_begin(&tape, arena, &request->task->agent->params, request->values, NULL);
  FovPlan plan = fov_plan_cases(arena, first, least(cases - first, FOV_SHARD), request->seed,
                                request->split, request->repeat);
  plan.progress = request->progress;
  plan.deterministic = !request->sampled;
  plan.predict = request->task->baseline->head.build;
  plan.every = plan.frames = true;
  fov_rollout_run(&rollout, &tape, request->task, &plan);
  choose_episodes(episodes, recording, &rollout, first);
  copy_rollout(recording->trace, request->task, &rollout, arena, episodes);
}

/** Plays the cases on a team of one: no signal may reach a product. */
static void play(FovTrace *trace, const FovRecordRequest *request, FovArena *arena) {
  Recording recording = {
      .request = request, .trace = trace, .arena = arena, .first = first_episodes(request)};
  int64_t cases = request->wrong > 0 ? request->task->env->spec.cases : recording.first;
  fov_team_run(1, (int)((cases + FOV_SHARD - 1) / FOV_SHARD), record_shard, &recording);
  // There may be fewer wrong ones than were asked for.
  trace->episodes = recording.recorded;
}

static void add_columns(FovTrace *trace, const char *prefix, const FovColumn *columns, int count) {
  char name[FOV_TRACE_NAME];
  for (int c = 0; c < count; c++) {
    snprintf(name, sizeof name, "%s%s", prefix, columns[c].name);
    fov_trace_add_column(trace, name, columns[c].width);
  }
}

/** Declares the columns and notes where the episodes come from. */
static void describe(FovTrace *trace, const FovRecordRequest *request) {
  FovColumn columns[FOV_COLUMNS];
  add_columns(trace, POLICY, columns, fov_task_columns(columns, request->task));
  add_columns(trace, ATTENTION, columns, fov_agent_columns(columns, request->task->agent));
  add_columns(trace, ANSWER, columns, answer_columns(columns, &request->task->env->spec));
  snprintf(trace->policy, sizeof trace->policy, "%s", request->task->policy->plugin.name);
  snprintf(trace->attention, sizeof trace->attention, "%s",
           request->task->agent->attention->plugin.name);
  snprintf(trace->split, sizeof trace->split, "%s", fov_split_names[request->split]);
  snprintf(trace->seed, sizeof trace->seed, "%llu", (unsigned long long)request->seed);
  fov_digest_print(trace->weights,
                   fov_weights_digest(&request->task->agent->params, request->values));
  if (request->wrong > 0)
    snprintf(trace->subset, sizeof trace->subset, "first %d, then wrong", first_episodes(request));
}

/** Tiles across, of an attention that does not have as many down; else 0. */
static int tiles_across(const FovAgent *agent) {
  if (!agent->attention->sites) return 0;
  FovGrid grid = agent->attention->sites(agent->attention_layout);
  return grid.across != grid.down ? grid.across : 0;
}

FovStatus fov_record_trace(FovTrace *trace, const FovRecordRequest *request,
                           FovWorkspace *workspace) {
  const FovAgent *agent = request->task->agent;
  const FovEnvSpec *spec = &request->task->env->spec;
  FovImage shown = fov_observed(&spec->observation, NULL);
  int T = fov_task_glimpses(request->task);
  *trace = (FovTrace){.episodes = all_episodes(request),
                      .glimpses = T,
                      .frames = spec->changes ? T : 1,
                      .height = shown.height,
                      .width = shown.width,
                      .channels = shown.channels,
                      .actions = agent->actions,
                      .vocabulary = spec->observation.vocabulary,
                      .tiles_across = tiles_across(agent),
                      .side = agent->glimpse.side,
                      .scales = agent->glimpse.scales,
                      .reach = agent->attention->reach,
                      .whole = agent->sensor.whole,
                      .bilinear = agent->sensor.bilinear,
                      .inside = agent->sensor.inside,
                      .control = spec->answer != FOV_ANSWER_CLASS,
                      .update = request->update};
  FOV_TRY(check_memory(request, workspace));
  describe(trace, request);
  FOV_TRY(fov_trace_allocate(trace));
  FovStatus status = fov_trace_set_names(trace, spec->names, spec->symbols);
  if (status != FOV_OK) {
    fov_trace_finish(trace);
    return status;
  }
  play(trace, request, &workspace->arenas[0]);
  return FOV_OK;
}
