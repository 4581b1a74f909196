/** The confusion matrix of an agent's answers, and the error of each class. */
#ifndef FOV_VIZ_SCENE_CONFUSION_H
#define FOV_VIZ_SCENE_CONFUSION_H

#include "record/trace.h"
#include "viz/scene/style.h"

enum { FOV_CONFUSION_CLASSES = 256 }; // more cells could not be seen

/** Counts of all answers of the episodes, of sequences each turn's. */
typedef struct FovConfusion {
  int classes;
  int *counts; /**< [classes, classes]: by label, then answer */
  int *labels; /**< [classes]: answers whose label it is */
} FovConfusion;

/** Counts the first `episodes`; fails if the trace has no classes or too many. Finished by the
 * caller on success. */
FovStatus fov_confusion_count(FovConfusion *confusion, const FovTrace *trace, int episodes);
void fov_confusion_finish(FovConfusion *confusion);

/** Fills the canvas; the cell of `label` and `answer` has an outline, or the whole class if
 * `answer` is −1; label −1: none. */
void fov_confusion_draw(cairo_t *cr, const FovConfusion *confusion, const FovTrace *trace,
                        const FovTheme *theme, double width, double height, int label, int answer);

/** Finds the cell at (x, y), or the class of the list: answer −1; false if there is neither. */
bool fov_confusion_at(int *label, int *answer, const FovConfusion *confusion, const FovTrace *trace,
                      double width, double height, double x, double y);

/** Describes it: "label 4 answered as 9: 3 of 120". text: [size] */
void fov_confusion_describe(char *text, size_t size, const FovConfusion *confusion,
                            const FovTrace *trace, int label, int answer);

#endif
