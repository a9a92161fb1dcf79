#ifndef DPTS_SKIP_LEADER_H
#define DPTS_SKIP_LEADER_H
/* Skipping for index policies. An arm is pulled in one stretch for as long as it is certain to be
   chosen, whatever its rewards in [0, 1]; else some rounds are played one by one. The policy supplies
   choose(); add(), for n rewards; and sure(), a number of coming rounds in all of which the arm l that
   was just chosen is chosen again. sure() looks at every arm, which choose() avoids where there are many
   (policy_tournament.h). There sure() is called only after so many choices of the same arm in a row that
   it costs no more than they did. */

#include "round_player.h"

typedef void add_fn(void *state, int arm, double sum, double n);
typedef double sure_fn(const void *state, int k, int l, double played);

static inline void leader_skip_many(void *state, player_t *player, draws_t *draws, choose_fn *choose,
                                    add_fn *add, sure_fn *sure) {
  const int patience = player->k < 96 ? 12 : player->k < 16384 ? player->k / 8 : 2048;
  int last = -1, streak = 0, stretches = 0;
  for (int i = 0; i < 4096 && stretches < 16 && player_left(player) > 0; i++) {
    const int l = player_choose(player, choose, state, draws);
    if (l < 0) return;
    streak = l == last ? streak + 1 : 1;
    last = l;
    int64_t n = 1;
    if (streak > patience) {
      const double rounds = fmin(sure(state, player->k, l, (double)player->t), 0x1p53);
      n = player_stretch(player, fmax(1, rounds));
      if (n < patience) streak = 0;
      stretches++;
    }
    add(state, l, player_pull_many(player, l, n), (double)n);
  }
}

static inline void leader_skip(void *state, player_t *player, draws_t *draws, choose_fn *choose, add_fn *add,
                               sure_fn *sure) {
  if (player->k >= MANY_ARMS) {
    leader_skip_many(state, player, draws, choose, add, sure);
    return;
  }
  const int l = player_choose(player, choose, state, draws);
  if (l < 0) return;
  const double rounds = fmin(sure(state, player->k, l, (double)player->t), 0x1p53);
  if (rounds >= 12) {
    const int64_t n = player_stretch(player, rounds);
    add(state, l, player_pull_many(player, l, n), (double)n);
    return;
  }
  for (int i = 0; i < 24 && player_left(player) > 0; i++) {
    const int arm = player_choose(player, choose, state, draws);
    if (arm >= 0) add(state, arm, player_pull(player, arm), 1);
  }
}

#endif
