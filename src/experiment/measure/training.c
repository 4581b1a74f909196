#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/busy.h"
#include "experiment/measure/parts.h"

enum { FIRST_UPDATES = 3 }; // not measured: they allocate, or get their own pages after a fork

static const double TRAINING = 0.6, EVALUATION = 0.3; // seconds of one repeat

struct FovTrainMeter {
  const FovSubject *subject;
  FovTrainer *trainer;
  FovProfile *profiles;
  int threads;
};

FovStatus fov_train_meter_create(FovTrainMeter **meter, const FovSubject *subject, int threads) {
  FovTrainMeter *m = *meter = calloc(1, sizeof *m);
  if (!m) return fov_fail(FOV_ERR_MEMORY, "no memory for a measurement");
  *m = (FovTrainMeter){.subject = subject, .threads = threads, .profiles = fov_profiles_create()};
  if (!m->profiles) return fov_fail(FOV_ERR_MEMORY, "no memory for profiles");
  return fov_trainer_create(&m->trainer, &subject->training, threads);
}

void fov_train_meter_destroy(FovTrainMeter *meter) {
  if (!meter) return;
  fov_trainer_destroy(meter->trainer);
  free(meter->profiles);
  free(meter);
}

static void add_phases(FovTrainRate *rate, const FovProfile *profiles, int threads,
                       double seconds) {
  double whole = seconds * threads, waiting = whole;
  for (int phase = 0; phase < FOV_PHASES; phase++) {
    double sum = 0;
    for (int worker = 0; worker < threads; worker++) sum += profiles[worker].seconds[phase];
    fov_repeats_add(&rate->phases[phase], sum / whole);
    waiting -= sum;
  }
  fov_repeats_add(&rate->phases[FOV_PHASES], waiting / whole);
}

/** Glimpses of all updates so far. */
static double glimpses_of(FovTrainer *trainer) {
  return (double)fov_trainer_state(trainer)->sums.glimpses;
}

/** Page faults of this process so far. */
static double faults(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (double)usage.ru_minflt;
}

/** Whether the measurement goes on: all ranks make as many updates as the first one. */
static bool goes_on(const FovTrainMeter *meter, double seconds, double enough) {
  bool more = seconds < enough;
  fov_ranks_broadcast(meter->subject->training.ranks, &more, sizeof more, 0);
  return more;
}

/** Trains for a while; glimpses: trained on, a second. */
static FovStatus time_updates(double *glimpses, double *seconds, int *updates,
                              FovTrainMeter *meter) {
  double start = fov_now(), before = glimpses_of(meter->trainer);
  for (*updates = 0, *seconds = 0; goes_on(meter, *seconds, TRAINING); ++*updates) {
    FOV_TRY(fov_trainer_update(meter->trainer));
    *seconds = fov_now() - start;
  }
  *glimpses = (glimpses_of(meter->trainer) - before) / *seconds;
  return FOV_OK;
}

static FovStatus time_training(double *glimpses, FovTrainRate *rate, FovTrainMeter *meter) {
  memset(meter->profiles, 0, FOV_MAX_THREADS * sizeof *meter->profiles);
  double pages = faults(), seconds;
  int updates;
  fov_profile_into(meter->profiles);
  FovStatus status = time_updates(glimpses, &seconds, &updates, meter);
  fov_profile_into(NULL);
  FOV_TRY(status);
  fov_repeats_add(&rate->faults, (faults() - pages) / updates);
  add_phases(rate, meter->profiles, meter->threads, seconds);
  return FOV_OK;
}

static FovStatus time_beside(double *glimpses, FovTrainMeter *meter, int count) {
  FovBusy busy;
  double seconds;
  int updates;
  FOV_TRY(fov_busy_start(&busy, count));
  FovStatus status = time_updates(glimpses, &seconds, &updates, meter);
  fov_busy_stop(&busy);
  return status;
}

static FovStatus time_evaluation(double *glimpses, FovTrainMeter *meter) {
  FovEvalRequest request = fov_subject_request(meter->subject, fov_trainer_weights(meter->trainer),
                                               32 * FOV_SHARD, meter->threads);
  request.ranks = meter->subject->training.ranks;
  FovEvalResult result;
  double start = fov_now(), seconds, done = 0;
  fov_trainer_gather(meter->trainer);
  do {
    FOV_TRY(fov_evaluate(&result, &request, fov_trainer_workspace(meter->trainer)));
    done += result.glimpses * (double)request.cases;
    seconds = fov_now() - start;
  } while (goes_on(meter, seconds, EVALUATION));
  *glimpses = done / seconds;
  return FOV_OK;
}

/** The first updates, and the bytes that the busiest rank sends in one. */
static FovStatus make_first_updates(FovTrainRate *rate, const FovTrainMeter *meter) {
  FovRanks *ranks = meter->subject->training.ranks;
  uint64_t sent[FOV_MAX_RANKS], most = 0, before = 0;
  for (int i = 0; i < FIRST_UPDATES; i++) {
    if (ranks) before = ranks->sent;
    FOV_TRY(fov_trainer_update(meter->trainer));
  }
  if (fov_ranks_count(ranks) == 1) return FOV_OK;
  sent[ranks->rank] = ranks->sent - before;
  fov_ranks_gather_each(ranks, sent, sizeof *sent);
  for (int r = 0; r < ranks->count; r++)
    if (sent[r] > most) most = sent[r];
  fov_repeats_add(&rate->sent, (double)most);
  return FOV_OK;
}

/** FLOP/s of a product on all threads of all ranks. */
static FovStatus time_product(double *flops, const FovProduct *product,
                              const FovTrainMeter *meter) {
  FovRanks *ranks = meter->subject->training.ranks;
  double rates[FOV_MAX_RANKS], *mine = &rates[ranks ? ranks->rank : 0];
  FOV_TRY(fov_product_rate(mine, product, meter->threads));
  fov_ranks_gather_each(ranks, rates, sizeof *rates);
  *flops = 0;
  for (int r = 0; r < fov_ranks_count(ranks); r++) *flops += rates[r];
  return FOV_OK;
}

FovStatus fov_measure_train(FovTrainRate *rate, FovTrainMeter *meter, const FovShapes *shapes,
                            int busy) {
  const FovProduct *fastest = &fov_fastest(shapes)->product;
  double before, after, glimpses, evaluated, beside;
  rate->threads = meter->threads;
  FOV_TRY(make_first_updates(rate, meter));
  FOV_TRY(time_product(&before, fastest, meter));
  FOV_TRY(time_training(&glimpses, rate, meter));
  FOV_TRY(time_product(&after, fastest, meter));
  FOV_TRY(time_evaluation(&evaluated, meter));
  if (busy > 0) {
    FOV_TRY(time_beside(&beside, meter, busy));
    fov_repeats_add(&rate->beside, beside);
  }
  double limit = (before + after) / 2;
  fov_repeats_add(&rate->limit, limit);
  fov_repeats_add(&rate->glimpses, glimpses);
  fov_repeats_add(&rate->evaluated, evaluated);
  fov_repeats_add(&rate->share, glimpses * shapes->flops / limit);
  return FOV_OK;
}
