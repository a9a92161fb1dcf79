#ifndef DPTS_NOISE_EXACT_BITS_H
#define DPTS_NOISE_EXACT_BITS_H
/* Fair coins from the operating system, for noise that must be exact. There is no seed and
   no generator of our own. The source is a function, so that a test can hand in bits of its
   choice and walk through every decision of a sampler.

   The buffer lies in the struct, the struct on the caller's stack, for one call: a forked
   process never shares bits with its parent. bits_close() wipes it. */

#include <stddef.h>
#include <stdint.h>

enum { BITS_BUFFER = 64 };

/* Fills n bytes, at most BITS_BUFFER; returns nonzero if it cannot. */
typedef int (*bits_fill_t)(void *source, uint8_t *bytes, size_t n);

typedef struct {
  bits_fill_t fill;
  /* NULL except in tests, where it replaces exact_bernoulli_exp() */
  int (*coin)(void *source, uint64_t u, int e);
  void *source;
  int failed; /* the source failed; every later bit is 1, and the draw is void */
  int left;   /* unused bits of the buffer */
  uint8_t buffer[BITS_BUFFER];
} bits_t;

bits_t bits_open(bits_fill_t fill, void *source);
void bits_close(bits_t *bits);

/* The operating system: getentropy() or, on Windows, rand_s(). `source` is not used. */
int bits_from_system(void *source, uint8_t *bytes, size_t n);

/* 0 or 1. A sampler's loop must end when `failed` is set. */
int bits_next(bits_t *bits);

/* An integer of `width` bits, at most 64, the highest bit drawn first */
uint64_t bits_word(bits_t *bits, int width);

/* Uniform on 0 .. n - 1, n at least 1, by rejection */
uint64_t bits_below(bits_t *bits, uint64_t n);

/* Is a uniform integer of `width` bits below u, at most 2^width? Bits are drawn from the highest down
   until this is decided, after two bits on average. */
int bits_less(bits_t *bits, uint64_t u, int width);

#endif
