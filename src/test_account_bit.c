/* The loss of one bit (account_bit.h), for tests. */

#include <R_ext/Utils.h>
#include <math.h>
#include <string.h>
#include "account.h"
#include "account_bit.h"
#include "r_api.h"

/* H(d, g), for tests */
SEXP ffi_bit_loss(SEXP alpha, SEXP shift, SEXP charge) {
  R_xlen_t n = Rf_xlength(alpha);
  SEXP out = PROTECT(Rf_allocVector(REALSXP, n));
  for (R_xlen_t i = 0; i < n; i++) {
    bit_search search = {0, 0};
    REAL(out)[i] = bit_loss(REAL(alpha)[i], REAL(shift)[i], REAL(charge)[i], &search);
  }
  UNPROTECT(1);
  return out;
}

/* For tests: the logarithm at x of which H is the supremum, and its slope; `shift`
   carries the sign. */
SEXP ffi_bit_at(SEXP alpha, SEXP shift, SEXP charge, SEXP x) {
  const char *names[] = {"value", "slope", ""};
  R_xlen_t n = Rf_xlength(alpha);
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  SEXP value = Rf_allocVector(REALSXP, n);
  SET_VECTOR_ELT(out, 0, value);
  SEXP slope = Rf_allocVector(REALSXP, n);
  SET_VECTOR_ELT(out, 1, slope);
  for (R_xlen_t i = 0; i < n; i++) {
    bit_point at = bit_at(REAL(alpha)[i], REAL(shift)[i], REAL(charge)[i], REAL(x)[i]);
    REAL(value)[i] = at.value;
    REAL(slope)[i] = at.slope;
  }
  UNPROTECT(1);
  return out;
}
