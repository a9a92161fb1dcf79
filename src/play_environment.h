#ifndef DPTS_PLAY_ENVIRONMENT_H
#define DPTS_PLAY_ENVIRONMENT_H
/* An environment is a policy's counterpart: what is on offer, what a pull yields, and what
   the best arm would have yielded on average. A session (play_session.h) joins the two. */

#include "play_arms.h"
#include "play_player.h"

typedef struct environment_t environment_t;
typedef struct world_t world_t;

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
     log does not show. NULL: stationary rewards, see environment_draw(). */
  int (*pull)(environment_t *env, const round_t *round, int arm, double *reward);
  /* Bytes that a run of a simulated world needs for itself, and what it does before its first
     round; NULL: none, and nothing. */
  size_t (*room)(const world_t *world);
  void (*begin)(environment_t *env, uint64_t seed, uint64_t run);
  /* The means of the arms in a coming round; NULL: those of env->arms. */
  void (*means)(const environment_t *env, int64_t t, double *mean);
  int changing; /* do gaps change from round to round? Then pull() sums the regret. */
} environment_kind_t;

/* A simulated problem: its arms, and how they change. */
struct world_t {
  const environment_kind_t *kind;
  const arms_t *arms; /* in the first round, and then those that follow */
  int n;              /* so many */
  const double *at;   /* switch: the first round of each but the first */
  double period;      /* drift: rounds from the first arms to the second ... */
  int sine;           /* ... in a straight line, or there and back in waves? */
  const double *sd;   /* walk: of the step of each arm's mean */
  int reflect;
};

/* A kind of simulated world, by its name; NULL if there is none. */
const environment_kind_t *world_kind_find(const char *name);

/* Curves at given, increasing rounds. */
typedef struct {
  const double *rounds;
  int n, kept;
  int64_t next; /* INT64_MAX when all are kept */
  double *regret, *reward;
} recorder_t;

/* Which arm was pulled in each round, and what it yielded. */
typedef struct {
  int *arm; /* from 1; NULL: not kept */
  double *reward;
  int64_t t;      /* rounds that are kept */
  int64_t *pulls; /* of each arm in those, and the reward in all */
  double sum;
} history_t;

/* A simulated world. Other environments (a log, a table of rewards) have this as their first
   member, and use `kind` and `over` alone. */
struct environment_t {
  player_t player; /* the part that skip() sees */
  const environment_kind_t *kind;
  int over; /* no rounds are left, or none before rewards are supplied (play_supply.h) */
  int dry;  /* the arm, from 1, of which a recorded reward was asked that there is not */
  const world_t *world;
  const arms_t *arms; /* in this round */
  rng_t reward;
  rng_t bridge; /* a key, never advanced */
  rng_t contexts;
  void *space; /* of kind->room() bytes */
  double reward_sum;
  double regret_sum; /* where gaps change from round to round */
  recorder_t recorder;
  history_t history;
};

extern const environment_kind_t environment_stationary, environment_linear,
    environment_recorded, environment_switch, environment_drift, environment_walk,
    environment_supplied, environment_table;

/* Stand before the first round. Everything else is filled in by the caller. */
void environment_begin(environment_t *env, uint64_t seed, uint64_t run);
void environment_record(environment_t *env);
void environment_note(environment_t *env, int arm, double reward); /* into the history */

static inline environment_t *environment_of(player_t *player) {
  return (environment_t *)player;
}

/* One round has been played. */
static inline void environment_step(environment_t *env, int arm, double reward) {
  player_t *player = &env->player;
  player->t++;
  player->pulls[arm]++;
  env->reward_sum += reward;
  if (player->t == env->recorder.next) {
    if (env->history.arm) environment_note(env, arm, reward);
    environment_record(env);
  }
  if (player->t == player->horizon) env->over = 1;
}

/* Rounds, of n that are to come, that may pass before the environment must be told: up to the
   next that is recorded. Then it is, with the sum of all rewards so far. */
static inline int64_t environment_quiet(const environment_t *env, int64_t n) {
  const player_t *player = &env->player;
  const int64_t left = player_left(player), next = env->recorder.next - player->t;
  if (n > left) n = left;
  return n < next ? n : next;
}

static inline void environment_tell(environment_t *env, int64_t n, double sum,
                                    const rng_t *reward) {
  player_t *player = &env->player;
  player->t += n;
  env->reward_sum = sum;
  env->reward = *reward;
  if (player->t == env->recorder.next) environment_record(env);
  if (player->t == player->horizon) env->over = 1;
}

static inline double environment_draw(environment_t *env, int arm) {
  const double reward = arms_draw(env->arms, arm, &env->reward);
  environment_step(env, arm, reward);
  return reward;
}

static inline int environment_pull(environment_t *env, const round_t *round, int arm,
                                   double *reward) {
  if (env->kind->pull) return env->kind->pull(env, round, arm, reward);
  *reward = environment_draw(env, arm);
  return 1;
}

#endif
