#include "model/core.h"

extern const FovCore fov_core_rnn, fov_core_lstm, fov_core_gru, fov_core_none;

const FovCore *const fov_cores[] = {&fov_core_rnn, &fov_core_lstm, &fov_core_gru, &fov_core_none,
                                    NULL};
