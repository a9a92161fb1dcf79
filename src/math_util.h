#ifndef DPTS_MATH_UTIL_H
#define DPTS_MATH_UTIL_H
/* Small helpers of several kernels. */

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

/* For a function that is called with different constant arguments, so that the compiler makes a copy for
   each. */
#ifdef __GNUC__
#define ALWAYS_INLINE inline __attribute__((always_inline))
/* For the rare branch of a short function: inlined, it would make the common one save registers, too. */
#define NOINLINE __attribute__((noinline))
#else
#define ALWAYS_INLINE inline
#define NOINLINE
#endif

/* For a function whose loops are over numbers side by side: with the widest vectors that the machine has, and
   the same results. Only glibc can select a clone when the library is loaded; musl cannot. */
#if defined(__GNUC__) && !defined(__clang__)
#define VECTORS optimize("O3", "fp-contract=off", "no-trapping-math")
#if defined(__x86_64__) && defined(__GLIBC__)
#define VECTOR_UNITS __attribute__((target_clones("avx512f", "avx2", "default"), VECTORS))
#else
#define VECTOR_UNITS __attribute__((VECTORS))
#endif
#else
#define VECTOR_UNITS
#endif

/* Clamps to [0, 1]; NaN becomes 0. */
static inline double clip01(double x) { return x > 0 ? (x < 1 ? x : 1) : 0; }

/* Four partial sums, because the compiler may not reorder one. */
static inline double dot(int n, const double *x, const double *y) {
  double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  int i = 0;
  for (; i + 3 < n; i += 4) {
    s0 += x[i] * y[i];
    s1 += x[i + 1] * y[i + 1];
    s2 += x[i + 2] * y[i + 2];
    s3 += x[i + 3] * y[i + 3];
  }
  for (; i < n; i++) s0 += x[i] * y[i];
  return (s0 + s1) + (s2 + s3);
}

/* FNV-1a (Fowler, Noll and Vo), continued from its last value. It detects accidental damage, not an
   attacker's. */
#define HASH_START 0xcbf29ce484222325u
static inline uint64_t hash_on(uint64_t hash, const void *data, size_t n) {
  const unsigned char *bytes = data;
  for (size_t i = 0; i < n; i++) hash = (hash ^ bytes[i]) * 0x100000001b3u;
  return hash;
}

/* The index of a name in a list that ends with NULL; -1 if it is not there. */
static inline int name_among(const char *name, const char *const *names) {
  for (int i = 0; names[i]; i++) {
    if (strcmp(names[i], name) == 0) return i;
  }
  return -1;
}

/* Seconds on a monotonic clock. */
static inline double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

#endif
