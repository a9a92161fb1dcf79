#include <string.h>
#include "play_environment.h"
#include "sample.h"

const environment_kind_t environment_stationary = {.name = "stationary"};

/* The table of all worlds. To add one, write src/play_world_NAME.c and add its name here. */
#define WORLDS(_) \
  _(stationary)   \
  _(linear)       \
  _(predicted)    \
  _(strata)       \
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

/* ---- many pulls at once ------------------------------------------------------------

   The sum of a stretch of rewards of 0 or 1 is one draw. Where an observer looks at rounds in between, it
   is divided among halves of halves, each share hypergeometric, down to parts of at most 64 rewards, whose
   order is drawn at once. A draw is keyed by the first round of the stretch, which no other stretch has,
   and by the part: the path is the same whichever rounds are looked at. */

enum { PART_MAX = 64, HALVINGS_MAX = 64 };

/* `n` rewards from the `at`-th of a stretch on, from 0; node 1 is all of it, nodes 2 i and 2 i + 1 are the
   halves of node i */
typedef struct {
  uint64_t node;
  int64_t at, n;
  double before, sum; /* of the rewards before it, and of its own */
} part_t;

/* The part of at most 64 rewards that holds reward m. If `later` is given, the second halves that follow
   it are pushed onto this stack. */
static part_t part_around(const environment_t *env, int64_t stretch, part_t part, int64_t m, part_t *later,
                          int *n_later) {
  while (part.n > PART_MAX) {
    const int64_t half = part.n / 2;
    rng_t rng;
    rng_seed(&rng, env->bridge.s[0], (uint64_t)stretch, part.node);
    const double share = sample_hypergeometric(&rng, (double)part.n, part.sum, (double)half);
    const part_t first = {2 * part.node, part.at, half, part.before, share};
    const part_t second = {2 * part.node + 1, part.at + half, part.n - half, part.before + share,
                           part.sum - share};
    if (later && m < second.at) later[(*n_later)++] = second;
    part = m < second.at ? first : second;
  }
  return part;
}

/* Draws the order of its rewards, as bits: all orders are equally likely. */
static uint64_t part_rewards(const environment_t *env, int64_t stretch, const part_t *part) {
  rng_t rng;
  rng_seed(&rng, env->bridge.s[0], (uint64_t)stretch, part->node);
  uint64_t rewards = 0;
  double ones = part->sum;
  for (int64_t i = 0; i < part->n && ones > 0; i++) {
    if (rng_unif(&rng) * (double)(part->n - i) >= ones) continue;
    rewards |= (uint64_t)1 << i;
    ones--;
  }
  return rewards;
}

/* The sum of the first m of n rewards that add up to `sum`. */
static double sum_of_first(const environment_t *env, int64_t stretch, int64_t n, double sum, int64_t m) {
  if (m == 0 || m == n) return m == 0 ? 0 : sum;
  const part_t part = part_around(env, stretch, (part_t){1, 0, n, 0, sum}, m, NULL, NULL);
  uint64_t rewards = part_rewards(env, stretch, &part);
  double before = part.before;
  for (int64_t i = part.at; i < m; i++, rewards >>= 1) before += (double)(rewards & 1);
  return before;
}

/* Plays n arms in turn, `cycles` times, whose rewards add up to sums[]. Where every round is looked at,
   the rewards of each arm are drawn part by part. */
static void play_cycles(environment_t *env, const int *arms, int n, int64_t cycles, const double *sums,
                        uint64_t *rewards) {
  player_t *player = &env->player;
  const int64_t begin = player->t, end = begin + n * cycles;
  const double before = env->reward_sum;
  part_t later[HALVINGS_MAX], part = {.n = 0};
  int n_later = 0;
  while (player->t < end) {
    const int64_t stop = env->next < end ? env->next : end;
    /* Rounds a .. b - 1 of the stretch: before round r, arm i has had r / n pulls, and one more if i < r
       % n. */
    const int64_t a = player->t - begin, b = stop - begin;
    if (b == a + 1) {
      const int64_t m = a / n;
      for (int i = 0; i < n; i++) {
        part = n_later > 0 && part.at + part.n == m ? later[--n_later]
                                                    : (n_later = 0, (part_t){1, 0, cycles, 0, sums[i]});
        part = part_around(env, begin + i, part, m, n == 1 ? later : NULL, &n_later);
        rewards[i] = part_rewards(env, begin + i, &part) >> (m - part.at);
      }
      const int64_t until = (part.at + part.n) * n;
      for (int64_t r = a; r < until; r++) {
        const int i = (int)(r % n);
        environment_step(env, arms[i], (double)(rewards[i] >> (r / n - m) & 1));
      }
      continue;
    }
    double sum = before;
    for (int i = 0; i < n; i++) {
      const int64_t had = a / n + (i < a % n), has = b / n + (i < b % n);
      sum += sum_of_first(env, begin + i, cycles, sums[i], has);
      player->pulls[arms[i]] += has - had;
    }
    const double reward = sum - env->reward_sum;
    player->t = stop;
    env->reward_sum = sum;
    if (player->t == env->next) observers_see(env, arms[(b - 1) % n], reward);
  }
}

static double pull(player_t *player, int arm) { return environment_draw(environment_of(player), arm); }

static double pull_many(player_t *player, int arm, int64_t n) {
  environment_t *env = environment_of(player);
  double sum = 0;
  if (n == 1 || !player->sums) {
    for (int64_t i = 0; i < n; i++) sum += environment_draw(env, arm);
    return sum;
  }
  sum = arms_draw_sum(env->arms, arm, (double)n, &env->reward);
  uint64_t rewards;
  play_cycles(env, &arm, 1, n, &sum, &rewards);
  return sum;
}

static void pull_cycles(player_t *player, const int *arms, int n, int64_t cycles, double *sums,
                        void *scratch) {
  environment_t *env = environment_of(player);
  for (int i = 0; i < n; i++) sums[i] = arms_draw_sum(env->arms, arms[i], (double)cycles, &env->reward);
  play_cycles(env, arms, n, cycles, sums, scratch);
}

static const player_kind_t SIMULATED = {pull, pull_many, pull_cycles};

/* All random numbers of a run are keyed by (seed, run, purpose). */
void environment_begin(environment_t *env, uint64_t seed, uint64_t run) {
  rng_seed(&env->reward, seed, run, RNG_REWARD);
  rng_seed(&env->bridge, seed, run, RNG_BRIDGE);
  rng_seed(&env->contexts, seed, run, RNG_CONTEXT);
  env->player.kind = &SIMULATED;
  env->player.t = 0;
  env->player.failed = PLAYING;
  env->over = env->player.horizon == 0;
  env->exhausted = 0;
  env->arms = env->world->arms;
  env->reward_sum = env->regret_sum = env->expected = env->spread = 0;
  env->ended = env->passed = env->asks = 0;
  env->next = INT64_MAX;
  for (int i = 0; i < env->arms->k; i++) env->player.pulls[i] = 0;
  if (env->kind->begin) env->kind->begin(env, seed, run);
}
