#ifndef DPTS_R_CALLBACK_H
#define DPTS_R_CALLBACK_H
/* Calling R from inside a kernel, for shims whose kernels are functions of the user's. An error, an interrupt
   or a restart in R would jump over the frames of the kernels, whose rule is that they return. So the jump is
   caught where it enters C, the kernel returns a failure as it does for any other, and the shim lets the jump
   continue (Writing R Extensions, 6.12). Main thread only. */

#include "r_api.h"

typedef struct {
  SEXP env;    /* where calls are evaluated; it keeps `unwind` alive */
  SEXP unwind; /* a jump that waits */
  int jumped;  /* is there one? */
} callback_t;

callback_t callback_new(SEXP env);

/* Evaluate a call -> its value, unprotected; NULL: R has jumped, now or before. */
SEXP callback_eval(callback_t *callback, SEXP call);

/* Let a jump that waits continue; returns if there is none. */
void callback_resume(callback_t *callback);

#endif
