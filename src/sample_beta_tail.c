/* Tails of Beta distributions: their exact chance, and draws from them. */

#include "sample.h"

/* Chernoff's bound of P(X < x) for X ~ Beta(a, b) with mean above x, as a logarithm:
   -N KL(a / N || x), N = a + b. With X = G / (G + H), G and H Gamma variates, it is the
   least of E exp(s (x H - (1 - x) G)) over s. */
double beta_log_bound(double a, double b, double x) {
  const double n = a + b;
  return -deviance(a, n * x) - deviance(b, n * (1 - x));
}

/* P(X < x), X ~ Beta(a, b): x^a (1 - x)^b / B(a, b) by its saddle-point form, times the
   continued fraction of Didonato and Morris (1992, equation 9), by Lentz's method. It
   converges fast where x is below the mean. *front becomes the first factor. */
static double below(double a, double b, double x, double *front) {
  if (x * (a + b) > a) return 1 - below(b, a, 1 - x, front);
  const double n = a + b, gap = a - n * x + 1;
  *front = exp(stirling_error(n) - stirling_error(a) - stirling_error(b) -
               deviance(a, n * x) - deviance(b, n * (1 - x))) *
           sqrt(a * b / (2 * M_PI * n));
  double f = a * gap / (a + 1), c = f, d = 0;
  for (double m = 1; m < 1e7; m++) {
    const double odd = a + 2 * m - 1, mb = m * (b - m) * x;
    const double alpha = (a + m - 1) * (n + m - 1) * x * mb / (odd * odd);
    const double beta = m + mb / odd + (a + m) * (gap + m * (2 - x)) / (odd + 2);
    d = 1 / (beta + alpha * d);
    c = beta + alpha / c;
    f *= c * d;
    if (fabs(c * d - 1) < 1e-15) break;
  }
  return *front / f;
}

double beta_below(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  double front;
  return below(a, b, x, &front);
}

/* Closed forms where one of the parameters is 1, as those of arms that were never pulled, or only
   with one outcome. */
double beta_upper(double a, double b, double x, double *density) {
  *density = 0;
  if (x <= 0) return 1;
  if (x >= 1) return 0;
  if (a == 1) {
    const double p = b == 1 ? 1 - x : exp(b * log1p(-x));
    *density = b * p / (1 - x);
    return p;
  }
  if (b == 1) {
    const double p = -expm1(a * log(x));
    *density = a * (1 - p) / x;
    return p;
  }
  double front;
  const double p = below(b, a, 1 - x, &front);
  *density = front / (x * (1 - x));
  return p;
}

/* X ~ Beta(a, b) given X > x; a, b >= 1. Beyond the mode the density falls, in logarithm
   ever faster, so an exponential with its slope at x lies above it. */
double sample_beta_above(rng_t *rng, double a, double b, double x) {
  const double slope = (b - 1) / (1 - x) - (a - 1) / x;
  const double sd = sqrt(a * b / (a + b + 1)) / (a + b);
  if (slope * sd < 0.7) {
    for (;;) {
      const double theta = sample_beta(rng, a, b);
      if (theta > x) return theta;
    }
  }
  for (;;) {
    const double step = sample_exp(rng) / slope;
    if (step >= 1 - x) continue;
    const double accept =
        (a - 1) * log1p(step / x) + (b - 1) * log1p(-step / (1 - x)) + slope * step;
    if (-sample_exp(rng) < accept) return x + step;
  }
}

/* Near 1 the density is about (1 - x)^(b - 1), which the 1 / b-th power of a uniform number has; the
   other factor is at least 1 - a (1 - x) there. */
double sample_beta_beyond(rng_t *rng, double a, double b, double x) {
  if ((a - 1) * (1 - x) > 1) return sample_beta_above(rng, a, b, x);
  for (;;) {
    const double left = (1 - x) * exp(-sample_exp(rng) / b);
    if (a > 1 && sample_exp(rng) < (1 - a) * log1p(-left)) continue;
    return 1 - left;
  }
}
