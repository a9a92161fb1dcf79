/* Arms whose mean reward is linear in a context: theta_a . z. Columns of `par` are the
   theta_a. The constructor in R made sure that every mean lies in [0, 1]. */

#include <stddef.h>
#include "sample.h"
#include "world.h"

#define MAX_DIM 128

static double dot(int n, const double *x, const double *y) {
  double even = 0, odd = 0;
  int i = 0;
  for (; i + 1 < n; i += 2) {
    even += x[i] * y[i];
    odd += x[i + 1] * y[i + 1];
  }
  return i < n ? even + odd + x[i] * y[i] : even + odd;
}

/* One context, of the law that the arms name. */
static const double *draw_one(const arms_t *arms, double *space, rng_t *rng) {
  const int d = arms->dim;
  if (arms->context_law == CONTEXT_GIVEN) {
    return arms->contexts + (size_t)d * (size_t)rng_below(rng, arms->n_contexts);
  }
  if (arms->context_law == CONTEXT_UNIFORM) {
    for (int i = 0; i < d; i++) space[i] = rng_unif(rng);
    return space;
  }
  /* Uniform on the simplex: exponentials over their sum. */
  double sum = 0;
  for (int i = 0; i < d; i++) sum += space[i] = sample_exp(rng);
  for (int i = 0; i < d; i++) space[i] /= sum;
  return space;
}

const double *arms_draw_context(const arms_t *arms, double *space, rng_t *rng) {
  if (!arms->own) return draw_one(arms, space, rng);
  for (int a = 0; a < arms->k; a++) {
    double *to = space + (size_t)a * (size_t)arms->dim;
    const double *from = draw_one(arms, to, rng);
    for (int i = 0; i < arms->dim; i++) to[i] = from[i];
  }
  return space;
}

double arms_context_mean(const arms_t *arms, int arm, const double *contexts) {
  const size_t d = (size_t)arms->dim;
  const double mean = dot(arms->dim, arms->par + d * (size_t)arm,
                          contexts + (arms->own ? d * (size_t)arm : 0));
  return mean > 0 ? (mean < 1 ? mean : 1) : 0; /* rounding only */
}

/* Bernoulli, Beta of the same mean and less variance, or the mean itself. */
double arms_draw_noisy(const arms_t *arms, double mean, rng_t *rng) {
  if (arms->noise <= 0 || mean <= 0 || mean >= 1) return mean;
  if (arms->noise >= 1) return rng_unif(rng) < mean;
  const double size = 1 / arms->noise - 1;
  return sample_beta(rng, mean * size, (1 - mean) * size);
}

/* A reward of an arm whose context nobody looks at. */
double linear_draw_alone(const arms_t *arms, int arm, rng_t *rng) {
  double space[MAX_DIM];
  const double *z = draw_one(arms, space, rng);
  const double mean = dot(arms->dim, arms->par + (size_t)arms->dim * (size_t)arm, z);
  return arms_draw_noisy(arms, fmin(1, fmax(0, mean)), rng);
}

const double *world_look(world_t *world) {
  return arms_draw_context(world->arms, world->context_space, &world->contexts);
}

double world_pull_in(world_t *world, const double *contexts, int arm) {
  const arms_t *arms = world->arms;
  const double mean = arms_context_mean(arms, arm, contexts);
  double best = mean;
  for (int i = 0; i < arms->k; i++) {
    const double other = arms_context_mean(arms, i, contexts);
    if (other > best) best = other;
  }
  const double reward = arms_draw_noisy(arms, mean, &world->reward);
  world->t++;
  world->pulls[arm]++;
  world->reward_sum += reward;
  world->regret_sum += best - mean;
  if (world->t == world->next_record) world_record(world);
  return reward;
}
