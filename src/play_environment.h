#ifndef DPTS_PLAY_ENVIRONMENT_H
#define DPTS_PLAY_ENVIRONMENT_H
/* An environment is a policy's counterpart: the arms on offer, the reward of a pull, and the mean reward of
   the best arm. A session (play_session.h) connects it with a policy. Observers (play_observer.h) measure. */

#include "play_answers.h"
#include "play_arms.h"
#include "play_observer.h"
#include "play_visits.h"
#include "round_player.h"

typedef struct world_t world_t;

/* Rewards that an environment waits for: a block of rewards of one arm, or of rounds of all arms. */
typedef struct {
  int64_t block; /* number of the block, from 0 */
  int64_t first; /* its first round, if it is a block of rounds */
  int n;         /* number of rewards, or of rounds */
  int arms;      /* number of arms: 1, or all, then with their means */
} want_t;

#define WORLD_MAX_PAR 4

/* One kind of environment. */
typedef struct {
  const char *name;
  /* Sets the arms on offer and the contexts of a round. NULL: all arms and no contexts, as the session
     has set them. */
  void (*offer)(environment_t *env, round_t *round);
  /* The arm that is pulled in this round regardless of the policy, or -1; NULL: the policy always chooses. */
  int (*force)(environment_t *env, const round_t *round);
  /* Pulls an arm. Returns whether the choice was played: a replay discards choices that differ from the
     log. NULL: stationary rewards, see environment_draw(). */
  int (*pull)(environment_t *env, const round_t *round, int arm, double *reward);
  /* Bytes of memory of its own for a run of a simulated world, and what it does before the first round;
     NULL: none, and nothing. */
  size_t (*size)(const world_t *world);
  void (*begin)(environment_t *env, uint64_t seed, uint64_t run);
  /* Sets the means of the arms in a coming round; NULL: those of env->arms. */
  void (*means)(const environment_t *env, int64_t t, double *mean);
  int dim;                           /* numbers in a context that offer() sets, where not the arms say so */
  int changing;                      /* do gaps change from round to round? Then pull() sums the regret. */
  const char *params[WORLD_MAX_PAR]; /* names of its parameters in R */
  /* If the caller supplies rewards (play_supply.h). wants(): does the environment wait for a block that
     begins with this arm? destination(): where the rewards of an arm go, or with mean = 1 its means.
     arrived(): they are there. NULL: all rewards are drawn here. */
  int (*wants)(const environment_t *env, int arm, want_t *want);
  double *(*destination)(const environment_t *env, int arm, int mean);
  void (*arrived)(environment_t *env, int arm, int n);
  /* The arms that were pulled in the present block; NULL: not recorded. */
  const int *(*played)(const environment_t *env, int *n);
} environment_kind_t;

#define WORLD(NAME, ...) const environment_kind_t environment_##NAME = {.name = #NAME, __VA_ARGS__}

/* A simulated problem: its arms, and how they change. */
struct world_t {
  const environment_kind_t *kind;
  const arms_t *arms; /* `n` of them: those of the first round, then those that follow */
  int n;
  const double *par[WORLD_MAX_PAR]; /* parameters, in the order of kind->params */
  const dpts_adversary *adversary;  /* for play_world_compiled.c */
};

/* A kind of simulated world by its name; NULL if there is none. */
const environment_kind_t *world_kind_find(const char *name);

/* A run of a simulated world. Other environments (a log, a table of rewards) have this as their first
   member, and use only `kind` and `over`. */
struct environment_t {
  player_t player; /* the part that skip() sees */
  const environment_kind_t *kind;
  int over;      /* no rounds are left, or it waits for rewards (play_supply.h) */
  int ended;     /* did an observer end the run before the horizon? */
  int exhausted; /* the arm, from 1, whose recorded rewards are used up; else 0 */
  const world_t *world;
  const arms_t *arms; /* in this round */
  rng_t reward;
  rng_t bridge; /* only a key: it is never advanced */
  rng_t contexts;
  void *space; /* of kind->size() bytes */
  double reward_sum;
  double regret_sum; /* if gaps change from round to round */
  /* For supplied rewards: their expected sum by their means, and an upper bound on its variance if they
     lie in [0, 1], else the sum of squared deviations */
  double expected, spread;
  int64_t next; /* the next round that an observer looks at; INT64_MAX: none */
  observer_t *observers;
  int n_observers;
  int followed;           /* does an observer look at every choice? */
  int watched;            /* does one look at every release? */
  const visits_t *visits; /* NULL: everybody comes once */
  visitor_t *who;         /* the present one of them */
  int passed;             /* does this visit not count? 2: then the batch is to be closed */
  answers_t *answers;     /* NULL: everybody answers, and R does not look */
  double counted;         /* what the last reward counts as, with `answers` */
  int asks;               /* does it wait until R has looked? */
  int64_t releases;       /* number of releases that observers have seen */
};

extern const environment_kind_t environment_stationary;

/* Starts a run, before the first round. The caller fills in everything else, observers after this. */
void environment_begin(environment_t *env, uint64_t seed, uint64_t run);

static inline int environment_is_done(const environment_t *env) {
  return env->ended || env->player.t == env->player.horizon;
}

static inline environment_t *environment_of(player_t *player) { return (environment_t *)player; }

/* Records that one round was played. */
static inline void environment_step(environment_t *env, int arm, double reward) {
  player_t *player = &env->player;
  player->t++;
  player->pulls[arm]++;
  env->reward_sum += reward;
  if (env->answers) reward = env->counted = answers_draw(env->answers, arm, reward);
  if (player->t == env->next) observers_see(env, arm, reward);
  if (player->t == player->horizon) env->over = 1;
}

/* For the loop that plays rounds without a call for each: how many of the next n rounds may pass before
   an observer looks; and the record of such rounds, with the arm and reward of the last one and the sum
   of all rewards so far. */
static inline int64_t environment_unobserved(const environment_t *env, int64_t n) {
  const player_t *player = &env->player;
  const int64_t left = player_left(player), next = env->next - player->t;
  if (n > left) n = left;
  return n < next ? n : next;
}

static inline void environment_record(environment_t *env, int64_t n, int arm, double reward, double sum,
                                      const rng_t *rng) {
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

static inline int environment_pull(environment_t *env, const round_t *round, int arm, double *reward) {
  if (env->kind->pull) return env->kind->pull(env, round, arm, reward);
  *reward = environment_draw(env, arm);
  return 1;
}

#endif
