#include "envs/datasets/png_folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/text.h"

typedef struct Names {
  char **list;
  int count;
} Names;

void fov_free_names(char **names, int count) {
  for (int i = 0; names && i < count; i++) free(names[i]);
  free(names);
}

static void free_names(Names *names) {
  fov_free_names(names->list, names->count);
  *names = (Names){0};
}

FovStatus fov_path_join(char path[PATH_MAX], const char *folder, const char *name,
                        const char *suffix) {
  int length = snprintf(path, PATH_MAX, "%s%s%s", folder, name, suffix);
  if (length >= 0 && length < PATH_MAX) return FOV_OK;
  return fov_fail(FOV_ERR_USAGE, "%.200s...: expected a path of less than %d bytes, found %d",
                  folder, PATH_MAX, length);
}

/* ---- names in a folder ---- */

static int is_visible(const struct dirent *entry) {
  return entry->d_name[0] != '.';
}

static int is_png(const struct dirent *entry) {
  size_t length = strlen(entry->d_name);
  return is_visible(entry) && length > 4 && strcasecmp(entry->d_name + length - 4, ".png") == 0;
}

static const char *extension_of(const char *name) {
  const char *dot = strrchr(name, '.');
  return dot ? dot : "";
}

static int is_other_picture(const struct dirent *entry) {
  static const char *const others[] = {".jpg", ".jpeg", ".gif", ".bmp", ".tif", ".tiff", ".webp"};
  const char *extension = extension_of(entry->d_name);
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (is_visible(entry) && strcasecmp(extension, others[i]) == 0) return 1;
  return 0;
}

static int by_name(const struct dirent **a, const struct dirent **b) {
  return strcmp((*a)->d_name, (*b)->d_name);
}

/** Adds the name if it is of that kind (S_IFDIR, S_IFREG), links followed. */
static FovStatus add_name(Names *names, const char *folder, const char *name, mode_t kind) {
  char path[PATH_MAX];
  struct stat found;
  FOV_TRY(fov_path_join(path, folder, "/", name));
  if (stat(path, &found) != 0)
    return fov_fail(FOV_ERR_IO, "%s: cannot read: %s", path, strerror(errno));
  if ((found.st_mode & S_IFMT) != kind) return FOV_OK;
  names->list[names->count] = strdup(name);
  if (!names->list[names->count]) return fov_fail(FOV_ERR_MEMORY, "%s: no memory", path);
  names->count++;
  return FOV_OK;
}

/** The sorted names of all folders, or of all PNGs, in a folder. */
static FovStatus list_names(Names *names, const char *folder, mode_t kind) {
  *names = (Names){0};
  struct dirent **entries;
  int count = scandir(folder, &entries, kind == S_IFREG ? is_png : is_visible, by_name);
  if (count < 0) return fov_fail(FOV_ERR_IO, "%s: cannot read: %s", folder, strerror(errno));
  names->list = calloc((size_t)count + 1, sizeof *names->list);
  FovStatus status =
      names->list ? FOV_OK : fov_fail(FOV_ERR_MEMORY, "%s: no memory for its names", folder);
  for (int i = 0; i < count; i++) {
    if (status == FOV_OK) status = add_name(names, folder, entries[i]->d_name, kind);
    free(entries[i]);
  }
  free(entries);
  if (status != FOV_OK) free_names(names);
  return status;
}

enum { OTHERS = 160 };

/** Describes the pictures of another format in a folder, and the remedy; false: it has none. */
static bool describe_others(char text[OTHERS], const char *folder) {
  struct dirent **entries;
  int count = scandir(folder, &entries, is_other_picture, by_name), same = 0;
  text[0] = '\0';
  if (count < 0) return false;
  const char *first = count > 0 ? extension_of(entries[0]->d_name) : "";
  for (int i = 0; i < count; i++) same += strcmp(extension_of(entries[i]->d_name), first) == 0;
  if (count > 0)
    snprintf(text, OTHERS,
             "%d %s file%s: convert them to PNG, with ImageMagick: mogrify -format png *%s", same,
             first, fov_plural(same), first);
  for (int i = 0; i < count; i++) free(entries[i]);
  free(entries);
  return count > 0;
}

