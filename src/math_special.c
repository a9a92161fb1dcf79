#include "math_special.h"

#include <math.h>

double normal_density(double x) { return exp(-0.5 * x * x) / DPTS_SQRT_2PI; }

double normal_cdf(double x) { return 0.5 * erfc(-x * DPTS_SQRT1_2); }

/* Below this point M(x) is computed from erfc(), where the continued fraction would need too many terms;
   above it by the fraction, where exp(x^2 / 2) would lose digits. */
#define MILLS_SPLIT 3.0

/* The moments J_k = int_0^inf t^k / k! exp(-t^2/2 - x t) dt are the derivatives of the Mills ratio, M^(k) =
   (-1)^k k! J_k, with J_0 = M. They obey J_(k-1) = x J_k + (k+1) J_(k+1), so the ratios r_k = J_(k+1) / J_k
   come from the backward continued fraction r_(k-1) = 1 / (x + (k+1) r_k). `ratio_terms` is the depth at
   which r_0 has converged to 1e-17, found by computing with 50 digits. */
static int ratio_terms(double x) {
  if (x > 1e4) return 6;
  return (int)(9 + 40 / x + 420 / (x * x));
}

static double mills_ratio_0(double x) {
  double r = 0;
  for (int k = ratio_terms(x); k >= 1; k--) r = 1 / (x + (k + 1) * r);
  return r;
}

double mills(double x) {
  if (x < MILLS_SPLIT) return DPTS_SQRT_PI_2 * exp(0.5 * x * x) * erfc(x * DPTS_SQRT1_2);
  return 1 / (x + mills_ratio_0(x));
}

/* 1 - x M(x) = -M'(x), which is positive, without cancellation at large x. */
static double mills_slope(double x) {
  if (x < MILLS_SPLIT) return 1 - x * mills(x);
  double r = mills_ratio_0(x);
  return r / (x + r);
}

/* M(x-h) - M(x+h) = 2 sum over odd k of h^k J_k(x): every term is positive. */
#define DROP_TERMS 31
static double mills_drop_series(double x, double h) {
  double ratio[DROP_TERMS + 1];
  double r = 0;
  for (int k = ratio_terms(x) + DROP_TERMS; k >= 1; k--) {
    r = 1 / (x + (k + 1) * r);
    if (k <= DROP_TERMS) ratio[k - 1] = r;
  }
  double j = 1 / (x + ratio[0]), term = j, sum = 0;
  for (int k = 1; k <= DROP_TERMS; k++) {
    term *= h * ratio[k - 1];
    if (k % 2) {
      sum += term;
      if (term < 1e-18 * sum) break;
    }
  }
  return 2 * sum;
}

/* Gauss-Legendre, 12 nodes (the positive ones; abscissa and weight): Abramowitz
   and Stegun (1964), table 25.4. */
static const double gl_x[6] = {0.125233408511468915472441369464, 0.367831498998180193752691536644,
                               0.587317954286617447296702418941, 0.769902674194304687036893833213,
                               0.904117256370474856678465866119, 0.981560634246719250690549090149};
static const double gl_w[6] = {0.249147045813402785000562436043, 0.233492536538354808760849898925,
                               0.203167426723065921749064455810, 0.160078328543346226334652529543,
                               0.106939325995318430960254718194, 0.047175336386511827194615961485};

double mills_drop(double x, double h) {
  if (x - h >= MILLS_SPLIT) return mills_drop_series(x, h);
  double sum = 0;
  for (int i = 0; i < 6; i++) {
    double u = h * gl_x[i];
    sum += gl_w[i] * (mills_slope(x - u) + mills_slope(x + u));
  }
  return h * sum;
}
