/** Explanations in the window: computed beside it, of the episode that is shown, by its agent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <unistd.h>

#include "check.h"
#include "cli/explain.h"
#include "drawn.h"
#include "experiment/session.h"
#include "explain/jacobian.h"
#include "pixel.h"
#include "record/recorder.h"
#include "traces.h"
#include "viz/scene/alignment_view.h"
#include "viz/scene/layout.h"
#include "viz/viewer/drawing.h"
#include "viz/viewer/layers.h"
#include "viz/viewer/mouse.h"
#include "viz/viewer/rerun.h"
#include "viz/viewer/viewer.h"
#include "viz/viewer/window_layout.h"
#include "working_folder.h"

enum { FIRST = 4, WRONG = 2, WIDTH = 1280, HEIGHT = 720, T = 8, PIXELS = 60 * 60 };

static FovTrained trained; // as the viewer loads it

/** The trace of the first cases, then wrong ones. */
static FovTrace record(bool sampled, int repeat) {
  FovTrace trace;
  FovWorkspace workspace;
  FovRecordRequest request = {.task = &trained.task,
                              .values = trained.values,
                              .update = trained.update,
                              .episodes = FIRST,
                              .wrong = sampled ? 0 : WRONG,
                              .progress = trained.progress,
                              .sampled = sampled,
                              .repeat = repeat,
                              .seed = 11,
                              .split = FOV_SPLIT_TEST};
  assert_int_equal(fov_workspace_create(&workspace, 1), FOV_OK);
  assert_int_equal(fov_record_trace(&trace, &request, &workspace), FOV_OK);
  fov_workspace_finish(&workspace);
  return trace;
}

static void write_trace(FovTrace trace, const char *path) {
  assert_int_equal(fov_trace_write(&trace, path), FOV_OK);
  fov_trace_finish(&trace);
}

/** A run with a trace of the shipped data. */
static int begin(void **state) {
  char command[600];
  setenv("FOVEA_DATA", getenv("FOVEA_SUBSET"), 1);
  if (enter_folder(state) != 0) return -1;
  snprintf(command, sizeof command,
           "mkdir run && cp '%s/experiments/trained/cluttered-60/best.%s' run",
           getenv("FOVEA_SOURCE"), "safetensors");
  if (system(command) != 0 || fov_trained_load(&trained, "run", NULL, 0, FOV_SPLIT_TEST) != FOV_OK)
    return -1;
  write_trace(record(false, 0), "run/trace.safetensors");
  write_trace(make_up_symbols(2, 1), "symbols.trace");
  return 0;
}

static int end(void **state) {
  fov_trained_finish(&trained);
  return leave_folder(state);
}

static FovViewer viewer;

static void open_with(const char *path, const FovDrawExplain *how) {
  const FovDrawEpisode what = {.explain = how};
  if (fov_viewer_open_at(&viewer, path, &what) != FOV_OK) fail_msg("%s", fov_error_message());
  fov_viewer_resize(&viewer, WIDTH, HEIGHT);
  viewer.damages = 0;
}

static FovExplanation shown(void) {
  return fov_window_scene(&viewer).explanation;
}

/** Lets time pass until nothing is computed any more. */
static void wait_for_explanation(void) {
  for (int i = 0; i < 3000; i++) {
    viewer.damages = 0;
    double wait = fov_viewer_wait(&viewer);
    if (wait < 0 || wait > 0.1) return;
    usleep(10000);
    fov_viewer_tick(&viewer, 0.01);
  }
  fail_msg("it is being computed for half a minute");
}

static FovExplainRequest request_of(const int64_t *index) {
  return (FovExplainRequest){.task = &trained.task,
                             .values = trained.values,
                             .cases = index,
                             .count = 1,
                             .seed = 11,
                             .split = FOV_SPLIT_TEST,
                             .progress = trained.progress,
                             .target = {.kind = FOV_TARGET_LOGIT, .output = FOV_CLASS_ANSWER},
                             .threads = 1};
}

/** Computes the Jacobian of one case. The caller finishes it. */
static FovJacobian make_jacobian(const FovExplainRequest *request) {
  FovJacobian jacobian;
  assert_int_equal(fov_jacobian_make(&jacobian, request, FOV_JACOBIAN_LOGITS), FOV_OK);
  return jacobian;
}

/** The maps of a case by a method after a glimpse, 0 …, as `fovea explain` computes them. The
 * caller finishes them. */
static FovMaps make_maps(int64_t index, const char *name, int glimpse) {
  FovExplainRequest request = request_of(&index);
  FovMaps maps;
  const FovMethod *method;
  FovMethodOptions options;
  request.target.time = glimpse + 1;
  assert_int_equal(fov_method_options_read(&options, NULL, 0), FOV_OK);
  assert_int_equal(fov_method_find(&method, name), FOV_OK);
  assert_int_equal(fov_maps_make(&maps, &request, method, fov_method_options_of(&options, method)),
                   FOV_OK);
  fov_method_options_finish(&options);
  return maps;
}

/** What is shown is what `fovea explain` computes of a case after the glimpse that is shown. */
static void assert_explained(int64_t index, const char *name) {
  const FovExplainRequest request = request_of(&index);
  FovExplanation explanation = shown();
  FovMaps maps = make_maps(index, name, fov_window_scene(&viewer).glimpse);
  FovJacobian jacobian = make_jacobian(&request);
  assert_string_equal(explanation.method, name);
  assert_non_null(explanation.map);
  assert_non_null(explanation.jacobian);
  assert_memory_equal(explanation.jacobian, jacobian.norms, T * T * sizeof(float));
  int larger = 0;
  for (int i = 0; i < PIXELS; i++) {
    assert_true(explanation.map[i] == maps.map[i]);
    larger += fabs((double)maps.map[i]) > explanation.scale;
  }
  assert_true(larger > 0 && larger <= PIXELS / 400);
  fov_maps_finish(&maps);
  fov_jacobian_finish(&jacobian);
}

/** The map at the picture that is shown, where pictures change, and at no other. */
static void assert_picture_explained(int64_t index) {
  int glimpse = fov_window_scene(&viewer).glimpse;
  FovMaps maps = make_maps(index, "saliency", glimpse);
  size_t pixels = (size_t)maps.height * (size_t)maps.width;
  const float *map = maps.map + (size_t)glimpse * pixels;
  assert_true(maps.frames > 1 && maps.channels == 1);
  assert_memory_equal(shown().map, map, pixels * sizeof *map);
  float most = 0;
  for (size_t i = 0; i < pixels; i++) most = fmaxf(most, map[i]);
  assert_true(most > 0 && shown().scale <= (double)most);
  fov_maps_finish(&maps);
}

/** The case whose image an episode of the trace shows. */
static int64_t case_of(int episode) {
  int64_t found = -1;
  for (int64_t i = 0; i < trained.env.spec.cases && found < 0; i++) {
    const FovExplainRequest request = request_of(&i);
    FovMaps maps;
    const FovMethod *gaze;
    assert_int_equal(fov_method_find(&gaze, "gaze"), FOV_OK);
    assert_int_equal(fov_maps_make(&maps, &request, gaze, NULL), FOV_OK);
    const uint8_t *image = viewer.opened.trace.images + (size_t)episode * PIXELS;
    bool same = true;
    for (int p = 0; p < PIXELS; p++) same = same && (float)image[p] / 255 == maps.pixels[p];
    if (same) found = i;
    fov_maps_finish(&maps);
  }
  return found;
}

