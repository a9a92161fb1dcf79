/* Worlds whose arms change from round to round. Regret is measured against the best arm of each round.
   The movement of the means has a random stream of its own, so it is the same for all policies of a run. */

#include <math.h>
#include <string.h>
#include "play_environment.h"
#include "sample.h"
#include "math_util.h"

/* Plays one round, given the means of the arms. */
static int play_means(environment_t *env, const double *mean, int arm, double reward) {
  double best = mean[0];
  for (int i = 1; i < env->arms->k; i++) best = fmax(best, mean[i]);
  env->regret_sum += best - mean[arm];
  environment_step(env, arm, reward);
  return 1;
}

/* ---- switch: other arms from given rounds on ----------------------------------------- */

static const arms_t *piece(const environment_t *env, int64_t t) {
  const world_t *world = env->world;
  const double *at = world->par[0]; /* the first round of each piece but the first */
  const arms_t *arms = env->arms, *last = world->arms + world->n - 1;
  while (arms < last && (double)t >= at[arms - world->arms]) arms++;
  return arms;
}

static void means_switch(const environment_t *env, int64_t t, double *mean) {
  const arms_t *arms = piece(env, t);
  memcpy(mean, arms->mean, sizeof(double) * (size_t)arms->k);
}

static int pull_switch(environment_t *env, const round_t *round, int arm, double *reward) {
  (void)round; /* the policy's, which does not count all visits of people who come again */
  env->arms = piece(env, env->player.t + 1);
  *reward = arms_draw(env->arms, arm, &env->reward);
  env->regret_sum += env->arms->gap[arm];
  environment_step(env, arm, *reward);
  return 1;
}

WORLD(switch, .pull = pull_switch, .means = means_switch, .changing = 1, .params = {"at"});

/* ---- drift: from one problem to another ---------------------------------------------- */

/* The probability that the reward of round t is one of the second arms' and not the first ones': it
   grows linearly to 1 over a number of rounds, or moves back and forth in waves. So means lie on the
   line between theirs, for any distributions. */
static double weight_of_second(const world_t *world, int64_t t) {
  const double period = *world->par[0], sine = *world->par[1];
  const double x = (double)(t - 1) / period;
  return sine != 0 ? 0.5 - 0.5 * cos(2 * M_PI * x) : fmin(1, x);
}

static inline void mix(const world_t *world, double w, double *mean) {
  const double *from = world->arms[0].mean, *to = world->arms[1].mean;
  for (int i = 0; i < world->arms->k; i++) mean[i] = from[i] + w * (to[i] - from[i]);
}

static void means_drift(const environment_t *env, int64_t t, double *mean) {
  mix(env->world, weight_of_second(env->world, t), mean);
}

static int pull_drift(environment_t *env, const round_t *round, int arm, double *reward) {
  (void)round;
  const double w = weight_of_second(env->world, env->player.t + 1);
  const arms_t *arms = env->world->arms + (rng_unif(&env->reward) < w);
  mix(env->world, w, env->space);
  *reward = arms_draw(arms, arm, &env->reward);
  return play_means(env, env->space, arm, *reward);
}

static size_t size_means(const world_t *world) { return sizeof(double) * (size_t)world->arms->k; }

WORLD(drift, .pull = pull_drift, .size = size_means, .means = means_drift, .changing = 1,
      .params = {"period", "sine"});

/* ---- walk: means are random walks ----------------------------------------------------- */

typedef struct {
  rng_t steps;
  double mean[]; /* of each arm, in the next round */
} walk_t;

static void begin_walk(environment_t *env, uint64_t seed, uint64_t run) {
  walk_t *walk = env->space;
  rng_seed(&walk->steps, seed, run, RNG_WORLD);
  memcpy(walk->mean, env->arms->mean, sizeof(double) * (size_t)env->arms->k);
}

/* Reflects at the ends of [0, 1], or clips to it. */
static double inside(double x, int reflect) {
  if (!reflect) return clip01(x);
  x = fmod(fabs(x), 2);
  return x > 1 ? 2 - x : x;
}

static int pull_walk(environment_t *env, const round_t *round, int arm, double *reward) {
  (void)round;
  const double *sd = env->world->par[0]; /* of a step of each arm's mean */
  const int reflect = *env->world->par[1] != 0;
  walk_t *walk = env->space;
  *reward = rng_unif(&env->reward) < walk->mean[arm];
  play_means(env, walk->mean, arm, *reward);
  for (int i = 0; i < env->arms->k; i++) {
    const double step = sd[i] * sample_normal(&walk->steps);
    walk->mean[i] = inside(walk->mean[i] + step, reflect);
  }
  return 1;
}

static void means_walk(const environment_t *env, int64_t t, double *mean) {
  (void)t;
  memcpy(mean, ((walk_t *)env->space)->mean, sizeof(double) * (size_t)env->arms->k);
}

static size_t size_walk(const world_t *world) {
  return sizeof(walk_t) + sizeof(double) * (size_t)world->arms->k;
}

WORLD(walk, .pull = pull_walk, .size = size_walk, .begin = begin_walk, .means = means_walk, .changing = 1,
      .params = {"sd", "reflect"});
