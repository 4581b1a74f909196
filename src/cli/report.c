#include "cli/report.h"

#include <stdio.h>
#include <unistd.h>

#include "base/profile.h"

static bool drawn; /**< the cursor stands on a progress line */

/** "1:02:03", "2:03". */
static const char *duration(char text[32], double seconds) {
  long s = (long)(seconds + 0.5);
  if (s >= 3600)
    snprintf(text, 32, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
  else
    snprintf(text, 32, "%ld:%02ld", s / 60, s % 60);
  return text;
}

void fov_report_leave(void) {
  if (drawn) fputs("\r\033[K", stdout);
  drawn = false;
}

void fov_report_row(const FovProgress *row, double seconds_left) {
  char left[32];
  fov_report_leave();
  printf("epoch %5.1f  error %5.2f %%  train %5.2f %%  reward %6.3f  %6.0f glimpses/s  %s left\n",
         row->epoch, 100 * row->valid_error, 100 * row->train_error, row->train_reward,
         row->glimpses_per_second, duration(left, seconds_left));
  fflush(stdout);
}

void fov_report_standing(const FovStanding *standing) {
  static double last;
  if (!isatty(STDOUT_FILENO) || fov_now() - last < 0.2) return;
  last = fov_now();
  char left[32];
  double episodes = (double)standing->sums->episodes;
  enum { CELLS = 5 };
  int filled = (int)(CELLS * standing->progress);
  // Narrower than 80 columns: a line that wraps could not be drawn over.
  printf("\r\033[K[%.*s%.*s] epoch %.1f  error %.1f %%  reward %.2f  %.0f glimpses/s  %s left",
         filled, "#####", CELLS - filled, "-----", standing->epoch,
         episodes ? 100 * (double)standing->sums->wrong / episodes : 0,
         episodes ? standing->sums->reward / episodes : 0, standing->glimpses_per_second,
         duration(left, standing->seconds_left));
  fflush(stdout);
  drawn = true;
}
