#ifndef DPTS_NOISE_COUNTER_TOEPLITZ_H
#define DPTS_NOISE_COUNTER_TOEPLITZ_H
/* Running sums with correlated Gaussian noise: a factorisation A = L R of the lower triangular matrix of
   ones, whose product with the items x is their running sums.

   Item t releases one number, y_t = (R x)_t + N(0, sd^2). The released sums are L y = A x + L z,
   computed from the releases alone. R is lower triangular and Toeplitz, with the entries r_0 = 1, r_1,
   r_2, ... from its diagonal down. An item that changes by s therefore moves the releases by s times a
   column of R, whose norm is at most

     norm = sqrt(r_0^2 + ... + r_(bound - 1)^2),

   and with sd = s norm / mu all of them together are mu-GDP. Items may be chosen after seeing the
   earlier releases: y_t is a Gaussian mechanism of the items so far, and by fully adaptive composition
   (Smith and Thakurta 2022; Denisov, McMahan, Rush, Smith and Thakurta 2022) the squares of the single
   mu add up, to the norm of a column.

   The best Toeplitz factors have L = R, r_k = f_k = (1 - 1 / (2 k)) f_(k - 1), the series of (1 -
   x)^(-1/2): Fichtenberger, Henzinger and Upadhyay (2023); Henzinger, Upadhyay and Upadhyay (2023). As
   f_k^2 < 1 / (pi (k + 1/4)), norm^2 is at most 1 + (4/5 + ln((4 bound - 3) / 5)) / pi. (The published 1
   + ln(4 bound / 5) / pi lacks the 4/5 and is too small for every bound.) The variance of a sum is at
   most sd^2 norm^2, where a binary tree has about sd^2 log2(bound). The cost is work and memory that
   grow with the number of items.

   Here f_k is replaced by a quadrature, which makes R a buffered linear Toeplitz matrix (Dvijotham,
   McMahan, Pillutla, Steinke and Thakurta 2024). With u = 1 / (1 + e^s),

     f_k = (1 / pi) integral e^(s/2) / (1 + e^s) u^k ds,

   and the trapezoidal rule with step 2 gives r_k = sum_i w_i u_i^k for k >= 1. Each node costs one
   stored number and a multiplication per item; there are about ln(bound) / 2 nodes. The guarantee does
   not depend on how close r_k is to f_k: the norm is that of the actual R, and L = A R^-1 is exact,
   because R^-1 is applied by forward substitution. The largest variance is within 1.2% of that with f_k.

   Without a bound the weights decrease with the order of the node, w_i / (1 + 0.15 |s_i|), as in the
   logarithmic perturbations of Jacobsen and Fawaz (2025), and the nodes reach 2^53 items. The squares of
   r_k then have a finite sum, and `norm` is that of the whole column, so the guarantee holds at every
   time. The variance is about 1.8 times as large as with the right bound.

   With nodes = 0, R is the identity: each item is released once, with Gaussian or Laplace noise of its
   own, and the running sum takes it with the weight that is in force, which the caller may change before
   each item.

   One counter takes vectors of `numbers` items. It is one flat block, aligned for doubles and without
   pointers. */

#include <stddef.h>
#include <stdint.h>
#include "noise.h"

typedef struct {
  int64_t n;     /* items */
  double bound;  /* on the number of items; Inf: no bound */
  int32_t nodes; /* of the quadrature; 0: R is the identity */
  int32_t numbers;
  double weight;   /* of the next item in the sums; 1 unless nodes = 0 */
  double norm;     /* an upper bound on the norm of a column of R */
  double variance; /* of the noise in a sum, in units of sd^2: the squared norm of a row of L */
  double response; /* the entry of L's first column at item n */
} toeplitz_t;      /* followed in memory by the nodes and the buffers of each number */

int toeplitz_nodes(double bound);

static inline size_t toeplitz_size(int n_nodes, int numbers) {
  const size_t nodes = (size_t)n_nodes;
  return sizeof(toeplitz_t) + sizeof(double) * (3 * nodes + (size_t)numbers * (2 * nodes + 1));
}

void toeplitz_init(toeplitz_t *t, double bound, int nodes, int numbers);

/* Adds a vector of items, with noise of scale[i] (Gaussian noise's sd) on the release of number i, and
   writes the released sums. Items past the bound are ignored. Laplace's noise needs nodes = 0. */
void toeplitz_add(toeplitz_t *t, const double *item, enum noise_kind kind, const double *scale, double *sums,
                  draws_t *draws);

#endif
