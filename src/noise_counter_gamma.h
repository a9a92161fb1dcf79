#ifndef DPTS_NOISE_COUNTER_GAMMA_H
#define DPTS_NOISE_COUNTER_GAMMA_H
/* The bounded binary mechanism of noise_counter_tree.h for a vector of p numbers at once, each
   node released by the Gamma mechanism: noise of density proportional to
   exp(-|x|_2 / scale). If one item moves the vector by at most s in Euclidean norm, scale
   levels s / epsilon makes the whole stream of released sums epsilon-DP. */

#include <stddef.h>
#include <stdint.h>
#include "noise.h"

typedef struct {
  int64_t n;
  int32_t levels, p;
  double scale;
} gamma_tree_t; /* in memory it is followed by 2 levels vectors of partial sums */

static inline size_t gamma_tree_size(int levels, int p) {
  return sizeof(gamma_tree_t) + 2 * sizeof(double) * (size_t)levels * (size_t)p;
}

void gamma_tree_init(gamma_tree_t *tree, int levels, int p, double scale);

/* Adds a vector (which is overwritten) and writes the released sum. Vectors beyond the bound of 2^levels
   - 1 are ignored. */
void gamma_tree_add(gamma_tree_t *tree, double *item, double *sum, draws_t *draws);

#endif
