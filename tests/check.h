/** Assertions that several tests share; include after cmocka.h. */
#ifndef FOV_TESTS_CHECK_H
#define FOV_TESTS_CHECK_H

#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"

/** Fails unless |actual − expected| <= tolerance; NaN fails. The other arguments name the number,
 * as for printf. */
#define assert_near(actual, expected, tolerance, ...)                                              \
  do {                                                                                             \
    double near_actual = (double)(actual), near_expected = (double)(expected);                     \
    if (!(fabs(near_actual - near_expected) <= (double)(tolerance))) {                             \
      print_error(__VA_ARGS__);                                                                    \
      fail_msg(" is %.17g, expected %.17g within %g", near_actual, near_expected,                  \
               (double)(tolerance));                                                               \
    }                                                                                              \
  } while (0)

/** The same for an expression, named by its text. */
#define assert_close(actual, expected, tolerance)                                                  \
  assert_near(actual, expected, tolerance, "%s", #actual)

/** Whether `work` aborts; it runs in a process of its own, whose message is not shown. */
static inline bool aborts(void (*work)(void)) {
  fflush(NULL);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    if (!freopen("/dev/null", "w", stderr)) _exit(1);
    work();
    _exit(0);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

/** Fails the test unless the last error message contains `part`. */
static inline void assert_message(const char *part) {
  if (!strstr(fov_error_message(), part)) fail_msg("'%s' lacks '%s'", fov_error_message(), part);
}

#endif
