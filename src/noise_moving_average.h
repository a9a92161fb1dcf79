#ifndef DPTS_NOISE_MOVING_AVERAGE_H
#define DPTS_NOISE_MOVING_AVERAGE_H
/* Gaussian releases of a moving average of batch sums, and the best linear estimate of the mean from them.

   An arm's batches have exact sums s_1, s_2, ... of L_1, L_2, ... rewards. In place of s_b with N(0, 1 /
   mu^2), release b is

     y_b = g_b h_b + N(0, 1 / mu^2),   h_b = s_b + c_(b-1) h_(b-1),   g_b = sqrt(1 - c_b^2),

   with coefficients c_b in [0, 1), the correlation, which may depend on earlier releases. A reward of
   batch j moves y_b by at most g_b c_j c_(j+1) ... c_(b-1), b >= j. The squares telescope to 1 - (c_j
   ... c_b)^2 < 1, for any number of later batches and on every path: so all releases together are mu-GDP
   by fully adaptive composition (Smith and Thakurta 2022). The noise is an autoregression run backwards,
   an idea of Denisov, McMahan, Rush, Smith and Thakurta (2022).

   z_b = y_b / g_b is h_b with noise of variance k_b = 1 / (mu g_b)^2. So u_b = z_b - c_(b-1) z_(b-1) is
   the sum of batch b with noise that is correlated with that of the next batch: cov(u) / v = diag(L_b) +
   T / v, where T_bb = k_b + c_(b-1)^2 k_(b-1) and T_(b, b-1) = -c_(b-1) k_(b-1), and v is the variance
   of a reward. The mean is estimated by generalised least squares, with weights cov(u)^-1 L. The matrix
   is tridiagonal, so each batch adds a row to its LDL' factorisation, at a constant cost. */

#include "noise.h"
#include "noise_report.h"

typedef struct {
  double held;           /* h_b, exact: only the next release may use it */
  double seen;           /* z_b */
  double correlation;    /* c_b */
  double noise_variance; /* k_b */
  /* The last row of LDL': its pivot, and L^-1 applied to the sizes and to the u. A slope is the
     derivative with respect to a factor of diag(L_b). */
  double pivot, pivot_slope, load, load_slope, shown;
  /* information = L' (cov(u) / v)^-1 L: the variance of the mean is v / information */
  double information, information_slope, weighted;
  double total,
      terms; /* of all batches: sum of the u, and number of noise variables in it (noise_report.h) */
} moving_average_t;

/* An upper bound on the variance of a reward in [0, 1]. */
#define REWARD_VARIANCE 0.25

/* The row that a release adds: the size of its batch, c_(b-1) z_(b-1) as `previous`, and row b of T */
typedef struct {
  double size, previous, diagonal, off;
} moving_row_t;

/* moving_average_release() releases a batch of `size` rewards that add up to `sum`; sd is 1 / mu,
   correlation is c_b. moving_average_learn() adds the row to the estimate; v is the variance of a reward
   as far as it is known by then (REWARD_VARIANCE if not at all). v weighs noise against sampling error;
   it is the same for all batches, since else batches with a mean near 0 or 1 would weigh more. With
   correlation = 0 throughout, these are independent releases weighted by their inverse variances. An
   empty moving_average_t is all zeros. */
moving_row_t moving_average_release(moving_average_t *a, draws_t *draws, double size, double sum,
                                    double correlation, double sd);
void moving_average_learn(moving_average_t *a, const moving_row_t *row, double v);

/* The estimated mean: private, and not clipped to [0, 1]. */
double moving_average_mean(const moving_average_t *a);
/* Its variance is v / rewards + noise^2: the effective number of rewards, and the sd of the noise in the
   mean. */
double moving_average_rewards(const moving_average_t *a);
double moving_average_noise(const moving_average_t *a, double v);

/* The sum of all u_b. */
report_t moving_average_report(const moving_average_t *a, double rewards, double releases, double sd);

#endif
