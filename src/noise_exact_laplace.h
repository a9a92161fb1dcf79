#ifndef DPTS_NOISE_EXACT_LAPLACE_H
#define DPTS_NOISE_EXACT_LAPLACE_H
#include "noise_exact_bits.h"
#include "noise_exact_rate.h"

/* A whole number of a distribution */
typedef int64_t (*exact_sampler_t)(bits_t *bits, rate_t rate);

/* The discrete Laplace distribution P(k) ~ exp(-|k| m / 2^e). `bits->failed` voids the draw.
   Beyond the range of int64_t the draw stops at its ends, see exact_clamp(). */
int64_t exact_laplace(bits_t *bits, rate_t rate);

/* One pass of Algorithm 2 -> was it accepted? */
int exact_laplace_once(bits_t *bits, rate_t rate, int64_t *k);

/* Bernoulli(exp(-u / 2^e)), u at most 2^e */
int exact_bernoulli_exp(bits_t *bits, uint64_t u, int e);

/* The integer quotient * times + rest with a sign, cut at +-EXACT_MOST. Who adds it to a sum and
   cuts the result again, closer to 0 by more than any sum, releases a function of the uncut
   noisy sum: the cut costs no privacy. */
#define EXACT_MOST ((int64_t)1 << 62)
int64_t exact_clamp(int negative, uint64_t quotient, uint64_t times, uint64_t rest);

#endif
