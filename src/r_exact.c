/* Exact noise as R sees it: mechanisms and unguessable bytes. */

#include <string.h>
#include "noise_exact_normal.h"
#include "noise_exact_release.h"
#include "r_read.h"

exact_sampler_t exact_sampler(SEXP distribution) {
  return strcmp(text_of(distribution), "normal") == 0 ? exact_normal : exact_laplace;
}

static void no_bits(void) { Rf_error("the operating system gave no random bits"); }

/* The largest m / 2^e not above numer / denom -> c(m, e), or NULL */
SEXP ffi_exact_rate(SEXP numer, SEXP denom) {
  rate_t rate;
  if (rate_below(Rf_asReal(numer), Rf_asReal(denom), &rate)) return R_NilValue;
  return NUMBERS(rate.m, rate.e);
}

/* Whole numbers below 2^53 plus exact noise of a rate c(m, e) -> whole numbers as doubles */
SEXP ffi_exact_noise(SEXP distribution, SEXP value, SEXP rate) {
  const exact_sampler_t sampler = exact_sampler(distribution);
  const rate_t r = {(uint32_t)REAL(rate)[0], (int)REAL(rate)[1]};
  const int64_t most = (int64_t)1 << 61; /* see exact_clamp() */
  const R_xlen_t n = Rf_xlength(value);
  SEXP out = PROTECT(Rf_allocVector(REALSXP, n));
  bits_t bits = bits_open(bits_from_system, NULL);
  for (R_xlen_t i = 0; i < n && !bits.failed; i++) {
    if (i % (1 << 16) == 0) { /* no bits are left in memory if R does not return */
      bits_close(&bits);
      R_CheckUserInterrupt();
      bits = bits_open(bits_from_system, NULL);
    }
    const int64_t x = (int64_t)REAL(value)[i] + sampler(&bits, r);
    REAL(out)[i] = (double)(x > most ? most : x < -most ? -most : x);
  }
  const int failed = bits.failed;
  bits_close(&bits);
  if (failed) no_bits();
  UNPROTECT(1);
  return out;
}

/* n bytes of the operating system */
SEXP ffi_system_bytes(SEXP n) {
  const R_xlen_t size = (R_xlen_t)Rf_asReal(n);
  SEXP out = PROTECT(Rf_allocVector(RAWSXP, size));
  for (R_xlen_t at = 0; at < size; at += BITS_BUFFER) {
    const R_xlen_t left = size - at;
    if (bits_from_system(NULL, RAW(out) + at, left < BITS_BUFFER ? (size_t)left : BITS_BUFFER)) {
      no_bits();
    }
  }
  UNPROTECT(1);
  return out;
}
