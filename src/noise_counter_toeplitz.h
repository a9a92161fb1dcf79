#ifndef DPTS_NOISE_COUNTER_TOEPLITZ_H
#define DPTS_NOISE_COUNTER_TOEPLITZ_H
/* Running sums with correlated Gaussian noise: a factorisation A = L R of the lower triangular
   matrix of ones, whose product with the items x is their running sums.

   Item t releases one number, y_t = (R x)_t + N(0, sd^2), once and for good. The sums are
   L y = A x + L z, made from releases alone. R is lower triangular and Toeplitz: the entries below
   its diagonal are r_0 = 1, r_1, r_2, ... So an item that moves by s moves the releases by s times
   a column of R, whose norm is at most

     norm = sqrt(r_0^2 + ... + r_(bound - 1)^2),

   and with sd = s norm / mu all of them together are mu-GDP. Items may be chosen with the releases
   before them in view: y_t is a Gaussian mechanism of the items so far, and by fully adaptive
   composition (Smith and Thakurta 2022; Denisov, McMahan, Rush, Smith and Thakurta 2022) the squares
   of the single mu add up, to the norm of a column.

   The best Toeplitz factors have L = R, r_k = f_k = (1 - 1 / (2 k)) f_(k - 1), the series of
   (1 - x)^(-1/2): Fichtenberger, Henzinger and Upadhyay (2023); Henzinger, Upadhyay and Upadhyay
   (2023). As f_k^2 < 1 / (pi (k + 1/4)), norm^2 is at most 1 + (4/5 + ln((4 bound - 3) / 5)) / pi. (The
   4/5 is missing where 1 + ln(4 bound / 5) / pi is printed, which is too little for every bound.) The
   variance of a sum is at most sd^2 norm^2, where a binary tree has some sd^2 log2(bound). The price is
   work and memory that grow with the items.

   Here R is theirs but for a quadrature, which makes it a buffered linear Toeplitz matrix
   (Dvijotham, McMahan, Pillutla, Steinke and Thakurta 2024). With u = 1 / (1 + e^s),

     f_k = (1 / pi) integral e^(s/2) / (1 + e^s) u^k ds,

   and the trapezoidal rule with step 2 gives r_k = sum_i w_i u_i^k for k >= 1. Each node is one
   number to keep and a multiplication for each item: some ln(bound) / 2 of them. Nothing rests on
   how near r_k is to f_k: the norm is that of R as it is, and L = A R^-1 is exact, because R^-1 is
   applied by forward substitution. The largest variance is within 1.2% of that with f_k.

   Without a bound the weights fall with the order of the node, w_i / (1 + 0.15 |s_i|), as in the
   logarithmic perturbations of Jacobsen and Fawaz (2025), and the nodes reach 2^53 items. The squares
   of r_k then have a finite sum, and `norm` is that of the whole column: the guarantee holds at every
   time. The variance is about 1.8 times as large as with the right bound.

   One counter takes vectors of `numbers` items. It is one flat block, aligned for doubles and without
   pointers. */

#include <stddef.h>
#include <stdint.h>
#include "noise.h"

typedef struct {
  int64_t n;     /* items */
  double bound;  /* items that it takes; Inf: no bound */
  int32_t nodes; /* of the quadrature */
  int32_t numbers;
  double norm; /* of a column of R, never below the truth */
  double
      variance; /* of the noise in the sums, in units of sd^2: the squared norm of a row of L */
  double response; /* the first column of L, at item n */
} toeplitz_t; /* in memory it is followed by the nodes and by what each number keeps of its items */

int toeplitz_nodes(double bound);

static inline size_t toeplitz_size(double bound, int numbers) {
  const size_t nodes = (size_t)toeplitz_nodes(bound);
  return sizeof(toeplitz_t) +
         sizeof(double) * (3 * nodes + (size_t)numbers * (2 * nodes + 1));
}

void toeplitz_init(toeplitz_t *t, double bound, int numbers);

/* Takes one more vector of items, with noise of sd[i] on what is released of number i. Items past
   the bound are dropped. Writes the released sums. */
void toeplitz_add(toeplitz_t *t, const double *item, const double *sd, double *sums,
                  draws_t *draws);

#endif
