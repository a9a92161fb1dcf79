#ifndef DPTS_WORLD_H
#define DPTS_WORLD_H
/* The simulated world as a policy meets it: arms to pull, a clock, and a recorder
   that a policy does not see. */

#include "arms.h"

typedef struct {
  const arms_t *arms;
  rng_t reward;
  rng_t bridge; /* a key, never advanced */
  int64_t t, horizon;  /* rounds played, rounds in all */
  double reward_sum;
  double *pulls;       /* of each arm */
  /* With contexts: their stream, room for those of a round, and the regret so far. */
  rng_t contexts;
  double *context_space;
  double regret_sum;
  /* The recorder: increasing rounds to keep, and where the curves go. */
  const double *record;
  int n_record, recorded;
  int64_t next_record; /* INT64_MAX when all are kept */
  double *out_regret, *out_reward;
} world_t;

void world_begin(world_t *world);
void world_record(world_t *world);

static inline int64_t world_left(const world_t *world) {
  return world->horizon - world->t;
}

/* Pull an arm once; returns its reward. */
static inline double world_pull(world_t *world, int arm) {
  const double reward = arms_draw(world->arms, arm, &world->reward);
  world->t++;
  world->pulls[arm]++;
  world->reward_sum += reward;
  if (world->t == world->next_record) world_record(world);
  return reward;
}

/* With contexts: those of the next round, and a pull in them. */
const double *world_look(world_t *world);
double world_pull_in(world_t *world, const double *contexts, int arm);

/* Pull an arm n times in a row, n <= world_left(); returns the sum of the rewards. One
   draw where the law has a short cut, and then what happens does not depend on which
   rounds are recorded: curves inside the stretch are bridged from draws of their own. */
double world_pull_many(world_t *world, int arm, int64_t n);

/* The same, but returns how many of the n rewards show 1 after the coin toss that turns a
   reward of [0, 1] into 0 or 1. */
double world_pull_coins(world_t *world, int arm, int64_t n, rng_t *coins);

/* Pull n arms in turn, so many times around; sums[i] becomes the sum of the rewards of
   arms[i]. Only where the law sums rewards at once: one draw an arm, and recorded
   rounds are bridged as above. n * cycles <= world_left(); scratch holds n numbers. */
void world_pull_cycles(world_t *world, const int *arms, int n, int64_t cycles, double *sums,
                       double *scratch);

/* How many of n rounds one call may play: all that are left where the law sums rewards at
   once, else a share small enough for an interrupt to be answered in time. A property of
   the law, so it never makes results depend on how the work is sliced. */
static inline int64_t world_stretch(const world_t *world, int64_t n) {
  const int64_t most = world->arms->law->draw_sum ? INT64_MAX : 1 << 16;
  if (n > most) n = most;
  return n < world_left(world) ? n : world_left(world);
}

#endif
