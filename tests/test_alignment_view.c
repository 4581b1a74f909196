/** What a scene, the contact sheet and an export show of sequences, and of images in columns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <float.h>
#include <unistd.h>

#include <gif_lib.h>

#include "check.h"
#include "draw.h"
#include "drawn.h"
#include "pixel.h"
#include "traces.h"
#include "viz/scene/alignment_view.h"
#include "viz/scene/attention.h"
#include "viz/scene/drawing.h"
#include "viz/scene/layout.h"
#include "viz/scene/sides.h"
#include "viz/viewer/sheet.h"
#include "viz/viewer/viewer.h"
#include "working_folder.h"

enum { HEADS = 3, WIDTH = 1280, HEIGHT = 720, SITES = SYMBOLS };

static FovScene scene_of(const FovTrace *trace, int episode, int glimpse, int head) {
  FovScene scene = fov_scene(trace, WIDTH, HEIGHT, &fov_theme_dark);
  scene.episode = episode;
  scene.glimpse = glimpse;
  scene.head = head;
  return scene;
}

static FovAlignmentFrame frame_of(const FovScene *scene) {
  FovLayout l = fov_layout(scene);
  return fov_alignment_frame(scene->trace, scene->episode, l.view, l.em, true);
}

static bool is_colour(uint32_t rgb, FovColour colour) {
  const double parts[] = {colour.r, colour.g, colour.b};
  for (int c = 0; c < 3; c++)
    if (fabs((rgb >> (16 - 8 * c) & 255) - 255 * parts[c]) > 1.01) return false;
  return true;
}

static int count_pixels(cairo_surface_t *picture, FovBox box, FovColour colour) {
  int count = 0;
  for (double y = fmax(0, box.y); y < fmin(HEIGHT, box.y + box.h); y++)
    for (double x = fmax(0, box.x); x < fmin(WIDTH, box.x + box.w); x++)
      count += is_colour(pixel(picture, x, y), colour);
  return count;
}

/** The colour of a share from one colour to another. */
static FovColour mix(FovColour from, FovColour to, double share) {
  return (FovColour){from.r + share * (to.r - from.r), from.g + share * (to.g - from.g),
                     from.b + share * (to.b - from.b)};
}

/** A point of cell (t, i), in shares of the cell. */
static void point_in(double *x, double *y, FovBox image, const FovAlignmentFrame *f, int t, int i,
                     double right, double down) {
  *x = image.x + (i + right) * image.w / f->columns;
  *y = image.y + (t + down) * image.h / f->rows;
}

static void assert_cell(cairo_surface_t *picture, const FovScene *scene, int t, int i,
                        double share) {
  double x, y;
  FovAlignmentFrame f = frame_of(scene);
  point_in(&x, &y, fov_scene_image(scene), &f, t, i, 0.5, 0.5);
  FovColour expected = mix(scene->theme->panel, scene->theme->series[0], share);
  if (!is_colour(pixel(picture, x, y), expected))
    fail_msg("cell %d, %d: #%06x, expected #%02lx%02lx%02lx", t, i, pixel(picture, x, y),
             lround(255 * expected.r), lround(255 * expected.g), lround(255 * expected.b));
}

/** Later glimpses have a quarter of it. */
static void test_a_cell_has_the_colour_of_its_weight(void **state) {
  (void)state;
  FovTrace trace = make_up_symbols(3, 1);
  for (int e = 0; e < 3; e++) {
    FovScene scene = scene_of(&trace, e, 1, 0);
    cairo_surface_t *picture = draw(&scene);
    int sites = SITES - 2 * e;
    assert_int_equal(frame_of(&scene).columns, sites); // of its own source
    for (int t = 0; t < GLIMPSES; t++)
      for (int i = 0; i < sites; i++) {
        double share = (double)made_up_weight(t, 0, i, sites);
        assert_cell(picture, &scene, t, i, share < 0.002 ? 0 : share * (t > 1 ? 0.25 : 1));
      }
    cairo_surface_destroy(picture);
  }
  fov_trace_finish(&trace);
}

