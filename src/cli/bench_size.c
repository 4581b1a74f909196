#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/bench.h"
#include "cli/cli.h"
#include "draw.h"

static const int sizes[] = {FOV_BENCH_SMALLEST, 64, 128, 256, 512, 1024, FOV_BENCH_LARGEST};

enum { MOST = 5 }; // settings of an agent

/** Two agents that recognise a digit in an image of any size. The second is the convolutional
 * network of Mnih et al. 2014, table 2a, whose input grows with the image. */
static const struct {
  const char *name, *key;
  const char *settings[MOST];
} agents[] = {
    {"8 glimpses of 12 x 12 at 3 scales",
     "glimpses",
     {"attention=gaze", "glimpses=8", "sensor.side=12", "sensor.scales=3"}},
    {"convolutional network on the whole image",
     "convolution",
     {"attention=gaze", "glimpses=1", "sensor.whole=yes", "encoder=conv", "core=none"}},
};

enum {
  SIZES = sizeof sizes / sizeof *sizes,
  AGENTS = sizeof agents / sizeof *agents,
  MAX_OWN = MOST + 2, // with those of its image
};

/** The seconds of an episode at every size. */
typedef struct Costs {
  FovRepeats episode[AGENTS][SIZES], drawing[AGENTS][SIZES];
  int sizes;
} Costs;

static FovStatus measure(Costs *costs, int agent, int i, const char *const *settings, int count,
                         int repeats) {
  char env_size[32];
  const char **all = calloc((size_t)count + MAX_OWN, sizeof *all);
  if (!all) return fov_fail(FOV_ERR_MEMORY, "no memory for the arguments");
  snprintf(env_size, sizeof env_size, "env.size=%d", sizes[i]);
  // The agent's own settings come last: no change may make another of it.
  for (int s = 0; s < count; s++) all[s] = settings[s];
  all[count++] = "env=translated";
  all[count++] = env_size;
  for (int s = 0; s < MOST && agents[agent].settings[s]; s++)
    all[count++] = agents[agent].settings[s];
  FovSubject subject = {0};
  FovStatus status = fov_subject_load(&subject, NULL, all, count);
  if (status == FOV_OK)
    status = fov_measure_episode(&costs->episode[agent][i], &costs->drawing[agent][i], &subject,
                                 repeats);
  fov_subject_finish(&subject);
  free(all);
  return status;
}

/** Refuses a setting whose key is that of `own`, a `key=value` that is set here. */
static FovStatus refuse(const char *setting, const char *own) {
  if (!fov_cli_sets(setting, own)) return FOV_OK;
  return fov_fail(FOV_ERR_USAGE, "%s: bench size sets %.*s itself", setting, (int)strcspn(own, "="),
                  own);
}

FovStatus fov_bench_size_check(const char *const *settings, int count) {
  for (int i = 0; i < count; i++) {
    FOV_TRY(refuse(settings[i], "env="));
    FOV_TRY(refuse(settings[i], "env.size="));
    for (int agent = 0; agent < AGENTS; agent++)
      for (int s = 0; s < MOST && agents[agent].settings[s]; s++)
        FOV_TRY(refuse(settings[i], agents[agent].settings[s]));
  }
  return FOV_OK;
}

static FovStatus collect(Costs *costs, const char *const *settings, int count, int largest,
                         int repeats) {
  while (costs->sizes < SIZES && sizes[costs->sizes] <= largest) costs->sizes++;
  for (int agent = 0; agent < AGENTS; agent++)
    for (int i = 0; i < costs->sizes; i++)
      FOV_TRY(measure(costs, agent, i, settings, count, repeats));
  return FOV_OK;
}

static void print(const Costs *costs) {
  printf("\none episode, forward, on one thread; drawing its image is counted apart\n");
  for (int agent = 0; agent < AGENTS; agent++)
    for (int i = 0; i < costs->sizes; i++) {
      FovSpread s = fov_spread_of(&costs->episode[agent][i]);
      FovSpread d = fov_spread_of(&costs->drawing[agent][i]);
      printf("  %4d x %-4d  %9.4f ms (%.4f-%.4f)  %8.4f ms to draw  %s\n", sizes[i], sizes[i],
             1e3 * s.median, 1e3 * s.low, 1e3 * s.high, 1e3 * d.median, agents[agent].name);
    }
}

static void add_json(json_t *list, const Costs *costs) {
  for (int agent = 0; agent < AGENTS; agent++)
    for (int i = 0; i < costs->sizes; i++)
      json_array_append_new(
          list, json_pack("{s:s, s:i, s:o, s:o}", "agent", agents[agent].key, "size", sizes[i],
                          "seconds_per_episode", fov_bench_json_repeats(&costs->episode[agent][i]),
                          "seconds_to_draw", fov_bench_json_repeats(&costs->drawing[agent][i])));
}

static FovStatus draw(const char *path, const Costs *costs) {
  double x[SIZES], y[AGENTS][SIZES];
  FovDrawLine lines[AGENTS];
  for (int agent = 0; agent < AGENTS; agent++) {
    for (int i = 0; i < costs->sizes; i++) {
      x[i] = sizes[i];
      y[agent][i] = 1e3 * fov_spread_of(&costs->episode[agent][i]).median;
    }
    lines[agent] = (FovDrawLine){agents[agent].name, x, y[agent], costs->sizes};
  }
  return fov_draw_lines(path, lines, AGENTS, "side of the image, pixels",
                        "One episode without drawing its image, milliseconds on one thread");
}

FovStatus fov_bench_size(json_t *json, const char *plot, const char *const *settings, int count,
                         int largest, int repeats) {
  Costs *costs = calloc(1, sizeof *costs);
  if (!costs) return fov_fail(FOV_ERR_MEMORY, "no memory for the figures");
  FovStatus status = collect(costs, settings, count, largest, repeats);
  if (status == FOV_OK && json) add_json(json, costs);
  if (status == FOV_OK && !json) print(costs);
  if (status == FOV_OK && plot) status = draw(plot, costs);
  free(costs);
  return status;
}
