#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/team.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/explain.h"
#include "cli/print.h"

static const char *const jacobians[] = {[FOV_EXPLAIN_NO_JACOBIAN] = "none",
                                        [FOV_EXPLAIN_LOGITS] = "logits",
                                        [FOV_EXPLAIN_STATE] = "state",
                                        NULL};
static const char *const checks[] = {[FOV_EXPLAIN_NO_CHECK] = "none",
                                     [FOV_EXPLAIN_WEIGHTS] = "weights",
                                     [FOV_EXPLAIN_CURVES] = "curves",
                                     NULL};

static const FovOption options[] = {
    FOV_TEXT(FovExplainCommand, method,
             "how pixels are explained; fovea list methods describes them; default: saliency; with "
             "--check: every method"),
    FOV_TEXT(
        FovExplainCommand, target,
        "what is explained: logit, log_p, entropy, baseline, location_x or location_y; "
        "logit and log_p are of a class: answer (the one answered at --time or next), label or a "
        "number, as in logit:label and logit:3 (for a vector answer, one of its numbers); default: "
        "logit:answer"),
    FOV_INT(
        FovExplainCommand, time, "0", 0, 1000000,
        "the glimpse after which the target is read; 0: that of the last answer, or for a location "
        "the one before"),
    FOV_INT(FovExplainCommand, episodes, "100", 1, 100000, "the first N cases of the split"),
    FOV_BOOL(FovExplainCommand, wrong, "no",
             "only episodes that were answered wrongly or missed their goal"),
    FOV_INT(FovExplainCommand, class, "-1", -1, FOV_MAX_ACTIONS,
            "only episodes of this class; -1: all"),
    FOV_CHOICE(FovExplainCommand, split, "test", fov_split_names, "which cases"),
    FOV_BOOL(FovExplainCommand, through, "no",
             "differentiate through soft weights and windows, too, instead of holding them fixed"),
    FOV_CHOICE(FovExplainCommand, jacobian, "none", jacobians,
               "instead of maps, the sequential Jacobian of the logits or of the state"),
    FOV_CHOICE(FovExplainCommand, check, "none", checks,
               "instead of maps, a check of the methods: maps of randomised weights, or deletion "
               "and insertion curves"),
    FOV_REAL(FovExplainCommand, blank, "0", -1000, 1000,
             "--check curves: brightness of a deleted pixel; 0 is black"),
    FOV_CLI_THREADS(FovExplainCommand),
    FOV_BOOL(FovExplainCommand, svg, "no", "draw SVG instead of PNG"),
    FOV_TEXT(FovExplainCommand, output, "the folder to write into; a check needs none"),
    FOV_OPTIONS_END,
};

const char *fov_explain_path(char path[FOV_PATH_SIZE], const FovExplainCommand *command,
                             const char *name) {
  snprintf(path, FOV_PATH_SIZE, "%s/%s", command->output, name);
  return path;
}

const char *fov_explain_source(char text[FOV_PATH_SIZE], const FovExplainSubject *subject) {
  snprintf(text, FOV_PATH_SIZE, "%s", subject->trained.path);
  fov_text_clean(text);
  return text;
}

const char *fov_explain_picture(char path[FOV_PATH_SIZE], const FovExplainCommand *command,
                                const char *name) {
  snprintf(path, FOV_PATH_SIZE, "%s/%s.%s", command->output, name, command->svg ? "svg" : "png");
  return path;
}

FovStatus fov_explain_text_begin(FovExplainText *text) {
  *text = (FovExplainText){.text = NULL};
  text->stream = open_memstream(&text->text, &text->size);
  return text->stream ? FOV_OK : fov_fail(FOV_ERR_MEMORY, "no memory for a table");
}

FovStatus fov_explain_text_finish(FovExplainText *text, FovStatus status,
                                  const FovExplainCommand *command, const char *name) {
  char path[FOV_PATH_SIZE];
  if (!fov_text_close(&text->text, text->stream) && status == FOV_OK)
    status = fov_fail(FOV_ERR_MEMORY, "no memory for a table");
  if (status == FOV_OK && command->output) status = fov_make_folders(command->output);
  if (status == FOV_OK && command->output)
    status = fov_file_write(fov_explain_path(path, command, name), text->text, text->size);
  free(text->text);
  return status;
}

bool fov_explain_draws(const FovExplainCommand *command) {
  char path[FOV_PATH_SIZE];
  if (fov_draw_check(fov_explain_picture(path, command, "maps")) == FOV_OK) return true;
  fov_print(stderr, "fovea: no picture: %s\n", fov_error_message());
  return false;
}