static void test_a_head_has_a_matrix_of_its_own(void **state) {
  (void)state;
  FovTrace trace = make_up_symbols(1, HEADS);
  for (int head = 0; head <= HEADS; head++) {
    FovScene scene = scene_of(&trace, 0, GLIMPSES - 1, head);
    cairo_surface_t *picture = draw(&scene);
    double top = head > 0 ? 1 : 0.5; // the mean is at most 0.8 / 3 and a little
    for (int t = 0; t < GLIMPSES; t++)
      for (int i = 0; i < SITES; i++) {
        double weight = 0;
        for (int h = 0; h < HEADS; h++)
          if (head == 0 || h == head - 1)
            weight += (double)made_up_weight(t, h, i, SITES) / (head ? 1 : HEADS);
        assert_cell(picture, &scene, t, i, weight / top < 0.002 ? 0 : weight / top);
      }
    cairo_surface_destroy(picture);
  }
  fov_trace_finish(&trace);
}

/** Between two glimpses a weight is between theirs. */
static void test_the_source_has_the_weights_of_the_glimpse(void **state) {
  (void)state;
  FovTrace trace = make_up_symbols(1, 1);
  FovAlignmentFrame f;
  for (int t = 0; t < 3; t++)
    for (int half = 0; half < 2; half++) {
      FovScene scene = scene_of(&trace, 0, t, 0);
      scene.glide = 0.5 * half;
      cairo_surface_t *picture = draw(&scene);
      f = frame_of(&scene);
      for (int i = 0; i < SITES; i++) {
        double now = (double)made_up_weight(t, 0, i, SITES),
               next = (double)made_up_weight(t + 1, 0, i, SITES),
               share = now + scene.glide * (next - now);
        double x = f.source.x + (i + 0.5) * f.source.w / SITES;
        assert_true(is_colour(pixel(picture, x, f.source.y + 1),
                              mix(scene.theme->paper, scene.theme->series[0], share)));
      }
      scene.overlays = 0; // hides them
      cairo_surface_destroy(picture);
      picture = draw(&scene);
      assert_int_equal(count_pixels(picture, (FovBox){f.source.x, f.source.y, f.source.w, 2},
                                    scene.theme->paper),
                       2 * (int)f.source.w);
      cairo_surface_destroy(picture);
    }
  fov_trace_finish(&trace);
}

static void test_each_head_has_a_row_of_bars(void **state) {
  (void)state;
  FovTrace trace = make_up_symbols(1, HEADS);
  FovScene scene = scene_of(&trace, 0, 1, 0);
  cairo_surface_t *picture = draw(&scene);
  FovAlignmentFrame f = frame_of(&scene);
  for (int h = 0; h < HEADS; h++)
    for (int i = 0; i < SITES; i++) {
      double row = f.heads.h / HEADS, x = floor(f.heads.x + (i + 0.5) * f.heads.w / SITES);
      FovBox line = {x, f.heads.y + h * row, 1, row};
      double expected = (row - 2) * (double)made_up_weight(1, h, i, SITES);
      assert_near(count_pixels(picture, line, scene.theme->series[0]), expected, 1.6, "height");
    }
  cairo_surface_destroy(picture);
  fov_trace_finish(&trace);
}

static void test_a_wrong_answer_stands_beside_its_label(void **state) {
  (void)state;
  FovTrace trace = make_up_symbols(2, 1);
  for (int e = 0; e < 2; e++) {
    FovScene scene = scene_of(&trace, e, GLIMPSES - 1, 0);
    cairo_surface_t *picture = draw(&scene);
    FovAlignmentFrame f = frame_of(&scene);
    for (int t = 0; t < GLIMPSES; t++) {
      bool wrong = e == 1 && t == 2;
      FovBox answer = {f.answers.x, f.answers.y + t * f.matrix.h / GLIMPSES, f.answers.w,
                       f.matrix.h / GLIMPSES};
      FovBox label = {f.labels.x, answer.y, f.labels.w, answer.h};
      assert_int_equal(count_pixels(picture, answer, scene.theme->wrong) > 0, wrong);
      assert_int_equal(count_pixels(picture, answer, scene.theme->ink) > 0, !wrong);
      assert_int_equal(count_pixels(picture, label, scene.theme->right) > 0, wrong);
    }
    assert_int_equal(f.labels.w > 0, e == 1);
    cairo_surface_destroy(picture);
  }
  fov_trace_finish(&trace);
}

