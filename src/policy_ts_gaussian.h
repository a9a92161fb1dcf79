#ifndef DPTS_POLICY_TS_GAUSSIAN_H
#define DPTS_POLICY_TS_GAUSSIAN_H
/* The state of Gaussian Thompson sampling, which the plain policy, its skipping and its
   lanes share. */

#include <math.h>
#include "policy.h"

enum { PREPULLS, VARIANCE_SCALE };

typedef struct {
  double sum, n, mean, sd; /* mean and sd of the posterior */
} ts_arm_t;

/* What skipping keeps between steps; see policy_ts_gaussian_skip.c. */
typedef struct {
  int leader;         /* -1: none chosen */
  double mean, var;   /* the leader's mean stays above and its variance below these */
  double slack, n;    /* leader's mean less `mean`, and its pulls, at the start */
} ts_block_t;

typedef struct {
  double prepulls, variance_scale;
  double waiting; /* arms with pre-pulls left */
  int k, leaves;  /* leaves: the power of two from k */
  ts_block_t block;
  ts_arm_t arms[]; /* k of them, then 2 leaves numbers: a tree of sums of bounds */
} ts_gaussian_t;

static inline double *ts_tree(ts_gaussian_t *s) { return (double *)(s->arms + s->k); }

/* The posterior after n more pulls whose rewards add up to `sum`. */
static inline void ts_gaussian_add(ts_gaussian_t *s, int arm, double sum, double n) {
  ts_arm_t *a = &s->arms[arm];
  const int waited = a->n < s->prepulls;
  a->sum += sum;
  a->n += n;
  if (waited && a->n >= s->prepulls) s->waiting -= 1;
  /* S / (n + 1), never a running mean: the + 1 carries the privacy (Lemma 3). */
  a->mean = a->sum / (a->n + 1);
  a->sd = sqrt(s->variance_scale / (a->n + 1));
}

int ts_gaussian_choose(void *state, const round_t *round, dice_t *dice);
void ts_gaussian_skip(void *state, world_t *world, dice_t *dice);
extern const struct lanes_t lanes_ts_gaussian;

#endif
