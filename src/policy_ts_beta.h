#ifndef DPTS_POLICY_TS_BETA_H
#define DPTS_POLICY_TS_BETA_H
/* The state of Beta Thompson sampling, which the plain policy and its skipping share. */

#include "skip_thompson_beta.h"

typedef struct {
  int64_t k;
  double prior_1, prior_2;
  beta_t arms[]; /* the posteriors of k arms; then a thompson_t */
} ts_beta_t;

static inline thompson_t *ts_beta_thompson(const ts_beta_t *s) {
  return (thompson_t *)(s->arms + s->k);
}

int ts_beta_choose(const void *state, const round_t *round, draws_t *draws);
void ts_beta_skip(void *state, player_t *player, draws_t *draws);

#endif
