/* The past as an adversary in R sees it: vectors that grow at their end, round by round, and are never copied
   for that. A buffer has room for more; what R sees is a view of its first elements, which are not written
   again. Who writes to a view gets a vector of its own. */

#include <string.h>
#include "r_api.h"
#include "r_past.h"

#include <R_ext/Altrep.h> /* needs the ones before */

static R_altrep_class_t integers, doubles;

/* A view: data1 is the buffer, data2 how many elements are seen; after a write its own vector, and NULL. */
static R_xlen_t length(SEXP x) {
  SEXP n = R_altrep_data2(x);
  return n == R_NilValue ? Rf_xlength(R_altrep_data1(x)) : (R_xlen_t)REAL(n)[0];
}

static void *content(SEXP x) { return TYPEOF(x) == INTSXP ? (void *)INTEGER(x) : (void *)REAL(x); }
static size_t width(SEXP x) { return TYPEOF(x) == INTSXP ? sizeof(int) : sizeof(double); }

static void *pointer(SEXP x, Rboolean to_write) {
  SEXP buffer = R_altrep_data1(x);
  if (to_write && R_altrep_data2(x) != R_NilValue) {
    const R_xlen_t n = length(x);
    SEXP own = PROTECT(Rf_allocVector(TYPEOF(buffer), n));
    if (n) memcpy(content(own), content(buffer), width(own) * (size_t)n);
    R_set_altrep_data1(x, own);
    R_set_altrep_data2(x, R_NilValue);
    UNPROTECT(1);
    buffer = own;
  }
  return content(buffer);
}

static const void *pointer_to_read(SEXP x) { return content(R_altrep_data1(x)); }
static int integer_at(SEXP x, R_xlen_t i) { return INTEGER(R_altrep_data1(x))[i]; }
static double double_at(SEXP x, R_xlen_t i) { return REAL(R_altrep_data1(x))[i]; }

void past_init(DllInfo *dll) {
  integers = R_make_altinteger_class("past_integers", "dpts", dll);
  doubles = R_make_altreal_class("past_doubles", "dpts", dll);
  const R_altrep_class_t both[] = {integers, doubles};
  for (int i = 0; i < 2; i++) {
    R_set_altrep_Length_method(both[i], length);
    R_set_altvec_Dataptr_method(both[i], pointer);
    R_set_altvec_Dataptr_or_null_method(both[i], pointer_to_read);
  }
  R_set_altinteger_Elt_method(integers, integer_at);
  R_set_altreal_Elt_method(doubles, double_at);
}

/* The buffer with `more` after its first n elements: itself, or a longer one if it is full. Both are of one
   type. */
SEXP ffi_past_add(SEXP buffer, SEXP n, SEXP more) {
  const size_t used = (size_t)Rf_asReal(n), add = (size_t)Rf_xlength(more);
  SEXP out = buffer;
  if (used + add > (size_t)Rf_xlength(buffer)) {
    out = Rf_allocVector(TYPEOF(buffer), (R_xlen_t)(2 * (used + add) + 64));
    if (used) memcpy(content(out), content(buffer), width(out) * used);
  }
  if (add) memcpy((char *)content(out) + width(out) * used, content(more), width(out) * add);
  return out;
}

/* Its first n elements */
SEXP ffi_past_view(SEXP buffer, SEXP n) {
  SEXP seen = PROTECT(Rf_ScalarReal(Rf_asReal(n)));
  SEXP out = R_new_altrep(TYPEOF(buffer) == INTSXP ? integers : doubles, buffer, seen);
  UNPROTECT(1);
  return out;
}
