/* Given the other arms' draws, round t publishes a bit: was the private arm pulled? It is Bernoulli(q), q =
   Phi(x), under one stream and Bernoulli(p), p = Phi(x + s), |s| <= d, under the other; x may be any number.
   A pull is charged g, by which the bound for later rounds decreases since the arm has one more reward. H(d,
   g) is the most that such a round can add to log E_Q[(P/Q)^alpha].

   Three theorems, proved in inst/paper/proofs.md, make the search for
   the supremum a proof, up to rounding:
   1. for one sign of s the quantity increases in x and then decreases, so the sign
      of its derivative brackets the maximum;
   2. H is jointly convex in (d, g);
   3. s = -d, under which P pulls less, is never below s = +d. */
#include "account_bit.h"
#include "math_special.h"

#include <math.h>

/* Phi(y), r = phi(y) / Phi(y) and y + r, at y and at -y. The last is the mean of y - Z given Z < y, Z
   normal; r' = -r (y + r). */
typedef struct {
  double cdf, r, lift;
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
  if (u < 10) { /* exp and erfc are faster, but lose digits further out */
    small.cdf = 0.5 * erfc(u * DPTS_SQRT1_2);
    small.r = t.density / small.cdf;
    small.lift = small.r - u;
  } else {
    m = mills(u);
    small.cdf = t.density * m;
    small.r = 1 / m;
    small.lift = u < 1000 ? small.r - u : (1 - 2 / (u * u)) / u;
  }
  large.cdf = 1 - small.cdf;
  large.r = t.density / large.cdf;
  large.lift = u + large.r;
  t.lower = x < 0 ? small : large;
  t.upper = x < 0 ? large : small;
  return t;
}

/* log Phi(x), or of the upper tail log Phi(-x): seldom needed */
static double log_cdf(const two_tails *t, int upper) {
  const tail *own = upper ? &t->upper : &t->lower;
  double u = fabs(t->x);
  if (own->cdf > 0.5) return log1p(-(upper ? t->lower.cdf : t->upper.cdf));
  return u < 10 ? log(own->cdf) : -0.5 * u * u - DPTS_LOG_SQRT_2PI - log(own->r);
}

/* From y0 to y1 = y0 + s, which are x or -x: the change of log Phi, which is the integral of r, that of r
   and, roughly, that of r'. Where the two values would cancel: the trapezoid with end corrections (Euler and
   Maclaurin) by the derivatives of r; relative error below 1e-13. */
typedef struct {
  double log_cdf, r, slope;
} rise;

static rise rise_of(const two_tails *from, const two_tails *to, int upper) {
  const tail *t[2] = {upper ? &from->upper : &from->lower, upper ? &to->upper : &to->lower};
  double s = upper ? from->x - to->x : to->x - from->x;
  if (fabs(s) * (1 + fabs(from->x)) > 0.04)
    return (rise){log_cdf(to, upper) - log_cdf(from, upper), t[1]->r - t[0]->r,
                  t[0]->r * t[0]->lift - t[1]->r * t[1]->lift};
  double d1[2], d2[2], d3[2], d4[2];
  for (int i = 0; i < 2; i++) {
    double r = t[i]->r, a = t[i]->lift;
    d1[i] = -r * a;
    d2[i] = -d1[i] * a - r * (1 + d1[i]);
    d3[i] = -d2[i] * a - 2 * d1[i] * (1 + d1[i]) - r * d2[i];
    d4[i] = -d3[i] * a - 3 * d2[i] * (1 + d1[i]) - 3 * d1[i] * d2[i] - r * d3[i];
  }
  double s2 = s * s;
  return (rise){s * ((t[0]->r + t[1]->r) / 2 - s * (d1[1] - d1[0]) / 12 + s * s2 * (d3[1] - d3[0]) / 720),
                s * ((d1[0] + d1[1]) / 2 - s * (d2[1] - d2[0]) / 12 + s * s2 * (d4[1] - d4[0]) / 720),
                s * (d2[0] + d2[1]) / 2};
}

double bit_log_ratio(double x, double s) {
  two_tails from = tails_at(x), to = tails_at(x + s);
  return rise_of(&from, &to, 0).log_cdf;
}

