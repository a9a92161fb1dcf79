#ifndef DPTS_NOISE_EXACT_LAPLACE_H
#define DPTS_NOISE_EXACT_LAPLACE_H
#include "noise_exact_bits.h"
#include "noise_exact_rate.h"

/* Draws an integer from a distribution. */
typedef int64_t (*exact_sampler_t)(bits_t *bits, rate_t rate);

/* The discrete Laplace distribution, P(k) proportional to exp(-|k| m / 2^e). If `bits->failed` is set,
   the draw is void. Draws beyond the range of int64_t are clamped: see exact_clamp(). */
int64_t exact_laplace(bits_t *bits, rate_t rate);

/* One pass of the rejection sampler, Algorithm 2; returns whether it was accepted. */
int exact_laplace_once(bits_t *bits, rate_t rate, int64_t *k);

/* Bernoulli(exp(-u / 2^e)), u at most 2^e */
int exact_bernoulli_exp(bits_t *bits, uint64_t u, int e);

/* The integer quotient * times + rest with a sign, clamped to +-EXACT_MAX. A caller that adds it to a
   sum and clamps the result again, to a bound that is smaller by more than any sum, releases a function
   of the unclamped noisy sum: clamping costs no privacy. */
#define EXACT_MAX ((int64_t)1 << 62)
int64_t exact_clamp(int negative, uint64_t quotient, uint64_t times, uint64_t rest);

#endif
