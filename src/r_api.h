#ifndef DPTS_R_API_H
#define DPTS_R_API_H
/* Prototypes of every .Call routine: the list is r_calls.h. */

#define R_NO_REMAP
#define STRICT_R_HEADERS
#include <R.h>
#include <Rinternals.h>

#define CALL(name, n, ...) SEXP ffi_##name(__VA_ARGS__);
#include "r_calls.h"
#undef CALL

#endif