bit_point bit_at(double alpha, double s, double g, double x) {
  two_tails q = tails_at(x), p = tails_at(x + s);
  double beta = alpha - 1;
  rise pull = rise_of(&q, &p, 0), pass = rise_of(&q, &p, 1);
  /* p^alpha q^(1-alpha) = p (p/q)^beta, so that the terms of order one
     cancel in p (e^.. - 1) + (1-p) (e^.. - 1) before they are formed. */
  double win = beta * pull.log_cdf - g, gain = expm1(win);
  double lose = beta * pass.log_cdf, loss = expm1(lose);
  double excess = p.lower.cdf * gain + p.upper.cdf * loss;
  int moderate = win < 1 && lose < 1 && excess > -0.5;
  bit_point at;
  at.steep = s < 0 ? p.lower.r + beta * pull.r : p.upper.r + beta * pass.r;
  at.grow = alpha * (s < 0 ? p.lower.lift : p.upper.lift);
  double total = 1 + excess, scale = 0; /* total = F / e^scale */
  if (moderate) at.value = log1p(excess);
  if (moderate && win > -1 && lose > -1) {
    /* d total / dx with the common part phi(x + s) taken out, and its derivative */
    double odds = gain - loss, e_win = 1 + gain, e_lose = 1 + loss;
    double up_r = e_win * pull.r, down_r = e_lose * pass.r;
    at.slope = (p.density * odds + beta * (p.lower.cdf * up_r - p.upper.cdf * down_r)) / total;
    at.curve = (2 * beta * p.density * (up_r + down_r) - p.x * p.density * odds +
                beta * (p.lower.cdf * (beta * up_r * pull.r + e_win * pull.slope) +
                        p.upper.cdf * (beta * down_r * pass.r + e_lose * pass.slope))) /
                   total -
               at.slope * at.slope;
    return at;
  }
  double up = win + log_cdf(&p, 0), down = lose + log_cdf(&p, 1);
  if (!moderate) {
    scale = up > down ? up : down;
    total = exp(up - scale) + exp(down - scale);
    at.value = scale + log(total);
  }
  double w_up = exp(up - scale) / total, w_down = exp(down - scale) / total;
  /* d/dx of log(win term) is a1, of log(lose term) is -b1. */
  double a1 = p.lower.r + beta * pull.r, b1 = p.upper.r + beta * pass.r;
  double a2 = -alpha * p.lower.r * p.lower.lift + beta * q.lower.r * q.lower.lift;
  double b2 = alpha * p.upper.r * p.upper.lift - beta * q.upper.r * q.upper.lift;
  at.slope = w_up * a1 - w_down * b1;
  at.curve = w_up * (a1 * a1 + a2) + w_down * (b1 * b1 - b2) - at.slope * at.slope;
  return at;
}

/* Newton inside a bracket kept by the sign of the slope, which changes once (theorem 1). What is
   returned is proved, not estimated. Let s > 0, F = e^a + e^b be e^value and l the bracket's lower end.
   In the proof of theorem 1, F' = P e^b (e^w / G - 1) left of the maximum, with P = -b' > 0, e^b falling
   and G growing, and P' <= alpha (rho' < 1), also P' / P <= alpha (rho(l + s) - l - s), as
   rho' = rho (rho - y), rho - y falls and P >= rho(x + s). With t the growth of P that one of the two allows
   over w, the bracket's width, F'(x) <= F'(l) (1 + t) up to the maximum:

     sup <= value + slope w (1 + t), all at l;   t = min(alpha w / P, e^(alpha (rho - y) w) - 1).

   If s < 0 all this holds in the mirror, from the upper end. That end is therefore the one to
   be brought close: each step is lengthened towards it by what Newton's error may be, or
   first away from it, while the other end is open. */
double bit_climb(double alpha, double s, double g, double *x) {
  double side = s < 0 ? 1 : -1; /* direction of the end of the bracket that gives the bound */
  double lower = -INFINITY, upper = INFINITY, best = -INFINITY, bound = INFINITY;
  double longest = 1 + 0.05 * alpha * fabs(s);
  bit_point tight = {0, 0, 0, 0, 0};
  *x -= side * 1e-3 / (1 + fabs(*x)); /* from a good guess to the other side of the maximum */
  for (int i = 0; i < 200; i++) {
    bit_point at = bit_at(alpha, s, g, *x);
    best = fmax(best, at.value);
    if (at.slope == 0) return at.value;
    if (at.slope > 0) lower = *x;
    else upper = *x;
    if (at.slope * side < 0) tight = at;
    double width = upper - lower;
    if (width < INFINITY) {
      double rest = fabs(tight.slope) * width;
      double growth = fmin(alpha * width / tight.steep, expm1(tight.grow * width));
      bound = fmin(bound, tight.value + rest * (1 + growth));
      if (bound - best <= 1e-8 * fabs(best) + 1e-300) return fmax(bound, best);
    }
    double step = at.curve < 0 ? -at.slope / at.curve : copysign(longest / 2, at.slope);
    if (fabs(step) > longest) step = copysign(longest, at.slope);
    double extra = fmin(fabs(step) / 4, 0.5 * step * step * (1 + fabs(*x)) + 1e-7);
    int open = side > 0 ? lower == -INFINITY : upper == INFINITY;
    double next = *x + step + (at.slope * side < 0 && open ? -side : side) * extra;
    if (next <= lower || next >= upper) next = (lower + upper) / 2;
    if (next == *x || next == lower || next == upper) break;
    *x = next;
  }
  return bound < INFINITY ? bound : best;
}

double bit_loss(double alpha, double d, double g, bit_search *search) {
  if (d == 0) return 0;
  /* First guess: with a small charge the maximum is near alpha d. */
  if (!search->ready) search->x = alpha * d > 1 ? alpha * d : 0;
  search->ready = 1;
  double value = bit_climb(alpha, -d, g, &search->x);
  return value > 0 ? value : 0;
}
