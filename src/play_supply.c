#include <string.h>
#include "play_supply.h"

/* ---- a log's rewards, in its order ---------------------------------------------------- */

static int pull_recorded(environment_t *env, const round_t *round, int arm, double *reward) {
  (void)round;
  const source_t *source = &env->arms->source[arm];
  const int64_t at = env->player.pulls[arm];
  if (at >= source->n_par) {
    env->exhausted = arm + 1;
    env->over = 1;
    return 0;
  }
  *reward = source->par[at];
  environment_step(env, arm, *reward);
  return 1;
}

WORLD(recorded, .pull = pull_recorded);

/* ---- blocks -------------------------------------------------------------------------- */

typedef struct {
  int64_t blocks; /* number of blocks so far */
  int n, used;    /* rewards (or rounds) in the present block, and those used */
} supplied_t;

static supplied_t *supplied(const environment_t *env) { return env->space; }

static int block_size(int k, int64_t block) {
  const int most = supply_most(k);
  return block >= 4 || 64 << (2 * block) > most ? most : 64 << (2 * block);
}

static int is_wanted(const environment_t *env, int i, want_t *want) {
  const supplied_t *s = &supplied(env)[i];
  if (environment_is_done(env) || s->used < s->n) return 0;
  *want = (want_t){.block = s->blocks, .first = env->player.t + 1, .n = block_size(env->arms->k, s->blocks)};
  return 1;
}

static void arrived(environment_t *env, int i, int n) {
  supplied_t *s = &supplied(env)[i];
  *s = (supplied_t){.blocks = s->blocks + 1, .n = n};
}

void supply_resume(environment_t *env) { env->over = environment_is_done(env); }

static void expect(environment_t *env, double mean, double reward) {
  env->expected += mean;
  env->spread += env->arms->unit ? mean * (1 - mean) : (reward - mean) * (reward - mean);
}

/* ---- rewards of each arm --------------------------------------------------------------- */

/* Other arms of the same problem may have rewards that are drawn here. */
static int is_supplied(const environment_t *env, int arm) {
  return !env->arms->source[arm].distribution->draw;
}

static double *destination_supplied(const environment_t *env, int arm, int mean) {
  (void)mean;
  const int k = env->arms->k;
  return (double *)(supplied(env) + k) + (size_t)supply_most(k) * (size_t)arm;
}

static void begin_supplied(environment_t *env, uint64_t seed, uint64_t run) {
  (void)seed, (void)run;
  memset(env->space, 0, sizeof(supplied_t) * (size_t)env->arms->k);
  env->over = 1;
}

static int pull_supplied(environment_t *env, const round_t *round, int arm, double *reward) {
  (void)round;
  if (!is_supplied(env, arm)) {
    *reward = arms_draw(env->arms, arm, &env->reward);
    env->expected += *reward; /* rewards drawn here need no check */
    environment_step(env, arm, *reward);
    return 1;
  }
  supplied_t *s = &supplied(env)[arm];
  *reward = destination_supplied(env, arm, 0)[s->used++];
  expect(env, env->arms->mean[arm], *reward);
  environment_step(env, arm, *reward);
  if (s->used == s->n) env->over = 1;
  return 1;
}

static int wants_supplied(const environment_t *env, int arm, want_t *want) {
  if (!is_supplied(env, arm) || !is_wanted(env, arm, want)) return 0;
  want->arms = 1;
  return 1;
}

static size_t size_supplied(const world_t *world) {
  const size_t k = (size_t)world->arms->k;
  return k * (sizeof(supplied_t) + sizeof(double) * (size_t)supply_most(world->arms->k));
}

WORLD(supplied, .pull = pull_supplied, .size = size_supplied, .begin = begin_supplied,
      .wants = wants_supplied, .destination = destination_supplied, .arrived = arrived);

/* ---- rewards and means of all arms, round by round --------------------------------------- */

/* A block of rounds holds the rewards of each arm, then their means. */
static double *destination_table(const environment_t *env, int arm, int mean) {
  const int k = env->arms->k;
  const size_t at = (size_t)(arm + (mean ? k : 0));
  return (double *)(supplied(env) + 1) + (size_t)supply_most(k) * at;
}

