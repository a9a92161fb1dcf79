#include "math_kl.h"
#include <math.h>
#include "math_special.h"

static double inside(double y) { return fmin(fmax(y, 1e-12), 1 - 1e-12); }

static double logit(double x) { return log(x) - log1p(-x); }

/* p ln(p / q) + q - p, which is at least 0, without cancellation near p = q */
static double term(double p, double q) {
  if (!(p > 0)) return q;
  const double u = (q - p) / p;
  if (fabs(u) > 0.05) return q - p - p * log(q / p);
  double sum = 0; /* p (u - ln(1 + u)) by its series, up to u^13 / 13 */
  for (int i = 13; i >= 2; i--) sum = 1.0 / i - u * sum;
  return p * u * u * sum;
}

double kl(double x, double y) {
  y = inside(y);
  return term(x, y) + term(1 - x, 1 - y);
}

double kl_upper(double x, double bound) {
  if (!(x < 1)) return 1;
  if (!(bound > 0)) return x;
  if (kl(x, 1) <= bound) return 1;
  /* Start at the smaller of two upper bounds of the solution: Pinsker's inequality, and the divergence
     without its second term. kl is convex in y, so Newton's method decreases to the solution. */
  const double entropy = (x > 0 ? -x * log(x) : 0) - (1 - x) * log1p(-x);
  double y = fmin(x + sqrt(bound / 2), -expm1(-(bound + entropy) / (1 - x)));
  for (int i = 0; i < 100; i++) {
    y = inside(y);
    const double over = kl(x, y) - bound;
    if (!(over > 0)) break;
    const double step = over * y * (1 - y) / (y - x);
    y -= step;
    if (step < 1e-15) break;
  }
  return fmax(x, y);
}

/* The infimum is at z = x if logit(x) and logit(y) differ by at most epsilon. Otherwise it is where the
   derivative of kl(z, y) in z is -epsilon or epsilon, which gives a closed form. */
double d_epsilon(double x, double y, double epsilon) {
  if (x == y) return 0;
  y = inside(y);
  const double far = x <= 0 ? INFINITY : x >= 1 ? -INFINITY : logit(x);
  if (epsilon == INFINITY || fabs(logit(y) - far) <= epsilon) return kl(x, y);
  if (x < y) return -epsilon * x - log1p(y * expm1(-epsilon));
  /* By symmetry, with means 1 - x < 1 - y. */
  return -epsilon * (1 - x) - log1p((1 - y) * expm1(-epsilon));
}

double d_epsilon_upper(double x, double bound, double epsilon) {
  if (!(x < 1)) return 1;
  if (epsilon == INFINITY) return kl_upper(x, bound);
  const double knee = x > 0 ? 1 / (1 + exp(-logit(x) - epsilon)) : 0;
  if (x > 0 && kl(x, knee) >= bound) return kl_upper(x, bound);
  return fmin(1, expm1(-bound - epsilon * x) / expm1(-epsilon));
}

double tail_of_rate(double rate) { return fmax(0, rate + log(DPTS_SQRT_PI_2) - log(mills(sqrt(2 * rate)))); }

double kl_noisy(double x, double y, double n, double sd) {
  if (!(y > x)) return 0;
  y = inside(y);
  /* For smaller noise the squares would underflow, and the noise would not show in a double. */
  if (!(sd > 1e-25)) return n * kl(x, y);
  /* The derivative in z increases from below 0 at x to above 0 at y: Newton's method inside a bracket. */
  const double logit_y = logit(y), bend = 1 / (sd * sd);
  double low = fmax(x, 1e-12), high = y;
  if (!(low < high)) return n * kl(x, y);
  double z = 0.5 * (low + high);
  for (int i = 0; i < 60; i++) {
    const double gradient = (z - x) * bend + n * (logit(z) - logit_y);
    if (gradient > 0) high = z;
    else low = z;
    double next = z - gradient / (bend + n / (z * (1 - z)));
    if (!(next > low && next < high)) next = 0.5 * (low + high);
    /* The value is flat around its minimum, so z need not be accurate. */
    const double moved = fabs(next - z);
    z = next;
    if (moved <= 1e-9 * z) break;
  }
  return (z - x) * ((z - x) * bend) / 2 + n * kl(z, y);
}
