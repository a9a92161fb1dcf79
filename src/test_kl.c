/* Divergences and indices, for tests. */

#include <string.h>
#include "math_kl.h"
#include "r_read.h"

/* what: "kl", "kl_upper", "d_epsilon", "d_epsilon_upper" (a is epsilon), "noisy" (a is the sd of the
   noise, n the rewards); x and y of one length */
SEXP ffi_kl(SEXP what, SEXP x, SEXP y, SEXP a, SEXP n) {
  const char *name = text_of(what);
  const double par = Rf_asReal(a), rewards = Rf_asReal(n);
  const R_xlen_t size = Rf_xlength(x);
  SEXP out = PROTECT(Rf_allocVector(REALSXP, size));
  for (R_xlen_t i = 0; i < size; i++) {
    const double xi = REAL(x)[i], yi = REAL(y)[i];
    REAL(out)
    [i] = strcmp(name, "kl") == 0                ? kl(xi, yi)
          : strcmp(name, "kl_upper") == 0        ? kl_upper(xi, yi)
          : strcmp(name, "d_epsilon") == 0       ? d_epsilon(xi, yi, par)
          : strcmp(name, "d_epsilon_upper") == 0 ? d_epsilon_upper(xi, yi, par)
                                                 : kl_noisy(xi, yi, rewards, par);
  }
  UNPROTECT(1);
  return out;
}