static void test_maps_are_those_of_the_command_line(void **state) {
  (void)state;
  open_with("run", &fov_cli_explain);
  assert_null(shown().method);
  fov_viewer_do(&viewer, FOV_ACTION_OVERLAY_7);
  wait_for_explanation();
  assert_explained(0, "saliency");
  fov_viewer_do(&viewer, FOV_ACTION_NEXT);
  assert_null(shown().map); // not that of the episode before
  fov_viewer_do(&viewer, FOV_ACTION_METHOD);
  wait_for_explanation();
  assert_explained(1, "input_x_gradient");
  fov_viewer_do(&viewer, FOV_ACTION_OVERLAY_7);
  assert_null(shown().method);
  fov_viewer_finish(&viewer);
}

/** They are recorded from anywhere, and the trace does not say from where. */
static void test_cases_of_wrong_episodes_are_found(void **state) {
  (void)state;
  open_with("run", &fov_cli_explain);
  int last = viewer.opened.trace.episodes - 1;
  assert_true(last > FIRST && viewer.opened.trace.wrong[last]);
  int64_t index = case_of(last);
  assert_true(index > last);
  fov_player_go(&viewer.player, last);
  fov_viewer_do(&viewer, FOV_ACTION_METHOD);
  wait_for_explanation();
  assert_explained(index, "saliency");
  fov_player_seek(&viewer.player, T - 1);
  wait_for_explanation();
  assert_explained(index, "saliency");
  fov_viewer_finish(&viewer);
}

/** Lets time pass until the player stands still. */
static void arrive(void) {
  for (int i = 0; i < 100; i++) fov_viewer_tick(&viewer, 0.01);
}

static void test_every_glimpse_has_its_own_map(void **state) {
  (void)state;
  static float maps[T][PIXELS];
  open_with("run", &fov_cli_explain);
  fov_viewer_do(&viewer, FOV_ACTION_METHOD);
  wait_for_explanation();
  for (int t = 0; t < T; t++) {
    assert_int_equal(fov_window_scene(&viewer).glimpse, t);
    assert_explained(0, "saliency");
    memcpy(maps[t], shown().map, sizeof maps[t]);
    if (t > 0) assert_memory_not_equal(maps[t], maps[t - 1], sizeof maps[t]);
    fov_viewer_do(&viewer, FOV_ACTION_FORWARD);
    wait_for_explanation();
  }
  // A glimpse that was shown before has its map at once; those of another method are others.
  fov_viewer_do(&viewer, FOV_ACTION_FIRST);
  assert_memory_equal(shown().map, maps[0], sizeof maps[0]);
  fov_viewer_do(&viewer, FOV_ACTION_METHOD);
  assert_null(shown().map);
  assert_non_null(shown().jacobian);
  wait_for_explanation();
  assert_explained(0, "input_x_gradient");
  fov_viewer_do(&viewer, FOV_ACTION_LAST);
  assert_null(shown().map);
  wait_for_explanation();
  assert_explained(0, "input_x_gradient");
  fov_viewer_finish(&viewer);
}

/** The other agent looks longer: the map is that of the last glimpse that the first one takes. */
static void test_the_last_map_stays_while_another_agent_looks_on(void **state) {
  (void)state;
  open_with("run", &fov_cli_explain);
  fov_viewer_do(&viewer, FOV_ACTION_METHOD);
  fov_viewer_do(&viewer, FOV_ACTION_RERUN);
  for (const char *letter = "glimpses=10\r"; *letter; letter++) fov_viewer_type(&viewer, *letter);
  fov_player_seek(&viewer.player, 9);
  wait_for_explanation();
  FovMaps maps = make_maps(0, "saliency", T - 1);
  assert_int_equal(fov_window_scene(&viewer).glimpse, 9);
  assert_non_null(shown().map);
  assert_memory_equal(shown().map, maps.map, PIXELS * sizeof(float));
  const float *last = shown().map;
  fov_player_seek(&viewer.player, T - 1);
  assert_ptr_equal(shown().map, last); // computed once
  fov_maps_finish(&maps);
  fov_viewer_finish(&viewer);
}

/** While the player glides or plays, the map of the glimpse that comes is computed before. */
static void test_the_map_of_the_next_glimpse_is_there_when_it_comes(void **state) {
  (void)state;
  open_with("run", &fov_cli_explain);
  fov_viewer_do(&viewer, FOV_ACTION_METHOD);
  wait_for_explanation();
  fov_viewer_do(&viewer, FOV_ACTION_FORWARD);
  for (int i = 0; i < 3000 && viewer.player.time < 0.9; i++) {
    usleep(1000);
    fov_viewer_tick(&viewer, fov_explaining_is_done(viewer.explaining, NULL) ? 0.01 : 0);
  }
  assert_explained(0, "saliency"); // of the first glimpse
  fov_viewer_tick(&viewer, 1);
  assert_int_equal(fov_window_scene(&viewer).glimpse, 1);
  assert_explained(0, "saliency");
  fov_viewer_do(&viewer, FOV_ACTION_PLAY);
  for (int i = 0; i < 3000 && viewer.player.time < 1.9; i++) {
    usleep(1000);
    fov_viewer_tick(&viewer, fov_explaining_is_done(viewer.explaining, NULL) ? 0.01 : 0);
  }
  fov_viewer_tick(&viewer, 0.1);
  assert_int_equal(fov_window_scene(&viewer).glimpse, 2);
  assert_explained(0, "saliency");
  fov_viewer_finish(&viewer);
}

static FovStatus does_not_fit(const FovTask *task, int method) {
  (void)task;
  return method == 4 ? FOV_ERR_USAGE : FOV_OK;
}

static void test_methods_that_do_not_fit_the_agent_are_left_out(void **state) {
  (void)state;
  static const char *const names[] = {"saliency",   "input_x_gradient", "integrated_gradients",
                                      "smoothgrad", "grad_cam",         "saliency"};
  FovDrawExplain how = fov_cli_explain;
  how.check = does_not_fit; // occlusion
  open_with("run", &how);
  for (int i = 0; i < 6; i++) {
    fov_viewer_do(&viewer, FOV_ACTION_METHOD);
    wait_for_explanation();
    assert_string_equal(shown().method, names[i]);
    assert_non_null(shown().map);
  }
  fov_viewer_finish(&viewer);
}

/** The middle of a pixel of the image, in the window. */
static void point_at(int column, int row) {
  FovScene scene = fov_window_scene(&viewer);
  FovBox image = fov_scene_image(&scene);
  fov_viewer_move(&viewer, image.x + (column + 0.5) / 60 * image.w,
                  image.y + (row + 0.5) / 60 * image.h);
}

