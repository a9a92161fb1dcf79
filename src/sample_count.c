/* Binomial and hypergeometric variates for any n up to 2^53.

   Binomial: transformed rejection with squeeze (Hoermann 1993, The generation of
   binomial random variates, algorithm BTRS), which accepts most draws without looking at
   a probability. Hypergeometric: ratio of uniforms (Stadlober 1990, The ratio of uniforms
   approach for generating discrete random variates): draw (u, v), take
   x = floor(a + h (v - 1/2) / u), accept if u^2 <= p(x) / p(mode).

   Probabilities come from their saddle-point form (math_beta.h). */

#include "math_beta.h"
#include "sample.h"

/* Constants of Stadlober's table mountain hat: 2 sqrt(2 / e) and 3 - 2 sqrt(3 / e). */
#define D1 1.7155277699214135
#define D2 0.8989161620588988

static double log_binomial_pmf(double x, double n, double p) {
  const double q = 1 - p;
  if (x == 0) return n * log1p(-p);
  if (x == n) return n * log(p);
  return stirling_error(n) - stirling_error(x) - stirling_error(n - x) - deviance(x, n * p) -
         deviance(n - x, n * q) + 0.5 * log(n / (2 * M_PI * x * (n - x)));
}

/* For few expected successes: the gaps between them are geometric. */
static double binomial_by_gaps(rng_t *rng, double n, double p) {
  const double scale = -1 / log1p(-p);
  double x = 0, at = 0;
  for (;;) {
    at += floor(scale * sample_exp(rng)) + 1;
    if (at > n) return x;
    x++;
  }
}

/* BTRS, for p <= 1/2 and n p >= 10. The constants are those of the paper. */
static double binomial_by_rejection(rng_t *rng, double n, double p) {
  const double sd = sqrt(n * p * (1 - p));
  const double b = 1.15 + 2.53 * sd, a = -0.0873 + 0.0248 * b + 0.01 * p;
  const double c = n * p + 0.5, v_r = 0.92 - 4.2 / b;
  double peak = 1; /* log probability of the mode; above 0: not computed yet */
  for (;;) {
    const double u = rng_unif(rng) - 0.5, us = 0.5 - fabs(u);
    const double x = floor((2 * a / us + b) * u + c);
    double v = rng_unif(rng);
    if (us >= 0.07 && v <= v_r) return x;
    if (x < 0 || x > n) continue;
    if (peak > 0) peak = log_binomial_pmf(floor((n + 1) * p), n, p);
    const double alpha = (2.83 + 5.1 / b) * sd;
    v = log(v * alpha / (a / (us * us) + b));
    if (v <= log_binomial_pmf(x, n, p) - peak) return x;
  }
}

double sample_binomial(rng_t *rng, double n, double p) {
  if (p <= 0 || n < 1) return 0;
  if (p >= 1) return n;
  if (n <= 16) {
    double x = 0;
    for (int i = 0; i < (int)n; i++) x += rng_unif(rng) < p;
    return x;
  }
  if (p > 0.5) return n - sample_binomial(rng, n, 1 - p);
  if (n * p < 10) return binomial_by_gaps(rng, n, p);
  return binomial_by_rejection(rng, n, p);
}

static double log_hypergeometric_pmf(double x, double n, double s, double m) {
  /* Given s successes in n trials, the number among the first m has the same distribution for every
     success probability p; m / n keeps every term near its peak. Trials and successes swap roles. */
  const double p = m / n;
  return log_binomial_pmf(x, s, p) + log_binomial_pmf(m - x, n - s, p);
}

double sample_hypergeometric(rng_t *rng, double n, double s, double m) {
  if (s > n / 2) return m - sample_hypergeometric(rng, n, n - s, m);
  if (m > n / 2) return s - sample_hypergeometric(rng, n, s, n - m);
  if (s <= 0 || m <= 0) return 0;
  if (fmin(s, m) <= 20) {
    /* Draw from an urn, for the smaller of the two numbers. */
    const double few = fmin(s, m), many = fmax(s, m);
    double x = 0;
    for (double i = 0; i < few; i++) x += rng_unif(rng) * (n - i) < many - x;
    return x;
  }
  const double mean = m * s / n, var = mean * (1 - s / n) * (n - m) / (n - 1);
  const double a = mean + 0.5, h = D1 * sqrt(var + 0.5) + D2;
  const double peak = log_hypergeometric_pmf(floor((m + 1) * (s + 1) / (n + 2)), n, s, m);
  for (;;) {
    const double u = rng_unif(rng), v = rng_unif(rng);
    const double x = floor(a + h * (v - 0.5) / u);
    if (x < 0 || x > s || x > m) continue;
    if (2 * log(u) <= log_hypergeometric_pmf(x, n, s, m) - peak) return x;
  }
}
