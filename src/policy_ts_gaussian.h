#ifndef DPTS_POLICY_TS_GAUSSIAN_H
#define DPTS_POLICY_TS_GAUSSIAN_H
/* The state of Gaussian Thompson sampling, which the plain policy, its skipping and its
   lanes share. */

#include "skip_thompson.h"

enum { PREPULLS, VARIANCE_SCALE, FILTER };

typedef struct {
  double m, n;     /* pulls, and rewards that have come */
  double sum;      /* of those rewards */
  double mean, sd; /* of the posterior */
  double paid; /* what draws have cost this arm's rewards, for the filter: sum of mu^2 */
} ts_arm_t;

typedef struct {
  double prepulls, variance_scale;
  double filter;   /* the budget, mu^2; Inf: no filter */
  int64_t waiting; /* arms with pre-pulls left */
  int32_t k;
  int32_t opened; /* all arms before it have had their pre-pulls */
  int64_t spent;  /* is the filter's budget spent? */
  double slack,
      most_var; /* of a block: mean less level when it began, and the leader's variance */
  ts_arm_t arms[]; /* k of them, then a thompson_t */
} ts_gaussian_t;

static inline thompson_t *ts_thompson(ts_gaussian_t *s) {
  return (thompson_t *)(s->arms + s->k);
}

/* A reward that is still out counts as this much. Any fixed number serves: it is public. */
#define TS_GUESS 0.5

/* S / (m + 1), never a running mean: the + 1 carries the privacy (Ou et al., Lemma 3). The
   pulls m count, not the rewards: with late rewards the mean would move by more. */
static inline void ts_gaussian_renew(const ts_gaussian_t *s, ts_arm_t *a) {
  a->mean = (a->sum + TS_GUESS * (a->m - a->n)) / (a->m + 1);
  a->sd = sqrt(s->variance_scale / (a->m + 1));
}

static inline void ts_gaussian_assign(ts_gaussian_t *s, int arm, double n) {
  ts_arm_t *a = &s->arms[arm];
  const int opens = a->m < s->prepulls && a->m + n >= s->prepulls;
  a->m += n;
  if (!opens) return;
  s->waiting -= 1;
  while (s->opened < s->k && s->arms[s->opened].m >= s->prepulls) s->opened++;
}

/* n more pulls whose rewards, which add up to `sum`, are in. */
static inline void ts_gaussian_add(ts_gaussian_t *s, int arm, double sum, double n) {
  ts_arm_t *a = &s->arms[arm];
  ts_gaussian_assign(s, arm, n);
  a->n += n;
  a->sum += sum;
  ts_gaussian_renew(s, a);
}

int ts_gaussian_choose(const void *state, const round_t *round, draws_t *draws);
void ts_gaussian_pay(ts_gaussian_t *s, const round_t *round); /* for the filter */
void ts_gaussian_skip(void *state, player_t *player, draws_t *draws);
extern const struct lanes_t lanes_ts_gaussian;

#endif
