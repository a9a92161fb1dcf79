/* Gamma and Beta variates. */

#include "sample.h"

/* Marsaglia and Tsang (2000): the cube of a shifted normal, nearly always accepted. */
static double gamma_above_1(rng_t *rng, double shape) {
  const double d = shape - 1.0 / 3, c = 1 / sqrt(9 * d);
  for (;;) {
    const double x = sample_normal(rng), root = 1 + c * x;
    if (root <= 0) continue;
    const double v = root * root * root, u = rng_unif(rng), x2 = x * x;
    if (u < 1 - 0.0331 * x2 * x2) return d * v; /* squeeze: accepts most without a logarithm */
    if (log(u) < 0.5 * x2 + d * (1 - v + log(v))) return d * v;
  }
}

/* log of a Gamma(shape) variate for shape < 1, where the variate itself may be
   below the smallest double: G(a) = G(a + 1) U^(1/a). */
static double log_gamma_below_1(rng_t *rng, double shape) {
  return log(gamma_above_1(rng, shape + 1)) - sample_exp(rng) / shape;
}

double sample_gamma(rng_t *rng, double shape) {
  return shape >= 1 ? gamma_above_1(rng, shape) : exp(log_gamma_below_1(rng, shape));
}

double sample_beta(rng_t *rng, double a, double b) {
  if (a >= 1 && b >= 1) {
    const double x = gamma_above_1(rng, a), y = gamma_above_1(rng, b);
    return x / (x + y);
  }
  const double lx = a >= 1 ? log(gamma_above_1(rng, a)) : log_gamma_below_1(rng, a);
  const double ly = b >= 1 ? log(gamma_above_1(rng, b)) : log_gamma_below_1(rng, b);
  return 1 / (1 + exp(ly - lx));
}
