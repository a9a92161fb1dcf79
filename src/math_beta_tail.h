#ifndef DPTS_MATH_BETA_TAIL_H
#define DPTS_MATH_BETA_TAIL_H
/* The upper tail of a Beta(a, b) distribution, a, b >= 1, beyond a point c, as skipping needs it: a
   bound on its mass that is cheap and close, and draws from it. The density f is
   log-concave, so beyond c it is below f(c) exp(-rate (x - c)), rate = -(log f)'(c); where
   the rate is positive that envelope has the mass f(c) / rate. No tail probability is ever
   computed: a point drawn from the envelope and accepted with chance f / envelope lies in
   the tail with exactly its probability. */

#include <math.h>
#include "sample.h"

typedef struct {
  double a, b, c;
  double rate, mass; /* of the envelope; mass = Inf if c is not far enough out */
} beta_tail_t;

/* Where the mass is finite, c/(1 - c) >= a/(b - 1/2) > exp(E log(theta/(1 - theta))), so the mass
   only falls when it moves down: a smaller a and a larger b with the same a + b. */
beta_tail_t beta_tail(double a, double b, double c);

/* A point of the envelope that is accepted, or -1. */
double beta_tail_draw(const beta_tail_t *tail, rng_t *rng);

#endif