/** Attention that reads one site outlines it. */
static void test_a_site_that_is_read_alone_has_an_outline(void **state) {
  (void)state;
  FovTrace trace = make_up_symbols(1, 1);
  for (int t = 0; t < GLIMPSES; t++)
    trace.locations[2 * t] = (2 * ((float)(3 * t) + 0.5f)) / SITES - 1;
  for (int alone = 0; alone < 2; alone++) {
    if (alone) trace.reach = FOV_REACH_GLIMPSE;
    FovScene scene = scene_of(&trace, 0, 2, 0);
    cairo_surface_t *picture = draw(&scene);
    FovAlignmentFrame f = frame_of(&scene);
    for (int t = 0; t < GLIMPSES; t++)
      for (int i = 0; i < SITES; i++) {
        double x, y;
        point_in(&x, &y, f.matrix, &f, t, i, 0, 0.5);
        int edge = count_pixels(picture, (FovBox){round(x) + 1, y, 1, 4}, scene.theme->ink);
        assert_int_equal(edge > 0, alone && t <= 2 && i == 3 * t);
      }
    cairo_surface_destroy(picture);
  }
  fov_trace_finish(&trace);
}

static void assert_hint(const FovScene *scene, double x, double y, const char *expected) {
  char text[128] = "";
  assert_int_equal(fov_scene_describe(text, sizeof text, scene, x, y), expected != NULL);
  assert_string_equal(text, expected ? expected : "");
}

/** An explained strip shows the map of its pixels instead. */
static void test_a_strip_is_explained(void **state) {
  (void)state;
  FovTrace trace = make_up_strip(1, 1);
  float map[STRIP * STRIP_TILES] = {0};
  map[STRIP * 3 + 20] = 2; // row 3, column 20
  memset(trace.images, 0, sizeof map / sizeof *map);
  FovScene scene = scene_of(&trace, 0, 1, 0);
  scene.explanation = (FovExplanation){.method = "saliency", .map = map, .scale = 2};
  cairo_surface_t *picture = draw(&scene);
  FovAlignmentFrame f = frame_of(&scene);
  for (int i = 0; i < STRIP; i++) {
    double x = f.source.x + (i + 0.5) * f.source.w / STRIP;
    double y = f.source.y + 3.5 * f.source.h / STRIP_TILES;
    assert_true(
        is_colour(pixel(picture, x, y), i == 20 ? (FovColour){1, 0.45, 0} : (FovColour){0}));
    if (i == 20) assert_hint(&scene, x, y, "saliency 2; glimpse 2, answer 1, tile 2: 0.8");
  }
  cairo_surface_destroy(picture);
  fov_trace_finish(&trace);
}

/** Plots over time are left out of a scene that is too narrow for their numbers. */
static void test_plots_of_a_narrow_scene_have_room(void **state) {
  (void)state;
  float map[STRIP * STRIP_TILES] = {0}, jacobian[GLIMPSES * GLIMPSES] = {0};
  FovTrace traces[] = {make_up_strip(1, 1), make_up_strip(1, 1), make_up_trace(1, 1),
                       make_up_game(1), make_up_symbols(1, 1)};
  for (int t = 0; t < GLIMPSES; t++) traces[0].baselines[t] = NAN;
  for (int i = 0; i < 5; i++) {
    FovScene scene = scene_of(&traces[i], 0, 1, 0);
    for (int explained = 0; explained < 2; explained++)
      for (scene.width = 320; scene.width <= 1280; scene.width += 16)
        for (scene.height = 180; scene.height <= 720; scene.height += 20) {
          if (explained)
            scene.explanation = (FovExplanation){
                .method = "saliency", .map = map, .scale = 2, .jacobian = jacobian};
          FovLayout l = fov_layout(&scene);
          assert_true(l.last.h == 0 || l.last.w >= 6 * l.em);
          assert_true(l.returns.h == 0 || l.returns.w >= 6 * l.em);
          assert_true(l.bars.h == 0 || l.bars.w > 0);
        }
    fov_trace_finish(&traces[i]);
  }
}

