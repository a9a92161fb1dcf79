/* A toy: Robbins' normal mixture. With S the sum of an arm's rewards, less theta for each, and V = n / 4 + the variance
   of the noise, e^(x S - x^2 V / 2) is a supermartingale for each x if the mean is theta (Hoeffding), and so is its
   mean over x ~ N(0, 1 / R): e^(S^2 / (2 (V + R))) sqrt(R / (V + R)). If a's mean is at most b's less the margin, the
   product of both arms at their means is at least e^W, its least value over all such pairs of means. */

#include <math.h>
#include "policy_evidence.h"

#define R 100.0

typedef struct {
  double n, sum, variance;
} arm_t;

static size_t size(const design_t *design) { return (size_t)design->k * sizeof(arm_t); }

static void begin(void *state, const design_t *design) {
  for (int i = 0; i < design->k; i++) ((arm_t *)state)[i] = (arm_t){0};
}

static void release(void *state, const release_t *rows, int n) {
  for (int i = 0; i < n; i++) {
    arm_t *arm = (arm_t *)state + rows[i].arm;
    const noise_law_t *noise = &rows[i].noise;
    arm->n += rows[i].size, arm->sum += rows[i].sum;
    /* Other noise than Gaussian is beyond this proof: nothing is proved. */
    const int known = noise->scale == 0 || (noise->kind == NOISE_GAUSSIAN && !(noise->correlation > 0));
    arm->variance += rows[i].size / 4 + (known ? rows[i].terms * noise_law_variance(noise) : INFINITY);
  }
}

static double estimate(const void *state, int a, int b) {
  const arm_t *x = (const arm_t *)state + a, *y = (const arm_t *)state + b;
  return x->n > 0 && y->n > 0 ? x->sum / x->n - y->sum / y->n : NAN;
}

/* W = weight * gap^2 - cost */
static double weight(const arm_t *x, const arm_t *y) {
  return 1 / (2 * (x->variance + R) / (x->n * x->n) + 2 * (y->variance + R) / (y->n * y->n));
}
static double cost(const arm_t *x, const arm_t *y) {
  return 0.5 * (log1p(x->variance / R) + log1p(y->variance / R));
}

static double pair(const void *state, int a, int b, double margin, double enough) {
  const arm_t *x = (const arm_t *)state + a, *y = (const arm_t *)state + b;
  const double gap = estimate(state, a, b) + margin;
  (void)enough;
  return (gap > 0 ? weight(x, y) * gap * gap : 0) - cost(x, y);
}

static double lower(const void *state, int a, int b, double threshold) {
  const arm_t *x = (const arm_t *)state + a, *y = (const arm_t *)state + b;
  const double d = estimate(state, a, b) - sqrt((threshold + cost(x, y)) / weight(x, y));
  return d > -1 ? d : -1;
}

MARTINGALE(toy, .size = size, .begin = begin, .release = release, .pair = pair, .lower = lower, .estimate = estimate);
