#ifndef DPTS_NOISE_EXACT_RELEASE_H
#define DPTS_NOISE_EXACT_RELEASE_H
/* Releases of live agents: a sum of rewards plus exact noise.

   Rewards lie on the grid of multiples of 1 / EXACT_GRID (on_grid()). Their sums do, too, exactly, as
   doubles below 2^32. One reward moves the integer EXACT_GRID sum by at most EXACT_GRID. */

#include <math.h>
#include "noise_exact_laplace.h"

#define EXACT_GRID 0x1p20

enum exact_status {
  EXACT_OK,
  EXACT_NO_BITS,   /* the operating system supplied none */
  EXACT_BAD_SCALE, /* not positive and finite, or noise beyond 2^61 grid steps */
  EXACT_OFF_GRID   /* the sum is no multiple of the grid, or not below 2^32 */
};

/* The nearest multiple of 1 / steps; rewards are multiples of 1 / EXACT_GRID. */
static inline double on_grid(double x, double steps) { return rint(x * steps) / steps; }

/* Sets *noisy to sum + noise of scale at least `scale` (the scale of Laplace noise or the sd of normal noise,
   for rewards in [0, 1]), a multiple of 1 / EXACT_GRID. Nothing is written unless the status is EXACT_OK. */
enum exact_status exact_release(bits_t *bits, exact_sampler_t sampler, double sum, double scale,
                                double *noisy);

/* Randomised response, with `flip` a multiple of 2^-53: see release_bit(). */
enum exact_status exact_release_bit(bits_t *bits, double reward, double flip, double *bit);

/* A moving average of sums has coefficients c that are not multiples of the grid, so it is rounded down
   to the grid. The sums of two neighbours may then be one step, 2^-20, further apart than without
   rounding, and the rounding of doubles moves each of the two by at most 2^-52 |h| / (1 - c). For c <=
   0.99 and |h| < 2^26 the error is e < 2^-17.95 in all. The sensitivities d of a reward's releases have
   sum d^2 <= 1 and sum d <= sqrt((1 + c) / (1 - c)) < 14.2, so sum (d + e)^2 <= 1 + 2^-12.9 for up to
   2^20 releases: less than the square of the factor by which the noise is larger. */
#define EXACT_AVERAGE_SD (1 + 0x1p-13)
enum exact_status exact_average(double average, double *on_grid);

#endif
