#include "math_beta.h"

/* Stirling's series; a small z is first raised above 16 by the recurrence of the error. */
static double error_by_steps(double z) {
  double sum = 0;
  for (; z < 16; z++) sum += (z + 0.5) * log1p(1 / z) - 1;
  return sum + stirling_error(z);
}

double stirling_error(double z) {
  static const double WHOLE[16] = {0,
                                   0.08106146679532726,
                                   0.0413406959554093,
                                   0.02767792568499834,
                                   0.020790672103765093,
                                   0.016644691189821193,
                                   0.013876128823070748,
                                   0.01189670994589177,
                                   0.010411265261972096,
                                   0.009255462182712733,
                                   0.00833056343336287,
                                   0.007573675487951841,
                                   0.00694284010720953,
                                   0.006408994188004207,
                                   0.0059513701127588475,
                                   0.005554733551962801};
  if (z < 16) return z == (int)z ? WHOLE[(int)z] : error_by_steps(z);
  const double zz = z * z;
  return (1.0 / 12 - (1.0 / 360 - (1.0 / 1260 - (1.0 / 1680) / zz) / zz) / zz) / z;
}

double deviance(double x, double m) {
  if (fabs(x - m) < 0.1 * (x + m)) {
    double v = (x - m) / (x + m), s = (x - m) * v, ej = 2 * x * v;
    if (fabs(s) < 1e-300) return s;
    v *= v;
    for (int j = 1; j < 1000; j++) {
      ej *= v;
      const double s1 = s + ej / (2 * j + 1);
      if (s1 == s) return s1;
      s = s1;
    }
  }
  return x * log(x / m) + m - x;
}

double beta_log_density(double a, double b, double x) {
  const double n = a + b;
  return stirling_error(n) - stirling_error(a) - stirling_error(b) - deviance(a, n * x) -
         deviance(b, n * (1 - x)) + 0.5 * log(a * b / (2 * M_PI * n)) - log(x * (1 - x));
}

/* Chernoff's bound on P(X < x) for X ~ Beta(a, b) with mean above x, as a logarithm: -N KL(a / N || x),
   N = a + b. With X = G / (G + H) for Gamma variates G and H, it is the minimum over s of E exp(s (x H -
   (1 - x) G)). */
double beta_log_bound(double a, double b, double x) {
  const double n = a + b;
  return -deviance(a, n * x) - deviance(b, n * (1 - x));
}

/* P(X < x), X ~ Beta(a, b): x^a (1 - x)^b / B(a, b) in saddle-point form, times the continued fraction
   of Didonato and Morris (1992, equation 9), evaluated by Lentz's method. It converges fast where x is
   below the mean. *front is set to the first factor. */
static double below(double a, double b, double x, double *front) {
  if (x * (a + b) > a) return 1 - below(b, a, 1 - x, front);
  const double n = a + b, gap = a - n * x + 1;
  *front = exp(stirling_error(n) - stirling_error(a) - stirling_error(b) - deviance(a, n * x) -
               deviance(b, n * (1 - x))) *
           sqrt(a * b / (2 * M_PI * n));
  double f = a * gap / (a + 1), c = f, d = 0;
  for (double m = 1; m < 1e7; m++) {
    const double odd = a + 2 * m - 1, mb = m * (b - m) * x;
    const double alpha = (a + m - 1) * (n + m - 1) * x * mb / (odd * odd);
    const double beta = m + mb / odd + (a + m) * (gap + m * (2 - x)) / (odd + 2);
    d = 1 / (beta + alpha * d);
    c = beta + alpha / c;
    f *= c * d;
    if (fabs(c * d - 1) < 1e-15) break;
  }
  return *front / f;
}

double beta_below(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  double front;
  return below(a, b, x, &front);
}

/* Closed forms where one of the parameters is 1: arms that were never pulled, or that had one outcome
   only. */
double beta_upper(double a, double b, double x, double *density) {
  *density = 0;
  if (x <= 0) return 1;
  if (x >= 1) return 0;
  if (a == 1) {
    const double p = b == 1 ? 1 - x : exp(b * log1p(-x));
    *density = b * p / (1 - x);
    return p;
  }
  if (b == 1) {
    const double p = -expm1(a * log(x));
    *density = a * (1 - p) / x;
    return p;
  }
  double front;
  const double p = below(b, a, 1 - x, &front);
  *density = front / (x * (1 - x));
  return p;
}
