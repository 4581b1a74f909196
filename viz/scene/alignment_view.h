/** An alignment that is drawn: its weights as shares and colours, and its cells. */
#ifndef FOV_VIZ_SCENE_ALIGNMENT_VIEW_H
#define FOV_VIZ_SCENE_ALIGNMENT_VIEW_H

#include "viz/scene/alignment.h"
#include "viz/scene/scene.h"

enum { FOV_ALIGNMENT_COLUMNS = 16384 }; /**< as many pixels of a row as a scene can show */

/** Instead of a head: the norms of the sequential Jacobian. */
enum { FOV_ALIGNMENT_NORMS = -1 };

/** The alignment of a scene's episode. */
typedef struct FovAlignmentView {
  const FovScene *scene;
  FovAlignmentFrame f;
  FovBox image; /**< all cells; larger than the matrix if zoomed */
  double em;
  int head;    /**< whose weights the cells show, or the norms */
  double top;  /**< the weight that has the full colour: share 1 */
  bool figure; /**< all glimpses at once; else the scene's is marked and later ones are faint */
} FovAlignmentView;

/** What the cells show: the norms of symbols that are explained, else the weights of the scene's
 * head. */
int fov_alignment_head(const FovScene *scene);

/** The weights of a glimpse or the norms after it, [columns]; NULL: none were recorded, or none are
 * there yet. */
const float *fov_alignment_weights(const FovScene *scene, int t, int head);

/** A weight's share of the upper one, 0 … 1, whatever number a file has. */
double fov_alignment_share(float weight, double top);

/** The largest weight of the episode, or the largest of the norms. */
double fov_alignment_most(const FovScene *scene, int head);

/** The weight of the full colour, if `most` is the largest one of a head: a round number that it
 * does not exceed; of the norms, `most`. */
double fov_alignment_scale(double most, int head);

/** That of the episode. */
double fov_alignment_top(const FovScene *scene, int head);

/** The shares at the scene's glimpse, or on the way to the next one; of a figure, the largest of
 * the episode. shares: [columns] */
void fov_alignment_shares(float *shares, const FovAlignmentView *a, int head, double top);

/** The colour of a share on a ground. */
FovColour fov_alignment_colour(const FovTheme *theme, FovColour ground, double share);

/** The opacity of the row of a glimpse. */
double fov_alignment_opacity(const FovAlignmentView *a, int t);

/** The box of cells `column` … of a row. Cells share whole edges, so that no seam shows. */
FovBox fov_alignment_cell(const FovAlignmentView *a, int row, int column, int columns);

#endif
