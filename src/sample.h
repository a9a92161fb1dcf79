#ifndef DPTS_SAMPLE_H
#define DPTS_SAMPLE_H
/* Samplers. Each draws from its exact distribution, up to the rounding of doubles. */

#include <math.h>
#include <stdint.h>
#include "sample_rng.h"

/* Fill the tables of sample_normal(); called once, when the library is loaded. */
void sample_init(void);

double sample_normal(rng_t *rng); /* N(0, 1) */
/* N(0, 1) conditional on exceeding a, for any a. */
double sample_normal_above(rng_t *rng, double a);
double sample_exp(rng_t *rng);                 /* exponential of mean 1 */
double sample_gamma(rng_t *rng, double shape); /* scale 1 */
double sample_beta(rng_t *rng, double a, double b);
double sample_binomial(rng_t *rng, double n, double p);
/* The number of successes among the first m of n trials, given s successes in all. */
double sample_hypergeometric(rng_t *rng, double n, double s, double m);

/* Laplace noise of this scale: an exponential with a random sign. */
static inline double sample_laplace(rng_t *rng, double scale) {
  const double x = scale * sample_exp(rng);
  return (rng_next(rng) >> 63) ? x : -x;
}

/* The number of failures before the first success of probability p, p in (0, 1]. */
static inline double sample_geometric(rng_t *rng, double p) {
  return p >= 1 ? 0 : floor(-sample_exp(rng) / log1p(-p));
}

/* The randomisation of Agrawal and Goyal: a reward in [0, 1] becomes 1 with probability equal to its
   value, else 0. Rewards of 0 and 1 use no random numbers. */
static inline double sample_coin(rng_t *rng, double reward) {
  if (reward <= 0) return 0;
  if (reward >= 1) return 1;
  return rng_unif(rng) < reward;
}

/* Randomised response: the bit of sample_coin(), flipped with probability `flip`. Uniforms are odd
   multiples of 2^-54, so the probability to be below a multiple of 2^-53 is exact. */
static inline double sample_response(rng_t *rng, double reward, double flip) {
  const double bit = sample_coin(rng, reward);
  return rng_unif(rng) < flip ? 1 - bit : bit;
}

#endif
