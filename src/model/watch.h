/** Results of an agent whose gradients can be asked for: the kinds of fov_watch (tensor/tape.h). */
#ifndef FOV_MODEL_WATCH_H
#define FOV_MODEL_WATCH_H

typedef enum FovWatch {
  FOV_WATCH_READOUT = 1 << 0, /**< g_t, a time step after the other */
  FOV_WATCH_MAPS = 1 << 1,    /**< of a convolutional encoder's last layer, from glimpses rho; about
                                   them: its FovConv */
  FOV_WATCH_SYMBOLS = 1 << 2, /**< vectors of the symbols of B sequences [B·L, width], once */
} FovWatch;

#endif