static bool has_folder(const char *folder, const char *name) {
  char path[PATH_MAX];
  struct stat found;
  return fov_path_join(path, folder, "/", name) == FOV_OK && stat(path, &found) == 0 &&
         S_ISDIR(found.st_mode);
}

/* ---- pictures ---- */

/** A part of the data: its split, and how many sixths of each class go to other splits. */
typedef struct Part {
  FovSplit split;
  int sixths; // 0; 1: the last validates; 2: the last tests, the one before it validates
} Part;

static FovSplit split_of(Part part, int index, int count) {
  static const FovSplit parts[][2] = {{0}, {FOV_SPLIT_VALID}, {FOV_SPLIT_TEST, FOV_SPLIT_VALID}};
  int sixth = (count - 1 - index) / (count / 6 > 0 ? count / 6 : 1);
  return sixth < part.sixths ? parts[part.sixths][sixth] : part.split;
}

static FovStatus grow(FovPngFolder *folder) {
  if (folder->count < folder->capacity) return FOV_OK;
  size_t capacity = folder->capacity ? 2 * folder->capacity : 256;
  FovPngFile *files = realloc(folder->files, capacity * sizeof *files);
  if (!files) return fov_fail(FOV_ERR_MEMORY, "no memory for %zu pictures", capacity);
  folder->files = files;
  folder->capacity = capacity;
  return FOV_OK;
}

static FovStatus add_file(FovPngFolder *folder, const char *path, int label, FovSplit split) {
  FovPngHeader header;
  FOV_TRY(grow(folder));
  FOV_TRY(fov_png_header(&header, path));
  FovPngFile file = {strdup(path), header, label, split};
  if (!file.path) return fov_fail(FOV_ERR_MEMORY, "%s: no memory for its name", path);
  folder->files[folder->count++] = file;
  if (header.height > folder->height) folder->height = header.height;
  if (header.width > folder->width) folder->width = header.width;
  folder->colour |= header.colour;
  return FOV_OK;
}

/** Whether a class has PNGs, and enough to divide them. */
static FovStatus check_count(const char *path, int count, Part part) {
  char others[OTHERS];
  if (count == 0)
    return fov_fail(FOV_ERR_FORMAT, "%s: expected the PNG pictures of a class, found %s", path,
                    describe_others(others, path) ? others : "none");
  if (part.sixths == 0 || count >= 6) return FOV_OK;
  return fov_fail(FOV_ERR_FORMAT,
                  "%s: expected 6 pictures or more, a sixth to validate%s, found %d", path,
                  part.sixths == 2 ? " and a sixth to test" : "", count);
}

static FovStatus add_files(FovPngFolder *folder, const char *path, const Names *names, int label,
                           Part part) {
  FOV_TRY(check_count(path, names->count, part));
  for (int i = 0; i < names->count; i++) {
    char file[PATH_MAX];
    FOV_TRY(fov_path_join(file, path, "/", names->list[i]));
    FOV_TRY(add_file(folder, file, label, split_of(part, i, names->count)));
  }
  return FOV_OK;
}

/* ---- classes ---- */

static FovStatus list_classes(FovPngFolder *folder, const char *path) {
  Names names;
  char others[OTHERS];
  FOV_TRY(list_names(&names, path, S_IFDIR));
  folder->classes = names.list;
  folder->class_count = names.count;
  if (names.count >= 2 && names.count <= FOV_PNG_MAX_CLASSES) return FOV_OK;
  const char *but = describe_others(others, path) ? ", but " : "";
  return fov_fail(FOV_ERR_FORMAT,
                  "%s: expected MNIST's files (train-images-idx3-ubyte, plain or .gz, and the "
                  "others) or 2 to %d folders of PNGs, one per class; found no such file and %d "
                  "folder%s%s%s",
                  path, FOV_PNG_MAX_CLASSES, names.count, fov_plural(names.count), but, others);
}

