/** Included before every file by tests/analyse: the analyser does not see into fov_fail, and would
 * take its status for FOV_OK. */
#include "base/error.h"

#define fov_fail(status, ...) (fov_fail(status, __VA_ARGS__), (status))
