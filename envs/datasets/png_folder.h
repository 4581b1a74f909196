/** A folder of PNGs, one folder a class: which pictures there are, and which part each belongs to.
 */
#ifndef FOV_ENVS_DATASETS_PNG_FOLDER_H
#define FOV_ENVS_DATASETS_PNG_FOLDER_H

#include <limits.h>
#include <stddef.h>

#include "env.h"
#include "envs/datasets/png.h"

enum { FOV_PNG_MAX_CLASSES = 65536 };

typedef struct FovPngFile {
  char *path; /**< owned */
  FovPngHeader header;
  int label;
  FovSplit split;
} FovPngFile;

/** Zero-initialised it is empty. */
typedef struct FovPngFolder {
  FovPngFile *files; /**< by split, class and name, but for what was cut; owned */
  size_t count, room;
  char **classes; /**< [class_count]: their names, sorted; owned */
  int class_count;
  int height, width; /**< of the highest and of the widest picture */
  bool colour;       /**< some picture is not grey */
} FovPngFolder;

/**
 * Lists a folder and reads the headers of its pictures.
 *
 * Each folder in it is a class; class k is the k-th by name (bytes compared). Its pictures are the
 * regular files whose name ends in .png, by name; whatever else it holds, and hidden names, are
 * ignored. A sixth of each class, rounded down, is for the test: the last by name; the sixth before
 * it validates. If the folder holds train and test, each with the folders of all classes, these are
 * the parts; the last sixth of each class of train validates, unless there is valid too.
 *
 * Fails, naming the folder or file, if there are not 2 to 65,536 classes, if a class has no picture
 * or, where it is cut, fewer than six, if parts have other classes, or if a header is damaged.
 */
FovStatus fov_png_folder_read(FovPngFolder *folder, const char *path);

void fov_png_folder_finish(FovPngFolder *folder);

/** Frees `count` names and their list, which may be NULL. */
void fov_free_names(char **names, int count);

/** Writes what the three make one after the other; fails if a path cannot be as long. */
FovStatus fov_path_join(char path[PATH_MAX], const char *folder, const char *name,
                        const char *suffix);

#endif
