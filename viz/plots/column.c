#include "viz/plots/column.h"

#include <stddef.h>
#include <string.h>

static const struct {
  const char *name;
  FovColumnLabel column;
} columns[] = {
    {"update", {"Updates", 1, false}},
    {"episodes", {"Training episodes", 1, false}},
    {"epoch", {"Epochs", 1, false}},
    {"seconds", {"Training time", 1, false}},
    {"glimpses", {"Training glimpses", 1, false}},
    {"rate", {"Learning rate", 1, false}},
    {"train_error", {"Training error (%)", 100, true}},
    {"train_reward", {"Training reward", 1, false}},
    {"gradient_norm", {"Gradient norm", 1, false}},
    {"valid_error", {"Validation error (%)", 100, true}},
    {"valid_answer_error", {"Wrong answers in validation (%)", 100, true}},
    {"error", {"Error (%)", 100, true}},
    {"length", {"Source length (symbols)", 1, false}},
    {"size", {"Image size (pixels)", 1, false}},
    {"mflop", {"MFLOP of an image", 1, true}},
    {"valid_reward", {"Validation reward", 1, false}},
    {"valid_glimpses", {"Glimpses of a validation episode", 1, false}},
    {"glimpses_per_second", {"Training glimpses per second", 1, false}},
};

FovColumnLabel fov_column(const char *name) {
  for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
    if (strcmp(columns[i].name, name) == 0) return columns[i].column;
  return (FovColumnLabel){name, 1, false};
}

typedef struct Unit {
  double from, size; // used from this value on
  const char *words;
} Unit;

double fov_column_unit(const char **words, const char *name, double most) {
  static const Unit counts[] = {{1e6, 1e6, " (millions)"}, {1e3, 1e3, " (thousands)"}, {0, 1, ""}};
  static const Unit times[] = {
      {7200, 3600, " (hours)"}, {120, 60, " (minutes)"}, {0, 1, " (seconds)"}};
  const Unit *unit = strcmp(name, "seconds") == 0 ? times : counts;
  while (most < unit->from) unit++;
  *words = unit->words;
  return unit->size;
}
