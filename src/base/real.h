/** The number type of everything that learns: float, or double in the gradient-check build. */
#ifndef FOV_BASE_REAL_H
#define FOV_BASE_REAL_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#ifdef FOV_DOUBLE
typedef double real;
#else
typedef float real;
#endif

/**
 * Marks a function whose loops should use the widest vectors of the CPU it runs on: it is compiled
 * once for each level and the right one is chosen when the program is loaded. Its name must be
 * unique in the program, even if it is static: Clang 14 exports the function that chooses.
 */
#ifdef FOV_CLONES
#define FOV_KERNEL __attribute__((target_clones(FOV_CLONES)))
#else
#define FOV_KERNEL
#endif

/** Inlined even into a FOV_KERNEL, which otherwise would call the slow version. */
#define FOV_INLINE static inline __attribute__((always_inline))

/** e^x with a relative error under 2e-7, vectorisable; x is clamped to ±87. Exact libm in double.
 */
FOV_INLINE real fov_exp(real x) {
#ifdef FOV_DOUBLE
  return exp(x);
#else
  x = x < -87.0f ? -87.0f : x > 87.0f ? 87.0f : x;
  // x = n ln 2 + r with |r| <= ln 2 / 2; the magic constant rounds to the nearest integer.
  float shifted = x * 1.44269504f + 12582912.0f, n = shifted - 12582912.0f;
  float r = x - n * 0.693145752f - n * 1.42860677e-6f;
  float p = 1.98756915e-4f;
  p = p * r + 1.39819995e-3f;
  p = p * r + 8.33345205e-3f;
  p = p * r + 4.16657962e-2f;
  p = p * r + 1.66666672e-1f;
  p = p * r + 0.5f;
  p = p * r * r + r + 1.0f;
  // The low bits of `shifted` hold n; shifted into the exponent they give 2^n.
  uint32_t bits;
  float power;
  memcpy(&bits, &shifted, sizeof bits);
  bits = (bits + 127) << 23;
  memcpy(&power, &bits, sizeof power);
  return p * power;
#endif
}

/** 1 / (1 + e^−x), absolute error under 2e-7. */
FOV_INLINE real fov_sigmoid(real x) {
  return 1 / (1 + fov_exp(-x));
}

/** log(1 + e^x), relative error under 3e-7 down to the least x of fov_exp; not vectorised. */
FOV_INLINE real fov_softplus(real x) {
  return (x > 0 ? x : 0) + (real)log1p((double)fov_exp(x > 0 ? -x : x));
}

/** Hyperbolic tangent, absolute error under 3e-7. */
FOV_INLINE real fov_tanh(real x) {
  return 1 - 2 / (fov_exp(2 * x) + 1);
}

#endif