/** Whether a part has the classes of the first. */
static FovStatus check_classes(const FovPngFolder *folder, const char *path) {
  Names names;
  FOV_TRY(list_names(&names, path, S_IFDIR));
  int same = 0;
  while (same < names.count && same < folder->class_count &&
         strcmp(names.list[same], folder->classes[same]) == 0)
    same++;
  FovStatus status = FOV_OK;
  if (same < folder->class_count || same < names.count)
    status = fov_fail(FOV_ERR_FORMAT,
                      "%s: expected the folders of the same %d classes as in train, found %s '%s'",
                      path, folder->class_count, same < folder->class_count ? "no" : "one more:",
                      same < folder->class_count ? folder->classes[same] : names.list[same]);
  free_names(&names);
  return status;
}

static FovStatus add_class(FovPngFolder *folder, const char *path, int label, Part part) {
  char below[PATH_MAX];
  Names names;
  FOV_TRY(fov_path_join(below, path, "/", folder->classes[label]));
  FOV_TRY(list_names(&names, below, S_IFREG));
  FovStatus status = add_files(folder, below, &names, label, part);
  free_names(&names);
  return status;
}

static FovStatus add_part(FovPngFolder *folder, const char *path, const char *name, Part part) {
  char below[PATH_MAX];
  FOV_TRY(fov_path_join(below, path, *name ? "/" : "", name));
  FOV_TRY(folder->classes ? check_classes(folder, below) : list_classes(folder, below));
  for (int k = 0; k < folder->class_count; k++) FOV_TRY(add_class(folder, below, k, part));
  return FOV_OK;
}

/** Folders of parts have other folders in them, those of a class have none. */
static FovStatus refuse_lone_part(const char *path, const char *name, const char *missing) {
  char below[PATH_MAX];
  Names names;
  FOV_TRY(fov_path_join(below, path, "/", name));
  FOV_TRY(list_names(&names, below, S_IFDIR));
  bool part = names.count > 0;
  free_names(&names);
  if (!part) return FOV_OK;
  return fov_fail(FOV_ERR_FORMAT,
                  "%s: expected train and test, or one folder for each class; found %s without %s",
                  path, name, missing);
}

/** Beside train and test, only valid is known. */
static FovStatus check_parts(const char *path) {
  Names names;
  FovStatus status = FOV_OK;
  FOV_TRY(list_names(&names, path, S_IFDIR));
  for (int i = 0; i < names.count && status == FOV_OK; i++)
    if (strcmp(names.list[i], "train") != 0 && strcmp(names.list[i], "valid") != 0 &&
        strcmp(names.list[i], "test") != 0)
      status = fov_fail(FOV_ERR_FORMAT,
                        "%s: expected train, valid and test, found '%s', too; rename or move it",
                        path, names.list[i]);
  free_names(&names);
  return status;
}

static FovStatus add_parts(FovPngFolder *folder, const char *path) {
  bool train = has_folder(path, "train"), test = has_folder(path, "test");
  if (train && !test) FOV_TRY(refuse_lone_part(path, "train", "test"));
  if (test && !train) FOV_TRY(refuse_lone_part(path, "test", "train"));
  if (!train || !test) return add_part(folder, path, "", (Part){FOV_SPLIT_TRAIN, 2});
  FOV_TRY(check_parts(path));
  bool valid = has_folder(path, "valid");
  FOV_TRY(add_part(folder, path, "train", (Part){FOV_SPLIT_TRAIN, valid ? 0 : 1}));
  if (valid) FOV_TRY(add_part(folder, path, "valid", (Part){FOV_SPLIT_VALID, 0}));
  return add_part(folder, path, "test", (Part){FOV_SPLIT_TEST, 0});
}

FovStatus fov_png_folder_read(FovPngFolder *folder, const char *path) {
  *folder = (FovPngFolder){0};
  FovStatus status = add_parts(folder, path);
  if (status != FOV_OK) fov_png_folder_finish(folder);
  return status;
}

void fov_png_folder_finish(FovPngFolder *folder) {
  for (size_t i = 0; i < folder->count; i++) free(folder->files[i].path);
  free(folder->files);
  fov_free_names(folder->classes, folder->class_count);
  *folder = (FovPngFolder){0};
}
