#include <string.h>
#ifndef _WIN32
#include <unistd.h>
#endif
#include "r_read.h"

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
  const char *law = CHAR(STRING_ELT(list_get(value, "law"), 0));
  SEXP mean = list_get(value, "mean"), par = list_get(value, "par");
  arms->law = law_find(law);
  if (!arms->law) Rf_error("no reward law called '%s'", law);
  arms->k = (int)Rf_xlength(mean);
  arms->mean = REAL(mean);
  arms->gap = REAL(list_get(value, "gap"));
  arms->par = REAL(par);
  arms->par_rows = (int)(Rf_xlength(par) / Rf_xlength(mean));
  SEXP contexts = list_get(value, "contexts");
  arms->dim = arms->own = arms->context_law = arms->n_contexts = 0;
  arms->contexts = NULL;
  arms->noise = 1;
  if (contexts == R_NilValue) return;
  arms->dim = arms->par_rows;
  arms->own = (int)list_number(contexts, "own");
  arms->context_law = (int)list_number(contexts, "law");
  arms->noise = list_number(contexts, "noise");
  arms->contexts = REAL(list_get(contexts, "values"));
  arms->n_contexts = (int)(Rf_xlength(list_get(contexts, "values")) / arms->dim);
}

void read_policy(SEXP value, int k, double horizon, spec_t *spec) {
  const char *name = CHAR(STRING_ELT(list_get(value, "name"), 0));
  SEXP params = list_get(value, "params");
  memset(spec, 0, sizeof *spec);
  spec->policy = policy_find(name);
  if (!spec->policy) Rf_error("no policy called '%s'", name);
  spec->k = k;
  spec->horizon = horizon;
  for (int i = 0; spec->policy->params[i]; i++) {
    spec->par[i] = list_number(params, spec->policy->params[i]);
  }
}

void *keep_block(SEXP list, int at, size_t bytes) {
  SEXP block = Rf_allocVector(RAWSXP, (R_xlen_t)bytes);
  SET_VECTOR_ELT(list, at, block);
  memset(RAW(block), 0, bytes);
  return RAW(block);
}

void *new_state(const spec_t *spec) {
  const size_t bytes = spec->policy->size(spec);
  void *state = R_alloc(bytes / sizeof(double) + 1, sizeof(double));
  memset(state, 0, bytes);
  spec->policy->init(state, spec);
  return state;
}

ledger_t keep_ledger(SEXP list, int at, int max, int silent) {
  double *column[4];
  for (int i = 0; i < 4; i++) {
    SEXP numbers = Rf_allocVector(REALSXP, max);
    SET_VECTOR_ELT(list, at + i, numbers);
    column[i] = REAL(numbers);
  }
  return (ledger_t){.silent = silent, .max = max, .exact = column[0], .law = column[1],
                    .scale = column[2], .noise = column[3]};
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
