#ifndef DPTS_NOISE_EXACT_RATE_H
#define DPTS_NOISE_EXACT_RATE_H
/* The rate of exact noise (1 / scale) as a ratio of integers. */

#include <stdint.h>

/* m / 2^e, with 1 <= m < 2^24 and 0 <= e <= RATE_MAX_E, in lowest terms */
typedef struct {
  uint32_t m;
  int e;
} rate_t;

enum { RATE_BITS = 24, RATE_MAX_E = 61 };

/* Sets the largest such ratio that is at most numer / denom, both positive and finite, so that a
   guarantee stated for numer / denom holds. Returns 0, or 1 if there is none (numer / denom < 2^-61). */
int rate_below(double numer, double denom, rate_t *rate);

#endif
