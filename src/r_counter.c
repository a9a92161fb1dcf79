/* Mechanisms and counters, on their own. */

#include <limits.h>
#include <string.h>
#include <R_ext/Random.h>
#include "math_util.h"
#include "noise_counter_log.h"
#include "noise_counter_toeplitz.h"
#include "r_read.h"

/* Names of kinds of noise, in the place of their numbers less 1 */
static const char *const NOISE_NAMES[] = {[NOISE_LAPLACE - 1] = "Laplace",
                                          [NOISE_GAUSSIAN - 1] = "Gaussian",
                                          [NOISE_GAMMA - 1] = "Gamma",
                                          [NOISE_RESPONSE - 1] = "response",
                                          NULL};
enum { N_NOISE = sizeof NOISE_NAMES / sizeof *NOISE_NAMES - 1 };

/* What the numbers of ledgers and reports stand for */
SEXP ffi_noise_names(void) {
  SEXP out = PROTECT(Rf_allocVector(STRSXP, N_NOISE));
  for (int i = 0; i < N_NOISE; i++) SET_STRING_ELT(out, i, Rf_mkChar(NOISE_NAMES[i]));
  UNPROTECT(1);
  return out;
}

/* Add noise of a kind, by its name, and scale to a vector -> the noisy vector */
SEXP ffi_mechanism(SEXP kind, SEXP value, SEXP scale, SEXP seed) {
  const R_xlen_t n = Rf_xlength(value);
  SEXP out = PROTECT(Rf_duplicate(value));
  const double s = Rf_asReal(scale);
  double *x = REAL(out);
  draws_t draws = draws_of((uint64_t)Rf_asReal(seed), 0, NULL);
  const int number = 1 + name_among(text_of(kind), NOISE_NAMES);
  if (number == NOISE_GAMMA) {
    if (n > INT_MAX) Rf_error("too many numbers");
    release_gamma(&draws, (int)n, REAL(value), s, x);
  } else if (number == NOISE_LAPLACE || number == NOISE_GAUSSIAN) {
    for (R_xlen_t i = 0; i < n; i++) {
      look_for_interrupt(i);
      x[i] = release_noisy(&draws, (enum noise_kind)number, x[i], s);
    }
  } else {
    Rf_error("no noise called '%s'", text_of(kind));
  }
  UNPROTECT(1);
  return out;
}

/* Levels of an unbounded counter: streams stop at 2^53 items. */
enum { MAX_LEVELS = 54 };

enum kind { TREE, LOGARITHMIC, TOEPLITZ, HYBRID };
static const char *const KINDS[] = {"tree", "logarithmic", "toeplitz", "hybrid", NULL};

static size_t counter_size(enum kind kind, const double *par) {
  switch (kind) {
  case TREE:
    return tree_size(tree_levels(par[0]));
  case LOGARITHMIC:
    return sizeof(log_counter_t);
  case TOEPLITZ:
    return toeplitz_size(toeplitz_nodes(par[0]), 1);
  default:
    return hybrid_size(MAX_LEVELS);
  }
}

/* par: bound and epsilon of a tree, bound and mu of a factorisation; hu_hegde and epsilon of the others */
static void counter_init(enum kind kind, void *state, const double *par) {
  switch (kind) {
  case TREE: {
    const int levels = tree_levels(par[0]);
    tree_init(state, levels, NOISE_LAPLACE, levels / par[1]);
    break;
  }
  case LOGARITHMIC:
    log_counter_init(state, par[0] != 0, 1 / par[1]);
    break;
  case TOEPLITZ:
    toeplitz_init(state, par[0], toeplitz_nodes(par[0]), 1);
    break;
  default:
    hybrid_init(state, MAX_LEVELS, par[0] != 0, par[1]);
  }
}

static double counter_add(enum kind kind, void *state, const double *par, double item, draws_t *draws) {
  switch (kind) {
  case TREE:
    return tree_add(state, item, draws);
  case LOGARITHMIC:
    log_counter_add(state, item, draws);
    return ((log_counter_t *)state)->total;
  case TOEPLITZ: {
    const double sd = ((toeplitz_t *)state)->norm / par[1];
    double sum;
    toeplitz_add(state, &item, NOISE_GAUSSIAN, &sd, &sum, draws);
    return sum;
  }
  default:
    return hybrid_add(state, item, draws);
  }
}

