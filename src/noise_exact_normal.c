/* The normal distribution by comparing bits: Karney (2016), "Sampling exactly from the normal
   distribution", ACM TOMS 42, Algorithm N and those that it calls. A draw is a sign, an integer k and a
   fraction x in [0, 1), whose bits are drawn only when they are needed. */

#include "noise_exact_laplace.h"
#include "noise_exact_normal.h"

/* A uniform number in [0, 1): the first n of its bits. A comparison needs two more bits on average. More
   than 512 are needed with probability below 2^-400; this is then treated as a failure of the source,
   and nothing is released. */
enum { MAX_BITS = 512 };
typedef struct {
  int n;
  uint8_t bit[MAX_BITS];
} uniform_t;

static int uniform_bit(uniform_t *x, int i, bits_t *bits) {
  if (i >= MAX_BITS) bits->failed = 1;
  if (bits->failed) return 0;
  while (x->n <= i) x->bit[x->n++] = (uint8_t)bits_next(bits);
  return x->bit[i];
}

/* x < y? */
static int uniform_less(uniform_t *x, uniform_t *y, bits_t *bits) {
  for (int i = 0; !bits->failed; i++) {
    const int of_x = uniform_bit(x, i, bits), of_y = uniform_bit(y, i, bits);
    if (of_x != of_y) return of_x < of_y;
  }
  return 0;
}

/* Algorithm H: 1 with probability exp(-1/2) */
static int half(bits_t *bits) { return exact_bernoulli_exp(bits, 1, 1); }

/* Algorithm P: 1 with probability exp(-n / 2) */
static int half_power(bits_t *bits, uint64_t n) {
  while (n > 0 && half(bits)) {
    if (bits->failed) return 0;
    n--;
  }
  return n == 0;
}

/* Algorithm B: 1 with probability exp(-x (2 k + x) / (2 k + 2)), by the length of a decreasing run x >
   z_1 > z_2 > ... of which each step is kept with probability (2 k + x) / (2 k + 2) */
static int accept_fraction(uint64_t k, uniform_t *x, bits_t *bits) {
  uniform_t run[2], *last = x;
  for (uint64_t n = 0; !bits->failed; n++) {
    uniform_t *z = &run[n % 2];
    z->n = 0;
    int kept = uniform_less(z, last, bits);
    if (kept) {
      const uint64_t side = bits_below(bits, 2 * k + 2);
      uniform_t r = {.n = 0};
      if (side == 0) kept = 0;
      if (side == 1) kept = uniform_less(&r, x, bits);
    }
    if (!kept) return n % 2 == 0;
    last = z;
  }
  return 0;
}

/* Algorithm N, then rounding, which needs few bits: with N = floor(2^(e + 1) (k + x)), round((k + x) 2^e
   / m) is floor((N + m) / (2 m)), since all terms are integers except for the fraction that N omits. */
int exact_normal_once(bits_t *bits, rate_t rate, int64_t *z) {
  uint64_t k = 0;
  while (!bits->failed && half(bits)) k++;               /* N1 */
  if (k > 1 && !half_power(bits, k * (k - 1))) return 0; /* N2 */
  uniform_t x = {.n = 0};                                /* N3 */
  for (uint64_t i = 0; i <= k; i++) {
    if (!accept_fraction(k, &x, bits)) return 0; /* N4 */
  }
  uint64_t first = 0;
  for (int i = 0; i <= rate.e; i++) first = 2 * first + (uint64_t)uniform_bit(&x, i, bits);
  const uint64_t one = (uint64_t)1 << (rate.e + 1), m = rate.m;
  const uint64_t q = one / (2 * m), r = one % (2 * m);                    /* 2^(e + 1) = q 2 m + r */
  *z = exact_clamp(bits_next(bits), q, k, (k * r + first + m) / (2 * m)); /* N5 */
  return 1;
}

int64_t exact_normal(bits_t *bits, rate_t rate) {
  int64_t z = 0;
  while (!bits->failed && !exact_normal_once(bits, rate, &z)) continue;
  return z;
}
