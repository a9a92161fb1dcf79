#ifndef DPTS_SKIP_ARM_GROUPS_H
#define DPTS_SKIP_ARM_GROUPS_H
/* Each of many arms exceeds a level in a round with a probability of its own, independently: this finds
   the arms that do, in time proportional to their number and not to the number of arms.

   Group g holds the arms of probabilities in [2^-(g+1), 2^-g), the last one all smaller ones. The arms
   of a group are contiguous in one row. The next candidate is a geometric number of arms ahead, as if
   all had the probability 2^-g; a candidate is accepted with its own probability divided by 2^-g. An
   exponential variate, which is memoryless, serves as the waiting time along all groups. */

#include <stddef.h>
#include "sample.h"

/* With fewer arms each one is looked at. */
#define ARM_GROUPS_FROM 64
#define ARM_GROUPS      40
/* Rounds per call of a skip() that plays them one by one. */
#define ARM_GROUPS_ROUNDS 256

/* The probability of a candidate round above which rounds are played one by one; it is `dense` for few
   arms. A candidate round costs a look at each arm, so groups are cheaper where candidates are frequent. */
static inline double arm_groups_dense(double dense, int k) {
  return k < ARM_GROUPS_FROM ? dense : fmin(dense, 64.0 / k);
}

typedef struct {
  int32_t k;
  int32_t begin[ARM_GROUPS + 1]; /* of each group in the row */
  double rate[ARM_GROUPS];       /* -log(1 - 2^-g), the waiting time that an arm uses up */
  double expected;               /* sum of the probabilities */
  double chance[];               /* of each arm; then the row of arms, and each arm's position in it */
} arm_groups_t;

/* The state of a walk along the row. */
typedef struct {
  int group, at;
  double bound; /* of the group's probabilities */
  double wait;
} arm_walk_t;

size_t arm_groups_size(int k);
/* Sorts k arms into groups by chance[]. */
void arm_groups_fill(arm_groups_t *s, int k);
/* Changes an arm's probability to p, in time proportional to the number of groups between. */
void arm_groups_set(arm_groups_t *s, int arm, double p);
/* For tests: the group in whose part of the row the arm is; -1: its position is wrong. */
int arm_groups_where(const arm_groups_t *s, int arm);

static inline arm_walk_t arm_groups_begin(rng_t *rng) {
  return (arm_walk_t){.bound = 1, .wait = sample_exp(rng)};
}
/* The next arm that exceeds the level in this round, or -1. */
int arm_groups_next(const arm_groups_t *s, arm_walk_t *walk, rng_t *rng);

#endif
