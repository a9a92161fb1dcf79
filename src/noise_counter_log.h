#ifndef DPTS_NOISE_COUNTER_LOG_H
#define DPTS_NOISE_COUNTER_LOG_H
/* The logarithmic mechanism and the hybrid mechanism: Chan, Shi and Song (2011). Both take
   any number of items and need no bound.

   The logarithmic mechanism releases rarely: each time the stream reaches a boundary, the sum
   of the items since the last one is released with fresh Laplace noise and added to the
   total. So an item is in one noisy sum: Laplace noise of scale 1 / epsilon makes it
   epsilon-DP for items of [0, 1]. Boundaries: 1, 2, 4, 8, ... in the original, and 1, 3, 7,
   15, ... in the variant of Hu and Hegde (2022, section 3).

   The hybrid mechanism adds a binary mechanism, started afresh at each boundary, for the
   items since. Each takes half of epsilon. Between the boundaries b and b' the tree
   gets at most b' - b - 1 items, the last one of the block going straight into the total. */

#include "noise_counter_tree.h"
#include "play_report.h"

typedef struct {
  int64_t n;        /* items */
  int64_t boundary; /* the next one */
  int32_t hu_hegde; /* boundaries at 2^(r+1) - 1? */
  int32_t releases;
  double scale; /* of the noise of one release */
  double block; /* exact sum of the items since the last release */
  double total; /* sum of the released numbers */
} log_counter_t;

void log_counter_init(log_counter_t *c, int hu_hegde, double scale);
/* Returns whether a boundary was reached, and so the total renewed. */
int log_counter_add(log_counter_t *c, double item, draws_t *draws);

typedef struct {
  double epsilon;
  double sum; /* the released sum: log.total + tree.sum */
  int64_t max_levels;
  log_counter_t log;
  tree_t tree; /* last, for its partial sums follow */
} hybrid_t;

/* Room for streams of at most 2^levels items. */
static inline size_t hybrid_size(int levels) {
  return sizeof(hybrid_t) - sizeof(tree_t) + tree_size(levels);
}
static inline hybrid_t *hybrid_at(const void *counters, int levels, size_t i) {
  return (hybrid_t *)((char *)counters + hybrid_size(levels) * i);
}

void hybrid_init(hybrid_t *h, int levels, int hu_hegde, double epsilon);
double hybrid_add(hybrid_t *h, double item, draws_t *draws);
report_t hybrid_report(const hybrid_t *h);

#endif
