/* Binomial and hypergeometric variates for any n up to 2^53.

   Binomial: transformed rejection with squeeze (Hoermann 1993, The generation of
   binomial random variates, algorithm BTRS), which accepts most draws without looking at
   a probability. Hypergeometric: ratio of uniforms (Stadlober 1990, The ratio of uniforms
   approach for generating discrete random variates): draw (u, v), take
   x = floor(a + h (v - 1/2) / u), accept if u^2 <= p(x) / p(mode).

   Probabilities come from Loader's (2000) saddle-point form, which keeps its relative
   accuracy at any n, where differences of log-factorials do not. */

#include "sample.h"

/* Stadlober's table mountain: 2 sqrt(2 / e) and 3 - 2 sqrt(3 / e). */
#define D1 1.7155277699214135
#define D2 0.8989161620588988

/* log(z!) - log(sqrt(2 pi z) (z / e)^z), z > 0: Stirling's series, after steps up to 16
   where z is small. Whole numbers below 16 are in a table. */
static double small_error[16];

static double error_by_steps(double z) {
  double sum = 0;
  for (; z < 16; z++) sum += (z + 0.5) * log1p(1 / z) - 1;
  return sum + stirling_error(z);
}

void sample_count_init(void) {
  for (int n = 1; n < 16; n++) small_error[n] = error_by_steps(n);
}

double stirling_error(double z) {
  if (z < 16) return z == (int)z ? small_error[(int)z] : error_by_steps(z);
  const double zz = z * z;
  return (1.0 / 12 - (1.0 / 360 - (1.0 / 1260 - (1.0 / 1680) / zz) / zz) / zz) / z;
}

/* n D(x / n) where D(e) = e log e + 1 - e: the deviance of x against np. */
double deviance(double x, double np) {
  if (fabs(x - np) < 0.1 * (x + np)) {
    double v = (x - np) / (x + np), s = (x - np) * v, ej = 2 * x * v;
    if (fabs(s) < 1e-300) return s;
    v *= v;
    for (int j = 1; j < 1000; j++) {
      ej *= v;
      const double s1 = s + ej / (2 * j + 1);
      if (s1 == s) return s1;
      s = s1;
    }
  }
  return x * log(x / np) + np - x;
}

static double log_binomial_pmf(double x, double n, double p) {
  const double q = 1 - p;
  if (x == 0) return n * log1p(-p);
  if (x == n) return n * log(p);
  return stirling_error(n) - stirling_error(x) - stirling_error(n - x) -
         deviance(x, n * p) - deviance(n - x, n * q) +
         0.5 * log(n / (2 * M_PI * x * (n - x)));
}

/* Few expected successes: gaps between them are geometric. */
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
  double peak = 1; /* log probability of the mode, below 0, once it is needed */
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
  /* Given s successes in n trials, those among the first m: any p serves, and
     m / n keeps every term near its peak. Trials and successes trade places. */
  const double p = m / n;
  return log_binomial_pmf(x, s, p) + log_binomial_pmf(m - x, n - s, p);
}

double sample_hypergeometric(rng_t *rng, double n, double s, double m) {
  if (s > n / 2) return m - sample_hypergeometric(rng, n, n - s, m);
  if (m > n / 2) return s - sample_hypergeometric(rng, n, s, n - m);
  if (s <= 0 || m <= 0) return 0;
  if (fmin(s, m) <= 20) {
    /* Urn: place the fewer one by one. */
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
