/** Answers as soon as the most likely answer is likely enough. Nothing is learned, so one agent
 * gives the whole curve of error against glimpses; train it with train.answer = every, so that it
 * can answer after any glimpse. */
#include "learn/categorical.h"
#include "learn/stop.h"

typedef struct Options {
  double threshold;
} Options;

static const FovOption options[] = {
    FOV_REAL(Options, threshold, "0.9", 0, 1,
             "stop where the most likely answer has at least this probability"),
    FOV_OPTIONS_END,
};

static FovVar *decide(bool *stop, FovTape *tape, const FovStopInput *input, const void *layout,
                      const void *values) {
  (void)tape, (void)layout;
  real least = (real)log(((const Options *)values)->threshold);
  for (int i = 0; i < input->lanes; i++) {
    const real *log_p = input->log_probabilities + (size_t)i * input->actions;
    bool sure = log_p[fov_likeliest(log_p, input->actions)] >= least;
    stop[i] = input->forced ? input->forced[i] : sure;
  }
  return NULL;
}

const FovStopRule fov_stop_confident = {
    .plugin = {.name = "confident",
               .help = "answers once the most likely answer is likely enough",
               .options = options,
               .options_size = sizeof(Options)},
    .reads_answer = true,
    .decide = decide,
};
