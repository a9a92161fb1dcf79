#ifndef DPTS_NOISE_COUNTER_TREE_H
#define DPTS_NOISE_COUNTER_TREE_H
/* The bounded binary mechanism ("tree"): Chan, Shi and Song (2011), Algorithm 2; Dwork,
   Naor, Pitassi and Rothblum (2010). After n items, the released sum adds one noisy
   partial sum for each bit of n that is 1; the one of bit j covers 2^j items. A partial sum
   gets its noise once, when it is formed, and keeps it.

   A counter is one flat block of tree_size(levels) bytes, aligned for doubles and without
   pointers. It takes at most tree_bound() = 2^levels - 1 items, and an item is in at most
   one partial sum of each level: if one item moves the sum by at most s, then Laplace noise
   of scale levels s / epsilon on each node makes the whole stream of released sums
   epsilon-DP, and Gaussian noise of sd sqrt(levels) s / mu makes it mu-GDP. Items may be
   numbers of any size; s is for the caller to know. */

#include <stddef.h>
#include <stdint.h>
#include "noise.h"

typedef struct {
  int64_t n; /* items */
  int32_t levels;
  int32_t kind; /* NOISE_LAPLACE or NOISE_GAUSSIAN */
  double scale; /* of the noise of a node: scale or sd; 0 for none */
  double sum;   /* the released sum */
} tree_t;       /* in memory it is followed by the partial sums */

/* The exact partial sum of each level, then the noisy ones. */
static inline double *tree_nodes(tree_t *tree) { return (double *)(tree + 1); }

/* Levels that a stream of at most `bound` items needs: floor(log2(bound)) + 1, which is the
   number of partial sums that an item can be in. The stream may fill the last of them. */
int tree_levels(double bound);

static inline size_t tree_size(int levels) {
  return sizeof(tree_t) + 2 * sizeof(double) * (size_t)levels;
}

/* The i-th of counters that lie one after another, each of so many levels. */
static inline tree_t *tree_at(const void *counters, int levels, size_t i) {
  return (tree_t *)((char *)counters + tree_size(levels) * i);
}

static inline int64_t tree_bound(const tree_t *tree) {
  return ((int64_t)1 << tree->levels) - 1;
}

void tree_init(tree_t *tree, int levels, enum noise_kind kind, double scale);

/* How many noise variables are in the released sum. */
int tree_terms(const tree_t *tree);

/* Take one more item; returns the released sum, which is also tree->sum. An item past the
   bound is dropped: neither the memory nor the guarantee has room for it. */
double tree_add(tree_t *tree, double item, draws_t *draws);

#endif
