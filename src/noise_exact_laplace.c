/* The discrete Laplace distribution by integer arithmetic: Canonne, Kamath and Steinke (2020), "The Discrete
   Gaussian for Differential Privacy", Algorithms 1 and 2. Their scale t / s is 2^e / m here. */

#include "noise_exact_laplace.h"

/* Algorithm 1. Its step K succeeds with probability gamma / K, that of two independent events: a uniform
   integer of e bits is below u, and a uniform integer below K is 0. */
int exact_bernoulli_exp(bits_t *bits, uint64_t u, int e) {
  if (bits->coin) return bits->coin(bits->source, u, e);
  uint64_t k = 1;
  while (bits_less(bits, u, e) && bits_below(bits, k) == 0) {
    if (bits->failed) return 0;
    k++;
  }
  return (int)(k % 2);
}

int64_t exact_clamp(int negative, uint64_t quotient, uint64_t times, uint64_t rest) {
  const uint64_t most = (uint64_t)EXACT_MAX;
  uint64_t size = most;
  if (rest < most && (times == 0 || quotient <= (most - rest) / times)) {
    size = quotient * times + rest;
  }
  return negative ? -(int64_t)size : (int64_t)size;
}

int exact_laplace_once(bits_t *bits, rate_t rate, int64_t *k) {
  const uint64_t t = (uint64_t)1 << rate.e;
  const uint64_t u = bits_word(bits, rate.e);
  if (!exact_bernoulli_exp(bits, u, rate.e)) return 0;
  uint64_t v = 0;
  while (!bits->failed && exact_bernoulli_exp(bits, 1, 0)) v++;
  /* y = floor((u + t v) / m) with t = q m + r: q v + floor((u + r v) / m); r < 2^24, and v is
     far below 2^37, so nothing overflows */
  const uint64_t q = t / rate.m, rest = (u + t % rate.m * v) / rate.m;
  const int negative = bits_next(bits);
  *k = exact_clamp(negative, q, v, rest);
  return !(negative && *k == 0); /* else 0 would be drawn twice as often */
}

int64_t exact_laplace(bits_t *bits, rate_t rate) {
  int64_t k = 0;
  while (!bits->failed && !exact_laplace_once(bits, rate, &k)) continue;
  return k;
}
