#ifndef DPTS_SKIP_BETA_LARGEST_H
#define DPTS_SKIP_BETA_LARGEST_H
/* Which of several independent Beta variates is the largest: the chance of each, by quadrature.

   In y = log(x / (1 - x)) the density of Beta(a, b) is a smooth peak, exp(a d - n log(1 + x0
   expm1(d))) times a constant, with d = y - y0, x0 = x(y0) and n = a + b. The line is cut into panels
   as wide as the narrowest peak that reaches them, from where the largest variate cannot lie
   lower to where none lies higher, and each panel has the eight nodes of Gauss and Legendre. */

#include "sample.h"

enum { LARGEST_MAX = 32, LARGEST_PANELS = 64 };

/* The panels, for variates that lie between those of a low and of a high set of parameters. */
typedef struct {
  int k, n;                       /* variates that can be the largest; panels */
  int who[LARGEST_MAX];           /* their numbers */
  double left;                    /* end of the panels, in y */
  double half[LARGEST_PANELS];    /* of their widths, from right to left */
  double d[LARGEST_PANELS][8];    /* nodes, as distances from the left end */
  double rise[LARGEST_PANELS][8]; /* log(1 + x0 expm1(d)) there */
  double inner[8]
              [8]; /* from values at the nodes to integrals from a node to the right edge */
} largest_t;

/* Lays the panels out; low[i] is stochastically below high[i], for i < k <= LARGEST_MAX. Returns 0
   if too many panels are needed. */
int largest_begin(largest_t *grid, const beta_t *low, const beta_t *high, int k);

/* chance[m] of variate who[m] to be the largest, m < grid->k; beta[] is indexed as low and high
   were. Returns by how much their sum differs from 1, a measure of the error. */
double largest_chances(const largest_t *grid, const beta_t *beta, double *chance);

#endif
