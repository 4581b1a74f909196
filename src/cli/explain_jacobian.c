#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/memory.h"
#include "cli/explain.h"
#include "cli/print.h"
#include "explain/jacobian.h"
#include "record/npy.h"

static const char axes[] =
    "jacobian: episode, t, s: the Frobenius norm of the derivative of the logits or of the state "
    "after glimpse t with respect to what was read at glimpse s; NaN: not taken. mean: over the "
    "episodes";

/** Norms of all episodes, and their mean. */
typedef struct Norms {
  float *norms; // [E, T, T]
  double *mean; // [T, T]
  int T;
} Norms;

static FovStatus write_norms(const Norms *n, const FovExplainSubject *subject,
                             const FovExplainCommand *command) {
  char path[FOV_PATH_SIZE];
  int64_t E = subject->request.count;
  const FovBlob blobs[] = {
      {.name = "jacobian",
       .dtype = FOV_DTYPE_F32,
       .dims = 3,
       .shape = {E, n->T, n->T},
       .data = n->norms},
      {.name = "mean", .dtype = FOV_DTYPE_F64, .dims = 2, .shape = {n->T, n->T}, .data = n->mean},
      {.name = "case", .dtype = FOV_DTYPE_I64, .dims = 1, .shape = {E}, .data = subject->cases}};
  const FovText texts[] = {{"axes", axes}, {"checkpoint", subject->trained.path}};
  FOV_TRY(fov_safetensors_write(fov_explain_path(path, command, "jacobian.safetensors"), blobs, 3,
                                texts, 2));
  return fov_npy_write(fov_explain_path(path, command, "jacobian.npy"), &blobs[0]);
}

static FovStatus draw(const Norms *n, const FovExplainCommand *command) {
  char path[FOV_PATH_SIZE];
  bool logits = command->jacobian == FOV_EXPLAIN_LOGITS;
  FovDrawMatrix matrix = {.values = n->mean,
                          .rows = n->T,
                          .columns = n->T,
                          .title = logits ? "|dy_t / dg_s|, logits" : "|dh_t / dg_s|, state",
                          .row_label = "t",
                          .column_label = "s"};
  if (!fov_explain_draws(command)) return FOV_OK;
  fov_explain_picture(path, command, "jacobian");
  return fov_draw_matrix(path, &matrix);
}

/** A norm, or a dash where no episode has both glimpses. */
static void print_norm(double norm) {
  if (isnan(norm))
    printf(" %8s", "-");
  else
    printf(" %8.3g", norm);
}

static void print(const Norms *n, const FovExplainSubject *subject,
                  const FovExplainCommand *command) {
  enum { MOST = 24 };
  int T = n->T < MOST ? n->T : MOST;
  fov_print(stdout, "%s: mean |d%s_t / dg_s| of %lld episodes of %s\n\n t\\s", command->output,
            command->jacobian == FOV_EXPLAIN_LOGITS ? "y" : "h", (long long)subject->request.count,
            subject->trained.path);
  for (int s = 0; s < T; s++) printf(" %8d", s + 1);
  putchar('\n');
  for (int t = 0; t < T; t++) {
    printf("%4d", t + 1);
    for (int s = 0; s <= t; s++) print_norm(n->mean[t * n->T + s]);
    putchar('\n');
  }
  if (T < n->T) printf("the first %d of %d glimpses; all are in jacobian.npy\n", T, n->T);
}

FovStatus fov_explain_jacobian(const FovExplainSubject *subject, const FovExplainCommand *command) {
  int T = fov_task_glimpses(subject->request.task);
  size_t cells = (size_t)T * (size_t)T;
  FovJacobianOf of =
      command->jacobian == FOV_EXPLAIN_LOGITS ? FOV_JACOBIAN_LOGITS : FOV_JACOBIAN_STATE;
  FOV_TRY(fov_memory_check((double)subject->request.count * (double)cells * sizeof(float),
                           "this Jacobian"));
  Norms n = {.norms = calloc((size_t)subject->request.count, cells * sizeof *n.norms),
             .mean = calloc(cells, sizeof *n.mean),
             .T = T};
  FovStatus status = n.norms && n.mean ? fov_jacobian(n.norms, &subject->request, of)
                                       : fov_fail(FOV_ERR_MEMORY, "no memory for a Jacobian");
  if (status == FOV_OK) fov_jacobian_mean(n.mean, n.norms, subject->request.count, T);
  if (status == FOV_OK) status = fov_make_folders(command->output);
  if (status == FOV_OK) status = write_norms(&n, subject, command);
  if (status == FOV_OK) status = draw(&n, command);
  if (status == FOV_OK) print(&n, subject, command);
  free(n.norms), free(n.mean);
  return status;
}
