/* The whole surface between R and C: one prototype for each .Call routine. */
#ifndef DPTS_R_API_H
#define DPTS_R_API_H

#define R_NO_REMAP
#include <Rinternals.h>

/* r_account.c */
SEXP ffi_gdp_delta(SEXP mu, SEXP epsilon, SEXP log);
SEXP ffi_gdp_epsilon(SEXP mu, SEXP delta);
SEXP ffi_gdp_mu(SEXP epsilon, SEXP delta);

#endif
