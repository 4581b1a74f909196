/** Which fovea this is. */
#ifndef FOV_BASE_VERSION_H
#define FOV_BASE_VERSION_H

/** `git describe --always --dirty --tags` at the time of the build, or the project's version where
 * the sources are not in a git repository. */
extern const char fov_version[];

#endif