/** Refuses options that would change nothing. */
static FovStatus check_effects(const FovExplainCommand *c) {
  const struct {
    bool refused;
    const char *why;
  } rules[] = {
      {c->jacobian && c->check, "--jacobian and --check: expected one of them"},
      {c->jacobian && c->method, "--method and --jacobian: expected one of them"},
      {c->jacobian && c->target,
       "--target and --jacobian: expected one of them; --jacobian logits or state is what is "
       "explained"},
      {c->jacobian && c->time && c->class < 0,
       "--time: expected --class, too; without it --jacobian has all times"},
      {c->blank != 0 && c->check != FOV_EXPLAIN_CURVES, "--blank: expected --check curves, too"},
      {c->svg && c->check, "--svg and --check: expected one of them: a check draws no picture"},
  };
  for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
    if (rules[i].refused) return fov_fail(FOV_ERR_USAGE, "%s", rules[i].why);
  return FOV_OK;
}

static FovStatus check_command(const FovExplainCommand *command, const FovArguments *arguments) {
  if (arguments->count == 0)
    return fov_fail(FOV_ERR_USAGE, "no run or checkpoint given; see fovea explain --help");
  if (command->check != FOV_EXPLAIN_CURVES && arguments->count > 1 &&
      !fov_cli_is_setting(arguments->words[1]))
    return fov_fail(FOV_ERR_USAGE, "%s: expected key=value: only --check curves takes several runs",
                    arguments->words[1]);
  FOV_TRY(check_effects(command));
  if (!command->output && !command->check)
    return fov_fail(FOV_ERR_USAGE, "no folder given for the maps; name it with -o DIR");
  if (command->output && strlen(command->output) >= FOV_PATH_SIZE / 2)
    return fov_fail(FOV_ERR_USAGE, "-o: a path of more than %d bytes", FOV_PATH_SIZE / 2 - 1);
  return command->output ? fov_folder_check(command->output) : FOV_OK;
}

static FovStatus explain_as_asked(const FovExplainSubject *subject,
                                  const FovExplainCommand *command,
                                  const FovMethodOptions *methods) {
  if (command->jacobian) return fov_explain_jacobian(subject, command);
  if (command->check) return fov_explain_weights(subject, command, methods);
  return fov_explain_maps(subject, command, methods);
}

/** One run. */
static FovStatus explain(const FovExplainCommand *command, const FovArguments *arguments,
                         const FovMethodOptions *methods) {
  FovExplainSubject subject;
  FovStatus status = fov_explain_load(&subject, arguments->words[0], command, arguments->words + 1,
                                      arguments->count - 1);
  if (status == FOV_OK) status = explain_as_asked(&subject, command, methods);
  fov_explain_finish(&subject);
  return status;
}

static FovStatus run(const void *values, const FovArguments *arguments) {
  const FovExplainCommand *command = values;
  FovMethodOptions methods;
  FOV_TRY(check_command(command, arguments));
  FovStatus status = fov_method_options_read(&methods, arguments->words, arguments->count);
  if (status == FOV_OK)
    status = fov_method_options_check(command, arguments->words, arguments->count);
  if (status == FOV_OK)
    status = command->check == FOV_EXPLAIN_CURVES ? fov_explain_curves(command, arguments, &methods)
                                                  : explain(command, arguments, &methods);
  fov_method_options_finish(&methods);
  return status;
}

const FovCommand fov_command_explain = {
    .name = "explain",
    .help = "show which pixels an answer depends on",
    .synopsis = "RUN|CHECKPOINT ... [key=value ...]",
    .about = "Plays episodes with deterministic choices and holds these fixed: places, stops,\n"
             "and the weights of soft attention, so that an answer is a function of the pixels.\n"
             "The maps are written as arrays and pictures. key=value changes a setting that the\n"
             "agent was trained with, METHOD.OPTION=value an option of a method, such as\n"
             "occlusion.side=8.\n"
             "--check curves takes several runs.\n",
    .examples =
        "  fovea explain runs/cluttered-60-s0 -o maps\n"
        "  fovea explain runs/cluttered-60-s0 --method integrated_gradients --wrong -o maps\n"
        "  fovea explain runs/cluttered-60-s0 --target location_x --time 3 --class 7 -o maps\n"
        "  fovea explain runs/draw-s0 --method smoothgrad --through smoothgrad.noise=0.1 -o maps\n"
        "  fovea explain runs/cluttered-60-s0 --jacobian logits -o jacobian\n"
        "  fovea explain runs/cluttered-60-s0 --check weights --method saliency\n"
        "  fovea explain runs/cluttered-60-s? --check curves --episodes 500 -o curves\n",
    .options = options,
    .size = sizeof(FovExplainCommand),
    .run = run,
};
