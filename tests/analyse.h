/** Included before every file by tests/analyse: fov_fail is defined in another file, so the
 * analyser would assume that it may return FOV_OK. */
#include "base/error.h"

#define fov_fail(status, ...) (fov_fail(status, __VA_ARGS__), (status))
