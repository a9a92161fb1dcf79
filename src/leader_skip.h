#ifndef DPTS_LEADER_SKIP_H
#define DPTS_LEADER_SKIP_H
/* Skipping for index policies. The arm that they choose is pulled in one stretch for as long
   as it surely leads, whatever its rewards in [0, 1]; else some rounds are played one by
   one. A policy gives its choose(), an add() of n rewards, and a sure(): a number of rounds
   from now on in all of which arm l, which it has just chosen, is chosen again. */

#include <math.h>
#include "policy.h"

static inline void leader_skip(
    void *state, world_t *world, dice_t *dice,
    int (*choose)(void *state, const round_t *round, dice_t *dice),
    void (*add)(void *state, int arm, double sum, double n),
    double (*sure)(const void *state, int k, int l, double played)) {
  const int k = world->arms->k;
  round_t round = {.t = world->t + 1, .n_pool = k};
  const int l = choose(state, &round, dice);
  const double rounds = fmin(sure(state, k, l, (double)world->t), 0x1p53);
  if (rounds >= 12) {
    const int64_t n = world_stretch(world, (int64_t)rounds);
    add(state, l, world_pull_many(world, l, n), (double)n);
    return;
  }
  for (int i = 0; i < 24 && world_left(world) > 0; i++) {
    round.t = world->t + 1;
    const int arm = choose(state, &round, dice);
    add(state, arm, world_pull(world, arm), 1);
  }
}

#endif
