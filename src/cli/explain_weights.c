#include <stdio.h>

#include "base/text.h"
#include "cli/explain.h"
#include "cli/print.h"
#include "explain/randomised.h"

static void print_layers(FILE *csv, const FovRandomised *result, const FovMethod *method) {
  printf("\n%-28s %9s %9s\n", method->plugin.name, "cascade", "alone");
  printf("  %-26s %9.3f\n", "(where it looked)", result->looked);
  fprintf(csv, "%s,,%.6g,\n", method->plugin.name, result->looked);
  for (int l = 0; l < result->count; l++) {
    const FovRandomisedLayer *layer = &result->layers[l];
    printf("  %-26s %9.3f %9.3f\n", layer->name, layer->cascade, layer->alone);
    fprintf(csv, "%s,%s,%.6g,%.6g\n", method->plugin.name, layer->name, layer->cascade,
            layer->alone);
  }
}

static FovStatus check_weights(FILE *csv, const FovExplainSubject *subject,
                               const FovExplainCommand *command, const FovMethodOptions *options) {
  const FovMethod *methods[FOV_MOST_METHODS];
  FovRandomised result;
  int count;
  FOV_TRY(fov_explain_methods(methods, &count, subject, command));
  fov_print(
      stdout, "%s, %lld episode%s: rank correlation of |map| with that of the trained weights\n",
      subject->trained.path, (long long)subject->request.count, fov_plural(subject->request.count));
  puts("cascade: this layer and those above it are random; alone: only this layer;\n"
       "where it looked: the same with the map of the gaze or of its weights");
  fputs("method,layer,cascade,alone\n", csv);
  for (int i = 0; i < count; i++) {
    FOV_TRY(fov_randomised_measure(&result, &subject->request, methods[i],
                                   fov_method_options_of(options, methods[i])));
    print_layers(csv, &result, methods[i]);
    fov_print_flush();
  }
  return FOV_OK;
}

FovStatus fov_explain_weights(const FovExplainSubject *subject, const FovExplainCommand *command,
                              const FovMethodOptions *options) {
  FovExplainText csv;
  FOV_TRY(fov_explain_text_begin(&csv));
  FovStatus status = check_weights(csv.stream, subject, command, options);
  return fov_explain_text_finish(&csv, status, command, "weights.csv");
}
