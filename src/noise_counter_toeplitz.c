#include "noise_counter_toeplitz.h"
#include <math.h>

/* The quadrature nodes are s = FIRST, FIRST - STEP, ... These constants are the best of a search over
   steps from 1 to 4, for bounds from 10 to 1e5. */
static const double FIRST = 1.5, STEP = 2, FALL = 0.15;
static const double PI = 3.14159265358979323846;
/* Far above the rounding errors of the norm and of the released products. */
static const double MARGIN = 0x1p-40;

int toeplitz_nodes(double bound) {
  const double items = bound < 0x1p53 ? bound : 0x1p53;
  return (int)ceil((log(items) + FIRST) / STEP) + 2;
}

/* Per node: 1 - u, w, and the state of the recursion for the response. */
static double *gaps(toeplitz_t *t) { return (double *)(t + 1); }
static double *weights(toeplitz_t *t) { return gaps(t) + t->nodes; }
static double *echo(toeplitz_t *t) { return weights(t) + t->nodes; }
/* Per number: buffers of the exact items, buffers of the released ones, and the released running sum. */
static double *buffers(toeplitz_t *t, int number) {
  return echo(t) + t->nodes + (size_t)number * (2 * (size_t)t->nodes + 1);
}

/* 1 + sum over k from 1 to bound - 1 of (sum_i w_i u_i^k)^2, by geometric series. */
static double column_norm(toeplitz_t *t) {
  const double *gap = gaps(t), *w = weights(t);
  double square = 1;
  for (int i = 0; i < t->nodes; i++) {
    for (int j = 0; j < t->nodes; j++) {
      const double both = (1 - gap[i]) * (1 - gap[j]);       /* u_i u_j, and 1 - u_i u_j, */
      const double less = gap[i] + gap[j] - gap[i] * gap[j]; /* since u may be close to 1 */
      const double share = t->bound < INFINITY ? -expm1((t->bound - 1) * log1p(-less)) : 1;
      square += w[i] * w[j] * both * share / less;
    }
  }
  return sqrt(square) * (1 + MARGIN);
}

void toeplitz_init(toeplitz_t *t, double bound, int nodes, int numbers) {
  *t = (toeplitz_t){.bound = bound, .nodes = nodes, .numbers = numbers, .weight = 1};
  double *gap = gaps(t), *w = weights(t);
  for (int i = 0; i < t->nodes; i++) {
    const double s = FIRST - STEP * i;
    gap[i] = 1 / (1 + exp(-s));
    w[i] = STEP / PI * exp(s / 2) / (1 + exp(s));
    if (bound == INFINITY && s < 0) w[i] /= 1 - FALL * s;
  }
  const size_t rest = (size_t)t->nodes + (size_t)numbers * (2 * (size_t)t->nodes + 1);
  for (size_t i = 0; i < rest; i++) echo(t)[i] = 0;
  t->norm = column_norm(t);
}

/* sum_i w_i b_i: the part of (R x)_t that earlier items contribute; b_i = sum over j < t of u_i^(t - j)
   x_j. */
static double past(const toeplitz_t *t, const double *w, const double *b) {
  double sum = 0;
  for (int i = 0; i < t->nodes; i++) sum += w[i] * b[i];
  return sum;
}

static void remember(const toeplitz_t *t, const double *gap, double *b, double item) {
  for (int i = 0; i < t->nodes; i++) b[i] = (1 - gap[i]) * (b[i] + item);
}

void toeplitz_add(toeplitz_t *t, const double *item, enum noise_kind kind, const double *scale, double *sums,
                  draws_t *draws) {
  const double *gap = gaps(t), *w = weights(t);
  const int open = (double)t->n < t->bound;
  if (open) {
    /* L = A R^-1: updates the coefficient of the noise of item 1 in the sum at item n, and the variance
       of the sum's noise. */
    const double shown = (t->n == 0 ? 1 : 0) - past(t, w, echo(t));
    remember(t, gap, echo(t), shown);
    t->response += shown;
    t->variance += t->weight * t->weight * t->response * t->response;
    t->n++;
  }
  for (int i = 0; i < t->numbers; i++) {
    double *exact = buffers(t, i), *seen = exact + t->nodes, *sum = seen + t->nodes;
    if (open) {
      const double y = t->nodes == 0 ? release_noisy(draws, kind, item[i], scale[i])
                                     : release_average(draws, item[i] + past(t, w, exact), scale[i]);
      remember(t, gap, exact, item[i]);
      /* The item as the releases show it, (R^-1 y)_t. */
      const double shown = y - past(t, w, seen);
      remember(t, gap, seen, shown);
      *sum += t->weight * shown;
    }
    sums[i] = *sum;
  }
}
