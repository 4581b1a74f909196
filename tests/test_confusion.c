/** The confusion matrix, and the orders in which episodes are shown. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "check.h"
#include "traces.h"
#include "viz/scene/confusion.h"
#include "viz/viewer/order.h"

enum { EPISODES = 24, WIDTH = 1280, HEIGHT = 720 };

static FovTrace trace;
static FovConfusion confusion;

/** Labels 0, 1, 2, 3, 0 …; episodes 2, 5, 8 … are answered with the next class. */
static int begin(void **state) {
  (void)state;
  trace = make_up_trace(EPISODES, 1);
  return fov_confusion_count(&confusion, &trace, EPISODES) == FOV_OK ? 0 : -1;
}

static int end(void **state) {
  (void)state;
  fov_confusion_finish(&confusion);
  fov_trace_finish(&trace);
  return 0;
}

static void test_answers_are_counted_by_label_and_answer(void **state) {
  (void)state;
  for (int label = 0; label < CLASSES; label++) {
    assert_int_equal(confusion.labels[label], EPISODES / CLASSES);
    for (int answer = 0; answer < CLASSES; answer++) {
      int expected = answer == label ? 4 : answer == (label + 1) % CLASSES ? 2 : 0;
      assert_int_equal(confusion.counts[label * CLASSES + answer], expected);
    }
  }
}

static void test_every_turn_of_a_sequence_counts(void **state) {
  (void)state;
  FovTrace sequence = make_up_sequence(4);
  FovConfusion of_turns;
  int answers = 0;
  assert_int_equal(fov_confusion_count(&of_turns, &sequence, 2), FOV_OK);
  for (int a = 0; a < of_turns.classes; a++) answers += of_turns.labels[a];
  assert_int_equal(answers, 3); // two turns of episode 0, one of episode 1
  fov_confusion_finish(&of_turns);
  fov_trace_finish(&sequence);
}

static void test_each_cell_is_found_where_it_is_drawn(void **state) {
  (void)state;
  int found[CLASSES][CLASSES] = {{0}}, classes[CLASSES] = {0}, label, answer;
  for (int y = 0; y < HEIGHT; y += 4)
    for (int x = 0; x < WIDTH; x += 4) {
      if (!fov_confusion_at(&label, &answer, &confusion, &trace, WIDTH, HEIGHT, x, y)) continue;
      if (answer < 0)
        classes[label]++;
      else
        found[label][answer]++;
    }
  for (label = 0; label < CLASSES; label++) {
    assert_true(classes[label] > 100);
    for (answer = 0; answer < CLASSES; answer++) assert_true(found[label][answer] > 100);
  }
  char text[128];
  fov_confusion_describe(text, sizeof text, &confusion, &trace, 2, 3);
  assert_string_equal(text, "label 2 answered as 3: 2 of 6");
  fov_confusion_describe(text, sizeof text, &confusion, &trace, 2, -1);
  assert_string_equal(text, "label 2: 2 wrong of 6");
}

static cairo_surface_t *draw_chosen(int label, int answer) {
  cairo_surface_t *picture = cairo_image_surface_create(CAIRO_FORMAT_RGB24, WIDTH, HEIGHT);
  cairo_t *cr = cairo_create(picture);
  fov_confusion_draw(cr, &confusion, &trace, &fov_theme_dark, WIDTH, HEIGHT, label, answer);
  cairo_destroy(cr);
  return picture;
}

/** All edges of the chosen cell look different, and nothing of the other cells. */
static void test_the_chosen_cell_has_an_outline(void **state) {
  (void)state;
  cairo_surface_t *plain = draw_chosen(-1, -1), *chosen = draw_chosen(2, 3);
  const uint32_t *a = (const void *)cairo_image_surface_get_data(plain),
                 *b = (const void *)cairo_image_surface_get_data(chosen);
  int left = WIDTH, top = HEIGHT, right = 0, bottom = 0, label, answer, inside = 0;
  for (int i = 0; i < WIDTH * HEIGHT; i++) {
    int x = i % WIDTH, y = i / WIDTH;
    bool cell = fov_confusion_at(&label, &answer, &confusion, &trace, WIDTH, HEIGHT, x, y);
    if (!cell || label != 2 || answer != 3) continue;
    left = x < left ? x : left, right = x > right ? x : right;
    top = y < top ? y : top, bottom = y > bottom ? y : bottom;
    inside++;
  }
  assert_true(inside > 100);
  int changed[4] = {0}; // at the left, right, upper and lower edge
  for (int y = top - 4; y <= bottom + 4; y++)
    for (int x = left - 4; x <= right + 4; x++) {
      if (a[y * WIDTH + x] == b[y * WIDTH + x]) continue;
      changed[0] += (x < left + 4), changed[1] += (x > right - 4);
      changed[2] += (y < top + 4), changed[3] += (y > bottom - 4);
    }
  for (int i = 0; i < 4; i++) assert_true(changed[i] >= (i < 2 ? bottom - top : right - left));
  for (int y = 0; y < HEIGHT; y++)
    for (int x = 0; x < WIDTH; x++) {
      bool near = x >= left - 4 && x <= right + 4 && y >= top - 4 && y <= bottom + 4;
      if (!near && fov_confusion_at(&label, &answer, &confusion, &trace, WIDTH, HEIGHT, x, y) &&
          answer >= 0)
        assert_int_equal(a[y * WIDTH + x], b[y * WIDTH + x]);
    }
  cairo_surface_destroy(plain);
  cairo_surface_destroy(chosen);
}

