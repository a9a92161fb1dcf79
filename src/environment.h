#ifndef DPTS_ENVIRONMENT_H
#define DPTS_ENVIRONMENT_H
/* An environment is a policy's counterpart: what is on offer, what a pull yields, and what
   the best arm would have yielded on average. A session (session.h) joins the two. */

#include "arms.h"
#include "player.h"

typedef struct environment_t environment_t;

/* One kind of environment. */
typedef struct {
  const char *name;
  /* What the round shows: the arms on offer and contexts. NULL: all arms and no contexts, as
     the session has filled it in. */
  void (*offer)(environment_t *env, round_t *round);
  /* The arm that is pulled in this round whatever the policy would choose, or -1; NULL: the
     policy chooses. */
  int (*force)(environment_t *env, const round_t *round);
  /* Pull an arm. Returns whether the choice was played: a replay discards the choices that its
     log does not show. NULL: stationary rewards, see environment_pull(). */
  int (*pull)(environment_t *env, const round_t *round, int arm, double *reward);
} environment_kind_t;

/* Curves at given, increasing rounds. */
typedef struct {
  const double *rounds;
  int n, kept;
  int64_t next; /* INT64_MAX when all are kept */
  double *regret, *reward;
} recorder_t;

/* Simulated arms. Other environments (a log, a table of rewards) have this as their first
   member, and use `kind` and `over` alone. */
struct environment_t {
  player_t player; /* the part that skip() sees */
  const environment_kind_t *kind;
  int over; /* no rounds are left */
  const arms_t *arms;
  rng_t reward;
  rng_t bridge; /* a key, never advanced */
  rng_t contexts;
  double *context_space; /* room for the contexts of a round */
  double reward_sum;
  double regret_sum; /* where gaps change from round to round */
  recorder_t recorder;
};

extern const environment_kind_t environment_stationary, environment_linear;

/* Stand before the first round. Everything else is filled in by the caller. */
void environment_begin(environment_t *env, uint64_t seed, uint64_t run);
void environment_record(environment_t *env);

static inline environment_t *environment_of(player_t *player) {
  return (environment_t *)player;
}

/* One round has been played. */
static inline void environment_step(environment_t *env, int arm, double reward) {
  player_t *player = &env->player;
  player->t++;
  player->pulls[arm]++;
  env->reward_sum += reward;
  if (player->t == env->recorder.next) environment_record(env);
  if (player->t == player->horizon) env->over = 1;
}

static inline int environment_pull(environment_t *env, const round_t *round, int arm,
                                   double *reward) {
  if (env->kind->pull) return env->kind->pull(env, round, arm, reward);
  *reward = arms_draw(env->arms, arm, &env->reward);
  environment_step(env, arm, *reward);
  return 1;
}

#endif
