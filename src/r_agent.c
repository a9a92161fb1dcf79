/* What agents need of C besides sessions and exact noise. */

#include <stdio.h>
#include "math_util.h"
#include <sys/stat.h>
#include "r_list.h"

/* A checksum of bytes, as text. It finds damage; it is no signature. */
SEXP ffi_checksum(SEXP bytes) {
  return hexadecimal(hash_on(HASH_START, RAW(bytes), (size_t)Rf_xlength(bytes)));
}

/* Bytes as hexadecimal text */
SEXP ffi_hex(SEXP bytes) {
  char *text = R_alloc((size_t)Rf_xlength(bytes) * 2 + 1, 1);
  write_hex(text, bytes);
  return Rf_mkString(text);
}

/* ... and back */
SEXP ffi_unhex(SEXP text) {
  const char *x = CHAR(STRING_ELT(text, 0));
  const R_xlen_t n = LENGTH(STRING_ELT(text, 0)) / 2;
  SEXP out = Rf_allocVector(RAWSXP, n);
  for (R_xlen_t i = 0; i < 2 * n; i++) {
    const int digit = (x[i] & 15) + (x[i] > '9' ? 9 : 0);
    RAW(out)[i / 2] = (Rbyte)(i % 2 ? RAW(out)[i / 2] | digit : digit << 4);
  }
  return out;
}

/* Seconds on a clock that nobody sets */
SEXP ffi_ticks(void) { return Rf_ScalarReal(now()); }

/* Which file a path names now, as text; NA if none */
SEXP ffi_file_identity(SEXP path) {
  struct stat about;
  char text[64];
  if (stat(R_ExpandFileName(Rf_translateChar(STRING_ELT(path, 0))), &about) != 0)
    return Rf_ScalarString(NA_STRING);
  snprintf(text, sizeof text, "%.0f-%.0f", (double)about.st_dev, (double)about.st_ino);
  return Rf_mkString(text);
}
