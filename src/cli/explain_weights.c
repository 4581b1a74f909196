#include <math.h>
#include <stdio.h>

#include "base/text.h"
#include "cli/explain.h"
#include "cli/print.h"
#include "explain/randomised.h"

/** A row of the table and of the file; NaN: no correlation. */
static void print_row(FILE *csv, const FovMethod *method, const char *layer, double cascade,
                      double alone) {
  const double numbers[] = {cascade, alone};
  printf("  %-26s", *layer ? layer : "(where it looked)");
  fprintf(csv, "%s,%s", method->plugin.name, layer);
  for (int i = 0; i < 2; i++)
    if (isnan(numbers[i])) {
      printf(" %9s", "-");
      fputc(',', csv);
    } else {
      printf(" %9.3f", numbers[i]);
      fprintf(csv, ",%.6g", numbers[i]);
    }
  putchar('\n');
  fputc('\n', csv);
}

static void print_layers(FILE *csv, const FovRandomised *result, const FovMethod *method) {
  printf("\n%-28s %9s %9s\n", method->plugin.name, "cascade", "alone");
  print_row(csv, method, "", result->looked, NAN);
  for (int l = 0; l < result->count; l++)
    print_row(csv, method, result->layers[l].name, result->layers[l].cascade,
              result->layers[l].alone);
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
