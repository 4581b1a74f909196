/** A folder with one folder of PNGs for each class: lists the pictures and divides them. */
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
  FovPngFile *files; /**< in order of part, class and name; owned */
  size_t count, capacity;
  char **classes; /**< [class_count]: their names, sorted; owned */
  int class_count;
  int height, width; /**< of the highest picture and of the widest */
  bool colour;       /**< some picture is not grey */
} FovPngFolder;

/**
 * Lists a folder and reads the headers of its pictures.
 *
 * Each folder in it is a class; class k is the k-th by name (bytes compared). Its pictures are the
 * regular files whose name ends in .png, by name; all other files, and hidden names, are ignored.
 * The last sixth of each class by name, rounded down, is the test part; the sixth before it is the
 * validation part. If the folder has folders train and test, each with the folders of all classes,
 * these are the parts; the last sixth of each class of train is the validation part, unless there
 * is a folder valid too.
 *
 * Fails, naming the folder or file, if there are not 2 to 65,536 classes, if a class has no PNG (a
 * message names pictures of another format) or, where it is divided, fewer than six, if parts have
 * other classes, if a header is damaged, or if an entry that is not hidden cannot be read.
 */
FovStatus fov_png_folder_read(FovPngFolder *folder, const char *path);

void fov_png_folder_finish(FovPngFolder *folder);

/** Frees `count` names and their list, which may be NULL. */
void fov_free_names(char **names, int count);

/** Joins the three strings; fails if the path is too long. */
FovStatus fov_path_join(char path[PATH_MAX], const char *folder, const char *name,
                        const char *suffix);

#endif
