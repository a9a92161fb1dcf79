#ifndef DPTS_MATH_NORMAL_LAPLACE_H
#define DPTS_MATH_NORMAL_LAPLACE_H
/* Maximum likelihood for an arm's mean from batch sums with Laplace noise.

   A batch of L rewards of mean t and variance v has a sum that is nearly N(t L, v L); with
   Lap(b) noise it has the normal-Laplace density (Reed and Jorgensen 2004). With s^2 = v L,
   e = |noisy sum - t L| and M the Mills ratio of the normal,
     -ln density = e^2 / (2 s^2) - ln(M(s / b - e / s) + M(s / b + e / s)) + ln(2 b sqrt(2 pi)).
   A weighted mean of the sums wastes up to half of what they tell: Laplace noise carries the
   information 1 / b^2 about its place, and has the variance 2 b^2. */

#include <stdint.h>

/* So many batches are remembered one by one. Those before them, which were smaller, are
   summed up: their noises add up to one that is taken as normal. */
#define LIKELIHOOD_BATCHES 32

typedef struct {
  double size, noisy; /* rewards in a batch, its released sum */
} batch_sum_t;

typedef struct {
  int64_t n; /* batches remembered, the oldest first */
  batch_sum_t batches[LIKELIHOOD_BATCHES];
  double old_size, old_noisy, old_variance; /* those before: rewards, sums, noise */
} likelihood_t;

void likelihood_add(likelihood_t *l, double size, double noisy, double b);

/* -ln likelihood of the mean t, without its constant: what the releases say against t. The
   variance of rewards is that of the mean t or of the mean `other`, whichever is larger. */
double likelihood_cost(const likelihood_t *l, double t, double other, double b);

/* The mean in [0, 1] that they say least against; `guess`, in (0, 1), is where to begin. */
double likelihood_mean(const likelihood_t *l, double b, double guess);

/* How many rewards of variance 1/4 would tell as much. */
double likelihood_information(const likelihood_t *l, double b);

#endif