static void draw(const FovConfusion *c, const FovTrace *of, double width, double height) {
  cairo_surface_t *picture =
      cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)width, (int)height);
  cairo_t *cr = cairo_create(picture);
  fov_confusion_draw(cr, c, of, &fov_theme_dark, width, height, of->actions - 1, -1);
  assert_int_equal(cairo_status(cr), CAIRO_STATUS_SUCCESS);
  cairo_destroy(cr);
  cairo_surface_destroy(picture);
}

static void test_any_number_of_classes_draws_or_is_refused(void **state) {
  (void)state;
  static const int counts[] = {2, 55, FOV_CONFUSION_CLASSES, FOV_CONFUSION_CLASSES + 1};
  for (int i = 0; i < 4; i++) {
    FovTrace many = begin_trace(3, 1, 1, counts[i]);
    FovConfusion c;
    for (int e = 0; e < 3; e++) {
      many.lengths[e] = 1;
      many.labels[e * GLIMPSES] = counts[i] - 1;
      many.answers[e * GLIMPSES] = e % 2;
    }
    bool fits = counts[i] <= FOV_CONFUSION_CLASSES;
    assert_int_equal(fov_confusion_count(&c, &many, 3), fits ? FOV_OK : FOV_ERR_USAGE);
    if (fits) {
      draw(&c, &many, 480, 300);
      draw(&c, &many, 1280, 720);
      fov_confusion_finish(&c);
    }
    fov_trace_finish(&many);
  }
  FovTrace game = make_up_game(2);
  FovConfusion c;
  assert_int_equal(fov_confusion_count(&c, &game, 2), FOV_ERR_USAGE);
  fov_trace_finish(&game);
}

/* ---- orders ---- */

static void set_answer(int e, float first, float second, int label) {
  float *p = trace.probabilities + ((size_t)e * GLIMPSES + GLIMPSES - 1) * CLASSES;
  p[0] = first, p[1] = second, p[2] = p[3] = (1 - first - second) / 2;
  trace.labels[e * GLIMPSES + GLIMPSES - 1] = label;
}

static void test_values_are_those_of_the_answer(void **state) {
  (void)state;
  set_answer(3, 0.5f, 0.25f, 1);
  assert_near(fov_order_value(&trace, 3, FOV_ORDER_ENTROPY), 1.75, 1e-6, "bits");
  assert_near(fov_order_value(&trace, 3, FOV_ORDER_MARGIN), 0.25, 1e-6, "margin");
  assert_near(fov_order_value(&trace, 3, FOV_ORDER_LOSS), log(4), 1e-6, "nats");
  assert_near(fov_order_value(&trace, 3, FOV_ORDER_GLIMPSES), GLIMPSES, 0, "glimpses");
  assert_near(fov_order_value(&trace, 3, FOV_ORDER_PATH), 3 * hypot(0.25, 0.5), 1e-6, "length");
  trace.lengths[3] = 2; // stopped before the answer
  assert_true(isnan(fov_order_value(&trace, 3, FOV_ORDER_LOSS)));
  assert_near(fov_order_value(&trace, 3, FOV_ORDER_PATH), hypot(0.25, 0.5), 1e-6, "length");
  FovTrace wide = trace;
  wide.width = 2 * trace.height; // half a width is then the whole height
  assert_near(fov_order_value(&wide, 3, FOV_ORDER_PATH), hypot(0.25, 0.25), 1e-6, "length");
}

static void test_a_game_has_the_loss_of_its_return(void **state) {
  (void)state;
  FovTrace game = make_up_game(2);
  double sum = 0;
  for (int t = 0; t < game.lengths[1]; t++) sum += game.rewards[GLIMPSES + t];
  assert_near(fov_order_value(&game, 1, FOV_ORDER_LOSS), -sum, 1e-6, "loss");
  fov_trace_finish(&game);
}

static void assert_order(const double *values, FovOrder order, bool reverse, const int *expected) {
  int episodes[] = {0, 1, 2, 3, 4};
  fov_order_sort(episodes, 5, values, order, reverse);
  for (int i = 0; i < 5; i++) assert_int_equal(episodes[i], expected[i]);
}

static void test_episodes_are_sorted_the_doubtful_first(void **state) {
  (void)state;
  const double values[] = {1, NAN, 3, 1, INFINITY};
  assert_order(values, FOV_ORDER_LOSS, false, (int[]){4, 2, 0, 3, 1});
  assert_order(values, FOV_ORDER_LOSS, true, (int[]){0, 3, 2, 4, 1});
  assert_order(values, FOV_ORDER_MARGIN, false, (int[]){0, 3, 2, 4, 1});
  assert_order(values, FOV_ORDER_MARGIN, true, (int[]){4, 2, 0, 3, 1});
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_answers_are_counted_by_label_and_answer),
      TEST(test_every_turn_of_a_sequence_counts),
      TEST(test_each_cell_is_found_where_it_is_drawn),
      TEST(test_the_chosen_cell_has_an_outline),
      TEST(test_any_number_of_classes_draws_or_is_refused),
      TEST(test_values_are_those_of_the_answer),
      TEST(test_a_game_has_the_loss_of_its_return),
      TEST(test_episodes_are_sorted_the_doubtful_first),
  };
  return cmocka_run_group_tests_name("confusion", tests, NULL, NULL);
}