static void put(SEXP list, const char *name, SEXP value) {
  SEXP names = Rf_getAttrib(list, R_NamesSymbol);
  for (R_xlen_t i = 0; i < Rf_xlength(list); i++) {
    if (!strcmp(CHAR(STRING_ELT(names, i)), name)) SET_VECTOR_ELT(list, i, value);
  }
}

/* Feed items to a counter -> the counter as it is then, with state, released and items. The items so far key
   the stream, so that a seed used twice does not repeat the noise. With max_ledger, not NULL, its attribute
   "ledger" is list(the ledger's columns, total). */
SEXP ffi_counter_add(SEXP counter, SEXP items, SEXP seed, SEXP silent, SEXP max_ledger) {
  const enum kind which = (enum kind)name_among(text_of(list_get(counter, "kind")), KINDS);
  const double *par = REAL(list_get(counter, "par"));
  const double before = list_number(counter, "items");
  SEXP state = list_get(counter, "state");
  const size_t size = counter_size(which, par);
  const R_xlen_t n = Rf_xlength(items);
  SEXP out = PROTECT(Rf_shallow_duplicate(counter));
  SEXP block = PROTECT(Rf_allocVector(RAWSXP, (R_xlen_t)size));
  if (state == R_NilValue) {
    memset(RAW(block), 0, size);
    counter_init(which, RAW(block), par);
  } else {
    if ((size_t)Rf_xlength(state) != size) Rf_error("the counter's state is damaged");
    memcpy(RAW(block), RAW(state), size);
  }
  put(out, "state", block);
  SEXP released = PROTECT(Rf_allocVector(REALSXP, n));
  put(out, "released", released);
  ledger_t ledger, *kept = NULL;
  SEXP columns = R_NilValue;
  if (max_ledger != R_NilValue) {
    columns = PROTECT(NAMED_LIST(LEDGER_NAMES, "total"));
    Rf_setAttrib(out, Rf_install("ledger"), columns);
    UNPROTECT(1); /* out has it */
    ledger = keep_ledger(columns, 0, Rf_asInteger(max_ledger), Rf_asLogical(silent));
    kept = &ledger;
  }
  draws_t draws = draws_of((uint64_t)Rf_asReal(seed), (uint64_t)before, kept);
  for (R_xlen_t i = 0; i < n; i++) {
    look_for_interrupt(i);
    REAL(released)[i] = counter_add(which, RAW(block), par, REAL(items)[i], &draws);
  }
  put(out, "items", Rf_ScalarReal(before + (double)n));
  if (kept) SET_VECTOR_ELT(columns, LEDGER_COLUMNS, Rf_ScalarInteger(ledger.n));
  UNPROTECT(3);
  return out;
}

/* A seed from R's generator, that of sample.int(.Machine$integer.max, 1) */
SEXP ffi_random_seed(void) {
  GetRNGstate();
  const double seed = 1 + R_unif_index(2147483647);
  PutRNGstate();
  return Rf_ScalarReal(seed);
}

/* What a factorisation of so many items has: list(norm, nodes, variance), the variance of each sum
   in units of that of a release. With bound Inf, of as many items as asked for. */
SEXP ffi_toeplitz(SEXP bound, SEXP items) {
  const double most = Rf_asReal(bound);
  const R_xlen_t n = (R_xlen_t)Rf_asReal(items);
  const int nodes = toeplitz_nodes(most);
  toeplitz_t *t = (toeplitz_t *)R_alloc(toeplitz_size(nodes, 0) / sizeof(double) + 1, sizeof(double));
  toeplitz_init(t, most, nodes, 0);
  SEXP out = PROTECT(NAMED_LIST("norm", "nodes", "variance"));
  SET_VECTOR_ELT(out, 0, Rf_ScalarReal(t->norm));
  SET_VECTOR_ELT(out, 1, Rf_ScalarInteger(t->nodes));
  double *variance = keep_numbers(out, 2, n);
  for (R_xlen_t i = 0; i < n; i++) {
    look_for_interrupt(i);
    toeplitz_add(t, NULL, NOISE_GAUSSIAN, NULL, NULL, NULL);
    variance[i] = t->variance;
  }
  UNPROTECT(1);
  return out;
}
