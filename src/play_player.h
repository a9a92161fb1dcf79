#ifndef DPTS_PLAY_PLAYER_H
#define DPTS_PLAY_PLAYER_H
/* What skip() sees of a simulated world: a clock, and arms to pull. The means, the gaps and
   the observers lie behind it (play_environment.h). All arms are on offer and rewards come at
   once: else there is no skipping. */

#include "sample_rng.h"
#include "play_round.h"

typedef dpts_player player_t;

/* What a player that is not a world's own does with a pull. */
typedef struct {
  double (*pull)(player_t *player, int arm);
  double (*pull_many)(player_t *player, int arm, int64_t n);
  void (*pull_cycles)(player_t *player, const int *arms, int n, int64_t cycles,
                      double *sums, double *scratch);
} player_kind_t;

struct dpts_player {
  const player_kind_t *kind; /* NULL: simulated arms */
  int64_t t, horizon;        /* rounds played, rounds in all */
  int k;
  int sums; /* does a stretch of pulls cost no more than one? */
  enum {
    PLAYING,
    NO_ARM,
    BROKEN_BOUND
  } failed;         /* if not PLAYING, the play is over: there was
                       no arm to choose, or a skip met a chance above its bound of it */
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

/* Pull an arm once; returns its reward. */
double player_pull(player_t *player, int arm);

/* Pull an arm n times in a row, n <= player_left(); returns the sum of the rewards. One
   draw where the distribution has a short cut, and then what happens does not depend on
   which rounds are recorded: curves inside the stretch are bridged from draws of their
   own. */
double player_pull_many(player_t *player, int arm, int64_t n);

/* The same, but returns how many of the n rewards show 1 after the coin toss that turns a
   reward of [0, 1] into 0 or 1. */
double player_pull_coins(player_t *player, int arm, int64_t n, rng_t *coins);

/* Pull n arms in turn, so many times around; sums[i] becomes the sum of the rewards of
   arms[i]. Only where rewards are summed at once: one draw per arm, and recorded rounds
   are bridged as above. n * cycles <= player_left(); scratch holds n numbers. */
void player_pull_cycles(player_t *player, const int *arms, int n, int64_t cycles,
                        double *sums, double *scratch);

/* How many of n rounds one call may play: all that are left where rewards are summed at
   once, else a share small enough for an interrupt to be answered in time. A property of
   the arms, so it never makes results depend on how the work is sliced. */
static inline int64_t player_stretch(const player_t *player, double n) {
  const double most = fmin(player->sums ? 0x1p62 : 0x1p16, (double)player_left(player));
  return n < most ? (int64_t)n : (int64_t)most;
}

#endif