static void test_hints_have_the_values(void **state) {
  (void)state;
  char text[64];
  open_with("run", &fov_cli_explain);
  fov_viewer_do(&viewer, FOV_ACTION_METHOD);
  wait_for_explanation();
  int best = 0;
  for (int i = 0; i < PIXELS; i++)
    if (shown().map[i] > shown().map[best]) best = i;
  point_at(best % 60, best / 60);
  snprintf(text, sizeof text, "saliency %.3g; pixel %d, %d: ", (double)shown().map[best], best % 60,
           best / 60);
  assert_ptr_equal(strstr(viewer.hint, text), viewer.hint);
  // The row of the last glimpse, from its left: on the right of it is nothing.
  FovScene scene = fov_window_scene(&viewer);
  FovBox box = fov_layout(&scene).jacobian;
  cairo_surface_t *picture = draw(&scene);
  double most = 0;
  for (int i = 0; i < T * T; i++) most = fmax(most, (double)shown().jacobian[i]);
  int hits = 0, full[2] = {0};
  for (double y = box.y; y < box.y + box.h; y++)
    for (double x = box.x; x < box.x + box.w; x += 2) {
      int t, s;
      double norm;
      fov_viewer_move(&viewer, x, y);
      if (sscanf(viewer.hint, "logits after glimpse %d by glimpse %d: %lf", &t, &s, &norm) != 3)
        continue;
      hits++;
      assert_true(s >= 1 && s <= t && t <= T);
      double exact = (double)shown().jacobian[(t - 1) * T + s - 1];
      assert_near(norm, exact, 0.005 * exact, "glimpses %d, %d", t, s);
      full[exact == most] += pixel(picture, x, y) == 0x56b4e9; // not between the cells
    }
  cairo_surface_destroy(picture);
  assert_true(hits > 500 && full[1] > 10 && full[0] == 0);
  fov_viewer_finish(&viewer);
}

static void assert_refused(const char *why) {
  if (viewer.message_left <= 0 || !viewer.alarm || !strstr(viewer.message, why))
    fail_msg("'%s' lacks '%s'", viewer.message, why);
  assert_null(strchr(viewer.message, '\n'));
}

static void test_what_has_no_agent_is_not_explained(void **state) {
  (void)state;
  open_with("run/trace.safetensors", &fov_cli_explain);
  fov_viewer_do(&viewer, FOV_ACTION_OVERLAY_7);
  assert_refused("a trace has no agent to explain: open its run");
  fov_viewer_do(&viewer, FOV_ACTION_METHOD);
  assert_refused("a trace has no agent to explain: open its run");
  assert_null(shown().method);
  fov_viewer_drop(&viewer, "symbols.trace");
  fov_viewer_do(&viewer, FOV_ACTION_METHOD);
  assert_refused("a trace has no agent to explain: open its run");
  fov_viewer_drop(&viewer, "run");
  fov_viewer_do(&viewer, FOV_ACTION_METHOD);
  wait_for_explanation();
  assert_non_null(shown().map);
  fov_viewer_drop(&viewer, "symbols.trace");
  assert_null(shown().method); // hidden again
  fov_viewer_finish(&viewer);
}

/** Shows the explanation of the run "other", which fails. */
static void assert_other_refused(const char *why) {
  open_with("other", &fov_cli_explain);
  fov_viewer_do(&viewer, FOV_ACTION_METHOD);
  wait_for_explanation();
  assert_refused(why);
  assert_null(shown().map);
  fov_viewer_finish(&viewer);
}

static void assert_other_trace_refused(FovTrace trace, const char *why) {
  assert_int_equal(system("rm -rf other && mkdir other && cp run/best.safetensors other"), 0);
  write_trace(trace, "other/trace.safetensors");
  assert_other_refused(why);
}

static void test_a_damaged_checkpoint_is_named(void **state) {
  (void)state;
  assert_int_equal(system("rm -rf other && cp -r run other && truncate -s 1000 other/best.*"), 0);
  assert_other_refused("other/best.safetensors: ");
}

static void test_episodes_that_the_agent_does_not_repeat_are_refused(void **state) {
  (void)state;
  FovTrace of_others = record(false, 0), elsewhere = record(false, 0);
  memset(of_others.weights, '0', 16);
  assert_other_trace_refused(of_others, "no checkpoint has the weights of this trace");
  assert_other_trace_refused(record(true, 0), "no longer sees episode 0 as it was recorded");
  elsewhere.locations[2 * T - 1] += elsewhere.locations[2 * T - 1] > 0 ? -0.1f : 0.1f;
  assert_other_trace_refused(elsewhere, "no longer sees episode 0 as it was recorded");
}

static void test_an_agent_at_a_picture_is_explained(void **state) {
  (void)state;
  cairo_surface_t *grey = cairo_image_surface_create(CAIRO_FORMAT_RGB24, 60, 60);
  memset(cairo_image_surface_get_data(grey) + 20 * cairo_image_surface_get_stride(grey), 0xc0,
         4000);
  cairo_surface_mark_dirty(grey);
  assert_int_equal(cairo_surface_write_to_png(grey, "grey.png"), CAIRO_STATUS_SUCCESS);
  cairo_surface_destroy(grey);
  open_with("run", &fov_cli_explain);
  fov_viewer_do(&viewer, FOV_ACTION_METHOD);
  fov_viewer_drop(&viewer, "grey.png"); // while it is being computed
  wait_for_explanation();
  assert_non_null(shown().map);
  assert_true(shown().scale > 0);
  assert_string_equal(viewer.picture, "grey.png");
  fov_viewer_finish(&viewer);
}

/* ---- sequences of symbols ---- */

#define LETTERS                                                                                    \
  "env = reverse\nenv.longest = 6\ncore = rnn\npolicy = centre\nbaseline = none\nprevious = 4\n"   \
  "glimpses = 1\nglimpse.width = 8\ntiles.width = 8\ntiles.rnn = gru\ncore.width = 12\n"           \
  "train.episodes = 64\neval.times = 1\neval.cases = 4\neval.episodes = 1\n"

/** A run that reads sequences of up to six letters, with a trace like that of `begin`; its agent
 * replaces the other one. */
static int read_letters(const char *attention) {
  char text[600];
  int length = snprintf(text, sizeof text, "%sattention = %s\n", LETTERS, attention);
  assert_int_equal(fov_file_write("letters.ini", text, (size_t)length), FOV_OK);
  const FovTrainRequest request = {
      .file = "letters.ini", .dir = "letters", .threads = 1, .command = "test"};
  if (system("rm -rf letters") != 0 || fov_session_run(&request) != FOV_OK) return -1;
  fov_trained_finish(&trained);
  if (fov_trained_load(&trained, "letters", NULL, 0, FOV_SPLIT_TEST) != FOV_OK) return -1;
  write_trace(record(false, 0), "letters/trace.safetensors");
  return 0;
}

static int read_softly(void **state) {
  (void)state;
  return read_letters("soft");
}

/** With an attention that records no weights. */
static int read_once(void **state) {
  (void)state;
  return read_letters("first");
}

static int read_digits(void **state) {
  (void)state;
  fov_trained_finish(&trained);
  return fov_trained_load(&trained, "run", NULL, 0, FOV_SPLIT_TEST) == FOV_OK ? 0 : -1;
}

/** The first case after the first ones that shows the sequence of an episode. */
static int64_t case_of_letters(int episode) {
  const FovTrace *trace = &viewer.opened.trace;
  const int32_t *symbols = trace->symbols + (size_t)episode * trace->width;
  size_t bytes = (size_t)trace->width * sizeof *symbols;
  for (int64_t i = FIRST; i < trained.env.spec.cases; i++) {
    const FovExplainRequest request = request_of(&i);
    FovJacobian jacobian = make_jacobian(&request);
    bool same = memcmp(jacobian.symbols, symbols, bytes) == 0;
    fov_jacobian_finish(&jacobian);
    if (same) return i;
  }
  return -1;
}

