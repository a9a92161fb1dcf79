#ifndef DPTS_POLICY_TS_BETA_H
#define DPTS_POLICY_TS_BETA_H
/* The state of Beta Thompson sampling, which the plain policy and its skipping share. */

#include "policy.h"

typedef struct {
  double a, b;  /* the posterior is Beta(a, b) */
  double above; /* P(theta > level), while a block stands */
} tb_arm_t;

typedef struct {
  int k, leader; /* leader: -1 outside blocks; see policy_ts_beta_skip.c */
  double level;  /* between the leader's mean and the others' */
  double below;  /* the leader's P(theta < level) stays below this */
  double above;  /* sum of the others' */
  double n;      /* a + b of the leader at the start */
  double plain;  /* rounds to be played one by one */
  double prior_1, prior_2;
  tb_arm_t arms[];
} ts_beta_t;

int ts_beta_choose(const void *state, const round_t *round, draws_t *draws);
void ts_beta_skip(void *state, player_t *player, draws_t *draws);

#endif
