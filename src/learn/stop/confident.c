/** Answers as soon as it is sure: no learning, so one agent gives the whole curve of error against
 * glimpses. It asks for an answer worth having after every glimpse (train.answer = every). */
#include "learn/plugins.h"

typedef struct Options {
  double threshold;
} Options;

static const FovOption options[] = {
    FOV_REAL(Options, threshold, "0.9", 0, 1, "probability of the likeliest answer to stop at"),
    FOV_OPTIONS_END,
};

static FovVar *decide(bool *stop, FovTape *tape, const FovStopInput *input, const void *values) {
  (void)tape;
  real least = (real)log(((const Options *)values)->threshold);
  for (int i = 0; i < input->lanes; i++) {
    const real *log_p = input->log_probabilities + (size_t)i * input->actions;
    stop[i] = log_p[fov_likeliest(log_p, input->actions)] >= least;
  }
  return NULL;
}

const FovStopRule fov_stop_confident = {
    .plugin = {.name = "confident",
               .help = "answers once its likeliest answer is likely enough",
               .options = options,
               .options_size = sizeof(Options)},
    .reads_answer = true,
    .decide = decide,
};
