#include "math_beta_tail.h"

/* log of the density x^(a-1) (1-x)^(b-1) / B(a, b), in Loader's (2000) saddle-point form: no
   difference of large log-gammas */
static double log_density(double a, double b, double x) {
  const double n = a + b;
  return stirling_error(n) - stirling_error(a) - stirling_error(b) - deviance(a, n * x) -
         deviance(b, n * (1 - x)) + 0.5 * log(a * b / (2 * M_PI * n)) - log(x * (1 - x));
}

beta_tail_t beta_tail(double a, double b, double c) {
  beta_tail_t tail = {a, b, c, (b - 1) / (1 - c) - (a - 1) / c, INFINITY};
  if (!(c > 0 && c < 1) || tail.rate <= 0 || c * (b - 0.5) < (1 - c) * a) return tail;
  tail.mass = exp(log_density(a, b, c)) / tail.rate;
  return tail;
}

double beta_tail_draw(const beta_tail_t *tail, rng_t *rng) {
  const double c = tail->c, e = sample_exp(rng), x = c + e / tail->rate;
  if (x >= 1) return -1;
  const double log_ratio =
      (tail->a - 1) * log1p((x - c) / c) + (tail->b - 1) * log1p(-(x - c) / (1 - c)) + e;
  return -sample_exp(rng) <= log_ratio ? x : -1;
}