/** The image lies over the columns of its tiles, tinted by their weights. */
static void test_a_strip_is_tinted_by_the_weights_of_its_tiles(void **state) {
  (void)state;
  FovTrace trace = make_up_strip(1, 1);
  memset(trace.images, 0, (size_t)STRIP * STRIP_TILES);
  assert_true(fov_shows_alignment(&trace));
  for (int t = 0; t < GLIMPSES; t++) {
    FovScene scene = scene_of(&trace, 0, t, 0);
    cairo_surface_t *picture = draw(&scene);
    FovAlignmentFrame f = frame_of(&scene);
    assert_int_equal(f.columns, STRIP_TILES);
    assert_near(f.source.h / f.source.w, (double)STRIP_TILES / STRIP, 0.005, "shape");
    for (int i = 0; i < STRIP_TILES; i++) {
      double share = (double)made_up_weight(t, 0, i, STRIP_TILES);
      double x = f.source.x + (i + 0.5) * f.source.w / STRIP_TILES;
      assert_true(is_colour(pixel(picture, x, f.source.y + f.source.h / 2),
                            mix((FovColour){0}, scene.theme->series[0], 0.7 * share)));
    }
    cairo_surface_destroy(picture);
  }
  fov_trace_finish(&trace);
}

static void test_only_rows_of_tiles_are_alignments(void **state) {
  (void)state;
  FovTrace tiles = make_up_tiles(1, 4, "attention.tiles");
  assert_false(fov_shows_alignment(&tiles));
  tiles.tiles_across = 8; // 8 × 2
  assert_false(fov_shows_alignment(&tiles));
  tiles.tiles_across = 16;
  assert_true(fov_shows_alignment(&tiles));
  fov_trace_finish(&tiles);
}

/* ---- the pointer ---- */

static void test_the_pointer_reads_weights_symbols_and_labels(void **state) {
  (void)state;
  FovTrace trace = make_up_symbols(2, HEADS), strip = make_up_strip(1, 1);
  double x, y;
  FovScene scene = scene_of(&trace, 1, 2, 2);
  FovAlignmentFrame f = frame_of(&scene);
  point_in(&x, &y, f.matrix, &f, 1, 7, 0.5, 0.5); // head 2 has its largest weight at site 5
  assert_hint(&scene, x, y, "head 2 of 3, glimpse 2, answer 2, symbol 8 \"word\": 0.032");
  assert_hint(&scene, x, f.source.y + 3,
              "head 2 of 3, glimpse 3, answer 1, symbol 8 \"word\": 0.8");
  assert_hint(&scene, x, f.heads.y + 0.9 * f.heads.h,
              "head 3 of 3, glimpse 3, answer 1, symbol 8 \"word\": 1.02e-05");
  point_in(&x, &y, f.matrix, &f, 2, 0, 0.5, 0.5);
  assert_hint(&scene, f.answers.x + 5, y, "glimpse 3, answer 1, label 0");
  assert_hint(&scene, f.labels.x + 5, y, "glimpse 3, answer 1, label 0");
  assert_hint(&scene, f.matrix.x + 5, f.matrix.y + f.matrix.h + 6, NULL);
  FovScene of_strip = scene_of(&strip, 0, 0, 0);
  f = frame_of(&of_strip);
  point_in(&x, &y, f.matrix, &f, 1, 2, 0.5, 0.5);
  assert_hint(&of_strip, x, y, "glimpse 2, answer 1, tile 2: 0.8");
  fov_trace_finish(&trace);
  fov_trace_finish(&strip);
}

