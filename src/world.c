#include "world.h"
#include "sample.h"

static void find_next_record(world_t *world) {
  world->next_record = world->recorded < world->n_record
                           ? (int64_t)world->record[world->recorded]
                           : INT64_MAX;
}

void world_begin(world_t *world) {
  world->t = 0;
  world->reward_sum = 0;
  world->regret_sum = 0;
  world->recorded = 0;
  for (int i = 0; i < world->arms->k; i++) world->pulls[i] = 0;
  find_next_record(world);
}

/* Regret is summed over arms, pulls times gap, when it is asked for: exact, and free
   in the rounds between. With contexts, gaps change from round to round: they were summed. */
void world_record(world_t *world) {
  double regret = world->regret_sum;
  if (world->arms->dim == 0)
    for (int i = 0; i < world->arms->k; i++) regret += world->pulls[i] * world->arms->gap[i];
  world->out_regret[world->recorded] = regret;
  world->out_reward[world->recorded] = world->reward_sum;
  world->recorded++;
  find_next_record(world);
}

static void play(world_t *world, int arm, int64_t n, double sum) {
  world->t += n;
  world->pulls[arm] += (double)n;
  world->reward_sum += sum;
  if (world->t == world->next_record) world_record(world);
}

/* Successes among the first m of n rewards of 0 or 1 that add up to `sum`: halves of
   halves, each share hypergeometric. The draw of a share is keyed by its place (a round of
   the stretch that no other path is named after), so that the same path shows whichever
   rounds are looked at. */
static double bridge(const world_t *world, int64_t place, int64_t n, double sum, int64_t m) {
  double before = 0;
  for (uint64_t node = 1; m < n;) {
    if (m == 0 || sum == 0) return before;
    rng_t rng;
    rng_seed(&rng, world->bridge.s[0], (uint64_t)place, node);
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

double world_pull_many(world_t *world, int arm, int64_t n) {
  const law_t *law = world->arms->law;
  if (n == 1 || !law->draw_sum) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += world_pull(world, arm);
    return sum;
  }
  const double sum = law->draw_sum(world->arms, arm, (double)n, &world->reward);
  if (world->next_record < world->t + n) {
    const world_t start = *world;
    while (world->next_record < start.t + n) {
      const int64_t m = world->next_record - start.t;
      play(world, arm, world->next_record - world->t,
           start.reward_sum + bridge(world, start.t, n, sum, m) - world->reward_sum);
    }
    play(world, arm, start.t + n - world->t,
         start.reward_sum + sum - world->reward_sum);
  } else {
    play(world, arm, n, sum);
  }
  return sum;
}

double world_pull_coins(world_t *world, int arm, int64_t n, rng_t *coins) {
  if (world->arms->law->draw_sum) return world_pull_many(world, arm, n);
  double sum = 0;
  for (int64_t i = 0; i < n; i++) sum += sample_coin(coins, world_pull(world, arm));
  return sum;
}

void world_pull_cycles(world_t *world, const int *arms, int n, int64_t cycles, double *sums,
                       double *scratch) {
  double *shown = scratch; /* reward of each arm that curves have so far */
  for (int i = 0; i < n; i++) {
    shown[i] = 0;
    sums[i] = world->arms->law->draw_sum(world->arms, arms[i], (double)cycles, &world->reward);
  }
  const int64_t begin = world->t, end = begin + n * cycles;
  while (world->t < end) {
    const int64_t stop = world->next_record < end ? world->next_record : end;
    /* Rounds a .. b - 1 of the stretch: arm i has had a / n pulls, and one more if
       i < a % n. */
    const int64_t a = world->t - begin, b = stop - begin;
    double sum = 0;
    for (int i = 0; i < n; i++) {
      const int64_t had = a / n + (i < a % n), has = b / n + (i < b % n);
      const double now = bridge(world, begin + i, cycles, sums[i], has);
      sum += now - shown[i];
      shown[i] = now;
      world->pulls[arms[i]] += (double)(has - had);
    }
    world->t = stop;
    world->reward_sum += sum;
    if (world->t == world->next_record) world_record(world);
  }
}
