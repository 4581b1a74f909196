/** Every glimpse is taken before an answer is given. */
#include "learn/stop.h"

const FovStopRule fov_stop_never = {
    .plugin = {.name = "never", .help = "takes every glimpse before it answers"},
};
