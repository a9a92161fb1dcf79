#ifndef DPTS_MATH_NORMAL_LAPLACE_H
#define DPTS_MATH_NORMAL_LAPLACE_H
/* Maximum likelihood for an arm's mean from batch sums with Laplace noise.

   The sum of a batch of L rewards of mean t and variance v is nearly N(t L, v L); with Lap(b) noise it
   has the normal-Laplace density (Reed and Jorgensen 2004). With s^2 = v L, e = |noisy sum - t L| and M
   the Mills ratio of the normal,

     -ln density = e^2 / (2 s^2) - ln(M(s / b - e / s) + M(s / b + e / s)) + ln(2 b sqrt(2 pi)).

   A weighted mean of the sums loses up to half of the information: Laplace noise has Fisher information
   1 / b^2 about its location, and variance 2 b^2. */

#include <stdint.h>

/* The last batches are kept one by one. Earlier ones, which were smaller, are added up, and the sum of
   their noise is treated as normal. */
#define LIKELIHOOD_BATCHES 32

typedef struct {
  double size, noisy; /* number of rewards in the batch, and their noisy sum */
} batch_sum_t;

typedef struct {
  int64_t n; /* batches kept, the oldest first */
  batch_sum_t batches[LIKELIHOOD_BATCHES];
  double old_size, old_noisy,
      old_variance; /* of the earlier ones: rewards, noisy sum, variance of the noise */
} likelihood_t;

void likelihood_add(likelihood_t *l, double size, double noisy, double b);

/* -ln likelihood of the mean t, up to a constant. The variance of a reward is that of the mean t or of
   the mean `other`, whichever is larger. */
double likelihood_cost(const likelihood_t *l, double t, double other, double b);

/* The maximum likelihood estimate of the mean, in [0, 1]; `guess`, in (0, 1), is where the iteration
   starts. */
double likelihood_mean(const likelihood_t *l, double b, double guess);

/* The Fisher information, as a number of noiseless rewards of variance 1/4. */
double likelihood_information(const likelihood_t *l, double b);

#endif
