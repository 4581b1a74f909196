/** A canvas: loads pictures and pastes them; shared by all environments of digits or pictures. */
#ifndef FOV_ENVS_CANVAS_H
#define FOV_ENVS_CANVAS_H

#include "env.h"
#include "envs/datasets/shared_pictures.h"

/** Options that these environments share; the first member of each one's own. */
typedef struct FovCanvasOptions {
  FovPicturesOptions pictures;
  int size;                /**< side of the canvas, pixels; 0: the pictures' own height and width */
  int height;              /**< of the canvas; 0: as `size`, or the pictures' own */
  int pieces;              /**< of clutter */
  int ground;              /**< brightness of the empty canvas, 0 … 255 */
  double distort, elastic; /**< of pictures in training: FovCanvas */
  bool distort_pieces;     /**< and of clutter */
} FovCanvasOptions;

/** Rows of an option table that all these environments have; each adds its own. */
#define FOV_CANVAS_OPTIONS                                                                         \
  FOV_STRING(FovPicturesOptions, data, "",                                                         \
             "folder with MNIST's files, or with one folder of PNGs per class; default: MNIST in " \
             "$FOVEA_DATA or, if that is not set, in fovea of $XDG_CACHE_HOME or ~/.cache"),       \
      FOV_STRING(FovPicturesOptions, images, "", "IDX file of images, instead of data"),           \
      FOV_STRING(FovPicturesOptions, labels, "", "IDX file of the labels of env.images"),          \
      FOV_BOOL(FovPicturesOptions, divide, "yes",                                                  \
               "yes: the last sixth of env.images is the test split and the sixth before it the "  \
               "validation split; no: every split has all pictures"),                              \
      FOV_INT(FovPicturesOptions, classes, "10", 2, 256,                                           \
              "classes of IDX files, whose labels are 0 to classes - 1; PNGs have as many as "     \
              "folders"),                                                                          \
      FOV_INT(FovCanvasOptions, ground, "0", 0, 255, "brightness of the empty canvas, of 255"),    \
      FOV_REAL(FovCanvasOptions, distort, "0", 0, 1,                                               \
               "train split only: pictures are transformed about their middle by a random 2 x 2 "  \
               "matrix: the identity plus this times a normal number in each element"),            \
      FOV_REAL(                                                                                    \
          FovCanvasOptions, elastic, "0", 0, 100,                                                  \
          "train split only: elastic distortion: each point of a 4 x 4 grid moves in x and in y "  \
          "by this times a normal number, pixels; displacements between them are interpolated")

#define FOV_CANVAS_PIECES(fallback)                                                                \
  FOV_INT(FovCanvasOptions, pieces, fallback, 0, 1000, "pieces of clutter, 8 x 8 pixels each"),    \
      FOV_BOOL(FovCanvasOptions, distort_pieces, "no",                                             \
               "train split only: cut the pieces from distorted pictures, if env.distort or "      \
               "env.elastic is set; no: only the picture to recognise is interpolated, which "     \
               "distinguishes it from clutter")

/** Read-only once created; the first member of an environment that needs more. */
typedef struct FovCanvas {
  const FovPictures *pictures; /**< of this split */
  int height, width, channels; /**< of the canvas */
  int least[2], most[2]; /**< height and width of the pictures of this and of the test split */
  int pieces, ground;
  double distort, elastic; /**< 0, 0: nothing is distorted, as in validation and test */
  bool distort_pieces;
  char **names; /**< of answers that are no single picture's class; NULL: none; owned */
} FovCanvas;

/** A rectangle of pixels inside a larger picture. */
typedef struct FovCrop {
  const uint8_t *pixels; /**< its top left corner; not owned */
  int height, width;     /**< in pixels, of the canvas's channels each */
  int stride;            /**< bytes from one row to the next */
} FovCrop;

/**
 * Loads a split and fills `spec`: `create` of an environment whose struct has `bytes` bytes.
 *
 * What follows the FovCanvas is zero. Fails as fov_pictures_load does, if the pictures do not fit
 * in the canvas, or if they are too small to cut pieces of clutter from.
 */
FovStatus fov_canvas_create(void **env, size_t bytes, FovEnvSpec *spec,
                            const FovCanvasOptions *options, FovSplit split);

/** Accepts NULL. */
void fov_canvas_destroy(void *env);

/** Reward 1 for the label, 0 otherwise; one answer ends the episode. */
void fov_canvas_step(const void *env, FovEnvLane *lane, const FovAnswer *answer, FovRng *rng);

/** Picture `index` of the split, 0 … count−1, and its class. */
FovCrop fov_canvas_picture(const FovCanvas *canvas, int64_t index);
int fov_canvas_label(const FovCanvas *canvas, int64_t index);

/** Empties the canvas: black, or env.ground; image: [H, W, C]. */
void fov_canvas_clear(const FovCanvas *canvas, uint8_t *image);

/** Adds a crop to the canvas, clamped at 255, its top left corner at column x, row y. */
void fov_canvas_paste(const FovCanvas *canvas, uint8_t *image, FovCrop crop, int x, int y);

/** The bilinear value between four pixels: x and y are 0 … 1, to the right and down. */
static inline float fov_canvas_between(const float upper[2], const float lower[2], float x,
                                       float y) {
  float above = (1 - x) * upper[0] + x * upper[1], below = (1 - x) * lower[0] + x * lower[1];
  return (1 - y) * above + y * below;
}

/** Adds a picture in the same way, distorted if the canvas is: each pixel of its rectangle is the
 * bilinear value of the picture at a place, 0 outside. The place is what a 2×2 matrix makes of the
 * pixel's, as seen from the middle (env.distort), plus a shift, bilinear between 4 × 4 points
 * (env.elastic; Simard et al. 2003 smooth a shift of each pixel instead). Draws the four numbers of
 * the matrix, then the points' shifts to the right, then down; none whose setting is 0. */
void fov_canvas_draw(const FovCanvas *canvas, uint8_t *image, FovCrop picture, int x, int y,
                     FovRng *rng);

/** Draws a place uniformly from all that keep the crop inside: x, then y. */
void fov_canvas_place(const FovCanvas *canvas, int *x, int *y, FovCrop crop, FovRng *rng);

/** Draws a picture in the middle; an odd pixel that is left over goes to the right or below. */
void fov_canvas_centre(const FovCanvas *canvas, uint8_t *image, FovCrop picture, FovRng *rng);

enum { FOV_CANVAS_NAME = 64 };

/** Writes the name of an answer. */
typedef void FovCanvasName(char name[FOV_CANVAS_NAME], int answer, const FovPictures *pictures);

/** Names the environment's answers; the names are freed with the environment. */
FovStatus fov_canvas_name(FovCanvas *canvas, FovEnvSpec *spec, FovCanvasName *write);

/** The name of a class: its folder's, or else its number, which is written. */
const char *fov_canvas_class(char number[12], const FovPictures *pictures, int class);

/**
 * Pastes the pieces of clutter (Mnih et al. 2014, section 4.1). Draws, for each piece in turn: the
 * picture of the split that it is cut from (which may be the target itself), x and y of the 8×8
 * crop in that picture, x and y of its place on the canvas, all uniform; and if pieces are
 * distorted, what fov_canvas_draw draws.
 */
void fov_canvas_clutter(const FovCanvas *canvas, uint8_t *image, FovRng *rng);

#endif
