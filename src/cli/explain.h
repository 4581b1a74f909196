/** What the files of `fovea explain` share. */
#ifndef FOV_CLI_EXPLAIN_H
#define FOV_CLI_EXPLAIN_H

#include "cli/arguments.h"
#include "draw.h"
#include "experiment/trained.h"
#include "explain/maps.h"

enum { FOV_MOST_METHODS = 32 };

/** The methods that depend on a target, with their default options, for the window of fovea view.
 */
extern const FovDrawExplain fov_cli_explain;

/** What the command line asks for. */
typedef struct FovExplainCommand {
  const char *output, *method, *target;
  int episodes, class, time, split, threads;
  int jacobian, check; /**< of the kinds below */
  double blank;
  bool wrong, through, svg;
} FovExplainCommand;

enum { FOV_EXPLAIN_NO_JACOBIAN, FOV_EXPLAIN_LOGITS, FOV_EXPLAIN_STATE };
enum { FOV_EXPLAIN_NO_CHECK, FOV_EXPLAIN_WEIGHTS, FOV_EXPLAIN_CURVES };

/** The options of all methods, set by words METHOD.OPTION=VALUE. It stays where it was read. */
typedef struct FovMethodOptions {
  FovSettings *settings;
  FovGroup groups[FOV_MOST_METHODS];
  FovConfig config;
} FovMethodOptions;

/** Whether a word sets an option of a method. */
bool fov_is_method_option(const char *word);

/** Reads the words that set options of methods; the others are ignored. Finished by
 * fov_method_options_finish, also after a failure. */
FovStatus fov_method_options_read(FovMethodOptions *options, const char *const *words, int count);

/** Refuses words that set options of methods that the command does not run. */
FovStatus fov_method_options_check(const FovExplainCommand *command, const char *const *words,
                                   int count);

void fov_method_options_finish(FovMethodOptions *options);

/** The options' struct of a method; NULL: it has none. */
const void *fov_method_options_of(const FovMethodOptions *options, const FovMethod *method);

/** Finds a method by its name. */
FovStatus fov_method_find(const FovMethod **method, const char *name);

/** The method that the command names or the default; NULL: a check of all methods. */
FovStatus fov_method_choose(const FovMethod **method, const FovExplainCommand *command);

/** An agent that is explained, and which of its episodes. */
typedef struct FovExplainSubject {
  FovTrained trained;
  FovExplainRequest request;
  int64_t *cases; /**< owned */
} FovExplainSubject;

/** Reads a run with `count` words key=value, without those of methods. Finished by
 * fov_trained_finish, also after a failure. */
FovStatus fov_explain_read(FovTrained *trained, const char *run, const FovExplainCommand *command,
                           const char *const *words, int count);

/** Fails if two of several runs are the same, or are trained in different environments. */
FovStatus fov_explain_check_runs(const char *const *runs, int run_count,
                                 const FovExplainCommand *command, const char *const *words,
                                 int count);

/** Reads a run likewise, prints notes on it, and selects the episodes. Finished by
 * fov_explain_finish, also after a failure. */
FovStatus fov_explain_load(FovExplainSubject *subject, const char *run,
                           const FovExplainCommand *command, const char *const *words, int count);
void fov_explain_finish(FovExplainSubject *subject);

/** The methods to check: the one that is named, or all that can explain the agent. */
FovStatus fov_explain_methods(const FovMethod *list[FOV_MOST_METHODS], int *count,
                              const FovExplainSubject *subject, const FovExplainCommand *command);

/** The path of a file in the output folder. */
const char *fov_explain_path(char path[FOV_PATH_SIZE], const FovExplainCommand *command,
                             const char *name);

/** The path of the explained checkpoint in UTF-8: '?' for other bytes. Returns text. */
const char *fov_explain_source(char text[FOV_PATH_SIZE], const FovExplainSubject *subject);

/** The path of a picture there. */
const char *fov_explain_picture(char path[FOV_PATH_SIZE], const FovExplainCommand *command,
                                const char *name);

/** Whether the program can draw; if not, prints a note. */
bool fov_explain_draws(const FovExplainCommand *command);

/** A text that becomes a file of the output folder. */
typedef struct FovExplainText {
  FILE *stream;
  char *text;
  size_t size;
} FovExplainText;

FovStatus fov_explain_text_begin(FovExplainText *text);

/** Writes the file if `status` is FOV_OK and there is a folder; releases the text. Returns status,
 * or why the file could not be written. */
FovStatus fov_explain_text_finish(FovExplainText *text, FovStatus status,
                                  const FovExplainCommand *command, const char *name);

/** Maps of one method: files, pictures, and what is printed. */
FovStatus fov_explain_maps(const FovExplainSubject *subject, const FovExplainCommand *command,
                           const FovMethodOptions *options);

/** Rank correlations with maps of randomised weights: a table, and a CSV file if there is a folder.
 */
FovStatus fov_explain_weights(const FovExplainSubject *subject, const FovExplainCommand *command,
                              const FovMethodOptions *options);

/** Deletion and insertion by the maps of all methods, of one run or of several: likewise. */
FovStatus fov_explain_curves(const FovExplainCommand *command, const FovArguments *arguments,
                             const FovMethodOptions *options);

/** The sequential Jacobian. */
FovStatus fov_explain_jacobian(const FovExplainSubject *subject, const FovExplainCommand *command);

#endif
