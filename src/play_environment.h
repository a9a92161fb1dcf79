#ifndef DPTS_PLAY_ENVIRONMENT_H
#define DPTS_PLAY_ENVIRONMENT_H
/* An environment is a policy's counterpart: which arms are on offer, the reward of a pull, and the mean
   reward of the best arm. A session (play_session.h) joins the two. What is
   measured, observers say (play_observer.h). */

#include "play_arms.h"
#include "play_observer.h"
#include "play_player.h"

typedef struct world_t world_t;

/* What an environment waits for: a block of rewards of an arm, or of all arms together. */
typedef struct {
  int64_t block; /* its number, from 0 */
  int64_t first; /* the round from which on, where the block is of rounds */
  int n;         /* how many rewards, or rounds */
  int arms;      /* of so many arms: 1, or all, and then with their means */
} want_t;

#define WORLD_MOST_PAR 4

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
  const char *params[WORLD_MOST_PAR]; /* names of its numbers in R */
  /* Where the caller supplies rewards (play_supply.h): does the environment wait for a block that
     begins with this arm, where do its rewards go (and, mean = 1, its means), and: they are there.
     NULL: all rewards are drawn here. */
  int (*wants)(const environment_t *env, int arm, want_t *want);
  double *(*place)(const environment_t *env, int arm, int mean);
  void (*put)(environment_t *env, int arm, int n);
  /* The arms that were pulled in the block at hand, for a caller who looks; NULL: not kept */
  const int *(*played)(const environment_t *env, int *n);
} environment_kind_t;

#define WORLD(NAME, ...) \
  const environment_kind_t environment_##NAME = {.name = #NAME, __VA_ARGS__}

/* A simulated problem: its arms, and how they change. */
struct world_t {
  const environment_kind_t *kind;
  const arms_t *arms;                /* in the first round, and then those that follow */
  int n;                             /* so many */
  const double *par[WORLD_MOST_PAR]; /* its numbers, as kind->params names them */
  const dpts_adversary *adversary;   /* of play_world_compiled.c */
};

/* A kind of simulated world, by its name; NULL if there is none. */
const environment_kind_t *world_kind_find(const char *name);

/* A simulated world. Other environments (a log, a table of rewards) have this as their first
   member, and use `kind` and `over` alone. */
struct environment_t {
  player_t player; /* the part that skip() sees */
  const environment_kind_t *kind;
  int over;  /* no rounds are left, or none before rewards are supplied (play_supply.h) */
  int ended; /* by an observer, before the horizon */
  int dry;   /* the arm, from 1, of which a recorded reward was asked that there is not */
  const world_t *world;
  const arms_t *arms; /* in this round */
  rng_t reward;
  rng_t bridge; /* a key, never advanced */
  rng_t contexts;
  void *space; /* of kind->room() bytes */
  double reward_sum;
  double regret_sum; /* where gaps change from round to round */
  /* Of rewards that the caller supplies, what its means let expect of their sum: the mean, and a
     bound of its variance if they lie in [0, 1], else the sum of squares of what is unexpected */
  double expected, spread;
  int64_t next; /* some observer looks after this round; INT64_MAX: none will */
  observer_t *observers;
  int n_observers;
  int followed;     /* does an observer look at every choice? */
  int watched;      /* and at every release? */
  int64_t releases; /* that observers have seen */
};

extern const environment_kind_t environment_stationary;

/* Before the first round. Everything else is filled in by the caller, observers after it. */
void environment_begin(environment_t *env, uint64_t seed, uint64_t run);

static inline int environment_is_done(const environment_t *env) {
  return env->ended || env->player.t == env->player.horizon;
}

static inline environment_t *environment_of(player_t *player) {
  return (environment_t *)player;
}

/* One round has been played. */
static inline void environment_step(environment_t *env, int arm, double reward) {
  player_t *player = &env->player;
  player->t++;
  player->pulls[arm]++;
  env->reward_sum += reward;
  if (player->t == env->next) observers_see(env, arm, reward);
  if (player->t == player->horizon) env->over = 1;
}

/* Rounds, of n that are to come, that may pass before the environment must know: up to the next
   that is looked at. Then it gets to know what happened: the last round's arm and reward, and the
   sum of all rewards so far. */
static inline int64_t environment_quiet(const environment_t *env, int64_t n) {
  const player_t *player = &env->player;
  const int64_t left = player_left(player), next = env->next - player->t;
  if (n > left) n = left;
  return n < next ? n : next;
}

static inline void environment_tell(environment_t *env, int64_t n, int arm, double reward,
                                    double sum, const rng_t *rng) {
  player_t *player = &env->player;
  player->t += n;
  env->reward_sum = sum;
  env->reward = *rng;
  if (player->t == env->next) observers_see(env, arm, reward);
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
