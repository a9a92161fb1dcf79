/* The sum of the privacy losses of two independent mechanisms. Sums are sorted into cells between knots,
   and the probability of each cell under P and under Q is recorded. All terms are positive, so the
   relative rounding error of a probability is at most its number of terms times 2^-53. */
#include "account.h"

void losses_add(const losses_t *x, const losses_t *y, const double *knot, long cells, double *p, double *q) {
  for (long c = 0; c < cells; c++) p[c] = q[c] = 0;
  long first = 0; /* the cell of the smallest sum with the next loss of x */
  for (long i = 0; i < x->n; i++) {
    const double loss = x->loss[i];
    while (first + 1 < cells && y->loss[0] > knot[first + 1] - loss) first++;
    for (long j = 0, c = first; j < y->n; c++) {
      const double end = c + 1 < cells ? knot[c + 1] - loss : INFINITY;
      double own_p = 0, own_q = 0;
      for (; j < y->n && y->loss[j] <= end; j++) {
        own_p += y->p[j];
        own_q += y->q[j];
      }
      p[c] += x->p[i] * own_p;
      q[c] += x->q[i] * own_q;
    }
  }
}
