#include <string.h>
#include "play_environment.h"
#include "sample.h"

const environment_kind_t environment_stationary = {.name = "stationary"};

/* The table of all worlds. To add one: write src/play_world_NAME.c, name it here. */
#define WORLDS(_) \
  _(stationary)   \
  _(linear)       \
  _(recorded)     \
  _(switch)       \
  _(drift)        \
  _(walk)         \
  _(supplied)     \
  _(table)        \
  _(adversary)    \
  _(compiled)     \
  _(stream)

#define DECLARE(name) extern const environment_kind_t environment_##name;
WORLDS(DECLARE)

#define ENTRY(name) &environment_##name,
static const environment_kind_t *const TABLE[] = {WORLDS(ENTRY)};

const environment_kind_t *world_kind_find(const char *name) {
  for (size_t i = 0; i < sizeof TABLE / sizeof *TABLE; i++) {
    if (strcmp(TABLE[i]->name, name) == 0) return TABLE[i];
  }
  return NULL;
}

/* Everything random about a run comes from (seed, run, purpose). */
void environment_begin(environment_t *env, uint64_t seed, uint64_t run) {
  rng_seed(&env->reward, seed, run, RNG_REWARD);
  rng_seed(&env->bridge, seed, run, RNG_BRIDGE);
  rng_seed(&env->contexts, seed, run, RNG_CONTEXT);
  env->player.t = 0;
  env->player.failed = PLAYING;
  env->over = env->player.horizon == 0;
  env->dry = 0;
  env->arms = env->world->arms;
  env->reward_sum = env->regret_sum = env->expected = env->spread = 0;
  env->ended = 0;
  env->next = INT64_MAX;
  for (int i = 0; i < env->arms->k; i++) env->player.pulls[i] = 0;
  if (env->kind->begin) env->kind->begin(env, seed, run);
}

/* ---- many pulls at once ------------------------------------------------------------ */

static void played(environment_t *env, int arm, int64_t n, double sum) {
  env->player.t += n;
  env->player.pulls[arm] += n;
  env->reward_sum += sum;
  if (env->player.t == env->next) observers_see(env, arm, sum);
}

/* Successes among the first m of n rewards of 0 or 1 that add up to `sum`: halves of
   halves, each share hypergeometric. The draw of a share is keyed by its place (a round of
   the stretch that no other path is named after), so that the same path shows whichever
   rounds are looked at. */
static double bridge(const environment_t *env, int64_t place, int64_t n, double sum,
                     int64_t m) {
  double before = 0;
  for (uint64_t node = 1; m < n;) {
    if (m == 0 || sum == 0) return before;
    rng_t rng;
    rng_seed(&rng, env->bridge.s[0], (uint64_t)place, node);
    const int64_t half = n / 2;
    const double share = sample_hypergeometric(&rng, (double)n, sum, (double)half);
    node *= 2;
    if (m < half) {
      n = half, sum = share;
    } else {
      n -= half, m -= half, sum -= share, before += share, node++;
    }
  }
  return before + sum;
}

double player_pull(player_t *player, int arm) {
  if (player->kind) return player->kind->pull(player, arm);
  return environment_draw(environment_of(player), arm);
}

double player_pull_many(player_t *player, int arm, int64_t n) {
  if (player->kind) return player->kind->pull_many(player, arm, n);
  environment_t *env = environment_of(player);
  if (n == 1 || !player->sums) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += player_pull(player, arm);
    return sum;
  }
  const double sum = arms_draw_sum(env->arms, arm, (double)n, &env->reward);
  const int64_t begin = player->t, end = begin + n;
  const double before = env->reward_sum;
  while (env->next < end) {
    const int64_t stop = env->next;
    const double shown = before + bridge(env, begin, n, sum, stop - begin);
    played(env, arm, stop - player->t, shown - env->reward_sum);
  }
  played(env, arm, end - player->t, before + sum - env->reward_sum);
  return sum;
}

double player_pull_coins(player_t *player, int arm, int64_t n, rng_t *coins) {
  if (player->sums) return player_pull_many(player, arm, n);
  double sum = 0; /* a reward that is shown as a bit needs no coin, and draws none */
  for (int64_t i = 0; i < n; i++) sum += sample_coin(coins, player_pull(player, arm));
  return sum;
}

void player_pull_cycles(player_t *player, const int *arms, int n, int64_t cycles,
                        double *sums, double *scratch) {
  if (player->kind) {
    player->kind->pull_cycles(player, arms, n, cycles, sums, scratch);
    return;
  }
  environment_t *env = environment_of(player);
  double *shown = scratch; /* reward of each arm that curves have so far */
  for (int i = 0; i < n; i++) {
    shown[i] = 0;
    sums[i] = arms_draw_sum(env->arms, arms[i], (double)cycles, &env->reward);
  }
  const int64_t begin = player->t, end = begin + n * cycles;
  while (player->t < end) {
    const int64_t stop = env->next < end ? env->next : end;
    /* Rounds a .. b - 1 of the stretch: arm i has had a / n pulls, and one more if
       i < a % n. */
    const int64_t a = player->t - begin, b = stop - begin;
    double sum = 0;
    for (int i = 0; i < n; i++) {
      const int64_t had = a / n + (i < a % n), has = b / n + (i < b % n);
      const double now = bridge(env, begin + i, cycles, sums[i], has);
      sum += now - shown[i];
      shown[i] = now;
      player->pulls[arms[i]] += has - had;
    }
    player->t = stop;
    env->reward_sum += sum;
    if (player->t == env->next) observers_see(env, arms[(b - 1) % n], sum);
  }
}
