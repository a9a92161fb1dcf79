#ifndef DPTS_SAMPLE_RNG_H
#define DPTS_SAMPLE_RNG_H
/* Random number streams: xoshiro256++ (Blackman and Vigna 2019). There is one stream for each (seed,
   run, purpose), so that results depend on this key only. */

#include <stdint.h>

typedef struct {
  uint64_t s[4];
} rng_t;

/* The purpose of a stream. With separate streams, policies in one call face the same rewards, and
   recording does not change what happens. */
enum rng_purpose {
  RNG_REWARD,       /* the arms' rewards */
  RNG_POLICY,       /* posterior draws, coin tosses, ties */
  RNG_NOISE,        /* privacy noise */
  RNG_CONTEXT,      /* simulated contexts */
  RNG_BRIDGE,       /* rewards at recorded rounds inside a skipped stretch */
  RNG_WORLD,        /* how means change from round to round */
  RNG_DELAY,        /* how late rewards come */
  RNG_SUPPLY,       /* R's generator, when R draws rewards or delays */
  RNG_ADVERSARY,    /* transcripts of an accountant's adversary */
  RNG_ANSWERS,      /* who never answers, and other outcomes than the reward */
  RNG_PURPOSES = 64 /* room for more */
};

void rng_seed(rng_t *rng, uint64_t seed, uint64_t run, uint64_t purpose);

static inline uint64_t rng_rotl(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }

static inline uint64_t rng_next(rng_t *rng) {
  uint64_t *s = rng->s;
  const uint64_t result = rng_rotl(s[0] + s[3], 23) + s[0];
  const uint64_t t = s[1] << 17;
  s[2] ^= s[0];
  s[3] ^= s[1];
  s[1] ^= s[2];
  s[0] ^= s[3];
  s[2] ^= t;
  s[3] = rng_rotl(s[3], 45);
  return result;
}

/* A hash of a word. */
uint64_t rng_hash(uint64_t word);

/* Uniform on the midpoints (k + 1/2) 2^-53 of (0, 1): never 0 or 1. Doubles above 1/2 hold only every
   other midpoint, and the last one would round to 1. It has all 53 bits, since a coarser uniform would
   be visible in delta. */
static inline double rng_unit(uint64_t word) {
  const double u = ((double)(word >> 11) + 0.5) * 0x1p-53;
  return u < 1 ? u : 0x1.fffffffffffffp-1;
}

static inline double rng_unif(rng_t *rng) { return rng_unit(rng_next(rng)); }

/* Uniform on 0 .. n - 1, for n far below 2^53. */
static inline int rng_below(rng_t *rng, int n) { return (int)(((rng_next(rng) >> 11) * 0x1p-53) * n); }

#endif