static void begin_table(environment_t *env, uint64_t seed, uint64_t run) {
  (void)seed, (void)run;
  *supplied(env) = (supplied_t){0};
  env->over = 1;
}

static int pull_table(environment_t *env, const round_t *round, int arm, double *reward) {
  (void)round;
  supplied_t *s = supplied(env);
  const int at = s->used++;
  double best = destination_table(env, 0, 1)[at];
  for (int i = 1; i < env->arms->k; i++) {
    const double mean = destination_table(env, i, 1)[at];
    if (mean > best) best = mean;
  }
  *reward = destination_table(env, arm, 0)[at];
  env->regret_sum += best - destination_table(env, arm, 1)[at];
  expect(env, destination_table(env, arm, 1)[at], *reward);
  environment_step(env, arm, *reward);
  if (s->used == s->n) env->over = 1;
  return 1;
}

/* The first arm asks for all arms. */
static int wants_table(const environment_t *env, int arm, want_t *want) {
  if (arm > 0 || !is_wanted(env, 0, want)) return 0;
  const int64_t left = player_left(&env->player);
  if (left < want->n) want->n = (int)left;
  want->arms = env->arms->k;
  return 1;
}

static size_t size_table(const world_t *world) {
  const size_t k = (size_t)world->arms->k;
  return sizeof(supplied_t) + 2 * k * sizeof(double) * (size_t)supply_most(world->arms->k);
}

WORLD(table, .pull = pull_table, .size = size_table, .begin = begin_table, .wants = wants_table,
      .destination = destination_table, .arrived = arrived, .changing = 1);

/* ---- rewards of all arms, by an adversary who sees the pulls ------------------------------------- */

/* Regret is measured against the best fixed arm of the rounds so far. */
static double *sums_of(const environment_t *env) { return (double *)(supplied(env) + 1); }

static double *destination_adversary(const environment_t *env, int arm, int mean) {
  (void)mean;
  return sums_of(env) + env->arms->k + (size_t)supply_most(env->arms->k) * (size_t)arm;
}

static int *played_at(const environment_t *env) { return (int *)destination_adversary(env, env->arms->k, 0); }

static const int *played_adversary(const environment_t *env, int *n) {
  *n = supplied(env)->used;
  return played_at(env);
}

static void begin_adversary(environment_t *env, uint64_t seed, uint64_t run) {
  begin_table(env, seed, run);
  memset(sums_of(env), 0, sizeof(double) * (size_t)env->arms->k);
}

static int pull_adversary(environment_t *env, const round_t *round, int arm, double *reward) {
  (void)round;
  supplied_t *s = supplied(env);
  const int at = s->used++;
  double *sums = sums_of(env), best = -INFINITY;
  for (int i = 0; i < env->arms->k; i++) {
    sums[i] += destination_adversary(env, i, 0)[at];
    best = fmax(best, sums[i]);
  }
  *reward = destination_adversary(env, arm, 0)[at];
  played_at(env)[at] = arm + 1;
  env->regret_sum = best - (env->reward_sum + *reward);
  environment_step(env, arm, *reward);
  if (s->used == s->n) env->over = 1;
  return 1;
}

static int wants_adversary(const environment_t *env, int arm, want_t *want) {
  if (!wants_table(env, arm, want)) return 0;
  const double block = *env->world->par[0];
  const int64_t left = player_left(&env->player);
  want->n = (int)fmin(fmin(block, supply_most(env->arms->k)), (double)left);
  return 1;
}

static size_t size_adversary(const world_t *world) {
  const size_t k = (size_t)world->arms->k, most = (size_t)supply_most(world->arms->k);
  return sizeof(supplied_t) + k * (1 + most) * sizeof(double) + most * sizeof(int);
}

WORLD(adversary, .pull = pull_adversary, .size = size_adversary, .begin = begin_adversary,
      .wants = wants_adversary, .destination = destination_adversary, .arrived = arrived,
      .played = played_adversary, .changing = 1, .params = {"block"});
