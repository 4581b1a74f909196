#include "learn/schedule.h"
#include "learn/trainer/update.h"

static const char *const schedules[] = {"constant", "linear", "cosine", NULL};
static const char *const answers[] = {
    [FOV_TRAIN_ANSWER_LAST] = "last", [FOV_TRAIN_ANSWER_EVERY] = "every", NULL};

const FovOption fov_train_options[] = {
    FOV_LONG(FovTrainOptions, episodes, "1000000", 1, 1e12, "episodes of the whole training"),
    FOV_INT(FovTrainOptions, batch, "256", 1, 65536, "episodes of one update"),
    FOV_INT(FovTrainOptions, copies, "1", 1, FOV_MAX_SHARD,
            "K: episodes on the same image; divides batch and shard"),
    FOV_INT(FovTrainOptions, shard, "64", 1, FOV_MAX_SHARD,
            "episodes that one thread plays at a time; results depend on it, not on --threads"),
    FOV_REAL(FovTrainOptions, rate, "1e-3", 0, 100, "learning rate"),
    FOV_CHOICE(FovTrainOptions, schedule, "cosine", schedules,
               "of the learning rate; linear and cosine end at 0"),
    FOV_REAL(FovTrainOptions, warmup, "0.01", 0, 1,
             "share of the training over which the rate rises from 0"),
    FOV_REAL(FovTrainOptions, clip, "5", 0, 1e9,
             "gradients with a larger global norm are clipped to it; 0: none"),
    FOV_REAL(FovTrainOptions, average, "0.999", 0, 0.999999,
             "decay of the averaged weights that are evaluated; 0: none"),
    FOV_CHOICE(FovTrainOptions, answer, "last", answers,
               "glimpses after which an answer is trained"),
    FOV_REAL(FovTrainOptions, last, "0", 0, 1,
             "with answer = every, the last answer's share of the loss; earlier answers divide the "
             "rest equally; 0: equal shares"),
    FOV_REAL(FovTrainOptions, near, "0", 0, 1,
             "with first = random, the share of its distance to the target by which the first "
             "glimpse is moved closer; falls linearly to 0 at the middle of the training"),
    FOV_OPTIONS_END,
};

FovAnswerWeights fov_train_answer_weights(const FovTrainOptions *options, int glimpses) {
  if (options->answer == FOV_TRAIN_ANSWER_LAST) return (FovAnswerWeights){.given = 1};
  if (options->last == 0 || glimpses == 1)
    return (FovAnswerWeights){.given = 1.0 / glimpses, .early = 1.0 / glimpses};
  return (FovAnswerWeights){.given = options->last, .early = (1 - options->last) / (glimpses - 1)};
}

int fov_train_lanes(const FovTrainOptions *options) {
  return options->batch < options->shard ? options->batch : options->shard;
}

int fov_train_shards(const FovTrainOptions *options) {
  return (options->batch + options->shard - 1) / options->shard;
}

bool fov_train_transposes(const FovTrainOptions *options) {
  return options->shard != FOV_SHARD;
}

int fov_train_shard_for(const FovTrainOptions *options, int threads) {
  int images = options->batch / options->copies;
  return (images + threads - 1) / threads * options->copies;
}

int64_t fov_train_updates_planned(const FovTrainOptions *options) {
  return (options->episodes + options->batch - 1) / options->batch;
}

double fov_trainer_progress(const FovTrainer *trainer) {
  return (double)trainer->state.update /
         (double)fov_train_updates_planned(&trainer->training.options);
}

double fov_train_near(const FovTrainOptions *options, double progress) {
  return progress < 0.5 ? options->near * (1 - 2 * progress) : 0;
}

double fov_trainer_rate(const FovTrainer *trainer) {
  const FovTrainOptions *o = &trainer->training.options;
  // The middle of the update represents it, so that neither the first nor the last has a rate of 0.
  double middle = ((double)trainer->state.update + 0.5) /
                  (double)fov_train_updates_planned(&trainer->training.options);
  return o->rate * fov_schedule((FovSchedule)o->schedule, middle < 1 ? middle : 1, o->warmup);
}