static void test_zooming_enlarges_the_cells_at_the_pointer(void **state) {
  (void)state;
  FovTrace trace = make_up_symbols(1, 1);
  FovScene scene = scene_of(&trace, 0, 3, 0);
  FovAlignmentFrame f = frame_of(&scene);
  double x, y;
  point_in(&x, &y, f.matrix, &f, 2, 6, 0.5, 0.5);
  scene.zoom = fov_scene_zoom(&scene, 3, x, y);
  assert_hint(&scene, x, y, "glimpse 3, answer 2, symbol 7 \"a\": 0.8");
  assert_hint(&scene, x, f.source.y + 2, "glimpse 4, answer end, symbol 7 \"a\": 0.0064");
  assert_near(fov_scene_image(&scene).w, 3 * f.matrix.w, 1e-6, "width");
  cairo_surface_t *picture = draw(&scene);
  assert_cell(picture, &scene, 2, 6, 0.8);
  assert_cell(picture, &scene, 2, 5, 0.16);
  FovBox beside = {f.matrix.x + f.matrix.w + 8, f.matrix.y, 20, f.matrix.h};
  assert_int_equal(count_pixels(picture, beside, scene.theme->paper), (int)(20 * f.matrix.h));
  cairo_surface_destroy(picture);
  fov_trace_finish(&trace);
}

/* ---- names ---- */

static FovTrace long_source(int symbols, const char *word) {
  FovTrace trace = declare_trace(1, 1, 1, CLASSES);
  const char *const names[] = {word, word};
  trace.vocabulary = 2;
  trace.height = trace.side = trace.scales = 1;
  trace.width = symbols;
  add_weights(&trace, symbols, 1);
  assert_int_equal(fov_trace_allocate(&trace), FOV_OK);
  assert_int_equal(fov_trace_set_names(&trace, NULL, names), FOV_OK);
  for (int i = 0; i < symbols; i++) trace.symbols[i] = i % 2;
  make_up_alignment(&trace, &symbols, 1);
  return trace;
}

static void test_names_are_turned_or_smaller_where_columns_are_narrow(void **state) {
  (void)state;
  const double em = 16;
  FovTrace letters = long_source(100, "m"), words = long_source(100, "sentence");
  FovLettering wide = fov_letter_columns(&words, 0, 100, em);
  FovLettering narrow = fov_letter_columns(&words, 0, 12, em);
  assert_false(wide.turned);
  assert_true(narrow.turned && narrow.size < wide.size && narrow.spacing <= 12);
  FovLettering letter = fov_letter_columns(&letters, 0, 8, em);
  assert_true(!letter.turned && letter.size < 0.95 * em && letter.spacing <= 8);
  assert_true(fov_letter_columns(&letters, 0, 1, em).size >= 9); // no smaller: some are left out
  FovScene scene = scene_of(&words, 0, 0, 0);
  FovAlignmentFrame f = frame_of(&scene);
  assert_true(f.source.h > 4 * em && f.source.h <= 0.3 * fov_scene_view(&scene).h + 1);
  assert_true(f.matrix.w > 1000); // a long source has all of the width
  fov_trace_finish(&letters);
  fov_trace_finish(&words);
}

/** Where not all names fit, those of the largest weights are drawn. */
static void test_names_of_large_weights_come_first(void **state) {
  (void)state;
  FovTrace trace = long_source(600, "m");
  FovScene scene = scene_of(&trace, 0, 2, 0);
  cairo_surface_t *picture = draw(&scene);
  FovAlignmentFrame f = frame_of(&scene);
  double x = f.source.x + 300.5 * f.source.w / 600; // the largest weight of glimpse 3
  FovBox box = {x - 6, f.source.y, 12, f.source.h};
  assert_true(count_pixels(picture, box, fov_text_on(scene.theme->series[0])) > 4);
  cairo_surface_destroy(picture);
  fov_trace_finish(&trace);
}

/* ---- other pictures ---- */

