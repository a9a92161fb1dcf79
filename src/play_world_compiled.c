/* An adversary in C (dpts.h). Before each round it sets the rewards of the arms; then it sees which arm
   was pulled. Regret is measured against the best fixed arm of the rounds so far. */

#include <string.h>
#include "noise.h"
#include "play_environment.h"

/* Bytes behind its state, which must stay zero: otherwise it has written past the state. */
static const char GUARD[256];

static dpts_problem problem_of(const world_t *world) {
  return (dpts_problem){world->arms->k, 0, INFINITY, world->par[0]};
}

/* Its random stream; the sums of the arms, and their next rewards; its state, and the guard bytes */
static double *sums_of(const environment_t *env) { return (double *)((draws_t *)env->space + 1); }
static void *state_of(const environment_t *env) { return sums_of(env) + 2 * env->arms->k; }
static char *guard_of(const environment_t *env) {
  const dpts_problem problem = problem_of(env->world);
  return (char *)state_of(env) + env->world->adversary->size(&problem);
}

static size_t size(const world_t *world) {
  const dpts_problem problem = problem_of(world);
  return sizeof(draws_t) + 2 * sizeof(double) * (size_t)problem.k + world->adversary->size(&problem) +
         sizeof GUARD;
}

/* If it has written past its state, rewards become infinite. */
static void ask(environment_t *env) {
  const dpts_problem problem = problem_of(env->world);
  double *given = sums_of(env) + problem.k;
  for (int i = 0; i < problem.k; i++) given[i] = NAN;
  env->world->adversary->offer(state_of(env), &problem, env->player.t + 1, given, env->space);
  if (!memcmp(guard_of(env), GUARD, sizeof GUARD)) return;
  for (int i = 0; i < problem.k; i++) given[i] = INFINITY;
}

static void begin(environment_t *env, uint64_t seed, uint64_t run) {
  const dpts_problem problem = problem_of(env->world);
  memset(env->space, 0, size(env->world));
  rng_seed(&((draws_t *)env->space)->policy, seed, run, RNG_REWARD);
  if (env->world->adversary->init) env->world->adversary->init(state_of(env), &problem);
  ask(env);
}

static void means(const environment_t *env, int64_t t, double *mean) {
  (void)t;
  memcpy(mean, sums_of(env) + env->arms->k, sizeof(double) * (size_t)env->arms->k);
}

/* A NaN reward stops the run. */
static int pull(environment_t *env, const round_t *round, int arm, double *reward) {
  (void)round;
  const dpts_problem problem = problem_of(env->world);
  double *sums = sums_of(env), *given = sums + problem.k, best = -INFINITY;
  *reward = given[arm];
  for (int i = 0; i < problem.k; i++) {
    if (!(given[i] >= 0 && given[i] <= 1)) *reward = NAN;
    best = fmax(best, sums[i] += given[i]);
  }
  env->regret_sum = best - (env->reward_sum + *reward);
  env->world->adversary->see(state_of(env), &problem, env->player.t + 1, arm, *reward);
  environment_step(env, arm, *reward);
  if (!env->over) ask(env);
  return 1;
}

WORLD(compiled, .pull = pull, .size = size, .begin = begin, .means = means, .changing = 1,
      .params = {"params"});
