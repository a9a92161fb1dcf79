#include <setjmp.h>
#include "r_callback.h"

callback_t callback_new(SEXP env) {
  callback_t callback = {.env = env, .unwind = PROTECT(R_MakeUnwindCont())};
  Rf_defineVar(Rf_install(".unwind"), callback.unwind, env);
  UNPROTECT(1);
  return callback;
}

typedef struct {
  SEXP call, env;
  jmp_buf back;
} evaluation_t;

static SEXP evaluate(void *data) {
  const evaluation_t *evaluation = data;
  return Rf_eval(evaluation->call, evaluation->env);
}

static void jump_back(void *data, Rboolean jump) {
  if (jump) longjmp(((evaluation_t *)data)->back, 1);
}

SEXP callback_eval(callback_t *callback, SEXP call) {
  if (callback->jumped) return NULL;
  evaluation_t evaluation = {.call = call, .env = callback->env};
  if (setjmp(evaluation.back)) {
    callback->jumped = 1;
    return NULL;
  }
  return R_UnwindProtect(evaluate, &evaluation, jump_back, &evaluation, callback->unwind);
}

void callback_resume(callback_t *callback) {
  if (!callback->jumped) return;
  callback->jumped = 0; /* a live session continues after an error */
  R_ContinueUnwind(callback->unwind);
}
