/** Which sites each output of an episode comes from: the layout of the matrix of weights, with the
 * source above it and the outputs beside it (Bahdanau et al. 2015, figure 3). */
#ifndef FOV_VIZ_SCENE_ALIGNMENT_H
#define FOV_VIZ_SCENE_ALIGNMENT_H

#include "record/trace.h"
#include "viz/scene/style.h"

/** The boxes of an episode's alignment. Columns of the matrix are sites, rows are glimpses. */
typedef struct FovAlignmentFrame {
  int columns, rows;
  FovBox source;          /**< the symbols, or the image that the sites are columns of */
  FovBox heads;           /**< the weights of each head at this glimpse */
  FovBox labels, answers; /**< beside the rows; no labels if every answer is right */
  FovBox matrix;
} FovAlignmentFrame;

/** How names are written along one side of the matrix. */
typedef struct FovLettering {
  double size;    /**< of the font */
  double spacing; /**< from name to name, at least */
  bool turned;    /**< they read upwards */
} FovLettering;

/** Whether episodes are shown as alignments: a sequence of symbols, or an image in columns. */
bool fov_shows_alignment(const FovTrace *trace);

/** Sites of an episode: the symbols of its sequence, or the tiles across its image. */
int fov_alignment_columns(const FovTrace *trace, int episode);

/** Letters for names along the upper side of the matrix, `pitch` from column to column. */
FovLettering fov_letter_columns(const FovTrace *trace, int episode, double pitch, double em);

/** Letters for names beside the rows. */
FovLettering fov_letter_rows(double pitch, double em);

/** Lays out an episode's alignment in a room; heads: with a row for each head above the matrix. */
FovAlignmentFrame fov_alignment_frame(const FovTrace *trace, int episode, FovBox room, double em,
                                      bool heads);

#endif