/** The weights of the second episode are half of those of the first, and so are its colours. */
static void test_the_contact_sheet_shows_matrices(void **state) {
  (void)state;
  FovTrace trace = make_up_symbols(2, HEADS);
  for (int c = 0; c < trace.columns; c++) {
    int count = trace.glimpses * trace.column[c].width;
    for (int i = 0; i < count; i++)
      trace.column[c].values[count + i] = trace.column[c].values[i] / 2;
  }
  FovPlayer player;
  assert_int_equal(fov_player_init(&player, &trace), FOV_OK);
  player.head = 1;
  fov_sheet_fit(&player, WIDTH, HEIGHT);
  cairo_surface_t *picture = cairo_image_surface_create(CAIRO_FORMAT_RGB24, WIDTH, HEIGHT);
  cairo_t *cr = cairo_create(picture);
  fov_sheet_draw(cr, &player, WIDTH, HEIGHT);
  cairo_destroy(cr);
  cairo_surface_flush(picture);
  FovBox all = {0, 0, WIDTH, HEIGHT};
  const FovTheme *theme = &fov_theme_dark;
  int largest = count_pixels(picture, all, mix(theme->panel, theme->series[0], 0.8));
  int half = count_pixels(picture, all, mix(theme->panel, theme->series[0], 0.4));
  int cells = count_pixels(picture, all, theme->panel) + largest + half;
  assert_true(largest > 1000 && half > 1000);
  assert_true(cells < 14 * (largest + half)); // 4 of 48 cells have the largest weight
  cairo_surface_destroy(picture);
  fov_player_finish(&player);
  fov_trace_finish(&trace);
}

static size_t read_start(char *text, size_t size, const char *name) {
  FILE *file = fopen(name, "rb");
  assert_non_null(file);
  size_t length = fread(text, 1, size - 1, file);
  fclose(file);
  text[length] = '\0';
  return length;
}

/** A picture is the whole matrix alone, a film all of the scene. */
static void test_an_export_is_the_matrix_or_the_playback(void **state) {
  (void)state;
  FovTrace trace = make_up_symbols(2, 1);
  FovDrawEpisode what = {.episode = 1, .width = WIDTH, .height = HEIGHT};
  char text[4096];
  assert_int_equal(fov_trace_write(&trace, "a.trace"), FOV_OK);
  assert_int_equal(fov_draw_episode("a.png", "a.trace", &what), FOV_OK);
  assert_int_equal(fov_draw_episode("a.svg", "a.trace", &what), FOV_OK);
  assert_int_equal(fov_draw_episode("a.html", "a.trace", &what), FOV_ERR_USAGE);
  what.width = 320, what.height = 180;
  assert_int_equal(fov_draw_episode("a.gif", "a.trace", &what), FOV_OK);
  cairo_surface_t *picture = cairo_image_surface_create_from_png("a.png");
  const FovTheme *theme = &fov_theme_dark;
  int most = count_pixels(picture, (FovBox){0, 0, WIDTH, HEIGHT},
                          mix(theme->panel, theme->series[0], 0.8));
  assert_in_range(most, 4 * 79 * 63 - 4, 4 * 80 * 64); // four cells, within their rules
  cairo_surface_destroy(picture);
  read_start(text, sizeof text, "a.svg");
  assert_non_null(strstr(text, "<svg"));
  GifFileType *gif = DGifOpenFileName("a.gif", NULL);
  assert_non_null(gif);
  assert_int_equal(DGifSlurp(gif), GIF_OK);
  assert_int_equal(gif->ImageCount, GLIMPSES + 6 * (GLIMPSES - 1));
  assert_int_equal(gif->SWidth, 320);
  DGifCloseFile(gif, NULL);
  fov_trace_finish(&trace);
}

/** How far the legend of an episode's figure reaches to the right of the matrix's left edge. */
static double legend_width(const FovTrace *trace, int episode) {
  FovDrawEpisode what = {.episode = episode, .width = WIDTH, .height = HEIGHT};
  assert_int_equal(fov_trace_write(trace, "a.trace"), FOV_OK);
  assert_int_equal(fov_draw_episode("a.png", "a.trace", &what), FOV_OK);
  cairo_surface_t *picture = cairo_image_surface_create_from_png("a.png");
  FovScene scene = scene_of(trace, episode, 0, 0);
  FovLayout l = fov_layout(&scene);
  double pad = round(1.25 * l.em), right = WIDTH;
  FovBox room = {pad, pad, WIDTH - 2 * pad, HEIGHT - 2 * pad};
  FovBox matrix = fov_alignment_frame(trace, episode, room, l.em, false).matrix;
  while (right > matrix.x &&
         count_pixels(picture, (FovBox){right, matrix.y + matrix.h, 1, 2 * l.em},
                      scene.theme->quiet) == 0)
    right--;
  cairo_surface_destroy(picture);
  return right - matrix.x;
}

