#ifndef DPTS_NOISE_LAW_H
#define DPTS_NOISE_LAW_H
/* The distribution of one variable of noise in a released sum, as readers of the sum must know it. Two-
   sided geometric noise is Laplace noise on a lattice: step times an integer z whose probability is
   proportional to e^(-|z| step / scale). */

#include "noise.h"

typedef struct {
  enum noise_kind kind;
  double scale;       /* scale of Laplace or geometric noise, sd of Gaussian noise; 0: no noise */
  double step;        /* of the lattice of geometric or rounded Gaussian noise; else 0 */
  double correlation; /* with the noise of the arm's next release; 0: independent */
} noise_law_t;

/* The cumulant generating function ln E e^(l noise), for l >= 0; INFINITY where it does not exist */
double noise_charge(const noise_law_t *noise, double l);

double noise_law_variance(const noise_law_t *noise);

/* For Laplace and geometric noise E e^(l noise) exists only for l below 1 / scale. */
static inline int noise_is_bounded(const noise_law_t *noise) {
  return noise->scale > 0 && (noise->kind == NOISE_LAPLACE || noise->kind == NOISE_GEOMETRIC);
}

/* For these two kinds, with each u = l scale: the derivative of noise_charge() in u */
void noise_charge_slopes(const noise_law_t *noise, int n, const double *u, double *slope);

/* The distribution of the noise that is actually drawn: a live agent's is on a grid, and slightly larger. */
noise_law_t noise_as_drawn(const noise_law_t *noise, const draws_t *draws);

#endif
