#ifndef DPTS_NOISE_COUNTER_LOG_H
#define DPTS_NOISE_COUNTER_LOG_H
/* The logarithmic mechanism and the hybrid mechanism of Chan, Shi and Song (2011). Both take any number
   of items and need no bound.

   The logarithmic mechanism releases only when the stream reaches a boundary: the sum of the items since the
   last boundary is released with fresh Laplace noise and added to the total. Each item is in one noisy sum,
   so Laplace noise of scale 1 / epsilon makes it epsilon-DP for items in [0, 1]. The boundaries are 1, 2, 4,
   8, ... in the original, and 1, 3, 7, 15, ... in the variant of Hu and Hegde (2022, section 3).

   The hybrid mechanism adds a binary tree for the items since the last boundary, which is restarted at
   each boundary. Each of the two mechanisms uses half of epsilon. Between the boundaries b and b' the
   tree gets at most b' - b - 1 items, since the last item of the block completes the block's sum. */

#include "noise_counter_tree.h"
#include "noise_report.h"

typedef struct {
  int64_t n;        /* items */
  int64_t boundary; /* the next one */
  int32_t hu_hegde; /* 1: boundaries at 2^(r+1) - 1; 0: at 2^r */
  int32_t releases;
  double scale; /* of the noise of one release */
  double block; /* exact sum of the items since the last release */
  double total; /* sum of the released numbers */
} log_counter_t;

void log_counter_init(log_counter_t *c, int hu_hegde, double scale);
/* Returns whether a boundary was reached, so that the total has changed. */
int log_counter_add(log_counter_t *c, double item, draws_t *draws);

typedef struct {
  double epsilon;
  double sum; /* the released sum: log.total + tree.sum */
  int64_t max_levels;
  log_counter_t log;
  tree_t tree; /* last, since its partial sums follow in memory */
} hybrid_t;

/* Bytes of a counter for streams of at most 2^levels items. */
static inline size_t hybrid_size(int levels) { return sizeof(hybrid_t) - sizeof(tree_t) + tree_size(levels); }
static inline hybrid_t *hybrid_at(const void *counters, int levels, size_t i) {
  return (hybrid_t *)((char *)counters + hybrid_size(levels) * i);
}

static inline int hybrids_are_sound(const void *counters, int levels, int64_t k) {
  for (int64_t i = 0; i < k; i++) {
    const hybrid_t *h = hybrid_at(counters, levels, (size_t)i);
    if (h->max_levels != levels || !tree_is_sound(&h->tree, levels)) return 0;
  }
  return 1;
}

void hybrid_init(hybrid_t *h, int levels, int hu_hegde, double epsilon);
double hybrid_add(hybrid_t *h, double item, draws_t *draws);
report_t hybrid_report(const hybrid_t *h);

#endif
