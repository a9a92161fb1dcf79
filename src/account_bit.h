/* What one published bit can leak: the function H of the sequence accountant. */
#ifndef DPTS_ACCOUNT_BIT_H
#define DPTS_ACCOUNT_BIT_H

/* log(p^alpha q^(1-alpha) e^-g + (1-p)^alpha (1-q)^(1-alpha)) at q = Phi(x),
   p = Phi(x + s), for alpha > 1, and its first two derivatives in x. */
typedef struct {
  double value, slope, curve;
} bit_point;
bit_point bit_at(double alpha, double s, double g, double x);

/* Its supremum over x, the search starting at *x and leaving the maximiser there. */
double bit_climb(double alpha, double s, double g, double *x);

/* log Phi(x + s) - log Phi(x) */
double bit_log_ratio(double x, double s);

/* Where the maximiser was; the next search starts there. `ready` is 0 before
   the first search. */
typedef struct {
  double x;
  int ready;
} bit_search;

/* H(d, g) = max(0, the supremum over x and both signs of s = +/- d), for d >= 0,
   g >= 0. */
double bit_loss(double alpha, double d, double g, bit_search *search);

#endif
