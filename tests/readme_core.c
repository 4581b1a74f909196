/** The tables of src/model/tables.c with the core that README.md adds, in its own words. */
#include "model/attention.h"
#include "model/core.h"

#include "readme_cores.h"

extern const FovEncoder fov_encoder_linear, fov_encoder_conv;

const FovEncoder *const fov_encoders[] = {&fov_encoder_linear, &fov_encoder_conv, NULL};

extern const FovAttention fov_attention_gaze;

const FovAttention *const fov_attentions[] = {&fov_attention_gaze, NULL};

extern const FovScore fov_score_scaled_dot;

const FovScore *const fov_scores[] = {&fov_score_scaled_dot, NULL};
