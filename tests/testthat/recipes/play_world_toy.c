/* A toy: in even rounds the arms are in the other order. */

#include "play_environment.h"

static int other(const environment_t *env, int64_t t, int arm) {
  return t % 2 ? arm : env->arms->k - 1 - arm;
}

static void means(const environment_t *env, int64_t t, double *mean) {
  for (int i = 0; i < env->arms->k; i++) mean[i] = env->arms->mean[other(env, t, i)];
}

static int pull(environment_t *env, const round_t *round, int arm, double *reward) {
  const int from = other(env, round->t, arm);
  *reward = arms_draw(env->arms, from, &env->reward);
  env->regret_sum += env->arms->gap[from];
  environment_step(env, arm, *reward);
  return 1;
}

WORLD(toy, .pull = pull, .means = means, .changing = 1);
