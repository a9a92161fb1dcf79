#include <R_ext/Rdynload.h>
#include <R_ext/Visibility.h>
#include "r_api.h"
#include "r_past.h"
#include "r_compiled.h"
#include "r_read.h"
#include "sample.h"

#define CALL(name, n, ...) {#name, (DL_FUNC)(void (*)(void)) & ffi_##name, n},
static const R_CallMethodDef CALLS[] = {
#include "r_calls.h"
    {NULL, NULL, 0},
};

attribute_visible void R_init_dpts(DllInfo *dll) {
  R_registerRoutines(dll, NULL, CALLS, NULL, NULL);
  R_useDynamicSymbols(dll, FALSE);
  R_forceSymbols(dll, TRUE);
  R_RegisterCCallable("dpts", "dpts_register", (DL_FUNC)(void (*)(void))compiled_register);
  compiled_register("dpts", dpts_adversaries_of);
  past_init(dll);
  sample_init();
  remember_process();
}
