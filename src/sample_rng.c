#include "sample_rng.h"

/* splitmix64 (Steele, Lea and Flood 2014), which the authors of xoshiro recommend for seeding. */
static uint64_t splitmix64(uint64_t *x) {
  uint64_t z = (*x += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

uint64_t rng_hash(uint64_t word) { return splitmix64(&word); }

void rng_seed(rng_t *rng, uint64_t seed, uint64_t run, uint64_t purpose) {
  /* Each part of the key is mixed before the next is added, so that neighbouring seeds, runs and
     purposes give unrelated streams. */
  uint64_t x = seed;
  x = splitmix64(&x) ^ run;
  x = splitmix64(&x) ^ purpose;
  x = splitmix64(&x);
  for (int i = 0; i < 4; i++) rng->s[i] = splitmix64(&x);
}
