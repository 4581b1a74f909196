#include <stdio.h>

#include "base/text.h"
#include "cli/cli.h"
#include "cli/print.h"
#include "draw.h"
#include "experiment/plot/curves.h"

typedef struct Request {
  const char *output, *x, *y;
  int centre;
  bool seeds;
} Request;

static const char *const centres[] = {[FOV_CENTRE_MEAN] = "mean", [FOV_CENTRE_IQM] = "iqm", NULL};

static const FovOption options[] = {
    FOV_TEXT(Request, output, "the file to write: FILE.png, FILE.svg or FILE.pdf; required"),
    FOV_TEXT(Request, x,
             "the horizontal axis: episodes (default), update, epoch, seconds, glimpses or another "
             "column that does not decrease"),
    FOV_TEXT(Request, y,
             "columns, a panel for each: COLUMN,COLUMN...; default: valid_error,valid_reward"),
    FOV_CHOICE(Request, centre, "mean", centres,
               "what is drawn of several seeds: their mean with Student's 95 % interval, or their "
               "interquartile mean with the percentile interval of 2,000 bootstrap draws"),
    FOV_BOOL(Request, seeds, "no", "also draw each seed as a thin line"),
    FOV_OPTIONS_END,
};

static FovStatus plot(FovCurves *curves, const Request *request, const FovArguments *arguments) {
  const FovCurvesRequest what = {.sources = (const char *const *)arguments->words,
                                 .source_count = arguments->count,
                                 .x = request->x,
                                 .y = request->y,
                                 .centre = (FovCentre)request->centre};
  FOV_TRY(fov_curves_read(curves, &what));
  FOV_TRY(fov_draw_curves(request->output, curves, request->seeds));
  fov_print(stdout, "%s: %d run%s\n", request->output, curves->run_count,
            fov_plural(curves->run_count));
  return FOV_OK;
}

static FovStatus run(const void *values, const FovArguments *arguments) {
  const Request *request = values;
  if (arguments->count == 0) return fov_fail(FOV_ERR_USAGE, "no run given; see fovea plot --help");
  if (!request->output)
    return fov_fail(FOV_ERR_USAGE, "no output given: add -o FILE.png, FILE.svg or FILE.pdf");
  FOV_TRY(fov_draw_check(request->output));
  FovCurves curves = {.columns = 0};
  FovStatus status = plot(&curves, request, arguments);
  fov_curves_finish(&curves);
  return status;
}

const FovCommand fov_command_plot = {
    .name = "plot",
    .help = "draw learning curves",
    .synopsis = "RUN|CSV|SWEEP... -o FILE",
    .about =
        "Draws columns of progress.csv, by default validation error and reward against\n"
        "episodes. Sources are run directories, folders of sweeps, and CSV files, which may have\n"
        "other columns. Runs that differ only in their seed (NAME-s0, NAME-s1, ...) become their\n"
        "mean or interquartile mean with a 95 % band. Axes contain all bands.\n"
        "\n"
        "Against update, episodes and epoch, only values at which every seed has a row are\n"
        "drawn. Against seconds and other columns, each seed is interpolated linearly between\n"
        "its rows, over the range that all seeds cover. glimpses are those of training,\n"
        "episodes times the glimpses of an episode; runs whose episodes differ in length have\n"
        "no such column.\n",
    .examples = "  fovea plot runs/cluttered-60-s0 -o curve.png\n"
                "  fovea plot runs/rnn-s? runs/lstm-s? -o cores.svg\n"
                "  fovea plot sweeps/cores --x seconds --centre iqm --seeds -o cores.svg\n"
                "  fovea plot runs/lstm-s? --y valid_error,answer_loss,policy_sigma -o lstm.pdf\n"
                "  fovea plot experiments/figures/pairs-s0.csv --x glimpses -o pairs.png\n",
    .options = options,
    .size = sizeof(Request),
    .run = run,
};
