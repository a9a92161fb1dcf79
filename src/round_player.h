#ifndef DPTS_ROUND_PLAYER_H
#define DPTS_ROUND_PLAYER_H
/* The simulated problem as skip() sees it: a clock, and arms to pull. The means, the gaps and the
   observers are hidden behind it (play_environment.h). Rounds are skipped only if all arms are on offer
   and rewards come at once. */

#include "noise.h"
#include "round.h"
#include "sample.h"

typedef dpts_player player_t;

/* How arms are pulled. */
typedef struct {
  /* Pulls an arm once; returns the reward. */
  double (*pull)(player_t *player, int arm);
  /* Pulls an arm n times in a row, n <= player_left(); returns the sum of the rewards. Where the
     distribution allows it, that is one draw. The result does not depend on which rounds are recorded:
     what is recorded inside the stretch is drawn from a stream of its own, given the sum. */
  double (*pull_many)(player_t *player, int arm, int64_t n);
  /* Pulls n arms in turn, `cycles` times; sums[i] is set to the sum of the rewards of arms[i]. Only if
     `sums` is set: one draw per arm, and recorded rounds as above. n * cycles <= player_left();
     scratch holds n numbers of 64 bits. */
  void (*pull_cycles)(player_t *player, const int *arms, int n, int64_t cycles, double *sums, void *scratch);
} player_kind_t;

struct dpts_player {
  const player_kind_t *kind;
  int64_t t, horizon; /* rounds played, rounds in total */
  int k;
  int sums;  /* is the sum of many rewards one draw? */
  int coins; /* are all rewards 0 or 1? */
  enum {
    PLAYING,
    NO_ARM,
    BROKEN_BOUND
  } failed;         /* otherwise the run stops: there was no arm to choose, or a
                       probability was above the bound that a skip used for it */
  const int *offer; /* 0 .. k - 1 */
  int64_t *pulls;   /* of each arm so far */
};

static inline int64_t player_left(const player_t *player) {
  return player->failed ? 0 : player->horizon - player->t;
}

/* The next round. */
static inline round_t player_round(const player_t *player) {
  return (round_t){.t = player->t + 1,
                   .offer = player->offer,
                   .n_offer = player->k,
                   .all = player->offer,
                   .pulls = player->pulls};
}

static inline double player_pull(player_t *player, int arm) { return player->kind->pull(player, arm); }

static inline double player_pull_many(player_t *player, int arm, int64_t n) {
  return player->kind->pull_many(player, arm, n);
}

/* As player_pull_many(), and sets *squares to the sum of (reward - 1/2)^2. */
static inline double player_pull_squares(player_t *player, int arm, int64_t n, double *squares) {
  *squares = 0.25 * (double)n;
  if (player->coins) return player_pull_many(player, arm, n);
  double sum = *squares = 0;
  for (int64_t i = 0; i < n; i++) {
    const double reward = player_pull(player, arm);
    sum += reward;
    *squares += (reward - 0.5) * (reward - 0.5);
  }
  return sum;
}

static inline void player_pull_cycles(player_t *player, const int *arms, int n, int64_t cycles, double *sums,
                                      void *scratch) {
  player->kind->pull_cycles(player, arms, n, cycles, sums, scratch);
}

/* As player_pull_many(), but returns the number of ones after each reward in [0, 1] was randomised to 0
   or 1. */
static inline double player_pull_coins(player_t *player, int arm, int64_t n, rng_t *coins) {
  if (player->sums) return player_pull_many(player, arm, n);
  double sum = 0; /* rewards of 0 and 1 use no random numbers */
  for (int64_t i = 0; i < n; i++) sum += sample_coin(coins, player_pull(player, arm));
  return sum;
}

/* How many of n rounds one call may play: all that are left if `sums` is set, else at most 2^16, so that
   an interrupt is answered in time. This depends on the arms alone, so results do not depend on how the
   work is sliced. */
static inline int64_t player_stretch(const player_t *player, double n) {
  const double most = fmin(player->sums ? 0x1p62 : 0x1p16, (double)player_left(player));
  return n < most ? (int64_t)n : (int64_t)most;
}

/* The policy's choice in the player's next round, for a skip; -1 ends the run. */
typedef int choose_fn(const void *state, const round_t *round, draws_t *draws);
static inline int player_choose(player_t *player, choose_fn *choose, const void *state, draws_t *draws) {
  const round_t round = player_round(player);
  const int arm = choose(state, &round, draws);
  if (arm < 0) player->failed = NO_ARM;
  return arm;
}

#endif
