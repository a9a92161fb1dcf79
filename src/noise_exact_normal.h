#ifndef DPTS_NOISE_EXACT_NORMAL_H
#define DPTS_NOISE_EXACT_NORMAL_H
#include "noise_exact_bits.h"
#include "noise_exact_rate.h"

/* round(sigma Z) for sigma = 2^e / m and a standard normal Z, exactly. If `bits->failed` is set, the
   draw is void. It is clamped as exact_clamp() says. */
int64_t exact_normal(bits_t *bits, rate_t rate);

/* One pass of the rejection sampler; returns whether it was accepted. */
int exact_normal_once(bits_t *bits, rate_t rate, int64_t *z);

#endif
