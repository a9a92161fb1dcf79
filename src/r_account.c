/* Shims of the privacy accountants. R has checked and recycled the arguments. */
#include "account.h"
#include "r_api.h"

#include <R_ext/Utils.h>

/* How many conversions run between two checks for an interrupt: about 10 ms. */
#define SLICE 16384

SEXP ffi_gdp_delta(SEXP mu, SEXP epsilon, SEXP log) {
    R_xlen_t n = Rf_xlength(mu);
    int log_scale = Rf_asLogical(log);
    SEXP out = PROTECT(Rf_allocVector(REALSXP, n));
    const double *m = REAL(mu), *e = REAL(epsilon);
    for (R_xlen_t i = 0; i < n; i++) {
        if (i % SLICE == SLICE - 1) R_CheckUserInterrupt();
        REAL(out)[i] = gdp_delta(m[i], e[i], log_scale);
    }
    UNPROTECT(1);
    return out;
}

static SEXP map2(double (*f)(double, double), SEXP x, SEXP y) {
    R_xlen_t n = Rf_xlength(x);
    SEXP out = PROTECT(Rf_allocVector(REALSXP, n));
    const double *a = REAL(x), *b = REAL(y);
    for (R_xlen_t i = 0; i < n; i++) {
        if (i % SLICE == SLICE - 1) R_CheckUserInterrupt();
        REAL(out)[i] = f(a[i], b[i]);
    }
    UNPROTECT(1);
    return out;
}

SEXP ffi_gdp_epsilon(SEXP mu, SEXP delta) { return map2(gdp_epsilon, mu, delta); }

SEXP ffi_gdp_mu(SEXP epsilon, SEXP delta) { return map2(gdp_mu, epsilon, delta); }
