/**
 * What a plug-in adds to an agent's parameters in order to read its state: a policy, a stop rule, a
 * baseline.
 */
#ifndef FOV_MODEL_HEAD_H
#define FOV_MODEL_HEAD_H

#include "tensor/params.h"

/** A head declares its parameters; its plug-in applies them to the state that it is given. */
typedef struct FovHead {
  size_t layout_size; /**< bytes of the struct that `build` writes */
  /** Adds the head's parameters for states [B, inputs]; writes the layout, const afterwards. NULL:
   * the plug-in learns nothing and reads no state. */
  void (*build)(void *layout, FovParams *params, const void *options, int inputs);
} FovHead;

#endif
