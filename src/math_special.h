/* Special functions of the standard normal distribution. */
#ifndef DPTS_MATH_SPECIAL_H
#define DPTS_MATH_SPECIAL_H

#define DPTS_LOG_SQRT_2PI 0.918938533204672741780329736406
#define DPTS_SQRT_2PI     2.506628274631000502415765284811
#define DPTS_SQRT_PI_2    1.253314137315500251207882642406
#define DPTS_SQRT1_2      0.707106781186547524400844362105

/* The density phi(x), and the distribution function Phi(x), whose lower tail is accurate in relative
   terms. */
double normal_density(double x);
double normal_cdf(double x);

/* Mills ratio M(x) = Phi(-x) / phi(x). Overflows to Inf below x = -38. */
double mills(double x);

/* M(x - h) - M(x + h) without cancellation, for h of at most about 0.3 (1 + x). */
double mills_drop(double x, double h);

#endif
