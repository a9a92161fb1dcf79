#ifndef DPTS_NOISE_MOVING_AVERAGE_H
#define DPTS_NOISE_MOVING_AVERAGE_H
/* Gaussian releases of a moving average of batch sums, and the best mean to be had from them.

   An arm's batches have exact sums s_1, s_2, ... of L_1, L_2, ... rewards. In place of s_b with
   N(0, 1 / mu^2), release b is

     y_b = g_b h_b + N(0, 1 / mu^2),   h_b = s_b + c_(b-1) h_(b-1),   g_b = sqrt(1 - c_b^2),

   with coefficients c_b in [0, 1) that earlier releases may decide. A reward of batch j moves y_b
   by at most g_b c_j c_(j+1) ... c_(b-1), b >= j. The squares telescope to
   1 - (c_j ... c_b)^2 < 1, however many batches follow and on every path: so all releases
   together are mu-GDP by fully adaptive composition (Smith and Thakurta 2022). That the noise
   is an autoregression run backwards is the idea of Denisov, McMahan, Rush, Smith and Thakurta
   (2022).

   z_b = y_b / g_b is h_b with noise of variance k_b = 1 / (mu g_b)^2, so what is learnt of batch b
   is u_b = z_b - c_(b-1) z_(b-1), the batch's sum with noise that is correlated with that of the
   next batch: cov(u) = diag(v L_b) + T, where T_bb = k_b + c_(b-1)^2 k_(b-1) and
   T_(b, b-1) = -c_(b-1) k_(b-1), and v is the variance of a reward. The mean is generalised least
   squares: weights cov(u)^-1 L. The matrix is tridiagonal, so its LDL' factorisation grows by a
   row with each batch, and so does everything below: a few numbers, the same work a release. */

#include "noise.h"
#include "play_report.h"

typedef struct {
  double held;           /* h_b, exact: nothing but the next release may look */
  double seen;           /* z_b */
  double carry;          /* c_b */
  double noise_variance; /* k_b */
  /* The last row of LDL': its pivot; and L^-1 applied to the sizes and to the u. A slope is the
     derivative by v. */
  double pivot, pivot_slope, load, load_slope, shown;
  /* information = L' cov(u)^-1 L, whose inverse is the variance of the mean */
  double information, information_slope, weighted;
  double total, terms; /* of all batches, and the noise in it; see play_report.h */
} moving_average_t;

/* The variance of a reward in [0, 1] is at most this. */
#define REWARD_VARIANCE 0.25

/* Release a batch of `size` rewards that add up to `sum`; sd is 1 / mu, carry the coefficient
   c_b. With carry = 0 throughout, these are independent releases weighted by their inverse
   variances. Zeros make an empty moving_average_t. */
void moving_average_release(moving_average_t *a, draws_t *draws, double size, double sum,
                            double carry, double sd);

/* The mean that the releases tell: private and not clipped. */
double moving_average_mean(const moving_average_t *a);
/* Its variance is REWARD_VARIANCE / rewards + noise^2: as many rewards as it is worth... */
double moving_average_rewards(const moving_average_t *a);
/* ... and the sd of the noise in it. */
double moving_average_noise(const moving_average_t *a);

/* The sum of all u_b. */
report_t moving_average_report(const moving_average_t *a, double rewards, double releases,
                               double sd);

#endif
