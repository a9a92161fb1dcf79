/* The loss of one bit (account_bit.h), for tests. */

#include "account_bit.h"
#include "r_list.h"

/* H(d, g) */
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

/* The logarithm at x of which H is the supremum, and its slope; `shift` carries the sign. */
SEXP ffi_bit_at(SEXP alpha, SEXP shift, SEXP charge, SEXP x) {
  R_xlen_t n = Rf_xlength(alpha);
  SEXP out = PROTECT(NAMED_LIST("value", "slope"));
  double *value = keep_numbers(out, 0, n), *slope = keep_numbers(out, 1, n);
  for (R_xlen_t i = 0; i < n; i++) {
    bit_point at = bit_at(REAL(alpha)[i], REAL(shift)[i], REAL(charge)[i], REAL(x)[i]);
    value[i] = at.value;
    slope[i] = at.slope;
  }
  UNPROTECT(1);
  return out;
}
