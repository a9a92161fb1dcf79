#ifndef DPTS_PLAY_ROUND_H
#define DPTS_PLAY_ROUND_H
/* What a policy is shown: a round before it chooses, and the feedback on a pull after it. */

#include "dpts.h"

/* Most numbers in a context: kernels keep contexts on the stack. */
#define MAX_CONTEXT 128

/* One round, before the choice; the reward of one pull: as policies from outside see them. */
typedef dpts_round round_t;
typedef dpts_feedback feedback_t;

/* Rewards of an arm that were seen: how many, and their sum. */
typedef struct {
  double n, sum;
} tally_t;

/* The context in which an arm would be pulled, or NULL. */
static inline const double *round_context(const round_t *round, int arm) {
  if (!round->context) return NULL;
  return round->context + (size_t)round->context_step * (size_t)arm;
}

/* Are all arms on offer, in order? If this says no, they may be. */
static inline int round_is_full(const round_t *round) { return round->offer == round->all; }

/* Is it on offer, of k arms? Arms of an offer differ, so one of k arms is all of them. */
static inline int on_offer(const round_t *round, int64_t k, int64_t arm) {
  if (round->n_offer == k) return arm >= 0 && arm < k;
  FOR_EACH_ARM(i, round) if (i == arm) return 1;
  return 0;
}

/* ---- the best arm ---------------------------------------------------------------- */

typedef dpts_best argmax_t;
#define ARGMAX     DPTS_BEST
#define argmax_add dpts_best_add
#define argmax_arm dpts_best_arm

/* ---- before the indices ----------------------------------------------------------- */

/* The arm on offer that was pulled least, the first of equals. */
static inline int least_pulled(const round_t *round) {
  int choice = round->offer[0];
  FOR_EACH_ARM(i, round) {
    if (round->pulls[i] < round->pulls[choice]) choice = i;
  }
  return choice;
}

/* The opening of an index policy: an arm needs a pull, and its reward, before it has an index;
   `waiting` arms have none. One on offer without a pull comes first, in order; while the
   rewards of others are out, the arms are played in turn; -1: every arm on offer has its
   index. n points to the first arm's count of rewards, `stride` bytes from the next arm's. */
static inline int opening_choice(int64_t waiting, const round_t *round, const double *n,
                                 size_t stride) {
  int out = 0;
  if (waiting == 0) return -1;
  FOR_EACH_ARM(i, round) {
    if (*(const double *)((const char *)n + stride * (size_t)i) > 0) continue;
    if (round->pulls[i] == 0) return i;
    out = 1;
  }
  return out ? least_pulled(round) : -1;
}

#endif
