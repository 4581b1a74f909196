/** What is explained: a number y that an agent computes after one of its glimpses. */
#ifndef FOV_EXPLAIN_TARGET_H
#define FOV_EXPLAIN_TARGET_H

#include "explain/held.h"

typedef enum FovTargetKind {
  FOV_TARGET_LOGIT,      /**< of a class or an action; a number of an answered vector */
  FOV_TARGET_LOG_P,      /**< its log-probability */
  FOV_TARGET_ENTROPY,    /**< −Σ p log p of the answer */
  FOV_TARGET_BASELINE,   /**< what the baseline's head predicts: the return, or with
                              `baseline=answer` what later glimpses add to it */
  FOV_TARGET_LOCATION_X, /**< of the mean of the next place, or of the step to it */
  FOV_TARGET_LOCATION_Y,
} FovTargetKind;

/** Classes that differ from lane to lane: see fov_target_answer and fov_target_label. */
enum { FOV_CLASS_ANSWER = -1, FOV_CLASS_LABEL = -2 };

typedef struct FovTarget {
  FovTargetKind kind;
  int output; /**< of a logit or log p: 0 … A−1, or FOV_CLASS_ANSWER, FOV_CLASS_LABEL */
  int time;   /**< the glimpse that it is read after, or the last one of a shorter episode; 0: the
                   glimpse of the last answer. A location is that of the next glimpse, so that by
                   default, and in a shorter episode, it is read one glimpse earlier. */
} FovTarget;

/** Reads "logit", "logit:answer", "log_p:label", "logit:3", "entropy" and so on. */
FovStatus fov_target_parse(FovTarget *target, const char *text);

/** Fails if the agent does not compute it. */
FovStatus fov_target_check(const FovTarget *target, const FovTask *task);

/** The head that computes it. */
FovReader fov_target_reader(const FovTarget *target);

/** The time step of lane b that it is read at: 0 … M−1. */
int fov_target_step(const FovTarget *target, const FovHeld *held, int b);

/** Label and answer of lane b at the target's time or, if none is given then, the next ones; after
 * the last answer, or at time 0, the last ones. −1: there is none. */
int fov_target_label(const FovTarget *target, const FovHeld *held, int b);
int fov_target_answer(const FovTarget *target, const FovHeld *held, int b);

/** y of lane b, and dy/dx if it is wanted. x, slope: [count], the head's output; slope: NULL, or
 * overwritten. */
double fov_target_value(real *slope, const FovTarget *target, const FovHeld *held, int b,
                        const real *x, int count);

#endif
