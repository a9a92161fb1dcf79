#include "math_normal_laplace.h"
#include <math.h>
#include "math_special.h"

/* The variance of a reward of mean t: that of a Bernoulli reward, the largest for rewards in [0, 1], and
   at least 0.01, below which the normal approximation fails. */
static double variance_at(double t) { return fmax(t * (1 - t), 0.01); }

/* The Mills ratio to 12 digits, faster than mills(). */
static double mills_12(double x) {
  return x < 12 ? DPTS_SQRT_PI_2 * exp(0.5 * x * x) * erfc(x * DPTS_SQRT1_2) : mills(x);
}

void likelihood_add(likelihood_t *l, double size, double noisy, double b) {
  if (l->n == LIKELIHOOD_BATCHES) {
    l->old_size += l->batches[0].size;
    l->old_noisy += l->batches[0].noisy;
    l->old_variance += 2 * b * b;
    for (int j = 1; j < LIKELIHOOD_BATCHES; j++) l->batches[j - 1] = l->batches[j];
    l->n--;
  }
  l->batches[l->n++] = (batch_sum_t){size, noisy};
}

/* -ln likelihood of the mean t for one batch or several, and its first two derivatives in t. v is the
   variance of a reward. */
typedef struct {
  double cost, slope, bend;
} cost_t;

static void add_batch(cost_t *sum, const batch_sum_t *batch, double t, double v, double b) {
  const double size = batch->size, s = sqrt(v * size);
  const double d = batch->noisy - t * size, e = fabs(d) / s;
  if (!(b > 0)) {
    *sum = (cost_t){sum->cost + 0.5 * e * e, sum->slope - d / v, sum->bend + size / v};
    return;
  }
  /* The sum of the two Mills ratios, written as near (1 + far). Far below 0 `near` overflows; there M(x)
     is sqrt(2 pi) exp(x^2 / 2). */
  const double p = s / b - e, q = s / b + e, m = mills_12(q);
  const double near = p > -20 ? mills_12(p) : INFINITY, far = m / near;
  const double log_near = p > -20 ? log(near) : 0.5 * p * p + DPTS_LOG_SQRT_2PI;
  sum->cost += 0.5 * e * e - log_near - log1p(far);
  sum->slope -= copysign(size / b * (1 - far) / (1 + far), d);
  sum->bend += size * size * 2 / (b * s) * (1 + far - 2 * s / b * m) / (near * (1 + far) * (1 + far));
}

/* The sum over all batches. For fixed v it is convex in t, since the normal and the Laplace density are
   log-concave, and so is the density of their sum. */
static cost_t cost_of_all(const likelihood_t *l, double t, double v, double b) {
  cost_t sum = {0, 0, 0};
  for (int64_t j = 0; j < l->n; j++) add_batch(&sum, &l->batches[j], t, v, b);
  if (l->old_size > 0) {
    const double d = l->old_noisy - t * l->old_size;
    const double share = l->old_size / (v * l->old_size + l->old_variance);
    sum.cost += 0.5 * d * d * share / l->old_size;
    sum.slope -= d * share;
    sum.bend += l->old_size * share;
  }
  return sum;
}

double likelihood_cost(const likelihood_t *l, double t, double other, double b) {
  return cost_of_all(l, t, fmax(variance_at(t), variance_at(other)), b).cost;
}

/* The root of the derivative, with the variance evaluated at t: Newton's method, or bisection where a
   step would leave the bracket. */
double likelihood_mean(const likelihood_t *l, double b, double guess) {
  double low = 0, high = 1, t = guess;
  if (!(cost_of_all(l, low, variance_at(low), b).slope < 0)) return low;
  if (!(cost_of_all(l, high, variance_at(high), b).slope > 0)) return high;
  for (int i = 0; i < 60; i++) {
    const cost_t a = cost_of_all(l, t, variance_at(t), b);
    if (a.slope > 0) high = t;
    else low = t;
    double next = t - a.slope / a.bend;
    if (!(next > low && next < high)) next = 0.5 * (low + high);
    const double moved = fabs(next - t);
    t = next;
    if (moved < 1e-9) break;
  }
  return t;
}

/* The Fisher information of N(0, s^2) + Lap(b) about its location: 1 / b^2 for s = 0, and 1 / (s^2 + 2
   b^2) for large s; this fit is within 0.5% between them. */
static double information(double s, double b) {
  if (!(b > 0)) return 1 / (s * s);
  const double x = s / b;
  return 1 / (s * s + b * b * (2 - exp(-1.12 * x - 0.13 * x * x)));
}

double likelihood_information(const likelihood_t *l, double b) {
  double sum = 0;
  for (int64_t j = 0; j < l->n; j++) {
    const double size = l->batches[j].size;
    sum += size * size * information(0.5 * sqrt(size), b);
  }
  if (l->old_size > 0) {
    sum += l->old_size * l->old_size / (0.25 * l->old_size + l->old_variance);
  }
  return sum / 4;
}
