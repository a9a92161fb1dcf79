#include <string.h>
#ifndef _WIN32
#include <unistd.h>
#endif
#include "r_custom.h"
#include "r_read.h"

SEXP ffi_max_context(void) { return Rf_ScalarInteger(MAX_CONTEXT); }

SEXP list_get(SEXP list, const char *name) {
  SEXP names = Rf_getAttrib(list, R_NamesSymbol);
  for (R_xlen_t i = 0; i < Rf_xlength(names); i++) {
    if (strcmp(CHAR(STRING_ELT(names, i)), name) == 0) return VECTOR_ELT(list, i);
  }
  return R_NilValue;
}

double list_number(SEXP list, const char *name) {
  SEXP value = list_get(list, name);
  return value == R_NilValue ? R_NaN : Rf_asReal(value);
}

void read_arms(SEXP value, arms_t *arms) {
  const char *name = CHAR(STRING_ELT(list_get(value, "distribution"), 0));
  SEXP mean = list_get(value, "mean"), par = list_get(value, "par");
  const R_xlen_t k = Rf_xlength(mean);
  arms->distribution = distribution_find(name);
  if (!arms->distribution) Rf_error("no reward distribution called '%s'", name);
  /* Arms may have been edited by hand. */
  if (k < 1 || !Rf_isReal(mean) || !Rf_isReal(par) || !Rf_isReal(list_get(value, "gap")) ||
      Rf_xlength(list_get(value, "gap")) != k || Rf_xlength(par) < k ||
      Rf_xlength(par) % k != 0) {
    Rf_error("the arms are damaged: make them anew with their constructor");
  }
  arms->k = (int)k;
  arms->mean = REAL(mean);
  arms->gap = REAL(list_get(value, "gap"));
  arms->par = REAL(par);
  arms->par_rows = (int)(Rf_xlength(par) / k);
  if (arms->distribution->rows > 0 && arms->par_rows % arms->distribution->rows != 0) {
    Rf_error("the arms are damaged: make them anew with their constructor");
  }
  SEXP contexts = list_get(value, "contexts");
  arms->dim = arms->own = arms->context_kind = arms->n_contexts = 0;
  arms->contexts = NULL;
  arms->noise = 1;
  if (contexts == R_NilValue) return;
  arms->dim = arms->par_rows;
  arms->own = (int)list_number(contexts, "own");
  arms->context_kind = context_kind_find(CHAR(STRING_ELT(list_get(contexts, "kind"), 0)));
  arms->noise = list_number(contexts, "noise");
  arms->contexts = REAL(list_get(contexts, "values"));
  arms->n_contexts = (int)(Rf_xlength(list_get(contexts, "values")) / arms->dim);
}

/* The place of a name among the choices; NaN if it is not one of them. */
static double choice_of(SEXP value, const char *const *choices) {
  if (!Rf_isString(value) || Rf_length(value) != 1) return R_NaN;
  for (int i = 0; choices[i]; i++) {
    if (strcmp(CHAR(STRING_ELT(value, 0)), choices[i]) == 0) return i;
  }
  return R_NaN;
}

void read_policy(SEXP value, int k, int dim, double horizon, spec_t *spec) {
  const char *name = CHAR(STRING_ELT(list_get(value, "name"), 0));
  SEXP params = list_get(value, "params");
  SEXP host = list_get(value, "host");
  memset(spec, 0, sizeof *spec);
  spec->policy = host == R_NilValue ? policy_find(name) : &policy_custom;
  if (!spec->policy) Rf_error("no policy called '%s'", name);
  spec->k = k;
  spec->dim = dim;
  spec->horizon = horizon;
  if (host != R_NilValue) custom_read(host, spec);
  for (int i = 0; spec->policy->params[i].name; i++) {
    const param_t *param = &spec->policy->params[i];
    spec->par[i] = param->choices ? choice_of(list_get(params, param->name), param->choices)
                                  : list_number(params, param->name);
    if (param->need == REQUIRED && ISNAN(spec->par[i])) {
      Rf_error("policy \"%s\" has no parameter \"%s\"", name, param->name);
    }
  }
}

void *keep_block(SEXP list, int at, size_t bytes) {
  SEXP block = Rf_allocVector(RAWSXP, (R_xlen_t)bytes);
  SET_VECTOR_ELT(list, at, block);
  memset(RAW(block), 0, bytes);
  return RAW(block);
}

const int *keep_all_arms(SEXP list, int at, int k) {
  int *arms = keep_block(list, at, sizeof(int) * (size_t)k);
  for (int i = 0; i < k; i++) arms[i] = i;
  return arms;
}

static void *room(size_t bytes) {
  void *block = R_alloc(bytes / sizeof(double) + 1, sizeof(double));
  memset(block, 0, bytes);
  return block;
}

session_t new_session(const spec_t *spec, draws_t draws) {
  int *arms = room(sizeof(int) * (size_t)spec->k);
  for (int i = 0; i < spec->k; i++) arms[i] = i;
  session_t session = {.spec = spec,
                       .state = room(spec->policy->size(spec)),
                       .draws = draws,
                       .pulls = room(sizeof(int64_t) * (size_t)spec->k),
                       .arms = arms};
  session_begin(&session);
  return session;
}

const char *session_message(session_status_t status) {
  switch (status) {
  case SESSION_OK:
    return "nothing is wrong";
  case SESSION_NO_ARM:
    return "it had no arm to choose, since an index was not a number";
  case SESSION_NOT_OFFERED:
    return "it chose an arm that is not on offer";
  case SESSION_BAD_NOISE:
    return "it asked for noise of a scale that is no positive number";
  case SESSION_NOT_OUT:
    return "no reward is awaited for that round";
  case SESSION_FULL:
    return "too many rewards are out";
  case SESSION_OTHER:
    return "the saved session is of another policy, problem or version";
  case SESSION_DAMAGED:
    return "the saved session is damaged";
  }
  return "unknown status";
}

ledger_t keep_ledger(SEXP list, int at, int max, int silent) {
  double *column[LEDGER_COLUMNS];
  for (int i = 0; i < LEDGER_COLUMNS; i++) {
    SEXP numbers = Rf_allocVector(REALSXP, max);
    SET_VECTOR_ELT(list, at + i, numbers);
    column[i] = REAL(numbers);
  }
  return (ledger_t){.silent = silent,
                    .max = max,
                    .exact = column[0],
                    .kind = column[1],
                    .scale = column[2],
                    .noise = column[3],
                    .value = column[4],
                    .release = column[5]};
}

#ifndef _WIN32
static pid_t process;
void remember_process(void) { process = getpid(); }
static int forked(void) { return getpid() != process; }
#else
void remember_process(void) {}
static int forked(void) { return 0; }
#endif

int usable_threads(int wanted) {
#ifdef _OPENMP
  /* OpenMP after a fork can hang, and a forked worker has been given one core. */
  return forked() ? 1 : wanted;
#else
  (void)wanted, (void)forked;
  return 1;
#endif
}
