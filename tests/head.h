/** A plug-in's head on random states: what an agent gives a policy or a stop rule, without the
 * agent. */
#ifndef FOV_TESTS_HEAD_H
#define FOV_TESTS_HEAD_H

#include "model/head.h"
#include "tensor/ops.h"

enum { HEAD_STATE = 6 }; // D: width of a state

/** A head's parameters, with values. */
typedef struct Head {
  FovParams params;
  void *layout;
  real *values; /**< random, of the order of 1 */
} Head;

/** Builds a head; without a `build`, nothing has parameters. */
void head_create(Head *head, const FovHead *plugin, const void *options);
void head_finish(Head *head);

/** h [lanes, HEAD_STATE]: lane i is in state first + i·step. The same state has the same row. */
FovVar *head_states(FovTape *tape, int first, int step, int lanes);

/** Number i of a fixed random sequence, roughly normal; the same i gives the same number. */
real head_noise(uint64_t i);

/** A gradient's product with random direction number `which`. */
double head_project(const Head *head, const real *gradient, int which);

/** Whether the mean of `count` numbers with this sum and sum of squares is `expected` within four
 * standard errors. */
bool is_mean(double sum, double squares, int count, double expected);

/** Whether counts [n] of `total` samples fit probabilities p [n], which may leave out some: a chi-
 * square test at four standard deviations. Cells with few samples are put together. */
bool are_frequencies(const int *counts, const double *p, int n, int total);

#endif
