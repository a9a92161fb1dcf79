#include <string.h>
#ifndef _WIN32
#include <unistd.h>
#endif
#include "math_util.h"
#include "policy_linear_model.h"
#include "r_compiled.h"
#include "r_custom.h"
#include "r_read.h"

SEXP ffi_max_context(void) { return Rf_ScalarInteger(MAX_CONTEXT); }

/* The place of a name among the choices; NaN if it is not one of them. */
static double choice_of(SEXP value, const char *const *choices) {
  if (!Rf_isString(value) || Rf_length(value) != 1) return R_NaN;
  const int at = name_among(text_of(value), choices);
  return at < 0 ? R_NaN : at;
}

static double optional_number(SEXP list, const char *name, double otherwise) {
  const double value = list_number(list, name);
  return ISNAN(value) ? otherwise : value;
}

void read_policy(SEXP value, int k, int dim, double horizon, spec_t *spec) {
  const char *name = text_of(list_get(value, "name"));
  SEXP params = list_get(value, "params");
  SEXP host = list_get(value, "host");
  memset(spec, 0, sizeof *spec);
  const double strata = optional_number(params, "strata", 0);
  SEXP library = list_get(value, "library");
  spec->policy = host != R_NilValue      ? &policy_custom
                 : library != R_NilValue ? compiled_find(text_of(library), name)
                 : strata > 0            ? &policy_strata
                                         : policy_find(name);
  if (!spec->policy) Rf_error("no policy called '%s'", name);
  spec->k = k;
  spec->dim = dim;
  spec->every = (int64_t)optional_number(value, "every", 0);
  spec->flip = optional_number(value, "flip", 0);
  spec->horizon = spec->every > 0 ? fmin(horizon, (double)spec->every) : horizon;
  if (host != R_NilValue) custom_read(host, spec);
  SEXP inner = list_get(value, "inner"); /* and memory for it, in a value that is protected as this one is */
  if (inner != R_NilValue) {
    SEXP memory = list_get(value, "memory");
    if ((size_t)Rf_xlength(memory) < sizeof(spec_t)) Rf_error("no memory for a policy inside another");
    spec_t *own = (spec_t *)RAW(memory);
    const int arms = strata > 0 ? k / (int)strata : k;
    read_policy(inner, arms, dim, floor(horizon / optional_number(params, "batch", 1)), own);
    spec->inner = own;
  }
  for (int i = 0; spec->policy->params[i].name; i++) {
    const param_t *param = &spec->policy->params[i];
    spec->par[i] = param->choices ? choice_of(list_get(params, param->name), param->choices)
                                  : list_number(params, param->name);
    if (param->need == REQUIRED && ISNAN(spec->par[i])) {
      Rf_error("policy \"%s\" has no parameter \"%s\"", name, param->name);
    }
  }
}

/* Of a contextual policy for contexts of so many numbers: as linear_first_batch() */
SEXP ffi_first_batch(SEXP policy, SEXP dim, SEXP horizon) {
  spec_t spec;
  read_policy(policy, 1, Rf_asInteger(dim), Rf_asReal(horizon), &spec);
  return Rf_ScalarReal((double)linear_first_batch(&spec));
}

static void *memory(size_t bytes) {
  void *block = R_alloc(bytes / sizeof(double) + 1, sizeof(double));
  memset(block, 0, bytes);
  return block;
}

void read_visits(SEXP x, visits_t *visits) {
  if (x == R_NilValue) return;
  const double *v = REAL(x);
  *visits = (visits_t){(int64_t)v[0], (int64_t)v[1], (int64_t)v[2], (int64_t)v[3], v[4] != 0, NULL};
}

session_t new_session(const spec_t *spec, draws_t draws) {
  session_t session = session_on(memory(session_size(spec)), spec);
  session.draws = draws;
  session_begin(&session);
  return session;
}

SEXP read_observers(SEXP names, int n_runs, observation_t *all) {
  all->n = Rf_length(names);
  if (all->n > OBSERVERS_MAX) Rf_error("too many observers");
  int n = 0;
  for (int i = 0; i < all->n; i++) {
    const char *name = CHAR(STRING_ELT(names, i));
    const observer_kind_t *kind = all->of[i].kind = observer_find(name);
    if (!kind) Rf_error("no observer called '%s'", name);
    for (int j = 0; j < OBSERVER_OUTPUTS && kind->output[j].name; j++) n++;
  }
  SEXP out = PROTECT(Rf_allocVector(VECSXP, n)), labels = Rf_allocVector(STRSXP, n);
  Rf_setAttrib(out, R_NamesSymbol, labels);
  for (int i = 0, at = 0; i < all->n; i++) {
    const output_t *output = all->of[i].kind->output;
    for (int j = 0; j < OBSERVER_OUTPUTS && output[j].name; j++, at++) {
      SEXP matrix =
          Rf_allocMatrix(output[j].whole ? INTSXP : REALSXP, (int)output[j].rows(&all->survey), n_runs);
      SET_VECTOR_ELT(out, at, matrix);
      SET_STRING_ELT(labels, at, Rf_mkChar(output[j].name));
      /* 0 or NaN in rounds that are never played */
      const R_xlen_t size = Rf_xlength(matrix);
      if (output[j].whole) {
        all->of[i].out[j] = memset(INTEGER(matrix), 0, sizeof(int) * (size_t)size);
      } else {
        double *numbers = all->of[i].out[j] = REAL(matrix);
        for (R_xlen_t k = 0; k < size; k++) numbers[k] = NAN;
      }
    }
  }
  UNPROTECT(1);
  return out;
}

const char *session_message(session_status_t status) {
  static const char *const WORDS[] = {
      [SESSION_OK] = "nothing is wrong",
      [SESSION_NO_ARM] = "it had no arm to choose: an index was not a number, or it was below 0",
      [SESSION_NO_SKIP] = "its skip() played no round",
      [SESSION_BOUND] = "a probability is above the bound by which rounds are skipped; this is a bug in dpts",
      [SESSION_NOT_OFFERED] = "it chose an arm that is not available",
      [SESSION_BAD_NOISE] = "the scale of its noise is no positive number, or the sum to release no number",
      [SESSION_NO_REWARD] = "a reward is not a number",
      [SESSION_NOT_OUT] = "there was no pull of that arm and round",
      [SESSION_FULL] = "too many rewards are out",
      [SESSION_NO_CHANCES] = "the probabilities of its arms are no distribution over those available",
      [SESSION_PAST] = "it writes past the bytes that size() asks for",
      [SESSION_NO_VERDICT] = "it says that one may stop, but names no arm that there is",
      [SESSION_FINISHED] = "it was finished before",
      [SESSION_OTHER] = "the saved session is of another policy, problem or version",
      [SESSION_DAMAGED] = "the saved session is damaged",
  };
  return WORDS[status];
}

ledger_t keep_ledger(SEXP list, int at, int max, int silent) {
  ledger_t ledger = {.silent = silent, .max = max};
  for (int i = 0; i < LEDGER_COLUMNS; i++) ledger.column[i] = keep_numbers(list, at + i, max);
  return ledger;
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
