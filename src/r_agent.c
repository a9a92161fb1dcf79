/* What agents need of C besides sessions and exact noise. */

#include "math_util.h"
#include "r_list.h"

/* A checksum of bytes, as text. It finds damage; it is no signature. */
SEXP ffi_checksum(SEXP bytes) {
  return hexadecimal(hash_on(HASH_START, RAW(bytes), (size_t)Rf_xlength(bytes)));
}

/* Bytes as hexadecimal text */
SEXP ffi_hex(SEXP bytes) {
  const char digits[] = "0123456789abcdef";
  const Rbyte *x = RAW(bytes);
  const R_xlen_t n = Rf_xlength(bytes);
  char *text = R_alloc((size_t)n * 2 + 1, 1);
  for (R_xlen_t i = 0; i < n; i++) {
    text[2 * i] = digits[x[i] >> 4];
    text[2 * i + 1] = digits[x[i] & 15];
  }
  text[2 * n] = 0;
  return Rf_mkString(text);
}
