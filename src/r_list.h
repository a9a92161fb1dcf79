#ifndef DPTS_R_LIST_H
#define DPTS_R_LIST_H
/* Lists of R. */

#include "r_api.h"

SEXP list_get(SEXP list, const char *name); /* R_NilValue if absent */
double list_number(SEXP list, const char *name);

/* A block of zeroed memory, kept as an element of a protected list. */
void *keep_block(SEXP list, int at, size_t bytes);

#endif
