#ifndef DPTS_NOISE_EXACT_RATE_H
#define DPTS_NOISE_EXACT_RATE_H
/* The strength of exact noise as a ratio of integers. */

#include <stdint.h>

/* m / 2^e, with 1 <= m < 2^24 and 0 <= e <= RATE_MOST_E, in lowest terms */
typedef struct {
  uint32_t m;
  int e;
} rate_t;

enum { RATE_BITS = 24, RATE_MOST_E = 61 };

/* The largest such ratio that is not above numer / denom, both positive and finite: it
   keeps a promise of numer / denom. 0, or 1 if there is none (numer / denom < 2^-61). */
int rate_below(double numer, double denom, rate_t *rate);

#endif
