#include "beta_tail.h"

beta_tail_t beta_tail(double a, double b, double c) {
  beta_tail_t tail = {a, b, c, (b - 1) / (1 - c) - (a - 1) / c, INFINITY};
  if (!(c > 0 && c < 1) || tail.rate <= 0 || c * (b - 0.5) < (1 - c) * a) return tail;
  /* f(c) = c^(a-1) (1-c)^(b-1) / B(a, b), through the binomial probability of a among a + b */
  const double log_f = log_binomial_pmf(a, a + b, c) + log(a * b / (a + b) / (c * (1 - c)));
  tail.mass = exp(log_f) / tail.rate;
  return tail;
}

double beta_tail_draw(const beta_tail_t *tail, rng_t *rng) {
  const double c = tail->c, e = sample_exp(rng), x = c + e / tail->rate;
  if (x >= 1) return -1;
  const double log_ratio = (tail->a - 1) * log1p((x - c) / c) +
                           (tail->b - 1) * log1p(-(x - c) / (1 - c)) + e;
  return -sample_exp(rng) <= log_ratio ? x : -1;
}
