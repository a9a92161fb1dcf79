#include "r_api.h"

#include <R_ext/Rdynload.h>
#include <R_ext/Visibility.h>

#define CALL(name, nargs) {#name, (DL_FUNC) &ffi_##name, nargs}

static const R_CallMethodDef call_routines[] = {
    CALL(gdp_delta, 3),
    CALL(gdp_epsilon, 2),
    CALL(gdp_mu, 2),
    {NULL, NULL, 0}};

attribute_visible void R_init_dpts(DllInfo *dll) {
    R_registerRoutines(dll, NULL, call_routines, NULL, NULL);
    R_useDynamicSymbols(dll, FALSE);
    R_forceSymbols(dll, TRUE);
}
