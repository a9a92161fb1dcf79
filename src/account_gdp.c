/* Conversions between mu-GDP and (epsilon, delta)-DP,

       delta = Phi(-a) - e^epsilon Phi(-a - mu),   a = epsilon/mu - mu/2

   (Dong, Roth and Su 2022, Corollary 1; Balle and Wang 2018, Theorem 8). In this form it overflows beyond
   epsilon = 709 and loses digits by cancellation. Since e^epsilon phi(a + mu) = phi(a), it is also

       delta = phi(a) D,   D = M(a) - M(a + mu),

   with M the Mills ratio: e^epsilon never appears, and D is a sum of positive
   terms (`mills_drop`) where its two parts are close. */
#include "account.h"
#include "math_special.h"

#include <float.h>
#include <math.h>

#define TWO_OVER_SQRT_PI 1.12837916709551257389615890312
#define SQRT_2           1.41421356237309504880168872421
#define LOG_2            0.693147180559945309417232121458

/* a, with the rounding error of mu^2 / 2 corrected by a fused multiply-add. */
static double upper_threshold(double mu, double epsilon) {
  double p = mu * (mu / 2);
  if (!isfinite(p) || !isfinite(epsilon / mu)) return epsilon / mu - mu / 2;
  double e = fma(mu, mu / 2, -p);
  return ((epsilon - p) - e) / mu;
}

/* D for a >= -1; `c` is a + mu, which some callers know more accurately. */
static double mills_gap(double a, double mu, double c) {
  if (mu < 0.6 * (1 + a)) return mills_drop(a + mu / 2, mu / 2);
  return mills(a) - mills(c);
}

/* delta, and its logarithm, at the threshold a. */
typedef struct {
  double delta, log_delta;
  double hazard; /* M(c) / D = -(d log delta / d a) / mu at fixed mu */
  double gap;    /* D, or 0 where it would overflow */
} gdp_point;

static gdp_point gdp_at(double a, double mu, double c) {
  gdp_point at;
  if (a < -1) {
    /* delta = 1 - (Phi(a) + phi(a) M(c)): close to 1 */
    double tail = normal_density(a) * mills(c);
    double rest = normal_cdf(a) + tail;
    at.delta = 0.5 * erfc(a * DPTS_SQRT1_2) - tail;
    at.log_delta = rest < 0.5 ? log1p(-rest) : log(at.delta);
    at.hazard = tail / at.delta;
    at.gap = 0;
    if (a > -30) at.gap = at.delta / normal_density(a);
    return at;
  }
  at.gap = mills_gap(a, mu, c);
  at.delta = normal_density(a) * at.gap;
  at.log_delta = -0.5 * a * a - DPTS_LOG_SQRT_2PI + log(at.gap);
  at.hazard = mills(c) / at.gap;
  return at;
}

double gdp_delta(double mu, double epsilon, int log_scale) {
  if (isnan(mu) || isnan(epsilon)) return NAN;
  double none = log_scale ? -INFINITY : 0, all = log_scale ? 0 : 1;
  if (mu == 0 || epsilon == INFINITY) return none;
  if (mu == INFINITY) return all;
  if (epsilon == 0) {
    double x = mu * DPTS_SQRT1_2 / 2;
    if (!log_scale) return erf(x);
    return x > 0.5 ? log1p(-erfc(x)) : log(erf(x));
  }
  double a = upper_threshold(mu, epsilon);
  if (a > 1e153) return none; /* a^2 overflows; log delta is below -1e305 */
  gdp_point at = gdp_at(a, mu, a + mu);
  return log_scale ? at.log_delta : at.delta;
}

/* log(delta) - log(target), computed from the difference of the two where that is exact */
static double log_excess(gdp_point at, double target, double log_target) {
  double r = (at.delta - target) / target;
  if (at.delta > 0 && fabs(r) < 0.1) return log1p(r);
  return at.log_delta - log_target;
}

/* An a with Phi(-a) at most delta: an upper bound on the threshold, because delta = Phi(-a) - (something
   positive). */
static double largest_threshold(double delta, double log_delta) {
  if (delta >= 0.5) return 0;
  double z = sqrt(-2 * (log_delta + LOG_2)); /* Phi(-z) <= exp(-z^2/2) / 2 */
  return z;
}

