#include <math.h>
#include "noise_exact_rate.h"

/* Is m / 2^e <= numer / denom, without rounding? fma() rounds m denom - numer 2^e only once, which keeps
   its sign. */
static int keeps(double m, int e, double numer, double denom) { return fma(m, denom, -ldexp(numer, e)) <= 0; }

int rate_below(double numer, double denom, rate_t *rate) {
  if (!(numer > 0 && denom > 0 && isfinite(numer) && isfinite(denom))) return 1;
  /* Scale away from the limits of double, where products would underflow or overflow. */
  int up;
  const double d = frexp(denom, &up); /* in [1/2, 1) */
  const double n = ldexp(numer, -up);
  if (n < 0x1p-62) return 1;
  const double most = (double)((1 << RATE_BITS) - 1);
  if (n >= most) { /* at most 2^24, where there is practically no noise */
    *rate = (rate_t){(1 << RATE_BITS) - 1, 0};
    return 0;
  }
  int e = RATE_BITS - 1 - ilogb(n / d); /* 24 bits before the binary point, or 25 after rounding */
  if (e > RATE_MAX_E) e = RATE_MAX_E;
  if (e < 0) e = 0;
  double m = floor(ldexp(n / d, e));
  while (m > most && e > 0) m = floor(ldexp(n / d, --e));
  if (m > most) m = most;
  while (m > 0 && !keeps(m, e, n, d)) m -= 1;
  if (m < 1) return 1;
  uint32_t whole = (uint32_t)m;
  while (whole % 2 == 0 && e > 0) whole /= 2, e--;
  *rate = (rate_t){whole, e};
  return 0;
}
