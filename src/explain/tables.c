#include "explain/method.h"

extern const FovMethod fov_method_saliency, fov_method_input_x_gradient,
    fov_method_integrated_gradients, fov_method_smoothgrad, fov_method_occlusion,
    fov_method_grad_cam;

const FovMethod *const fov_methods[] = {&fov_method_saliency,
                                        &fov_method_input_x_gradient,
                                        &fov_method_integrated_gradients,
                                        &fov_method_smoothgrad,
                                        &fov_method_occlusion,
                                        &fov_method_grad_cam,
                                        &fov_method_gaze,
                                        &fov_method_weights,
                                        &fov_method_random,
                                        NULL};
