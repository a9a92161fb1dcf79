#ifndef DPTS_ROUND_H
#define DPTS_ROUND_H
/* What a policy sees: a round before it chooses, and the feedback on a pull after it. */

#include "dpts.h"

/* The maximal dimension of a context: kernels keep contexts on the stack. */
#define MAX_CONTEXT 128

/* With fewer arms, a scan of all is as fast as a search tree. */
#define MANY_ARMS 48

/* A round before the choice, and the reward of a pull, as external policies see them, too. */
typedef dpts_round round_t;
typedef dpts_feedback feedback_t;

/* Observed rewards of an arm: their number and their sum. */
typedef struct {
  double n, sum;
} tally_t;

/* The context of an arm in this round, or NULL. */
static inline const double *round_context(const round_t *round, int arm) {
  if (!round->context) return NULL;
  return round->context + (size_t)round->context_step * (size_t)arm;
}

/* Are all arms on offer, in order? 0 also means that it is not known. */
static inline int round_is_full(const round_t *round) { return round->offer == round->all; }

/* Is this arm on offer, of k arms? The arms of an offer differ, so an offer of k arms is all of them. */
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

/* The arm on offer with the fewest pulls, the first one if there are several. */
static inline int least_pulled(const round_t *round) {
  int choice = round->offer[0];
  FOR_EACH_ARM(i, round) {
    if (round->pulls[i] < round->pulls[choice]) choice = i;
  }
  return choice;
}

/* The first pulls of an index policy: an arm has an index once one of its rewards has come, and
   `waiting` arms have none. An arm on offer without a pull comes first, in order. If all have pulls but
   some rewards are outstanding, the least pulled arm is chosen. Returns -1 if every arm on offer has its
   index. n points to the first arm's number of rewards; the next arm's is `stride` bytes further. */
static inline int opening_choice(int64_t waiting, const round_t *round, const double *n, size_t stride) {
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
