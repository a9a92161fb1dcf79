#ifndef DPTS_R_LIST_H
#define DPTS_R_LIST_H
/* Lists of R. */

#include <stdint.h>
#include "r_api.h"

SEXP list_get(SEXP list, const char *name); /* R_NilValue if absent */
double list_number(SEXP list, const char *name);

/* The first string of a vector of them */
static inline const char *text_of(SEXP x) { return CHAR(STRING_ELT(x, 0)); }

/* What a handle, made with a protected value by R_MakeExternalPtr(), points to */
void *handle_of(SEXP handle);

/* A new list with these names; a vector of n numbers, NULL if x is; and of these. */
#define NAMED_LIST(...) Rf_mkNamed(VECSXP, (const char *[]){__VA_ARGS__, ""})
SEXP numbers(const double *x, R_xlen_t n);
#define NUMBERS(...) numbers((double[]){__VA_ARGS__}, sizeof(double[]){__VA_ARGS__} / sizeof(double))
static inline double or_na(double x) { return ISNAN(x) ? NA_REAL : x; }

/* In a loop over i from 0: a look at Ctrl-C now and then. What the loop uses is R's memory. */
static inline void look_for_interrupt(R_xlen_t i) {
  if (i % (1 << 16) == 0) R_CheckUserInterrupt();
}

/* 64 bits as text of 16 digits; and bytes, two digits each and a 0, at a place for them -> their end */
SEXP hexadecimal(uint64_t word);
char *write_hex(char *at, SEXP bytes);

/* A vector of n numbers, kept as an element of a protected list. */
double *keep_numbers(SEXP list, int at, R_xlen_t n);
int *keep_integers(SEXP list, int at, R_xlen_t n);

/* A block of zeroed memory, likewise. */
void *keep_block(SEXP list, int at, size_t bytes);

#endif
