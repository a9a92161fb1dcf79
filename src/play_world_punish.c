/* An adversary: of the last `memory` rounds, the arm that was pulled most (each of them, if several) gives
   0.2 in the next round, every other arm 0.8. Regret is against the best fixed arm of the rounds so far. */

#include <string.h>
#include "play_environment.h"

static int memory_of(const world_t *world) { return (int)*world->par[0]; }

/* The sums of the arms; then how often each was pulled of late, and the arms of the last rounds */
static double *sums_of(const environment_t *env) { return env->space; }
static int *recent_of(const environment_t *env) {
  return (int *)(sums_of(env) + env->arms->k);
}

static size_t room(const world_t *world) {
  const size_t k = (size_t)world->arms->k;
  return k * sizeof(double) + (k + (size_t)memory_of(world)) * sizeof(int);
}

static void begin(environment_t *env, uint64_t seed, uint64_t run) {
  (void)seed, (void)run;
  memset(env->space, 0, room(env->world));
}

static int pull(environment_t *env, const round_t *round, int arm, double *reward) {
  (void)round;
  const int k = env->arms->k, memory = memory_of(env->world);
  double *sums = sums_of(env), best = -INFINITY;
  int *recent = recent_of(env), *last = recent + k, most = 1;
  for (int i = 0; i < k; i++) most = recent[i] > most ? recent[i] : most;
  for (int i = 0; i < k; i++) {
    const double given = recent[i] == most ? 0.2 : 0.8;
    if (i == arm) *reward = given;
    sums[i] += given;
    best = fmax(best, sums[i]);
  }
  env->regret_sum = best - (env->reward_sum + *reward);
  int *at = &last[env->player.t % memory];
  if (env->player.t >= memory) recent[*at]--;
  *at = arm;
  recent[arm]++;
  environment_step(env, arm, *reward);
  return 1;
}

WORLD(punish, .pull = pull, .room = room, .begin = begin, .changing = 1,
      .params = {"memory"});