static FovAlignmentFrame alignment(const FovScene *scene) {
  FovLayout l = fov_layout(scene);
  return fov_alignment_frame(scene->trace, scene->episode, l.view, l.em, true);
}

/** The middle of the cell of glimpse t and symbol s. */
static void find_cell(double *x, double *y, const FovAlignmentFrame *f, int t, int s) {
  *x = f->matrix.x + (s + 0.5) * f->matrix.w / f->columns;
  *y = f->matrix.y + (t + 0.5) * f->matrix.h / f->rows;
}

/** The colour of a share of the largest norm. */
static uint32_t colour_of(double share) {
  FovColour c = fov_alignment_colour(&fov_theme_dark, fov_theme_dark.panel, share);
  return (uint32_t)lround(255 * c.r) << 16 | (uint32_t)lround(255 * c.g) << 8 |
         (uint32_t)lround(255 * c.b);
}

static void assert_colour(uint32_t found, uint32_t expected) {
  for (int i = 0; i < 24; i += 8)
    if (abs((int)(found >> i & 255) - (int)(expected >> i & 255)) > 1)
      fail_msg("colour %06x, expected %06x", found, expected);
}

/** The cells of an alignment have the colours of the norms of `fovea explain`. */
static void assert_cells_have_norms(cairo_surface_t *picture, const FovAlignmentFrame *f,
                                    const FovJacobian *jacobian) {
  float most = 0;
  for (int i = 0; i < jacobian->T * jacobian->S; i++) most = fmaxf(most, jacobian->norms[i]);
  for (int i = 0; i < f->rows * f->columns; i++) {
    double x, y;
    find_cell(&x, &y, f, i / f->columns, i % f->columns);
    float norm = jacobian->norms[i / f->columns * jacobian->S + i % f->columns];
    assert_colour(pixel(picture, x, y), colour_of((double)norm / (double)most));
  }
}

/** The cells of the alignment that is shown have these colours, and the pointer reads them. */
static void assert_norms_shown(const FovJacobian *jacobian, int glimpses, int symbols) {
  FovScene scene = fov_window_scene(&viewer);
  FovAlignmentFrame f = alignment(&scene);
  cairo_surface_t *picture = draw(&scene);
  assert_cells_have_norms(picture, &f, jacobian);
  assert_int_equal(f.rows, glimpses);
  assert_int_equal(f.columns, symbols);
  for (int t = 0; t < glimpses; t++)
    for (int s = 0; s < symbols; s++) {
      double x, y, norm = (double)jacobian->norms[t * jacobian->S + s];
      char text[64];
      find_cell(&x, &y, &f, t, s);
      fov_viewer_move(&viewer, x, y);
      assert_ptr_equal(strstr(viewer.hint, "Jacobian, glimpse "), viewer.hint);
      snprintf(text, sizeof text, ": %.3g", norm);
      assert_string_equal(strrchr(viewer.hint, ':'), text);
    }
  cairo_surface_destroy(picture);
}

/** Sequences of different lengths; the last episodes are recorded because they are wrong. */
static void test_symbols_have_the_jacobian_of_the_command_line(void **state) {
  (void)state;
  open_with("letters", &fov_cli_explain);
  fov_viewer_do(&viewer, FOV_ACTION_OVERLAY_7);
  int shortest = 6, longest = 0;
  for (int e = 0; e < FIRST + WRONG; e++) {
    const FovTrace *trace = &viewer.opened.trace;
    int symbols = fov_trace_length(trace, e);
    fov_player_go(&viewer.player, e);
    fov_player_seek(&viewer.player, trace->lengths[e] - 1);
    wait_for_explanation();
    const int64_t index = e < FIRST ? e : case_of_letters(e);
    const FovExplainRequest request = request_of(&index);
    FovJacobian jacobian = make_jacobian(&request);
    assert_int_equal(jacobian.S, 6);
    assert_non_null(shown().jacobian);
    assert_memory_equal(shown().jacobian, jacobian.norms, 6 * (size_t)jacobian.T * sizeof(float));
    assert_null(shown().map);
    assert_norms_shown(&jacobian, trace->lengths[e], symbols);
    assert_int_equal(isnan(shown().jacobian[5]), symbols < 6); // after the end
    fov_jacobian_finish(&jacobian);
    shortest = symbols < shortest ? symbols : shortest;
    longest = symbols > longest ? symbols : longest;
  }
  assert_true(shortest < longest);
  fov_viewer_finish(&viewer);
}

static void test_symbols_have_no_methods(void **state) {
  (void)state;
  open_with("letters", &fov_cli_explain);
  for (int i = 0; i < 2; i++) {
    fov_viewer_do(&viewer, FOV_ACTION_METHOD);
    assert_string_equal(viewer.message, "symbols have the sequential Jacobian only");
    assert_false(viewer.alarm);
    wait_for_explanation();
    assert_non_null(shown().jacobian);
  }
  fov_viewer_do(&viewer, FOV_ACTION_OVERLAY_7); // the weights again
  FovScene scene = fov_window_scene(&viewer);
  FovAlignmentFrame f = alignment(&scene);
  double x, y;
  find_cell(&x, &y, &f, 0, 0);
  fov_viewer_move(&viewer, x, y);
  assert_ptr_equal(strstr(viewer.hint, "glimpse 1, "), viewer.hint);
  fov_viewer_finish(&viewer);
}

/** No method fits the agent that is still loaded when another run is opened. */
static void test_methods_are_those_of_the_opened_run(void **state) {
  (void)state;
  open_with("letters", &fov_cli_explain);
  fov_viewer_do(&viewer, FOV_ACTION_METHOD);
  wait_for_explanation();
  fov_viewer_do(&viewer, FOV_ACTION_OVERLAY_7);
  fov_viewer_drop(&viewer, "run");
  fov_viewer_do(&viewer, FOV_ACTION_SHEET); // nothing is computed
  fov_viewer_do(&viewer, FOV_ACTION_METHOD);
  fov_viewer_do(&viewer, FOV_ACTION_METHOD);
  assert_string_equal(fov_viewer_explanation(&viewer).method, "input_x_gradient");
  fov_viewer_finish(&viewer);
}

/** Opens a run with an episode that its agent does not repeat, and asks for an explanation. */
static void assert_not_repeated(const char *run, int episode) {
  open_with(run, &fov_cli_explain);
  fov_player_go(&viewer.player, episode);
  fov_viewer_do(&viewer, FOV_ACTION_OVERLAY_7);
  wait_for_explanation();
  assert_refused("no longer sees episode");
  assert_null(shown().map);
  assert_null(shown().jacobian);
  fov_viewer_finish(&viewer);
}

/** The trace of another sequence is of other data than the agent has. */
static void test_other_sequences_are_refused(void **state) {
  (void)state;
  for (int e = 0; e <= FIRST; e += FIRST) {
    FovTrace trace = record(false, 0);
    trace.symbols[e * trace.width] = (trace.symbols[e * trace.width] + 1) % trace.vocabulary;
    write_trace(trace, "letters/trace.safetensors");
    assert_not_repeated("letters", e);
  }
}

/* ---- games ---- */

static int play_catch(void **state) {
  (void)state;
  char command[600];
  snprintf(command, sizeof command,
           "mkdir -p catch && cp '%s/experiments/trained/catch/best.safetensors' catch",
           getenv("FOVEA_SOURCE"));
  fov_trained_finish(&trained);
  if (system(command) != 0 ||
      fov_trained_load(&trained, "catch", NULL, 0, FOV_SPLIT_TEST) != FOV_OK)
    return -1;
  write_trace(record(false, 0), "catch/trace.safetensors");
  return 0;
}

