#ifndef DPTS_NOISE_COUNTER_TREE_H
#define DPTS_NOISE_COUNTER_TREE_H
/* The bounded binary mechanism ("tree"): Chan, Shi and Song (2011), Algorithm 2; Dwork, Naor, Pitassi
   and Rothblum (2010). After n items, the released sum adds one noisy partial sum for each 1 bit of n;
   that of bit j covers 2^j items. A partial sum gets its noise once, when it is formed.

   A counter is one flat block of tree_size(levels) bytes, aligned for doubles and without pointers. It
   takes at most tree_bound() = 2^levels - 1 items, and an item is in at most one partial sum of each
   level. If one item moves the sum by at most s, then Laplace noise of scale levels s / epsilon on each
   node makes the whole stream of released sums epsilon-DP, and Gaussian noise of sd sqrt(levels) s / mu
   makes it mu-GDP. Items may be numbers of any size; the caller must know s. */

#include <stddef.h>
#include <stdint.h>
#include "noise.h"

typedef struct {
  int64_t n; /* items */
  int32_t levels;
  int32_t kind; /* NOISE_LAPLACE or NOISE_GAUSSIAN */
  double scale; /* of a node's noise: scale or sd; 0: no noise */
  double sum;   /* the released sum */
} tree_t;       /* followed in memory by the partial sums */

/* The exact partial sums of all levels, then the noisy ones. */
static inline double *tree_nodes(tree_t *tree) { return (double *)(tree + 1); }

/* The number of levels that a stream of at most `bound` items needs: floor(log2(bound)) + 1, the number
   of partial sums that an item can be in. The stream may fill the last level. */
int tree_levels(double bound);

static inline size_t tree_size(int levels) { return sizeof(tree_t) + 2 * sizeof(double) * (size_t)levels; }

/* The i-th counter in an array of counters of `levels` levels. */
static inline tree_t *tree_at(const void *counters, int levels, size_t i) {
  return (tree_t *)((char *)counters + tree_size(levels) * i);
}

static inline int64_t tree_bound(const tree_t *tree) { return ((int64_t)1 << tree->levels) - 1; }

void tree_init(tree_t *tree, int levels, enum noise_kind kind, double scale);

/* The number of noise variables in the released sum. */
int tree_terms(const tree_t *tree);

/* May a counter be used that was read from somewhere, in the memory of one with so many levels? */
int tree_is_sound(const tree_t *tree, int levels);

/* Adds an item; returns the released sum, which is also tree->sum. An item past the bound is ignored: it
   is covered neither by the memory nor by the guarantee. */
double tree_add(tree_t *tree, double item, draws_t *draws);

#endif
