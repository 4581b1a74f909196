/** An episode of a run, explained by the run's agent. */
#ifndef FOV_VIZ_VIEWER_EXPLAINED_H
#define FOV_VIZ_VIEWER_EXPLAINED_H

#include "draw.h"
#include "viz/viewer/opened_run.h"
#include "viz/viewer/origin.h"

/** An episode as its trace has it: a copy, so that the trace may change meanwhile. */
typedef struct FovRecorded {
  char *run;             /**< path of the directory */
  char *picture;         /**< the PNG that the agent looked at; NULL: a case of its environment */
  FovProvenance weights; /**< of the trace */
  FovSplit split;
  char seed[FOV_TRACE_TEXT];
  int episode, first;                  /**< its number; those before `first` are the first cases */
  int64_t index;                       /**< of its case; −1: it has to be found */
  int frames, height, width, channels; /**< F, H, W, C */
  int glimpses, length;                /**< T; those that were taken */
  uint8_t *image;                      /**< [H, W, C]: the first one */
  int32_t *symbols;                    /**< [W]: the sequence; NULL: images were shown */
  float *places;                       /**< [T, 2]: locations of the glimpses */
} FovRecorded;

/** Copies an episode of what is open. The caller finishes it on success. */
FovStatus fov_recorded_copy(FovRecorded *recorded, const FovOpenedRun *opened, int episode,
                            const char *picture);
void fov_recorded_finish(FovRecorded *recorded);

/** The agent of a run, loaded when it is first needed. Zero-initialise; its address must not
 * change. */
typedef struct FovOpenedAgent {
  FovTrained trained;
  char *run;             /**< whose; NULL: none is loaded */
  FovProvenance weights; /**< asked for */
  FovSplit split;
} FovOpenedAgent;

void fov_opened_agent_finish(FovOpenedAgent *agent);

enum { FOV_EXPLAINED_JACOBIAN = -1 };

/** What of an episode is computed. */
typedef struct FovExplainedPart {
  int method;  /**< 0, 1 …: the map of a method; or FOV_EXPLAINED_JACOBIAN */
  int glimpse; /**< 0 …: of a map: after which the agent computes what it explains; else 0 */
} FovExplainedPart;

/**
 * Loads the agent, unless it is loaded, plays the episode again and explains it.
 *
 * numbers: [F, H, W] of a map. [T, T] of the Jacobian, for which the case has to be known; of a
 * sequence of symbols, which has no map, [T, W]. Sets the episode's case. Fails if no checkpoint of
 * the run has the weights of the trace, its case cannot be found or the agent now looks elsewhere
 * than recorded.
 */
FovStatus fov_explained_make(float *numbers, FovOpenedAgent *agent, FovRecorded *recorded,
                             const FovDrawExplain *how, FovExplainedPart what,
                             const atomic_bool *stop);

/** The name of a method, also of FOV_EXPLAINED_JACOBIAN. */
const char *fov_explained_name(const FovDrawExplain *how, int method);

/** Numbers of what is computed. */
size_t fov_explained_numbers(const FovRecorded *recorded, FovExplainedPart what);

/** Moves the picture at the glimpse of a map to its front, [H, W], and returns its scale.
 * map: [F, H, W]; room: [H, W] */
double fov_explained_keep_picture(float *map, float *room, const FovRecorded *recorded,
                                  int glimpse);

#endif
