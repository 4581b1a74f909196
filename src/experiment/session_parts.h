/** What the files of a training session share: preparing, the run directory, training. */
#ifndef FOV_EXPERIMENT_SESSION_PARTS_H
#define FOV_EXPERIMENT_SESSION_PARTS_H

#include "experiment/session.h"
#include "record/recorder.h"

/** Updates done so far. */
int64_t fov_session_update(const FovSession *session);

/** Writes the path of a file of the run into path [FOV_PATH_SIZE] and returns path. */
char *fov_session_path(char *path, const FovSession *session, const char *name);

/** What is recorded at an evaluation, for the viewer: fewer episodes than eval.episodes if they are
 * large. */
FovRecordRequest fov_session_record(const FovSession *session, const FovTask *task);

/** Reports a line to the user. session: a FovSession */
void fov_session_note(void *session, const char *line);

/** Whether this process writes the run's files: rank 0 does. */
bool fov_session_writes(const FovSession *session);

/** Gives a text of rank 0 to all ranks, which free it. *text: on rank 0 the text, on the others
 * NULL. */
FovStatus fov_session_share_text(const FovSession *session, char **text);

/** Fails unless all ranks have the same program, settings and data, and multiply to the same bits.
 */
FovStatus fov_session_compare_ranks(const FovSession *session);

/** Gives all ranks the training's state on rank 0. */
void fov_session_share_state(FovSession *session);

/** Writes the checkpoint to resume from. */
FovStatus fov_session_save(const FovSession *session);

/** Writes the weights that are best on validation. */
FovStatus fov_session_save_best(const FovSession *session);

/** Replaces run.json. outcome: "running", "finished", "interrupted" or the error. */
FovStatus fov_session_describe(const FovSession *session, const char *outcome);

#endif
