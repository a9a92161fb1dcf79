/* Arithmetic for lanes, in the vector types of GNU C: no branches and no library calls. A
   template: included once for each vector unit, with
     BYTES         width of its vectors
     TARGET        the attribute that lets the compiler use it
     ROOT(x)       its square root of a vector (sqrtf() is kept out of vector code by errno)
     SELECT(mask, a, b)   a's numbers where the mask is all ones, b's where it is 0
     ANY(mask)     is any of them all ones?
     UNIT(name)    the name with a suffix of its own
   It computes with 24 bits, which show the largest draw except in near ties. Near ties are detected and
   decided in full precision (settle() in play_lanes_ts_gaussian.c), so results depend neither on how these
   functions round nor on the machine. */

typedef float UNIT(vf) __attribute__((vector_size(BYTES), may_alias));
typedef int32_t UNIT(vi) __attribute__((vector_size(BYTES), may_alias));
typedef uint32_t UNIT(vw) __attribute__((vector_size(BYTES), may_alias));
typedef uint64_t UNIT(vu) __attribute__((vector_size(BYTES), may_alias));
#define vf     UNIT(vf)
#define vi     UNIT(vi)
#define vw     UNIT(vw)
#define vu     UNIT(vu)
#define INLINE TARGET static inline __attribute__((always_inline))

#define LOAD(type, x)     (*(const type *)(x))
#define STORE(x, value)   (*(__typeof__(value) *)(x) = (value))
#define FLOATS(x)         UNIT(floats)((vi)(x)) /* of integers below 2^31 */
#define ALL(type, number) ((number) - (type){0})

INLINE vf UNIT(floats)(vi x) {
#if defined(__clang__) || __GNUC__ >= 9
  return __builtin_convertvector(x, vf);
#else
  vf y;
  for (size_t w = 0; w < sizeof y / sizeof y[0]; w++) y[w] = (float)x[w];
  return y;
#endif
}

/* A step of xoshiro256++ (rng_next) in each lane. */
INLINE vu UNIT(next)(vu s[4]) {
  const vu sum = s[0] + s[3], t = s[1] << 17;
  const vu result = ((sum << 23) | (sum >> 41)) + s[0];
  s[2] ^= s[0], s[3] ^= s[1], s[1] ^= s[2], s[0] ^= s[3], s[2] ^= t;
  s[3] = (s[3] << 45) | (s[3] >> 19);
  return result;
}

/* Assembles the upper halves of all lanes' words. Lanes 0, 2, 4, ... take theirs from `even`, the others
   from `odd`, so this needs only masks. Which half of 64 bits belongs to the first lane depends on the
   byte order. */
INLINE vw UNIT(upper)(vu even, vu odd) {
  const vu high = FIRST_IS_LOW ? odd : even, low = FIRST_IS_LOW ? even : odd;
  return (vw)((low >> 32) | (high & 0xffffffff00000000u));
}
INLINE vw UNIT(lower)(vu even, vu odd) {
  const vu high = FIRST_IS_LOW ? odd : even, low = FIRST_IS_LOW ? even : odd;
  return (vw)((low & 0xffffffffu) | (high << 32));
}

/* The polynomials below are Chebyshev interpolants. */

/* -2 log(u), u = (x + 1/2) 2^-32 up to 2^-32. With u = 2^e z, z in [sqrt(1/2), sqrt(2)), log z = 2 atanh(s),
   s = (z - 1) / (z + 1), and atanh(s) = s + s w P(w), w = s^2; relative error 5e-7. */
INLINE vf UNIT(radius2)(vw x) {
  const vf u = FLOATS(x >> 1) + 0.5f; /* in units of 2^-31 */
  const uint32_t root = 0x3f3504f3u;  /* sqrt(1/2) */
  const vw off = (vw)u + ((127u << 23) - root);
  const vf e = FLOATS(off >> 23) - (127.f + 31.f);
  const vf z = (vf)((off & 0x7fffffu) + root);
  const vf f = z - 1, s = f / (f + 2), w = s * s;
  const vf p = w * (0.33331750f + w * 0.20429135f);
  return e * -1.38629436f - (s + s * p) * 4; /* 2 log 2 */
}

/* The two normals of a word (Box and Muller 1958), as lanes_normals() defines them. */
INLINE void UNIT(normals)(vf radius2, vw lower, vf *x, vf *y) {
  const vf r = ROOT(radius2);
  const vf v = FLOATS(lower << 2) * 0x1p-32f, w = v * v;
  const vf p = 1.57079407f + w * (-0.64580153f + w * 0.07795379f);            /* 1e-6 */
  const vf q = 1 + w * (-1.23369701f + w * (0.25359857f + w * -0.02040816f)); /* 3e-8 */
  const vf sine = r * (v * p);
  const vf cosine = (vf)((vw)(r * q) ^ (lower & 0x80000000u));
  const vi across = (vi)(lower << 1) >> 31;
  *x = SELECT(across, sine, cosine);
  *y = SELECT(across, cosine, sine);
}
