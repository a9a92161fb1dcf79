/* Arms whose mean reward is linear in a context, theta_a . z, or logistic, 1 / (1 + exp(-theta_a . z)).
   The columns of `par` are the theta_a. The constructor in R has checked that every mean is in [0, 1]. */

#include <math.h>
#include "sample.h"
#include "play_environment.h"
#include "math_util.h"

int context_kind_find(const char *name) {
  static const char *const NAMES[] = {"given", "uniform", "simplex", NULL};
  return name_among(name, NAMES);
}

/* Draws a context. */
static const double *draw_one(const arms_t *arms, double *space, rng_t *rng) {
  const int d = arms->dim;
  if (arms->context_kind == CONTEXT_GIVEN) {
    return arms->contexts + (size_t)d * (size_t)rng_below(rng, arms->n_contexts);
  }
  if (arms->context_kind == CONTEXT_UNIFORM) {
    for (int i = 0; i < d; i++) space[i] = rng_unif(rng);
    return space;
  }
  /* Uniform on the simplex: exponentials divided by their sum. */
  double sum = 0;
  for (int i = 0; i < d; i++) sum += space[i] = sample_exp(rng);
  for (int i = 0; i < d; i++) space[i] /= sum;
  return space;
}

/* A round's contexts, either written to `space` or already in memory. */
static const double *draw_contexts(const arms_t *arms, double *space, rng_t *rng) {
  if (!arms->own) return draw_one(arms, space, rng);
  for (int a = 0; a < arms->k; a++) {
    double *to = space + (size_t)a * (size_t)arms->dim;
    const double *from = draw_one(arms, to, rng);
    for (int i = 0; i < arms->dim; i++) to[i] = from[i];
  }
  return space;
}

static double mean_for(const arms_t *arms, int arm, const double *context) {
  const double mean = dot(arms->dim, arms->source[arm].par, context);
  if (arms->logit) return 1 / (1 + exp(-mean));
  return mean > 0 ? (mean < 1 ? mean : 1) : 0; /* only rounding errors are clipped */
}

static double context_mean(const arms_t *arms, int arm, const double *contexts) {
  return mean_for(arms, arm, contexts + (arms->own ? arms->dim * (ptrdiff_t)arm : 0));
}

/* A Bernoulli reward, a Beta reward of the same mean and less variance, or the mean itself. */
static double draw_noisy(const arms_t *arms, double mean, rng_t *rng) {
  if (arms->noise <= 0 || mean <= 0 || mean >= 1) return mean;
  if (arms->noise >= 1) return rng_unif(rng) < mean;
  const double size = 1 / arms->noise - 1;
  return sample_beta(rng, mean * size, (1 - mean) * size);
}

/* A reward of an arm in a context that is drawn and not shown. */
double linear_draw_alone(const arms_t *arms, int arm, rng_t *rng) {
  double space[MAX_CONTEXT];
  const double *z = draw_one(arms, space, rng);
  return draw_noisy(arms, mean_for(arms, arm, z), rng);
}

/* ---- the environment ---------------------------------------------------------------- */

static void offer(environment_t *env, round_t *round) {
  round->context = draw_contexts(env->arms, env->space, &env->contexts);
  round->context_step = env->arms->own ? env->arms->dim : 0;
}

static int pull(environment_t *env, const round_t *round, int arm, double *reward) {
  const arms_t *arms = env->arms;
  const double mean = context_mean(arms, arm, round->context);
  double best = mean;
  FOR_EACH_ARM(i, round) { best = fmax(best, context_mean(arms, i, round->context)); }
  *reward = draw_noisy(arms, mean, &env->reward);
  env->regret_sum += best - mean;
  environment_step(env, arm, *reward);
  return 1;
}

static size_t size(const world_t *world) { return sizeof(double) * (size_t)arms_context_size(world->arms); }

WORLD(linear, .offer = offer, .pull = pull, .size = size, .changing = 1);