static void test_maps_of_a_game_are_of_the_picture_that_is_shown(void **state) {
  (void)state;
  open_with("catch", &fov_cli_explain);
  fov_viewer_do(&viewer, FOV_ACTION_METHOD);
  int last = fov_player_last(&viewer.player);
  assert_true(last > 5);
  for (int t = 0; t <= last; t += last / 3) {
    fov_player_seek(&viewer.player, t);
    wait_for_explanation();
    assert_picture_explained(0);
  }
  fov_viewer_finish(&viewer);
}

/** Without a map, whose search finds the case, there is no Jacobian either. */
static void test_a_game_that_is_not_repeated_is_refused(void **state) {
  (void)state;
  FovTrace trace = record(false, 0);
  int last = trace.episodes - 1;
  size_t first = 2 * (size_t)last * (size_t)trace.glimpses;
  for (int t = 1; t < trace.lengths[last]; t++) trace.locations[first + 2 * (size_t)t] *= 0.5f;
  assert_true(last >= FIRST && trace.frames > 1);
  write_trace(trace, "catch/trace.safetensors");
  assert_not_repeated("catch", last);
}

static void test_moves_have_no_confusion_matrix(void **state) {
  (void)state;
  const FovDrawEpisode what = {.show = FOV_DRAW_CONFUSION};
  assert_int_equal(fov_viewer_open_at(&viewer, "catch", &what), FOV_ERR_USAGE);
}

/* ---- GIFs ---- */

static double scale_of(const FovMaps *maps) {
  static float room[PIXELS];
  return fov_map_scale(maps->map, room, PIXELS);
}

/** Writes the GIF of the first episode with the maps of `fovea explain`. */
static void write_expected(const char *path, const char *method) {
  FovGif *gif;
  FovMaps maps[T];
  const int64_t index = 0;
  const FovExplainRequest request = request_of(&index);
  FovJacobian jacobian = make_jacobian(&request);
  FovScene scene = fov_player_scene(&viewer.player, FOV_SCENE_WIDTH, FOV_SCENE_HEIGHT);
  scene.episode = 0;
  assert_int_equal(fov_gif_begin(&gif, path, &scene), FOV_OK);
  for (int t = 0; t < T; t++) maps[t] = make_maps(index, method, t);
  for (bool done = false; !done;) {
    FovScene *frame = fov_gif_scene(gif);
    const FovMaps *map = &maps[frame->glimpse];
    frame->explanation = (FovExplanation){
        .method = method, .map = map->map, .scale = scale_of(map), .jacobian = jacobian.norms};
    assert_int_equal(fov_gif_step(&done, gif), FOV_OK);
  }
  fov_gif_destroy(gif);
  for (int t = 0; t < T; t++) fov_maps_finish(&maps[t]);
  fov_jacobian_finish(&jacobian);
}

static void assert_gif_is(const char *expected) {
  char command[200];
  snprintf(command, sizeof command, "cmp run-episode-0.gif %s && rm run-episode-0.gif", expected);
  assert_int_equal(system(command), 0);
}

/** Nothing is computed when it begins, and another episode is shown meanwhile. */
static void test_a_gif_shows_the_map_of_each_glimpse(void **state) {
  (void)state;
  open_with("run", &fov_cli_explain);
  fov_viewer_do(&viewer, FOV_ACTION_METHOD);
  write_expected("expected.gif", "saliency");
  fov_viewer_do(&viewer, FOV_ACTION_EXPORT);
  for (int i = 0; i < 3000 && viewer.gif; i++) {
    if (i == 1) fov_viewer_do(&viewer, FOV_ACTION_NEXT);
    if (i == 2) assert_null(shown().map);
    if (i == 3) fov_viewer_do(&viewer, FOV_ACTION_METHOD);
    fov_viewer_tick(&viewer, 0.01);
    if (!fov_viewer_is_explained(&viewer)) usleep(2000);
  }
  assert_gif_is("expected.gif");
  wait_for_explanation();
  assert_explained(1, "input_x_gradient");
  fov_viewer_finish(&viewer);
}

/** Its trace goes while maps are missing: nothing waits for these, and no part is left. */
static void test_a_gif_without_its_maps_is_dropped(void **state) {
  (void)state;
  open_with("run", &fov_cli_explain);
  fov_viewer_do(&viewer, FOV_ACTION_METHOD);
  fov_viewer_do(&viewer, FOV_ACTION_EXPORT);
  assert_non_null(viewer.gif);
  fov_viewer_drop(&viewer, "symbols.trace");
  assert_null(viewer.gif);
  assert_string_equal(viewer.message, "run-episode-0.gif: not written: its maps were not ready");
  assert_int_equal(access("run-episode-0.gif", F_OK), -1);
  fov_viewer_finish(&viewer);
}

/** An agent that cannot repeat the episode does not keep its GIF from being written. */
static void test_a_gif_without_maps_is_written(void **state) {
  (void)state;
  FovTrace of_others = record(false, 0);
  memset(of_others.weights, '0', 16);
  assert_int_equal(system("rm -rf other && mkdir other && cp run/best.safetensors other"), 0);
  write_trace(of_others, "other/trace.safetensors");
  open_with("other", &fov_cli_explain);
  fov_viewer_do(&viewer, FOV_ACTION_METHOD);
  fov_viewer_do(&viewer, FOV_ACTION_EXPORT);
  for (int i = 0; i < 3000 && viewer.gif; i++) {
    usleep(1000);
    fov_viewer_tick(&viewer, 0.01);
  }
  assert_int_equal(access("other-episode-0.gif", F_OK), 0);
  fov_viewer_finish(&viewer);
}

/* ---- files of the command line ---- */

/** Writes what `fovea view --method` does, or fails with its message. */
static void export_by(const char *path, const char *run, const char *method) {
  const FovDrawEpisode what = {.explain = &fov_cli_explain, .method = method, .count = 2};
  if (fov_draw_overview(path, run, &what) != FOV_OK) fail_msg("%s", fov_error_message());
}

static void test_exported_episodes_show_the_map_of_each_glimpse(void **state) {
  (void)state;
  open_with("run", &fov_cli_explain);
  write_expected("expected.gif", "input_x_gradient");
  export_by("run-episode-0.gif", "run", "input_x_gradient");
  assert_gif_is("expected.gif");
  fov_viewer_do(&viewer, FOV_ACTION_OVERLAY_7);
  fov_player_seek(&viewer.player, T - 1);
  wait_for_explanation();
  FovScene scene = fov_player_scene(&viewer.player, WIDTH, HEIGHT);
  scene.explanation = shown();
  cairo_surface_t *expected = draw(&scene);
  export_by("last.png", "run", "saliency");
  cairo_surface_t *picture = cairo_image_surface_create_from_png("last.png");
  for (int i = 0; i < WIDTH * HEIGHT; i++)
    if (pixel(picture, i % WIDTH, i / WIDTH) != pixel(expected, i % WIDTH, i / WIDTH))
      fail_msg("pixel %d, %d differs", i % WIDTH, i / WIDTH);
  cairo_surface_destroy(picture);
  cairo_surface_destroy(expected);
  fov_viewer_finish(&viewer);
}

