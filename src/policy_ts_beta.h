#ifndef DPTS_POLICY_TS_BETA_H
#define DPTS_POLICY_TS_BETA_H
/* The state of Beta Thompson sampling, which the plain policy and its skipping share. */

#include "skip_beta_groups.h"
#include "policy.h"

typedef struct {
  double a, b;  /* the posterior is Beta(a, b) */
  double above; /* P(theta > level), while a block stands */
} tb_arm_t;

typedef struct {
  int k, leader; /* leader: -1 outside blocks; see skip_ts_beta.c */
  double level;  /* between the leader's mean and the others' */
  double below;  /* the leader's P(theta < level) stays below this */
  double above;  /* sum of the others' */
  double n;      /* a + b of the leader at the start */
  double plain;  /* rounds to be played one by one */
  double prior_1, prior_2;
  tb_arm_t arms[]; /* k of them; then, where it has groups of arms, those */
} ts_beta_t;

/* Does it play many arms by groups? Their draws need densities whose logarithm is concave. */
static inline int ts_beta_has_groups(int k, double prior_1, double prior_2) {
  return k >= ARM_GROUPS_FROM && prior_1 >= 1 && prior_2 >= 1;
}
/* NULL: it does not. */
static inline beta_groups_t *ts_beta_groups(ts_beta_t *s) {
  return ts_beta_has_groups(s->k, s->prior_1, s->prior_2)
             ? (beta_groups_t *)(s->arms + s->k)
             : NULL;
}

int ts_beta_choose(const void *state, const round_t *round, draws_t *draws);
void ts_beta_skip(void *state, player_t *player, draws_t *draws);

#endif
