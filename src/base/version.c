#include "base/version.h"

#include "base/version_tag.h"

const char fov_version[] = FOV_VERSION_TAG;