static void test_a_narrow_matrix_has_the_whole_legend(void **state) {
  (void)state;
  FovTrace trace = make_up_symbols(2, 1);
  snprintf(trace.attention, sizeof trace.attention, "straight_through");
  double wide = legend_width(&trace, 0);
  for (int i = 1; i < trace.width; i++) trace.symbols[i] = -1;
  assert_true(legend_width(&trace, 0) == wide);
  fov_trace_finish(&trace);
}

static void test_keys_step_through_a_sequence(void **state) {
  (void)state;
  FovTrace trace = make_up_symbols(3, HEADS);
  FovViewer viewer;
  assert_int_equal(fov_trace_write(&trace, "a.trace"), FOV_OK);
  fov_trace_finish(&trace);
  const FovDrawEpisode first = {0}, heat = {.show = FOV_DRAW_HEAT};
  assert_int_equal(fov_viewer_open_at(&viewer, "a.trace", &heat), FOV_ERR_USAGE);
  assert_non_null(strstr(fov_error_message(), "a sequence has no places to map"));
  assert_int_equal(fov_viewer_open_at(&viewer, "a.trace", &first), FOV_OK);
  fov_viewer_resize(&viewer, WIDTH, HEIGHT);
  for (int t = 0; t < GLIMPSES; t++) {
    assert_int_equal(fov_player_glimpse(&viewer.player), t);
    fov_viewer_do(&viewer, FOV_ACTION_FORWARD);
  }
  fov_viewer_do(&viewer, FOV_ACTION_HEAD);
  assert_string_equal(viewer.message, "weights: head 1 of 3");
  fov_viewer_do(&viewer, FOV_ACTION_HEAT);
  assert_string_equal(viewer.message, "a sequence has no places to map");
  assert_int_equal(viewer.player.mode, FOV_MODE_SCENE);
  fov_viewer_finish(&viewer);
}

/** Two agents have half of the width each; the plots are below the matrix. */
static void test_two_agents_at_a_sequence(void **state) {
  (void)state;
  FovTrace trace = make_up_symbols(2, 1), other = make_up_symbols(2, 1);
  assert_int_equal(fov_trace_check_pair(&trace, "a", &other, "b"), FOV_OK);
  FovScene scene = scene_of(&trace, 0, 1, 0);
  scene.beside = &other;
  for (int side = 0; side < 2; side++) {
    FovBox box;
    FovScene one = fov_scene_side(&box, &scene, side);
    FovAlignmentFrame f = frame_of(&one);
    char text[128];
    FovBox cell = {f.matrix.x, f.matrix.y, f.matrix.w / f.columns, f.matrix.h / f.rows};
    assert_true(f.matrix.x + f.matrix.w <= box.w &&
                fov_layout(&one).bars.y > f.matrix.y + f.matrix.h);
    assert_true(fov_scene_describe(text, sizeof text, &scene, box.x + cell.x + cell.w / 2,
                                   box.y + cell.y + cell.h / 2));
    assert_non_null(strstr(text, "symbol 1 \"a\""));
  }
  other.symbols[SYMBOLS + 2] ^= 1;
  assert_int_equal(fov_trace_check_pair(&trace, "a", &other, "b"), FOV_ERR_USAGE);
  assert_non_null(strstr(fov_error_message(), "episode 1 begins with another sequence"));
  fov_trace_finish(&trace);
  fov_trace_finish(&other);
}

/* ---- anything that a file may contain ---- */

