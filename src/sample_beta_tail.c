/* Draws from the upper tail of a Beta distribution. Its density is log-concave, so beyond the mode it is
   below an exponential with the slope of its logarithm at x. */

#include "sample_beta_tail.h"
#include "sample.h"

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
    const double accept = (a - 1) * log1p(step / x) + (b - 1) * log1p(-step / (1 - x)) + slope * step;
    if (-sample_exp(rng) < accept) return x + step;
  }
}

/* Proposals have the density of (1 - x)^(b - 1) beyond x: a power of a uniform number. The other factor
   of the density, their acceptance probability, is at least 1 - a (1 - x) there. */
double sample_beta_beyond(rng_t *rng, double a, double b, double x) {
  if ((a - 1) * (1 - x) > 1) return sample_beta_above(rng, a, b, x);
  for (;;) {
    const double left = (1 - x) * exp(-sample_exp(rng) / b);
    if (a > 1 && sample_exp(rng) < (1 - a) * log1p(-left)) continue;
    return 1 - left;
  }
}

beta_tail_t beta_tail(double a, double b, double c) {
  beta_tail_t tail = {a, b, c, (b - 1) / (1 - c) - (a - 1) / c, INFINITY};
  if (!(c > 0 && c < 1) || tail.rate <= 0 || c * (b - 0.5) < (1 - c) * a) return tail;
  tail.mass = exp(beta_log_density(a, b, c)) / tail.rate;
  return tail;
}

double beta_tail_draw(const beta_tail_t *tail, rng_t *rng) {
  const double c = tail->c, e = sample_exp(rng), x = c + e / tail->rate;
  if (x >= 1) return -1;
  const double log_ratio = (tail->a - 1) * log1p((x - c) / c) + (tail->b - 1) * log1p(-(x - c) / (1 - c)) + e;
  return -sample_exp(rng) <= log_ratio ? x : -1;
}
