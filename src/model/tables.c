#include "model/attention.h"
#include "model/core.h"

extern const FovEncoder fov_encoder_linear, fov_encoder_conv;

const FovEncoder *const fov_encoders[] = {&fov_encoder_linear, &fov_encoder_conv, NULL};

extern const FovAttention fov_attention_gaze, fov_attention_repeat, fov_attention_first,
    fov_attention_soft, fov_attention_local_m, fov_attention_local_p, fov_attention_sampled,
    fov_attention_straight_through, fov_attention_gumbel, fov_attention_reinmax,
    fov_attention_rebar, fov_attention_relax, fov_attention_draw, fov_attention_spatial_transformer;

const FovAttention *const fov_attentions[] = {&fov_attention_gaze,
                                              &fov_attention_repeat,
                                              &fov_attention_first,
                                              &fov_attention_soft,
                                              &fov_attention_local_m,
                                              &fov_attention_local_p,
                                              &fov_attention_sampled,
                                              &fov_attention_straight_through,
                                              &fov_attention_gumbel,
                                              &fov_attention_reinmax,
                                              &fov_attention_rebar,
                                              &fov_attention_relax,
                                              &fov_attention_draw,
                                              &fov_attention_spatial_transformer,
                                              NULL};

extern const FovScore fov_score_content, fov_score_additive, fov_score_location, fov_score_general,
    fov_score_dot, fov_score_scaled_dot;

const FovScore *const fov_scores[] = {&fov_score_content,
                                      &fov_score_additive,
                                      &fov_score_location,
                                      &fov_score_general,
                                      &fov_score_dot,
                                      &fov_score_scaled_dot,
                                      NULL};

extern const FovCore fov_core_rnn, fov_core_lstm, fov_core_gru, fov_core_attention, fov_core_none;

const FovCore *const fov_cores[] = {&fov_core_rnn,       &fov_core_lstm, &fov_core_gru,
                                    &fov_core_attention, &fov_core_none, NULL};
