/* What one published bit can leak: the function H of the sequence accountant. */
#ifndef DPTS_ACCOUNT_BIT_H
#define DPTS_ACCOUNT_BIT_H

/* Where the maximisers of the two signs stood; the next search starts there.
   `ready` is 0 before the first search. */
typedef struct {
  double x[2];
  int ready;
} bit_search;

/* H(d, g) = max(0, sup over x and both signs of
                    log(p^alpha q^(1-alpha) e^-g + (1-p)^alpha (1-q)^(1-alpha))),
   q = Phi(x), p = Phi(x +/- d), for alpha > 1, d >= 0, g >= 0. */
double bit_loss(double alpha, double d, double g, bit_search *search);

#endif
