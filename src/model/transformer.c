#include "model/transformer.h"

#include <stdio.h>

/* ---- layers ---- */

static int add_named(FovParams *params, const char *layer, const char *part, int rows, int cols,
                     FovInit init) {
  char name[FOV_PARAM_NAME];
  snprintf(name, sizeof name, "%s.%s", layer, part);
  return fov_params_add(params, name, rows, cols, init, 1);
}

FovLayer fov_layer_add_linear(FovParams *params, const char *name, int outputs, int inputs) {
  FovLayer layer;
  layer.w = add_named(params, name, "w", outputs, inputs, FOV_INIT_UNIFORM);
  layer.bias = add_named(params, name, "bias", 1, outputs, FOV_INIT_ZERO);
  return layer;
}

FovLayer fov_layer_add_norm(FovParams *params, const char *name, int width) {
  FovLayer layer;
  layer.w = add_named(params, name, "gain", 1, width, FOV_INIT_ONE);
  layer.bias = add_named(params, name, "bias", 1, width, FOV_INIT_ZERO);
  return layer;
}

FovVar *fov_layer_apply(FovTape *tape, FovVar *x, FovLayer linear, FovActivation activation) {
  return fov_linear(tape, x, &tape->params[linear.w], &tape->params[linear.bias], activation);
}

FovVar *fov_layer_normalise(FovTape *tape, FovVar *x, FovLayer norm) {
  return fov_layer_norm(tape, x, &tape->params[norm.w], &tape->params[norm.bias]);
}

/* ---- a block ---- */

const char *fov_transformer_name_block(char prefix[FOV_PARAM_NAME], FovParams *params,
                                       const char *owner, int number) {
  const char *outer = params->prefix;
  snprintf(prefix, FOV_PARAM_NAME, "%s%s.%d.", outer ? outer : "", owner, number);
  params->prefix = prefix;
  return outer;
}

void fov_transformer_add_block(FovTransformerBlock *block, FovParams *params, int width,
                               int hidden) {
  block->before = fov_layer_add_norm(params, "norm", width);
  block->query = fov_layer_add_linear(params, "query", width, width);
  block->key = add_named(params, "key", "w", width, width, FOV_INIT_UNIFORM);
  block->value = fov_layer_add_linear(params, "value", width, width);
  block->output = fov_layer_add_linear(params, "output", width, width);
  block->between = fov_layer_add_norm(params, "norm2", width);
  block->up = fov_layer_add_linear(params, "up", hidden, width);
  block->down = fov_layer_add_linear(params, "down", width, hidden);
}

FovProjections fov_transformer_project(const FovTransformerBlock *block, FovTape *tape, FovVar *x) {
  FovProjections made;
  FovVar *y = fov_layer_normalise(tape, x, block->before);
  made.key = fov_linear(tape, y, &tape->params[block->key], NULL, FOV_LINEAR);
  made.value = fov_layer_apply(tape, y, block->value, FOV_LINEAR);
  made.query = fov_layer_apply(tape, y, block->query, FOV_LINEAR);
  return made;
}

FovVar *fov_transformer_finish(const FovTransformerBlock *block, FovTape *tape, FovVar *x,
                               FovVar *z) {
  x = fov_add(tape, x, fov_layer_apply(tape, z, block->output, FOV_LINEAR));
  FovVar *y = fov_layer_normalise(tape, x, block->between);
  FovVar *hidden = fov_layer_apply(tape, y, block->up, FOV_RELU);
  return fov_add(tape, x, fov_layer_apply(tape, hidden, block->down, FOV_LINEAR));
}

/* ---- self-attention ---- */

void fov_transformer_add(FovTransformer *transformer, FovParams *params, const char *owner,
                         int width, int hidden) {
  char name[FOV_PARAM_NAME];
  if (transformer->count == 0) return;
  for (int i = 0; i < transformer->count; i++) {
    const char *outer = fov_transformer_name_block(name, params, owner, i + 1);
    fov_transformer_add_block(&transformer->blocks[i], params, width, hidden);
    params->prefix = outer;
  }
  snprintf(name, sizeof name, "%s.norm", owner);
  transformer->last = fov_layer_add_norm(params, name, width);
}

FovVar *fov_transformer_apply(const FovTransformer *transformer, FovTape *tape, FovVar *x,
                              const int *lengths, int lanes) {
  if (transformer->count == 0) return x;
  for (int i = 0; i < transformer->count; i++) {
    const FovTransformerBlock *block = &transformer->blocks[i];
    FovProjections of = fov_transformer_project(block, tape, x);
    FovVar *z =
        fov_self_attention(tape, of.query, of.key, of.value, lengths, lanes, transformer->heads);
    x = fov_transformer_finish(block, tape, x, z);
  }
  return fov_layer_normalise(tape, x, transformer->last);
}

void fov_position_code(real *code, int position, int width) {
  for (int j = 0; j < width; j++) {
    double angle = position / pow(10000, (double)(j / 2 * 2) / width);
    code[j] = (real)(j % 2 ? cos(angle) : sin(angle));
  }
}