/** What stands in a page behind a key: of its first episode, or in those after it. */
static const char *value_of(const char *page, const char *key) {
  const char *found = strstr(page, key);
  if (!found) fail_msg("no %s", key);
  return found + strlen(key);
}

/** Number `i` of base64 as signed bytes. */
static int byte_at(const char *base64, int i) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const char *four = base64 + i / 3 * 4;
  unsigned bits = 0;
  for (int d = 0; d < 4; d++)
    bits = bits << 6 | (four[d] == '=' ? 0 : (unsigned)(strchr(digits, four[d]) - digits));
  return (int8_t)(bits >> (16 - 8 * (i % 3)) & 255);
}

/** Maps that `fovea explain` computes are those of the page, which starts at `episode`. */
static void assert_page_has_maps(const char *episode, int64_t index, const char *method) {
  const char *bytes = value_of(episode, "\"maps\":\""), *scales = value_of(episode, "\"scales\":[");
  int negative = 0;
  for (int t = 0; t < T; t++) {
    FovMaps maps = make_maps(index, method, t);
    double scale = strtod(scales, (char **)&scales);
    scales++; // the comma
    assert_near(scale, scale_of(&maps), 1e-4 * scale, "scale of glimpse %d", t);
    for (int i = 0; i < PIXELS; i++) {
      double share = fmax(-1, fmin(1, (double)maps.map[i] / scale));
      int found = byte_at(bytes, t * PIXELS + i);
      assert_near(found, 127 * share, 0.52, "glimpse %d, pixel %d", t, i);
      negative += found < 0;
    }
    fov_maps_finish(&maps);
  }
  assert_true(negative > 0);
}

static void test_pages_have_the_maps_and_the_jacobian(void **state) {
  (void)state;
  char *page;
  size_t size;
  export_by("gaze.html", "run", "integrated_gradients");
  assert_int_equal(fov_file_read(&page, &size, "gaze.html", 1 << 24), FOV_OK);
  const char *first = value_of(page, "\"number\":0"), *second = value_of(page, "\"number\":1");
  assert_page_has_maps(first, 0, "integrated_gradients");
  assert_page_has_maps(second, 1, "integrated_gradients");
  const int64_t index = 1;
  const FovExplainRequest request = request_of(&index);
  FovJacobian jacobian = make_jacobian(&request);
  const char *norms = value_of(second, "\"jacobian\":[");
  for (int t = 0; t < T; t++)
    for (int s = 0; s <= t; s++) {
      double exact = (double)jacobian.norms[t * T + s];
      norms += strcspn(norms, "0123456789");
      assert_near(strtod(norms, (char **)&norms), exact, 1e-4 * exact, "glimpses %d, %d", t, s);
    }
  assert_ptr_equal(strstr(norms, "]]}"), norms); // nothing above the diagonal
  fov_jacobian_finish(&jacobian);
  free(page);
}

static void assert_not_exported(const char *path, const char *source, FovDrawEpisode what,
                                const char *why) {
  what.explain = &fov_cli_explain;
  assert_int_equal(fov_draw_overview(path, source, &what), FOV_ERR_USAGE);
  if (!strstr(fov_error_message(), why)) fail_msg("'%s' lacks '%s'", fov_error_message(), why);
  assert_int_equal(access(path, F_OK), -1);
}

static void test_what_cannot_be_explained_is_not_exported(void **state) {
  (void)state;
  const FovDrawEpisode good = {.method = "saliency"}, bad = {.method = "gaze"},
                       norms = {.method = "jacobian"}, far = {.method = "saliency", .episode = 99},
                       gazes = {.method = "saliency", .gazes = 2};
  assert_not_exported("no.png", "run", bad, "--method gaze: expected saliency, input_x_gradient, ");
  assert_not_exported("no.png", "run", norms, "--method jacobian: expected saliency");
  assert_not_exported("no.gif", "run/trace.safetensors", good, "a trace has no agent to explain");
  assert_not_exported("no.gif", "symbols.trace", norms, "a trace has no agent to explain");
  assert_not_exported("no.html", "run", far, "no episode 99");
  assert_not_exported("no.html", "run", gazes, "ends in .png, .svg, .gif or .mp4");
  FovTrace sampled = record(true, 0);
  assert_int_equal(system("rm -rf other && mkdir other && cp run/best.safetensors other"), 0);
  write_trace(sampled, "other/trace.safetensors");
  assert_not_exported("no.html", "other", good, "no longer sees episode 0 as it was recorded");
  assert_not_exported("no.png", "other", good, "no longer sees episode 0 as it was recorded");
}

static void test_the_window_opens_with_a_method(void **state) {
  (void)state;
  const FovDrawEpisode what = {.explain = &fov_cli_explain, .method = "input_x_gradient"};
  if (fov_viewer_open_at(&viewer, "run", &what) != FOV_OK) fail_msg("%s", fov_error_message());
  wait_for_explanation();
  assert_explained(0, "input_x_gradient");
  fov_viewer_finish(&viewer);
}

/** The figure has the norms instead of the weights: the largest in full colour. */
static void test_symbols_are_exported_with_the_jacobian(void **state) {
  (void)state;
  const FovDrawEpisode map = {.method = "saliency"}, norms = {.method = "jacobian"};
  assert_not_exported("no.png", "letters", map,
                      "--method saliency: expected jacobian: letters reads symbols");
  assert_not_exported("no.html", "letters", norms, "a page shows no sequences");
  export_by("norms.png", "letters", "jacobian");
  export_by("norms.gif", "letters", "jacobian");
  const int64_t index = 0;
  const FovExplainRequest request = request_of(&index);
  FovJacobian jacobian = make_jacobian(&request);
  FovTrace trace;
  assert_int_equal(fov_trace_read(&trace, "letters/trace.safetensors"), FOV_OK);
  FovScene scene = fov_scene(&trace, WIDTH, HEIGHT, &fov_theme_dark);
  double em = fov_em(WIDTH, HEIGHT), pad = round(1.25 * em);
  FovBox room = {pad, pad, WIDTH - 2 * pad, HEIGHT - 2 * pad};
  FovAlignmentFrame f = fov_alignment_frame(&trace, scene.episode, room, em, false);
  cairo_surface_t *picture = cairo_image_surface_create_from_png("norms.png");
  assert_cells_have_norms(picture, &f, &jacobian);
  cairo_surface_destroy(picture);
  fov_trace_finish(&trace);
  fov_jacobian_finish(&jacobian);
}

/* ---- sampled gazes ---- */

/** Pixels of the image in a colour. */
static int count_pixels(uint32_t rgb) {
  FovScene scene = fov_window_scene(&viewer);
  FovBox box = fov_scene_image(&scene);
  cairo_surface_t *picture = draw(&scene);
  int count = 0;
  for (int i = 0; i < (int)box.w * (int)box.h; i++)
    count += pixel(picture, box.x + i % (int)box.w, box.y + i / (int)box.w) == rgb;
  cairo_surface_destroy(picture);
  return count;
}

