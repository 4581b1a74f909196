/** The tables of src/model/tables.c with the core that README.md adds, in its own words. */
#include "model/core.h"
#include "model/encoder.h"

#include "readme_cores.h"

extern const FovEncoder fov_encoder_linear, fov_encoder_conv;

const FovEncoder *const fov_encoders[] = {&fov_encoder_linear, &fov_encoder_conv, NULL};
