/* Given the other arms' draws, round t publishes a bit: was the private arm
   pulled? It is Bernoulli(q), q = Phi(x), under one stream and Bernoulli(p),
   p = Phi(x + s), |s| <= d, under the other; x is out of the analyst's control.
   A pull is charged g, what the future loses by the arm having one more reward.
   H(d, g) is the most that such a round can add to log E_Q[(P/Q)^alpha]. */
#include "account_bit.h"
#include "special.h"

#include <math.h>

/* log Phi(y), r = phi(y) / Phi(y) and Phi(y), at y and at -y. */
typedef struct {
  double log_cdf, r, cdf;
} tail;
typedef struct {
  double x, density;
  tail lower, upper; /* at x, at -x */
} two_tails;

static two_tails tails_at(double x) {
  two_tails t;
  tail small, large;
  double u = fabs(x), m;
  t.x = x;
  t.density = exp(-0.5 * u * u) / DPTS_SQRT_2PI;
  if (u < 10) { /* beyond, exp and erfc lose digits; nearer, they are faster */
    small.cdf = 0.5 * erfc(u * DPTS_SQRT1_2);
    small.log_cdf = log(small.cdf);
    small.r = t.density / small.cdf;
  } else {
    m = mills(u);
    small.cdf = t.density * m;
    small.log_cdf = -0.5 * u * u - DPTS_LOG_SQRT_2PI + log(m);
    small.r = 1 / m;
  }
  large.cdf = 1 - small.cdf;
  large.log_cdf = log1p(-small.cdf);
  large.r = t.density / large.cdf;
  t.lower = x < 0 ? small : large;
  t.upper = x < 0 ? large : small;
  return t;
}

/* log Phi(y + s) - log Phi(y), the integral of r over the shift. Where the two
   logarithms would cancel: the trapezoid with end corrections by r' and r'''
   (Euler and Maclaurin), from r' = -r (y + r); relative error below 1e-13. */
static double log_ratio(double y0, const tail *t0, double y1, const tail *t1) {
  double s = y1 - y0;
  if (fabs(s) * (1 + fabs(y0)) > 0.04) return t1->log_cdf - t0->log_cdf;
  double r[2] = {t0->r, t1->r}, y[2] = {y0, y1}, first[2], third[2];
  for (int i = 0; i < 2; i++) {
    double a = y[i] + r[i];
    double d1 = -r[i] * a;
    double d2 = -d1 * a - r[i] * (1 + d1);
    first[i] = d1;
    third[i] = -d2 * a - 2 * d1 * (1 + d1) - r[i] * d2;
  }
  double s2 = s * s;
  return s * ((r[0] + r[1]) / 2 - s * (first[1] - first[0]) / 12 +
              s * s2 * (third[1] - third[0]) / 720);
}

/* The logarithm in H at x, and its first two derivatives in x. */
typedef struct {
  double value, slope, curve;
} bit_point;

static bit_point bit_at(double alpha, double s, double g, double x) {
  two_tails q = tails_at(x), p = tails_at(x + s);
  double beta = alpha - 1;
  /* p^alpha q^(1-alpha) = p (p/q)^beta, so that the terms of order one
     cancel in p (e^.. - 1) + (1-p) (e^.. - 1) before they are formed. */
  double win = beta * log_ratio(x, &q.lower, x + s, &p.lower) - g;
  double lose = beta * log_ratio(-x, &q.upper, -x - s, &p.upper);
  double up = win + p.lower.log_cdf, down = lose + p.upper.log_cdf;
  bit_point at;
  double total, scale; /* total = F / e^scale */
  if (win < 1 && lose < 1) {
    double excess = p.lower.cdf * expm1(win) + p.upper.cdf * expm1(lose);
    at.value = log1p(excess);
    scale = 0;
    total = 1 + excess;
  } else {
    scale = up > down ? up : down;
    total = exp(up - scale) + exp(down - scale);
    at.value = scale + log(total);
  }
  double w_up = exp(up - scale) / total, w_down = exp(down - scale) / total;
  /* d/dx of log(win term) is a1, of log(lose term) is -b1. */
  double a1 = alpha * p.lower.r - beta * q.lower.r;
  double b1 = alpha * p.upper.r - beta * q.upper.r;
  if (scale == 0 && fabs(win) < 1 && fabs(lose) < 1) {
    /* the same difference with the common part phi(x + s) taken out */
    at.slope = (p.density * (expm1(win) - expm1(lose)) +
                beta * (p.lower.cdf * exp(win) * (p.lower.r - q.lower.r) -
                        p.upper.cdf * exp(lose) * (p.upper.r - q.upper.r))) /
               total;
  } else {
    at.slope = w_up * a1 - w_down * b1;
  }
  double a2 =
      -alpha * p.lower.r * (x + s + p.lower.r) + beta * q.lower.r * (x + q.lower.r);
  double b2 =
      alpha * p.upper.r * (p.upper.r - x - s) - beta * q.upper.r * (q.upper.r - x);
  at.curve = w_up * (a1 * a1 + a2) + w_down * (b1 * b1 - b2) - at.slope * at.slope;
  return at;
}

/* The first search of a sign: the best of a coarse sweep. The maximiser lies
   within about alpha d + sqrt(2 g / (alpha (alpha-1) d^2) + 2) of 0. */
static double sweep(double alpha, double s, double g) {
  double reach = (alpha + 1) * fabs(s) + 4;
  if (g > 0) reach += sqrt(2 * g / (alpha * (alpha - 1))) / fabs(s);
  double best = -1, where = 0;
  int points = (int)(8 * reach);
  if (points > 400) points = 400;
  for (int i = 0; i <= points; i++) {
    double x = reach * (2.0 * i / points - 1);
    double value = bit_at(alpha, s, g, x).value;
    if (value > best) {
      best = value;
      where = x;
    }
  }
  return where;
}

/* Newton inside a bracket kept by the sign of the slope: for one sign the
   logarithm has one maximum where it is positive. The value returned is that
   of the local parabola's top; stopping at steps of 1e-4 leaves an error of
   order 1e-12. */
static double climb(double alpha, double s, double g, double *x) {
  double lower = -INFINITY, upper = INFINITY, value = 0;
  double longest = 1 + 0.05 * alpha * fabs(s);
  for (int i = 0; i < 200; i++) {
    bit_point at = bit_at(alpha, s, g, *x);
    value = at.value;
    if (at.slope == 0) return value;
    if (at.slope > 0) lower = *x;
    else upper = *x;
    double step = at.curve < 0 ? -at.slope / at.curve : copysign(longest / 2, at.slope);
    if (fabs(step) > longest) step = copysign(longest, at.slope);
    if (at.curve < 0 && fabs(step) < 1e-4) {
      *x += step;
      return value + 0.5 * at.slope * step;
    }
    double next = *x + step;
    if (next <= lower || next >= upper) next = (lower + upper) / 2;
    if (next == *x) return value;
    *x = next;
  }
  return value;
}

double bit_loss(double alpha, double d, double g, bit_search *search) {
  if (d == 0) return 0;
  double best = 0;
  for (int i = 0; i < 2; i++) {
    double s = i ? -d : d;
    if (!search->ready) search->x[i] = sweep(alpha, s, g);
    double value = climb(alpha, s, g, &search->x[i]);
    if (value > best) best = value;
  }
  search->ready = 1;
  return best;
}
