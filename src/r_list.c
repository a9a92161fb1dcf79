#include "r_list.h"
#include <stdio.h>
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

void *handle_of(SEXP handle) {
  void *address = TYPEOF(handle) == EXTPTRSXP ? R_ExternalPtrAddr(handle) : NULL;
  if (!address) Rf_error("the handle is from another R session");
  return address;
}

SEXP numbers(const double *x, R_xlen_t n) {
  if (!x) return R_NilValue;
  SEXP out = Rf_allocVector(REALSXP, n);
  memcpy(REAL(out), x, sizeof(double) * (size_t)n);
  return out;
}

SEXP hexadecimal(uint64_t word) {
  char text[24];
  snprintf(text, sizeof text, "%016llx", (unsigned long long)word);
  return Rf_mkString(text);
}

char *write_hex(char *at, SEXP bytes) {
  const char digits[] = "0123456789abcdef";
  const Rbyte *x = RAW(bytes);
  for (R_xlen_t i = 0; i < Rf_xlength(bytes); i++) {
    *at++ = digits[x[i] >> 4];
    *at++ = digits[x[i] & 15];
  }
  *at = 0;
  return at;
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