static void test_any_weights_sources_and_sizes_draw(void **state) {
  (void)state;
  static const float numbers[] = {NAN,  0, -1,    1e-30f,  FLT_MIN / 4,
                                  0.5f, 3, 1e20f, FLT_MAX, -FLT_MAX};
  enum { NUMBERS = sizeof numbers / sizeof *numbers };
  FovTrace traces[] = {make_up_symbols(1, HEADS), make_up_strip(1, HEADS), make_up_symbols(1, 1),
                       long_source(1, ""), long_source(300, "\xe6\x97\xa5")};
  uint32_t random = 7;
  for (int i = 0; i < 200; i++) {
    FovTrace *trace = &traces[i % 5];
    random = random * 1664525 + 1013904223;
    for (int c = 0; c < trace->columns; c++)
      for (int j = 0; j < GLIMPSES * trace->column[c].width; j++) {
        random = random * 1664525 + 1013904223;
        trace->column[c].values[j] = numbers[(random >> 16) % NUMBERS];
      }
    if (i % 5 == 2 && i > 50) trace->symbols[0] = -1;      // an empty source
    if (i % 5 == 0 && i > 100) trace->column[0].width = 1; // not of these symbols
    FovScene scene =
        scene_of(trace, 0, i % GLIMPSES, i % 5 < 2 ? i / 5 % (fov_heads(trace) + 1) : 0);
    static const int sizes[][2] = {{320, 180}, {WIDTH, HEIGHT}, {320, 400}, {480, 500}};
    scene.width = sizes[i % 4][0];
    scene.height = sizes[i % 4][1];
    scene.zoom = (FovZoom){i % 4 ? 1 : 64, 0.3, 0.9};
    scene.glide = i % 7 && i % GLIMPSES < GLIMPSES - 1 ? 0.3 : 0;
    scene.overlays = (unsigned)i % (1 << FOV_OVERLAYS);
    cairo_surface_destroy(draw(&scene));
    char text[128];
    for (int j = 0; j < 20; j++)
      fov_scene_describe(text, sizeof text, &scene, 61 * j % WIDTH, 37 * j);
  }
  for (int i = 0; i < 5; i++) {
    if (i == 0) traces[i].column[0].width = SYMBOLS;
    fov_trace_finish(&traces[i]);
  }
}

static void test_round_numbers_above_a_probability(void **state) {
  (void)state;
  const double expected[][2] = {{1, 1},      {0.51, 1},    {0.5, 0.5}, {0.21, 0.5}, {0.2, 0.2},
                                {0.11, 0.2}, {0.04, 0.05}, {0, 1e-4},  {3, 1}};
  for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
    assert_near(fov_round_up(expected[i][0]), expected[i][1], 1e-12, "upper end");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_cell_has_the_colour_of_its_weight),
      cmocka_unit_test(test_a_head_has_a_matrix_of_its_own),
      cmocka_unit_test(test_the_source_has_the_weights_of_the_glimpse),
      cmocka_unit_test(test_each_head_has_a_row_of_bars),
      cmocka_unit_test(test_a_wrong_answer_stands_beside_its_label),
      cmocka_unit_test(test_a_site_that_is_read_alone_has_an_outline),
      cmocka_unit_test(test_a_strip_is_explained),
      cmocka_unit_test(test_plots_of_a_narrow_scene_have_room),
      cmocka_unit_test(test_a_strip_is_tinted_by_the_weights_of_its_tiles),
      cmocka_unit_test(test_only_rows_of_tiles_are_alignments),
      cmocka_unit_test(test_the_pointer_reads_weights_symbols_and_labels),
      cmocka_unit_test(test_zooming_enlarges_the_cells_at_the_pointer),
      cmocka_unit_test(test_names_are_turned_or_smaller_where_columns_are_narrow),
      cmocka_unit_test(test_names_of_large_weights_come_first),
      cmocka_unit_test(test_the_contact_sheet_shows_matrices),
      cmocka_unit_test(test_an_export_is_the_matrix_or_the_playback),
      cmocka_unit_test(test_a_narrow_matrix_has_the_whole_legend),
      cmocka_unit_test(test_keys_step_through_a_sequence),
      cmocka_unit_test(test_two_agents_at_a_sequence),
      cmocka_unit_test(test_any_weights_sources_and_sizes_draw),
      cmocka_unit_test(test_round_numbers_above_a_probability),
  };
  return cmocka_run_group_tests_name("alignment_view", tests, enter_folder, leave_folder);
}