static void test_gazes_are_those_of_sampled_rollouts(void **state) {
  (void)state;
  enum { K = 3 };
  const FovDrawEpisode what = {.gazes = K};
  if (fov_viewer_open_at(&viewer, "run", &what) != FOV_OK) fail_msg("%s", fov_error_message());
  fov_viewer_resize(&viewer, WIDTH, HEIGHT);
  const FovGazes *gazes = fov_window_scene(&viewer).gazes;
  assert_int_equal(gazes->count, K);
  assert_int_equal(gazes->episodes, FIRST); // the wrong ones after them are no first cases
  for (int k = 0; k < K; k++) {
    FovTrace trace = record(true, k);
    assert_memory_equal(gazes->places + (size_t)k * FIRST * T * 2, trace.locations,
                        (size_t)FIRST * T * 2 * sizeof *trace.locations);
    for (int e = 0; e < FIRST; e++) assert_int_equal(gazes->wrong[k * FIRST + e], trace.wrong[e]);
    fov_trace_finish(&trace);
  }
  size_t rollout = (size_t)FIRST * T * 2 * sizeof *gazes->places;
  assert_memory_not_equal(gazes->places, gazes->places + (size_t)FIRST * T * 2, rollout);
  const uint32_t right = 0x1fc796, wrong = 0xff7f2a;
  viewer.player.overlays = FOV_OVERLAY_PATH;
  viewer.gazes.wrong[0] = viewer.gazes.wrong[FIRST] = viewer.gazes.wrong[2 * FIRST] = 0;
  fov_player_seek(&viewer.player, T - 1);
  assert_true(count_pixels(right) > 20 && count_pixels(wrong) == 0);
  viewer.gazes.wrong[FIRST] = 1;
  assert_true(count_pixels(right) > 20 && count_pixels(wrong) > 10);
  fov_viewer_do(&viewer, FOV_ACTION_OVERLAY_1 + 1);
  assert_int_equal(count_pixels(right) + count_pixels(wrong), 0);
  fov_viewer_drop(&viewer, "symbols.trace");
  assert_null(fov_window_scene(&viewer).gazes);
  fov_viewer_finish(&viewer);
}

static void test_gazes_need_an_agent_and_first_cases(void **state) {
  (void)state;
  FovDrawEpisode what = {.gazes = 2, .episode = FIRST};
  assert_int_equal(fov_draw_overview("gazes.png", "run", &what), FOV_ERR_USAGE);
  assert_non_null(strstr(fov_error_message(), "not one of the first 4 cases"));
  assert_int_not_equal(access("gazes.png", F_OK), 0);
  what.episode = FIRST - 1;
  assert_int_equal(fov_draw_overview("gazes.png", "run", &what), FOV_OK);
  assert_int_equal(fov_draw_overview("gazes.html", "run", &what), FOV_ERR_USAGE);
  assert_int_equal(fov_draw_overview("gazes.png", "run/trace.safetensors", &what), FOV_ERR_USAGE);
  assert_non_null(strstr(fov_error_message(), "a trace has no agent: open its run"));
}

/* ---- a computation that takes long ---- */

static atomic_int begun, stopped;

static FovStatus take_long(float *map, float *places, const FovDrawCase *what, int method) {
  (void)map, (void)places, (void)method;
  atomic_fetch_add(&begun, 1);
  while (!atomic_load(what->stop)) usleep(1000);
  atomic_fetch_add(&stopped, 1);
  return FOV_OK;
}

static const char *slow_name(int index) {
  return index == 0 ? "slow" : NULL;
}

static FovStatus fits(const FovTask *task, int method) {
  (void)task, (void)method;
  return FOV_OK;
}

static void tick_until_begun(int count) {
  for (int i = 0; i < 3000 && atomic_load(&begun) < count; i++) {
    viewer.damages = 0;
    assert_true(fov_viewer_wait(&viewer) >= 0); // it looks at the computation again
    usleep(10000);
    fov_viewer_tick(&viewer, 0.01);
  }
  assert_int_equal(atomic_load(&begun), count);
  assert_int_equal(atomic_load(&stopped), count - 1);
}

static void test_what_is_no_longer_wanted_is_stopped(void **state) {
  (void)state;
  const FovDrawExplain slow = {.method = slow_name, .check = fits, .map = take_long};
  open_with("run", &slow);
  fov_viewer_do(&viewer, FOV_ACTION_METHOD);
  tick_until_begun(1);
  assert_true(shown().pending);
  for (int i = 0; i < 40; i++) fov_viewer_tick(&viewer, 0.01);
  assert_non_null(strstr(viewer.message, "computing the explanation"));
  fov_viewer_do(&viewer, FOV_ACTION_NEXT);
  tick_until_begun(2);
  fov_viewer_do(&viewer, FOV_ACTION_OVERLAY_7);
  fov_viewer_tick(&viewer, 0.01);
  assert_int_equal(atomic_load(&stopped), 2);
  viewer.message_left = 0;
  viewer.damages = 0;
  assert_near(fov_viewer_wait(&viewer), -1, 0, "wait");
  fov_viewer_do(&viewer, FOV_ACTION_OVERLAY_7);
  tick_until_begun(3);
  fov_viewer_finish(&viewer); // does not wait for ever
  assert_int_equal(atomic_load(&stopped), 3);
}

/* ---- maps that take long ---- */

static atomic_int asked[T + 1]; // by time
static atomic_bool free_to_go;

/** The map of the command line, once it may go. */
static FovStatus wait_to_go(float *map, float *places, const FovDrawCase *what, int method) {
  atomic_fetch_add(&asked[what->time], 1);
  while (!atomic_load(&free_to_go) && !atomic_load(what->stop)) usleep(1000);
  return fov_cli_explain.map(map, places, what, method);
}

static void open_slow(void) {
  static FovDrawExplain how;
  how = fov_cli_explain;
  how.map = wait_to_go;
  memset(asked, 0, sizeof asked);
  atomic_store(&free_to_go, false);
  open_with("run", &how);
  fov_viewer_do(&viewer, FOV_ACTION_METHOD);
  for (int i = 0; i < 3000 && atomic_load(&asked[1]) == 0; i++) {
    usleep(1000);
    fov_viewer_tick(&viewer, 0.001);
  }
}

/** It is kept for its own glimpse, and computed once. */
static void test_a_map_that_is_late_is_not_shown_at_another_glimpse(void **state) {
  (void)state;
  open_slow();
  fov_player_seek(&viewer.player, 3);
  arrive();
  assert_null(shown().map);
  assert_true(shown().pending);
  atomic_store(&free_to_go, true);
  wait_for_explanation();
  assert_explained(0, "saliency");
  fov_viewer_do(&viewer, FOV_ACTION_FIRST);
  assert_explained(0, "saliency");
  wait_for_explanation();
  assert_int_equal(atomic_load(&asked[1]), 1);
  assert_int_equal(atomic_load(&asked[4]), 1);
  assert_int_equal(atomic_load(&asked[2]) + atomic_load(&asked[3]), 0);
  fov_viewer_finish(&viewer);
}

static void test_playing_does_not_wait_for_a_map(void **state) {
  (void)state;
  open_slow();
  fov_viewer_do(&viewer, FOV_ACTION_PLAY);
  for (int i = 0; i < 300; i++) {
    fov_viewer_tick(&viewer, 0.01);
    if (fov_window_scene(&viewer).glimpse > 0) assert_null(shown().map);
  }
  assert_int_equal(fov_window_scene(&viewer).glimpse, 4);
  atomic_store(&free_to_go, true);
  for (int i = 0; i < 3000 && !shown().map; i++) {
    usleep(10000);
    fov_viewer_tick(&viewer, 0.0001);
  }
  assert_int_equal(fov_window_scene(&viewer).glimpse, 4);
  fov_viewer_do(&viewer, FOV_ACTION_PLAY);
  wait_for_explanation();
  assert_int_equal(fov_window_scene(&viewer).glimpse, 4);
  assert_explained(0, "saliency");
  fov_viewer_finish(&viewer);
}

