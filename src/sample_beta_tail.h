#ifndef DPTS_SAMPLE_BETA_TAIL_H
#define DPTS_SAMPLE_BETA_TAIL_H
/* The upper tail of a Beta(a, b) distribution, a, b >= 1, beyond a point c, as skipping needs it: an upper
   bound on its probability that is cheap and tight, and draws from it. The density f is log- concave, so
   beyond c it is below the envelope f(c) exp(-rate (x - c)), rate = -(log f)'(c); where the rate is positive,
   the envelope has the mass f(c) / rate. The tail probability itself is never computed: a point drawn from
   the envelope and accepted with probability f / envelope lies in the tail with exactly its probability. */

#include "math_beta.h"
#include "sample_rng.h"

/* X ~ Beta(a, b) conditional on X > x; a, b >= 1. The second one is also fast where b or x is close to
   1. */
double sample_beta_above(rng_t *rng, double a, double b, double x);
double sample_beta_beyond(rng_t *rng, double a, double b, double x);

typedef struct {
  double a, b, c;
  double rate, mass; /* of the envelope; mass = Inf if c is not far enough out */
} beta_tail_t;

/* Where the mass is finite, c/(1 - c) >= a/(b - 1/2) > exp(E log(theta/(1 - theta))). Therefore the mass
   decreases when the distribution moves down: a smaller a and a larger b with the same a + b. */
beta_tail_t beta_tail(double a, double b, double c);

/* A point drawn from the envelope, or -1 if it is rejected. */
double beta_tail_draw(const beta_tail_t *tail, rng_t *rng);

#endif
