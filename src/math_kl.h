#ifndef DPTS_MATH_KL_H
#define DPTS_MATH_KL_H
/* Divergences between Bernoulli distributions with means x and y in [0, 1], and their inverses, for
   index policies. y is clamped to [1e-12, 1 - 1e-12], so all values are finite. */

/* kl(x, y) = x ln(x / y) + (1 - x) ln((1 - x) / (1 - y)), without cancellation. */
double kl(double x, double y);

/* The largest y in [x, 1] with kl(x, y) <= bound; 1 if that is above 1 - 1e-12. */
double kl_upper(double x, double bound);

/* d_epsilon of Azize et al. (2025): the infimum over z between x and y of
   epsilon |z - x| + kl(z, y). epsilon may be Inf. */
double d_epsilon(double x, double y, double epsilon);

/* The largest y in [x, 1] with d_epsilon(x, y) <= bound. */
double d_epsilon_upper(double x, double bound, double epsilon);

/* The rate of the event that a private mean is at most x when the true mean is y > x, for n rewards and
   Gaussian noise of standard deviation sd: the infimum over z in [x, y] of (z - x)^2 / (2 sd^2) + n
   kl(z, y). 0 if y <= x. */
double kl_noisy(double x, double y, double n, double sd);

/* -ln(2 P(N(0, 1) >= sqrt(2 rate))): the negative log p-value of a normal deviation of this rate. 0 at a
   rate of 0. */
double tail_of_rate(double rate);

#endif