double gdp_epsilon(double mu, double delta) {
  if (isnan(mu) || isnan(delta)) return NAN;
  if (delta == 1 || mu == 0) return 0;
  if (delta == 0 || mu == INFINITY) return INFINITY;
  if (delta >= gdp_delta(mu, 0, 0)) return 0;

  double target = log(delta);
  double p = mu * (mu / 2);
  if (!isfinite(p)) return INFINITY; /* epsilon is slightly above mu^2 / 2 */
  double e = fma(mu, mu / 2, -p);
  double lower = -mu / 2, upper = largest_threshold(delta, target);
  /* log delta is concave and decreasing in a (delta is the survival function of a normal plus an
     exponential variable), so Newton's method from the right of the root stays on its right. */
  double a = upper;
  for (int i = 0; i < 100; i++) {
    gdp_point at = gdp_at(a, mu, a + mu);
    double f = log_excess(at, delta, target);
    if (f > 0) lower = a;
    else upper = a;
    double step = f / (mu * at.hazard), next = a + step;
    if (!(next > lower && next < upper)) {
      if (fabs(step) <= 4 * DBL_EPSILON * fabs(a)) break;
      next = lower + (upper - lower) / 2;
    }
    double moved = fabs(next - a);
    a = next;
    if (moved <= 1e-9 * (1 + fabs(a))) break;
  }
  double epsilon = mu * a + (p + e);
  if (!(epsilon > 0)) epsilon = 0;
  /* Refine epsilon itself where it is small, since there mu a and mu^2 / 2 cancel. d log delta / d
     epsilon = -M(c) / D. */
  for (int i = 0; i < 3 && epsilon < 0.1 * p; i++) {
    double at_a = ((epsilon - p) - e) / mu;
    gdp_point at = gdp_at(at_a, mu, at_a + mu);
    double step = log_excess(at, delta, target) / at.hazard;
    double next = epsilon + step;
    if (!(next > 0)) break;
    epsilon = next;
    if (fabs(step) <= 1e-9 * epsilon) break;
  }
  return epsilon;
}

/* x with erf(x) = delta */
static double erf_inverse(double delta) {
  double x;
  if (delta <= 0.5) {
    x = delta / TWO_OVER_SQRT_PI; /* left of the root of a concave function */
    for (int i = 0; i < 60; i++) {
      double step = (delta - erf(x)) * exp(x * x) / TWO_OVER_SQRT_PI;
      x += step;
      if (fabs(step) <= DBL_EPSILON * x) break;
    }
    return x;
  }
  double rest = 1 - delta, target = log(rest);
  x = sqrt(-target); /* erfc(x) <= exp(-x^2): right of the root */
  for (int i = 0; i < 60; i++) {
    double q = erfc(x);
    double step = log(q / rest) * q * exp(x * x) / TWO_OVER_SQRT_PI;
    x += step;
    if (fabs(step) <= DBL_EPSILON * x) break;
  }
  return x;
}

/* a + mu at fixed epsilon, and mu itself without cancellation */
static double right_threshold(double a, double epsilon) { return hypot(a, SQRT_2 * sqrt(epsilon)); }
static double mu_between(double a, double c, double epsilon) {
  return a > 0 ? 2 * (epsilon / (a + c)) : c - a;
}

double gdp_mu(double epsilon, double delta) {
  if (isnan(epsilon) || isnan(delta)) return NAN;
  if (delta == 1 || epsilon == INFINITY) return INFINITY;
  if (delta == 0) return 0;
  if (epsilon == 0) return erf_inverse(delta) * 2 / DPTS_SQRT1_2;
  if (delta <= 0.5 && epsilon < 1.25 * delta) {
    /* For epsilon below mu / 2, a and c are close to 0 and to each other: Newton's method in mu itself,
       from its value at epsilon = 0; d delta / d mu = phi(a). */
    double mu = erf_inverse(delta) * 2 / DPTS_SQRT1_2;
    for (int i = 0; i < 50; i++) {
      double a = upper_threshold(mu, epsilon);
      double step = (delta - gdp_delta(mu, epsilon, 0)) / normal_density(a);
      mu += step;
      if (fabs(step) <= 1e-9 * mu) break;
    }
    return mu;
  }

  double target = log(delta);
  /* At fixed epsilon, a decreases as mu grows; c = a + mu = sqrt(a^2 + 2 eps). */
  double upper = largest_threshold(delta, target), lower = -1;
  double mu = 0;
  for (int i = 0; i < 1100; i++, lower *= 2) {
    double c = right_threshold(lower, epsilon);
    if (gdp_at(lower, c - lower, c).delta >= delta) break;
    if (lower < upper) upper = lower;
  }
  double a = upper;
  for (int i = 0; i < 200; i++) {
    double c = right_threshold(a, epsilon);
    mu = mu_between(a, c, epsilon);
    gdp_point at = gdp_at(a, mu, c);
    double f = log_excess(at, delta, target);
    if (f > 0) lower = a;
    else upper = a;
    /* d log delta / d a = -(mu / c) / D */
    double step = f * at.gap * c / mu, next = a + step;
    if (!(next > lower && next < upper)) {
      if (fabs(step) <= 4 * DBL_EPSILON * (fabs(a) + 1e-300)) break;
      next = lower + (upper - lower) / 2;
    }
    double moved = fabs(next - a);
    a = next;
    if (moved <= 1e-10 * (1 + fabs(a))) break;
  }
  double c = right_threshold(a, epsilon);
  return mu_between(a, c, epsilon);
}
