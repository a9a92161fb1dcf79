#ifndef DPTS_R_LIST_H
#define DPTS_R_LIST_H
/* Lists of R. */

#include "r_api.h"

SEXP list_get(SEXP list, const char *name); /* R_NilValue if absent */
double list_number(SEXP list, const char *name);

/* A vector of n numbers, kept as an element of a protected list. */
double *keep_numbers(SEXP list, int at, R_xlen_t n);
int *keep_integers(SEXP list, int at, R_xlen_t n);

/* A block of zeroed memory, likewise. */
void *keep_block(SEXP list, int at, size_t bytes);

#endif