static atomic_int jacobians; // that were begun

static FovStatus wait_for_stop(float *norms, float *places, const FovDrawCase *what) {
  atomic_fetch_add(&jacobians, 1);
  while (!atomic_load(&free_to_go) && !atomic_load(what->stop)) usleep(1000);
  return fov_cli_explain.jacobian(norms, places, what);
}

/** Lets time pass until the number of Jacobians that were begun is reached. */
static void tick_until_jacobian(int count) {
  for (int i = 0; i < 3000 && atomic_load(&jacobians) < count; i++) {
    usleep(1000);
    fov_viewer_tick(&viewer, 0.01);
  }
  assert_int_equal(atomic_load(&jacobians), count);
}

static void test_maps_do_not_wait_for_the_jacobian(void **state) {
  (void)state;
  FovDrawExplain how = fov_cli_explain;
  how.jacobian = wait_for_stop;
  atomic_store(&free_to_go, false);
  atomic_store(&jacobians, 0);
  open_with("run", &how);
  fov_viewer_do(&viewer, FOV_ACTION_METHOD);
  tick_until_jacobian(1);
  fov_viewer_do(&viewer, FOV_ACTION_FORWARD);
  tick_until_jacobian(2); // again, after the map
  atomic_store(&free_to_go, true);
  wait_for_explanation();
  assert_int_equal(fov_window_scene(&viewer).glimpse, 1);
  assert_explained(0, "saliency");
  assert_int_equal(atomic_load(&jacobians), 2);
  fov_viewer_finish(&viewer);
}

/** Another episode's is stopped, and so is that of another method. */
static void test_other_episodes_and_methods_do_not_wait_for_a_map(void **state) {
  (void)state;
  open_slow();
  fov_viewer_do(&viewer, FOV_ACTION_NEXT);
  for (int i = 0; i < 3000 && atomic_load(&asked[1]) < 2; i++) {
    usleep(1000);
    fov_viewer_tick(&viewer, 0.001);
  }
  assert_int_equal(atomic_load(&asked[1]), 2);
  fov_viewer_do(&viewer, FOV_ACTION_METHOD);
  fov_viewer_tick(&viewer, 0.001);
  atomic_store(&free_to_go, true);
  wait_for_explanation();
  assert_explained(1, "input_x_gradient");
  fov_viewer_finish(&viewer);
}

/** Every method can be stopped: then it ends at once. */
static void test_methods_stop_when_asked_to(void **state) {
  (void)state;
  const atomic_bool stop = true;
  const int64_t index = 0;
  FovExplainRequest request = request_of(&index);
  request.stop = &stop;
  request.stop = NULL;
  FovJacobian before = make_jacobian(&request);
  request.stop = &stop;
  FovJacobian stopped_one = make_jacobian(&request);
  float sum = 0;
  for (int i = 0; i < T * T; i++) sum += fabsf(stopped_one.norms[i]);
  assert_true(sum == 0 && before.norms[0] > 0);
  fov_jacobian_finish(&before);
  fov_jacobian_finish(&stopped_one);
  static const char *const names[] = {"saliency", "integrated_gradients", "smoothgrad",
                                      "occlusion"};
  FovMethodOptions options;
  assert_int_equal(fov_method_options_read(&options, NULL, 0), FOV_OK);
  for (size_t m = 0; m < sizeof names / sizeof *names; m++) {
    const FovMethod *method;
    FovMaps maps;
    assert_int_equal(fov_method_find(&method, names[m]), FOV_OK);
    assert_int_equal(
        fov_maps_make(&maps, &request, method, fov_method_options_of(&options, method)), FOV_OK);
    for (int i = 0; i < PIXELS; i++) assert_true(maps.map[i] == 0);
    fov_maps_finish(&maps);
  }
  fov_method_options_finish(&options);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_maps_are_those_of_the_command_line),
      cmocka_unit_test(test_cases_of_wrong_episodes_are_found),
      cmocka_unit_test(test_every_glimpse_has_its_own_map),
      cmocka_unit_test(test_the_last_map_stays_while_another_agent_looks_on),
      cmocka_unit_test(test_the_map_of_the_next_glimpse_is_there_when_it_comes),
      cmocka_unit_test(test_methods_that_do_not_fit_the_agent_are_left_out),
      cmocka_unit_test(test_hints_have_the_values),
      cmocka_unit_test(test_what_has_no_agent_is_not_explained),
      cmocka_unit_test(test_a_damaged_checkpoint_is_named),
      cmocka_unit_test(test_episodes_that_the_agent_does_not_repeat_are_refused),
      cmocka_unit_test(test_an_agent_at_a_picture_is_explained),
      cmocka_unit_test_setup_teardown(test_symbols_have_the_jacobian_of_the_command_line,
                                      read_softly, read_digits),
      cmocka_unit_test_setup_teardown(test_symbols_have_the_jacobian_of_the_command_line, read_once,
                                      read_digits),
      cmocka_unit_test_setup_teardown(test_symbols_have_no_methods, read_softly, read_digits),
      cmocka_unit_test_setup_teardown(test_methods_are_those_of_the_opened_run, read_softly,
                                      read_digits),
      cmocka_unit_test_setup_teardown(test_other_sequences_are_refused, read_softly, read_digits),
      cmocka_unit_test_setup_teardown(test_maps_of_a_game_are_of_the_picture_that_is_shown,
                                      play_catch, read_digits),
      cmocka_unit_test_setup_teardown(test_a_game_that_is_not_repeated_is_refused, play_catch,
                                      read_digits),
      cmocka_unit_test_setup_teardown(test_moves_have_no_confusion_matrix, play_catch, read_digits),
      cmocka_unit_test(test_a_gif_shows_the_map_of_each_glimpse),
      cmocka_unit_test(test_a_gif_without_its_maps_is_dropped),
      cmocka_unit_test(test_a_gif_without_maps_is_written),
      cmocka_unit_test(test_exported_episodes_show_the_map_of_each_glimpse),
      cmocka_unit_test(test_pages_have_the_maps_and_the_jacobian),
      cmocka_unit_test(test_what_cannot_be_explained_is_not_exported),
      cmocka_unit_test(test_the_window_opens_with_a_method),
      cmocka_unit_test_setup_teardown(test_symbols_are_exported_with_the_jacobian, read_softly,
                                      read_digits),
      cmocka_unit_test(test_gazes_are_those_of_sampled_rollouts),
      cmocka_unit_test(test_gazes_need_an_agent_and_first_cases),
      cmocka_unit_test(test_what_is_no_longer_wanted_is_stopped),
      cmocka_unit_test(test_a_map_that_is_late_is_not_shown_at_another_glimpse),
      cmocka_unit_test(test_playing_does_not_wait_for_a_map),
      cmocka_unit_test(test_maps_do_not_wait_for_the_jacobian),
      cmocka_unit_test(test_other_episodes_and_methods_do_not_wait_for_a_map),
      cmocka_unit_test(test_methods_stop_when_asked_to),
  };
  return cmocka_run_group_tests_name("explaining", tests, begin, end);
}
