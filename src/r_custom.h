#ifndef DPTS_R_CUSTOM_H
#define DPTS_R_CUSTOM_H
/* Policies written in R. The host, made by R/policy-custom.R, holds the functions and, while a
   session lasts, its state. */

#include "policy.h"
#include "r_callback.h"

extern const policy_t policy_custom;

/* Point a spec to its host, which must stay protected. */
void custom_read(SEXP host, spec_t *spec);

/* Let an error in one of the policy's functions continue, at the end of a shim; returns if there was
   none, and for policies in C. */
void custom_resume(const spec_t *spec);

#endif
