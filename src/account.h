/* Accountants: kernels on numbers and on buffers the caller owns.
   No R header, no allocation. */
#ifndef DPTS_ACCOUNT_H
#define DPTS_ACCOUNT_H

/* Gaussian differential privacy (Dong, Roth, Su 2022); account_gdp.c */
double gdp_delta(double mu, double epsilon, int log);
double gdp_epsilon(double mu, double delta);
double gdp_mu(double epsilon, double delta);

#endif
