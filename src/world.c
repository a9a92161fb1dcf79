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
  world->recorded = 0;
  for (int i = 0; i < world->arms->k; i++) world->pulls[i] = 0;
  find_next_record(world);
}

/* Regret is summed over arms, pulls times gap, when it is asked for: exact, and free
   in the rounds between. */
void world_record(world_t *world) {
  double regret = 0;
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

double world_pull_many(world_t *world, int arm, int64_t n) {
  const law_t *law = world->arms->law;
  if (n == 1 || !law->draw_sum) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += world_pull(world, arm);
    return sum;
  }
  const double sum = law->draw_sum(world->arms, arm, (double)n, &world->reward);
  double left = sum;
  while (world->next_record < world->t + n) {
    const int64_t m = world->next_record - world->t;
    /* Rewards are 0 or 1 where a law has draw_sum: given their sum, any m of them
       hold a hypergeometric share. */
    const double part = sample_hypergeometric(&world->bridge, (double)n, left, (double)m);
    play(world, arm, m, part);
    n -= m;
    left -= part;
  }
  play(world, arm, n, left);
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
  double *left = scratch; /* reward of each arm that is still to be given out */
  for (int i = 0; i < n; i++) {
    left[i] = sums[i] =
        world->arms->law->draw_sum(world->arms, arms[i], (double)cycles, &world->reward);
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
      const double part =
          has == cycles ? left[i]
                        : sample_hypergeometric(&world->bridge, (double)(cycles - had),
                                                left[i], (double)(has - had));
      left[i] -= part;
      sum += part;
      world->pulls[arms[i]] += (double)(has - had);
    }
    world->t = stop;
    world->reward_sum += sum;
    if (world->t == world->next_record) world_record(world);
  }
}
