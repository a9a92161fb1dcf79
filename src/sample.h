#ifndef DPTS_SAMPLE_H
#define DPTS_SAMPLE_H
/* Samplers. Each draws from its exact distribution, up to the rounding of doubles. */

#include <math.h>
#include <stdint.h>
#include "sample_rng.h"

/* Fill the tables; called once, when the library is loaded. */
void sample_init(void);
void sample_normal_init(void); /* by sample_init(), as the next */
void sample_count_init(void);

double sample_normal(rng_t *rng); /* N(0, 1) */
/* N(0, 1) given that it exceeds a, any a. */
double sample_normal_above(rng_t *rng, double a);
double sample_exp(rng_t *rng);                 /* exponential of mean 1 */
double sample_gamma(rng_t *rng, double shape); /* scale 1 */
double sample_beta(rng_t *rng, double a, double b);
double sample_binomial(rng_t *rng, double n, double p);
/* Successes among the first m of n trials that had s successes in all. */
double sample_hypergeometric(rng_t *rng, double n, double s, double m);

typedef struct {
  double a, b;
} beta_t; /* a Beta(a, b) distribution */

/* Tails of X ~ Beta(a, b): log of a bound of P(X < x), for x at most the mean; P(X < x); P(X > x),
   with the density at x; and X given X > x, for a, b >= 1, the latter of the two quick where b or x
   is close to 1, too. */
double beta_log_bound(double a, double b, double x);
double beta_below(double a, double b, double x);
double beta_upper(double a, double b, double x, double *density);
double sample_beta_above(rng_t *rng, double a, double b, double x);
double sample_beta_beyond(rng_t *rng, double a, double b, double x);

/* Parts of Loader's (2000) saddle-point form of probabilities: the error of Stirling's
   formula for z!, and x log(x / m) + m - x. */
double stirling_error(double z);
double deviance(double x, double m);

/* Laplace of the given scale: an exponential with a random sign. */
static inline double sample_laplace(rng_t *rng, double scale) {
  const double x = scale * sample_exp(rng);
  return (rng_next(rng) >> 63) ? x : -x;
}

/* Failures before the first success of probability p; p in (0, 1]. */
static inline double sample_geometric(rng_t *rng, double p) {
  return p >= 1 ? 0 : floor(-sample_exp(rng) / log1p(-p));
}

/* The coin toss of Agrawal and Goyal: a reward of [0, 1] becomes 0 or 1 with
   its own mean. Rewards of 0 and 1 use no randomness. */
static inline double sample_coin(rng_t *rng, double reward) {
  if (reward <= 0) return 0;
  if (reward >= 1) return 1;
  return rng_unif(rng) < reward;
}

/* Randomised response: the coin, turned with chance `flip`. Uniforms are odd multiples of 2^-54, so
   that the chance to be below a multiple of 2^-53 is exact. */
static inline double sample_response(rng_t *rng, double reward, double flip) {
  const double bit = sample_coin(rng, reward);
  return rng_unif(rng) < flip ? 1 - bit : bit;
}

#endif
