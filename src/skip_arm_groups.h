#ifndef DPTS_SKIP_ARM_GROUPS_H
#define DPTS_SKIP_ARM_GROUPS_H
/* Many arms, each of which exceeds a level in a round with a chance of its own, independently:
   which of them do, in time proportional to their number and not to that of the arms.

   Group g holds the arms of chances in [2^-(g+1), 2^-g), the last one all that are smaller. The
   arms of a group are in a row, and the next candidate is a geometric number of arms away, as
   if all had the chance 2^-g; a candidate exceeds with its own chance over that. One exponential
   variate, which has no memory, is the wait along the whole row of groups. */

#include <stddef.h>
#include "sample.h"

/* Fewer arms than these are looked at one by one. */
#define ARM_GROUPS_FROM 64
#define ARM_GROUPS      40
/* Rounds in one call of a skip(), where they are played one by one. */
#define ARM_GROUPS_ROUNDS 256

/* The chance of a candidate above which rounds are played one by one, `dense` where arms are few: a
   candidate costs a look at each arm, where groups know a cheaper way. */
static inline double arm_groups_dense(double dense, int k) {
  return k < ARM_GROUPS_FROM ? dense : fmin(dense, 64.0 / k);
}

typedef struct {
  int32_t k;
  int32_t begin[ARM_GROUPS + 1]; /* where each group begins in the row */
  double rate[ARM_GROUPS];       /* -log(1 - 2^-g), the wait that an arm takes up */
  double expected;               /* sum of chances */
  double chance[];               /* of each arm; then the row, and each arm's place in it */
} arm_groups_t;

/* Where the wait along the row has come to. */
typedef struct {
  int group, at;
  double bound; /* of the group's chances */
  double wait;
} arm_walk_t;

size_t arm_groups_size(int k);
/* Put k arms into their groups by chance[]. */
void arm_groups_fill(arm_groups_t *s, int k);
/* The arm's chance is now p. Time: the number of groups that lie between, at most. */
void arm_groups_set(arm_groups_t *s, int arm, double p);
/* For tests: the group in whose part of the row the arm is; -1: it is not in its place. */
int arm_groups_where(const arm_groups_t *s, int arm);

static inline arm_walk_t arm_groups_begin(rng_t *rng) {
  return (arm_walk_t){.bound = 1, .wait = sample_exp(rng)};
}
/* The next arm that exceeds the level in this round, or -1. */
int arm_groups_next(const arm_groups_t *s, arm_walk_t *walk, rng_t *rng);

#endif
