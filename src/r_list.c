#include "r_list.h"
#include <string.h>

SEXP list_get(SEXP list, const char *name) {
  SEXP names = Rf_getAttrib(list, R_NamesSymbol);
  for (R_xlen_t i = 0; i < Rf_xlength(names); i++) {
    if (strcmp(CHAR(STRING_ELT(names, i)), name) == 0) return VECTOR_ELT(list, i);
  }
  return R_NilValue;
}

double list_number(SEXP list, const char *name) {
  SEXP value = list_get(list, name);
  return value == R_NilValue ? R_NaN : Rf_asReal(value);
}

double *keep_numbers(SEXP list, int at, R_xlen_t n) {
  return REAL(SET_VECTOR_ELT(list, at, Rf_allocVector(REALSXP, n)));
}

int *keep_integers(SEXP list, int at, R_xlen_t n) {
  return INTEGER(SET_VECTOR_ELT(list, at, Rf_allocVector(INTSXP, n)));
}

void *keep_block(SEXP list, int at, size_t bytes) {
  SEXP block = Rf_allocVector(RAWSXP, (R_xlen_t)bytes);
  SET_VECTOR_ELT(list, at, block);
  memset(RAW(block), 0, bytes);
  return RAW(block);
}
