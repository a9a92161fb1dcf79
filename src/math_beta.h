#ifndef DPTS_MATH_BETA_H
#define DPTS_MATH_BETA_H
/* Densities and tail probabilities of Beta distributions. They use Loader's (2000) saddle-point form,
   which subtracts no large log-gammas and so keeps its relative accuracy at any size. */

#include <math.h>

/* The parts of that form. The error of Stirling's formula: log(z!) - log(sqrt(2 pi z) (z / e)^z), z > 0.
   The deviance of x from m: x log(x / m) + m - x. */
double stirling_error(double z);
double deviance(double x, double m);

/* A Beta(a, b) distribution */
typedef struct {
  double a, b;
} beta_t;

/* For X ~ Beta(a, b): the log density at x; the logarithm of an upper bound on P(X < x), for x at most
   the mean; P(X < x); P(X > x), which also sets the density at x. */
double beta_log_density(double a, double b, double x);
double beta_log_bound(double a, double b, double x);
double beta_below(double a, double b, double x);
double beta_upper(double a, double b, double x, double *density);

#endif
