#include "play_supply.h"

/* ---- a log's rewards, in its order ---------------------------------------------------- */

static int pull_recorded(environment_t *env, const round_t *round, int arm,
                         double *reward) {
  (void)round;
  const source_t *source = &env->arms->source[arm];
  const int64_t at = env->player.pulls[arm];
  if (at >= source->n_par) {
    env->dry = arm + 1;
    env->over = 1;
    return 0;
  }
  *reward = source->par[at];
  environment_step(env, arm, *reward);
  return 1;
}

const environment_kind_t environment_recorded = {.name = "recorded", .pull = pull_recorded};

/* ---- rewards of each arm, in blocks ---------------------------------------------------- */

/* Some arms may have rewards that are drawn here. */
static int is_supplied(const environment_t *env, int arm) {
  return !env->arms->source[arm].distribution->draw;
}

typedef struct {
  int64_t blocks;       /* so far */
  int n, used;          /* rewards in the block at hand, and how many are gone */
  const double *reward; /* the block; unused in a table */
} store_t;

static int block_size(int k, int64_t block) {
  const int most = supply_most(k);
  return block >= 4 || 64 << (2 * block) > most ? most : 64 << (2 * block);
}

static store_t *stores(const environment_t *env) { return env->space; }

static double *rewards_of(const environment_t *env, int arm) {
  const int k = env->arms->k;
  return (double *)(stores(env) + k) + (size_t)supply_most(k) * (size_t)arm;
}

static void begin_supplied(environment_t *env, uint64_t seed, uint64_t run) {
  (void)seed, (void)run;
  for (int i = 0; i < env->arms->k; i++) {
    stores(env)[i] = (store_t){.reward = rewards_of(env, i)};
  }
  env->over = 1;
}

static int pull_supplied(environment_t *env, const round_t *round, int arm,
                         double *reward) {
  (void)round;
  if (!is_supplied(env, arm)) {
    *reward = arms_draw(env->arms, arm, &env->reward);
    environment_step(env, arm, *reward);
    return 1;
  }
  store_t *store = &stores(env)[arm];
  *reward = store->reward[store->used++];
  environment_step(env, arm, *reward);
  if (store->used == store->n) env->over = 1;
  return 1;
}

static size_t room_supplied(const world_t *world) {
  const size_t k = (size_t)world->arms->k;
  return k * (sizeof(store_t) + sizeof(double) * (size_t)supply_most(world->arms->k));
}

const environment_kind_t environment_supplied = {.name = "supplied",
                                                 .pull = pull_supplied,
                                                 .room = room_supplied,
                                                 .begin = begin_supplied};

/* ---- rewards and means of all arms, round by round --------------------------------------- */

/* One store of rounds; then the rewards of each arm, and as many means. */
static double *table_of(const environment_t *env, int arm, int mean) {
  const int k = env->arms->k;
  const size_t at = (size_t)(arm + (mean ? k : 0));
  return (double *)(stores(env) + 1) + (size_t)supply_most(k) * at;
}

static void begin_table(environment_t *env, uint64_t seed, uint64_t run) {
  (void)seed, (void)run;
  *stores(env) = (store_t){0};
  env->over = 1;
}

static int pull_table(environment_t *env, const round_t *round, int arm, double *reward) {
  (void)round;
  store_t *store = stores(env);
  const int at = store->used++;
  double best = table_of(env, 0, 1)[at];
  for (int i = 1; i < env->arms->k; i++) {
    const double mean = table_of(env, i, 1)[at];
    if (mean > best) best = mean;
  }
  *reward = table_of(env, arm, 0)[at];
  env->regret_sum += best - table_of(env, arm, 1)[at];
  environment_step(env, arm, *reward);
  if (store->used == store->n) env->over = 1;
  return 1;
}

static size_t room_table(const world_t *world) {
  const size_t k = (size_t)world->arms->k;
  return sizeof(store_t) + 2 * k * sizeof(double) * (size_t)supply_most(world->arms->k);
}

const environment_kind_t environment_table = {.name = "table",
                                              .pull = pull_table,
                                              .room = room_table,
                                              .begin = begin_table,
                                              .changing = 1};

/* ---- the supplier's side ------------------------------------------------------------------ */

int supply_wants(const environment_t *env, int arm, want_t *want) {
  const int table = env->kind == &environment_table;
  if (!table && (env->kind != &environment_supplied || !is_supplied(env, arm))) return 0;
  if (env->player.t == env->player.horizon) return 0;
  const store_t *store = &stores(env)[table ? 0 : arm];
  if (store->used < store->n) return 0;
  *want = (want_t){.block = store->blocks,
                   .first = env->player.t + 1,
                   .n = block_size(env->arms->k, store->blocks)};
  const int64_t left = env->player.horizon - env->player.t;
  if (table && left < want->n) want->n = (int)left;
  return 1;
}

double *supply_room(const environment_t *env, int arm, int mean) {
  if (env->kind == &environment_table) return table_of(env, arm, mean);
  return rewards_of(env, arm);
}

void supply_put(environment_t *env, int arm) {
  want_t want;
  if (!supply_wants(env, arm, &want)) return;
  store_t *store = &stores(env)[env->kind == &environment_table ? 0 : arm];
  store->blocks++;
  store->n = want.n;
  store->used = 0;
}

void supply_resume(environment_t *env) { env->over = env->player.t == env->player.horizon; }
