/* Normal and exponential variates by the ziggurat (Marsaglia and Tsang 2000),
   with the layer and the abscissa taken from disjoint bits of one 64-bit word
   (the correlation that Doornik 2005 found in the 32-bit original is absent).

   The region under the density f(x), x >= 0, is cut into N layers of equal area V: layers 1 .. N-1 are
   rectangles [0, x_i] x [f(x_i), f(x_{i+1})], layer 0 is [0, R] x [0, f(R)] with the tail beyond R, and is
   treated as a rectangle of width V / f(R). A point falls inside the curve at once with chance 0.99 and costs
   one word, one product and one comparison. */

#include "sample.h"

#define LAYERS 256

typedef struct {
  double x[LAYERS + 1]; /* widths: x[0] = V / f(R), x[1] = R, x[LAYERS] = 0 */
  double f[LAYERS + 1]; /* f(x) */
} ziggurat_t;

static ziggurat_t normal, exponential;

static double normal_f(double x) { return exp(-0.5 * x * x); }
static double normal_inverse(double y) { return sqrt(-2 * log(y)); }
static double normal_tail(double r) { /* integral of f beyond r */
  return sqrt(M_PI / 2) * erfc(r / sqrt(2.0));
}
static double exp_f(double x) { return exp(-x); }
static double exp_inverse(double y) { return -log(y); }
static double exp_tail(double r) { return exp(-r); }

/* Builds the layers for a given R. Returns f at the top, which is 1 if the layers reach exactly up to
   the peak. */
static double build(ziggurat_t *z, double r, double (*f)(double), double (*inverse)(double),
                    double (*tail)(double)) {
  const double area = r * f(r) + tail(r);
  z->x[0] = area / f(r);
  z->x[1] = r;
  z->f[0] = 0;
  z->f[1] = f(r);
  for (int i = 2; i <= LAYERS; i++) {
    z->f[i] = z->f[i - 1] + area / z->x[i - 1];
    if (i == LAYERS) break;
    if (z->f[i] >= 1) return 2;
    z->x[i] = inverse(z->f[i]);
  }
  z->x[LAYERS] = 0;
  return z->f[LAYERS];
}

/* R is the root of build() = 1, found by bisection when the library is loaded. */
static void solve(ziggurat_t *z, double lower, double upper, double (*f)(double), double (*inverse)(double),
                  double (*tail)(double)) {
  for (int i = 0; i < 100; i++) {
    const double r = 0.5 * (lower + upper);
    if (build(z, r, f, inverse, tail) > 1) lower = r;
    else upper = r;
  }
  build(z, upper, f, inverse, tail);
  z->f[LAYERS] = 1;
}

void sample_init(void) {
  solve(&normal, 1, 10, normal_f, normal_inverse, normal_tail);
  solve(&exponential, 1, 20, exp_f, exp_inverse, exp_tail);
}

/* Beyond R by Marsaglia's (1964) exponential rejection. */
static double normal_beyond(rng_t *rng) {
  const double r = normal.x[1];
  for (;;) {
    const double x = sample_exp(rng) / r, y = sample_exp(rng);
    if (2 * y > x * x) return r + x;
  }
}

double sample_normal(rng_t *rng) {
  for (;;) {
    const uint64_t word = rng_next(rng);
    const int i = (int)(word & (LAYERS - 1));
    /* 53 bits for |u| and one for the sign, independent of the bits of the layer. */
    const double u = rng_unit(word);
    const double x = u * normal.x[i];
    double result;
    if (x < normal.x[i + 1]) result = x;
    else if (i == 0) result = normal_beyond(rng);
    else if (normal.f[i] + rng_unif(rng) * (normal.f[i + 1] - normal.f[i]) < normal_f(x)) result = x;
    else continue;
    return (word & LAYERS) ? -result : result;
  }
}

double sample_exp(rng_t *rng) {
  double offset = 0;
  for (;;) {
    const uint64_t word = rng_next(rng);
    const int i = (int)(word & (LAYERS - 1));
    const double x = rng_unit(word) * exponential.x[i];
    if (x < exponential.x[i + 1]) return offset + x;
    if (i == 0) offset += exponential.x[1]; /* memoryless: start again beyond R */
    else if (exponential.f[i] + rng_unif(rng) * (exponential.f[i + 1] - exponential.f[i]) < exp_f(x))
      return offset + x;
  }
}

/* Robert (1995): for a > 0 the proposals are exponential with rate (a + sqrt(a^2 + 4)) / 2, of which
   nearly all are accepted; for smaller a plain rejection is fast enough. */
double sample_normal_above(rng_t *rng, double a) {
  if (a < 0.45) {
    for (;;) {
      const double x = sample_normal(rng);
      if (x > a) return x;
    }
  }
  const double rate = 0.5 * (a + sqrt(a * a + 4));
  for (;;) {
    const double x = a + sample_exp(rng) / rate, off = x - rate;
    if (sample_exp(rng) > 0.5 * off * off) return x;
  }
}
