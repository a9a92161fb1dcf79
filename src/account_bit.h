/* The privacy loss of one published bit: the function H of the sequence accountant. */
#ifndef DPTS_ACCOUNT_BIT_H
#define DPTS_ACCOUNT_BIT_H

/* log(p^alpha q^(1-alpha) e^-g + (1-p)^alpha (1-q)^(1-alpha)) at q = Phi(x), p = Phi(x + s), for alpha > 1,
   its first two derivatives in x; how steep the logarithm is of the term that cannot turn, the first, rising,
   if s < 0, else the second, falling; and by what power of e at most that steepness grows per unit of x. */
typedef struct {
  double value, slope, curve, steep, grow;
} bit_point;
bit_point bit_at(double alpha, double s, double g, double x);

/* An upper bound on its supremum over x, at most about 1e-8 of the value above it. The search starts at
   *x and sets it to the maximiser. */
double bit_climb(double alpha, double s, double g, double *x);

/* log Phi(x + s) - log Phi(x) */
double bit_log_ratio(double x, double s);

/* The last maximiser, from which the next search starts. `ready` is 0 before the first search. */
typedef struct {
  double x;
  int ready;
} bit_search;

/* H(d, g) = max(0, the supremum over x and both signs of s = +/- d), for d >= 0, g >= 0. */
double bit_loss(double alpha, double d, double g, bit_search *search);

#endif
