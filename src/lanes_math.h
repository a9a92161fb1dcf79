/* Arithmetic for lanes, in the vector types of GNU C: no branches and no library calls, and
   every operation rounds alike on every machine. A template: included once for each vector
   unit, with
     BYTES       width of its vectors
     TARGET      the attribute that lets the compiler use it
     ROOT(x)     its square root of a vector (sqrt() is kept out of vector code by errno)
     DOUBLE(x)   its conversion of 64-bit words, rounded to nearest
     MASK, LESS(a, b), SAME(a, b), SELECT(mask, a, b)   its comparisons, and the vector with
                 a's numbers where the mask holds, else b's
     BIT62(x)    the mask of words with bit 62 set
     UNIT(name)  the name with a suffix of its own
   The includer has switched off the contraction of a * b + c into one rounding, which not
   every unit has. */

typedef double UNIT(vd) __attribute__((vector_size(BYTES)));
typedef uint64_t UNIT(vu) __attribute__((vector_size(BYTES)));
#define vd UNIT(vd)
#define vu UNIT(vu)
#define INLINE TARGET static inline __attribute__((always_inline))

#define LOAD(x) (*(const vd *)(x))
#define STORE(x, value) (*(vd *)(x) = (value))
#define LOAD_WORDS(x) (*(const vu *)(x))
#define STORE_WORDS(x, value) (*(vu *)(x) = (value))
#define ALL(number) ((number) - (vd){0}) /* - 0 changes nothing, + 0 would change -0 */

/* A step of xoshiro256++ (rng_next) in every lane. */
INLINE vu UNIT(next)(vu s[4]) {
  const vu sum = s[0] + s[3], t = s[1] << 17;
  const vu result = ((sum << 23) | (sum >> 41)) + s[0];
  s[2] ^= s[0], s[3] ^= s[1], s[1] ^= s[2], s[0] ^= s[3], s[2] ^= t;
  s[3] = (s[3] << 45) | (s[3] >> 19);
  return result;
}

/* DOUBLE() for units that lack it: two halves in the mantissas of 2^84 and 2^52. */
INLINE vd UNIT(double)(vu x) {
  const vd high = (vd)((x >> 32) | 0x4530000000000000u);
  const vd low = (vd)((x & 0xffffffffu) | 0x4330000000000000u);
  return (high - 0x1.00000001p84) + low;
}

/* Uniform on (0, 1) with 53 bits, the number that rng_unif() makes of the word. */
INLINE vd UNIT(unif)(vu x) { return (DOUBLE(x >> 11) + 0.5) * 0x1p-53; }

/* The polynomials below are Chebyshev interpolants, computed with 50 digits; the error
   stated is their largest. Rounding adds some 2e-16. Estrin's order makes chains of
   operations that wait for each other short. */

/* -2 log(u), u uniform on (0, 1) with 63 bits: the odd multiples of 2^-64. With
   u = 2^e z, z in [sqrt(1/2), sqrt(2)), log z = 2 atanh(s), s = (z - 1) / (z + 1), and
   atanh(s) = s + s w P(w), w = s^2; relative error 7e-16. Small u keep all their digits, so
   the tail of the normals is right to 9 standard deviations. */
INLINE vd UNIT(radius2)(vu x) {
  const vd u = DOUBLE(x | 1); /* in units of 2^-64 */
  const uint64_t root = 0x3fe6a09e667f3bcdu; /* sqrt(1/2) */
  const vu off = (vu)u + ((1023ull << 52) - root);
  const vd e = (vd)((off >> 52) | 0x4330000000000000u) - (0x1p52 + 1023 + 64);
  const vd z = (vd)((off & 0xfffffffffffffu) + root);
  const vd f = z - 1, s = f / (f + 2), w = s * s, w2 = w * w;
  const vd p = (0x1.55555555553b8p-2 + w * 0x1.9999999b8677ap-3) +
               w2 * ((0x1.2492462af84abp-3 + w * 0x1.c71fccd9538dcp-4) +
                     w2 * (0x1.7382dbfa1c25ap-4 + w * 0x1.546a3155c639ep-4));
  const vd s4 = s * -4;
  return e * -1.3862943611198906 + (s4 + s4 * (w * p)); /* 2 log 2 */
}

/* Two standard normals from a radius and a word (Box and Muller 1958). The direction has
   54 bits: 2 choose a half axis, 52 the place in the eighths of the circle on its sides,
   v in [-1/2, 1/2) standing for an angle of v pi / 2; errors 5e-18 and 5e-17. */
INLINE void UNIT(normals)(vd r, vu b, vd *x, vd *y) {
  const vd v = (vd)((b & 0xfffffffffffffu) | 0x3ff0000000000000u) - 1.5;
  const vd w = v * v, w2 = w * w, w4 = w2 * w2;
  const vd p = ((0x1.921fb54442d18p+0 - w * 0x1.4abbce625be41p-1) +
                w2 * (0x1.466bc677587f8p-4 - w * 0x1.32d2cce2e5b19p-8)) +
               w4 * ((0x1.50782fda12d96p-13 - w * 0x1.e30071afc3e59p-19) +
                     w2 * 0x1.e3f38399551bfp-25);
  const vd q = ((1 - w * 0x1.3bd3cc9be458bp+0) +
                w2 * (0x1.03c1f081b0780p-2 - w * 0x1.55d3c7dbfd139p-6)) +
               w4 * ((0x1.e1f4fb60281f6p-11 - w * 0x1.a6c9c1be9eb49p-16) +
                     w2 * 0x1.f3dbcea61b1a4p-22);
  const vd sine = r * (v * p);
  const vd cosine = (vd)((vu)(r * q) ^ (b & 0x8000000000000000u));
  const MASK across = BIT62(b);
  *x = SELECT(across, sine, cosine);
  *y = SELECT(across, cosine, sine);
}
