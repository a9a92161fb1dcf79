/* Mechanisms and counters, on their own. */

#include <string.h>
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
    release_gamma(&draws, (int)n, REAL(value), s, x);
  } else if (number == NOISE_LAPLACE || number == NOISE_GAUSSIAN) {
    for (R_xlen_t i = 0; i < n; i++)
      x[i] = release_noisy(&draws, (enum noise_kind)number, x[i], s);
  } else {
    Rf_error("no noise called '%s'", text_of(kind));
  }
  UNPROTECT(1);
  return out;
}

/* Levels of an unbounded counter: streams stop at 2^53 items. */
enum { MOST_LEVELS = 54 };

enum kind { TREE, LOGARITHMIC, TOEPLITZ, HYBRID };
static const char *const KINDS[] = {"tree", "logarithmic", "toeplitz", "hybrid", NULL};

static size_t counter_size(enum kind kind, const double *par) {
  switch (kind) {
  case TREE:
    return tree_size(tree_levels(par[0]));
  case LOGARITHMIC:
    return sizeof(log_counter_t);
  case TOEPLITZ:
    return toeplitz_size(par[0], 1);
  default:
    return hybrid_size(MOST_LEVELS);
  }
}

/* par: bound and epsilon of a tree, bound and mu of a factorisation; hu_hegde and epsilon of the
   others */
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
    toeplitz_init(state, par[0], 1);
    break;
  default:
    hybrid_init(state, MOST_LEVELS, par[0] != 0, par[1]);
  }
}

static double counter_add(enum kind kind, void *state, const double *par, double item,
                          draws_t *draws) {
  switch (kind) {
  case TREE:
    return tree_add(state, item, draws);
  case LOGARITHMIC:
    log_counter_add(state, item, draws);
    return ((log_counter_t *)state)->total;
  case TOEPLITZ: {
    const double sd = ((toeplitz_t *)state)->norm / par[1];
    double sum;
    toeplitz_add(state, &item, &sd, &sum, draws);
    return sum;
  }
  default:
    return hybrid_add(state, item, draws);
  }
}

/* Feed items to a counter, given by its state or, with NULL, new.
   run keys the stream, so that a seed used twice does not repeat the noise.
   -> list(state, released, the ledger's columns, total) */
SEXP ffi_counter_add(SEXP kind, SEXP par, SEXP state, SEXP items, SEXP seed, SEXP run,
                     SEXP silent, SEXP max_ledger) {
  const enum kind which = (enum kind)name_among(text_of(kind), KINDS);
  const size_t size = counter_size(which, REAL(par));
  const R_xlen_t n = Rf_xlength(items);
  void *block = R_alloc(size / sizeof(double) + 1, sizeof(double));
  memset(block, 0, size);
  if (state == R_NilValue) {
    counter_init(which, block, REAL(par));
  } else {
    if ((size_t)Rf_xlength(state) != size) Rf_error("the counter's state is damaged");
    memcpy(block, RAW(state), size);
  }
  SEXP out = PROTECT(NAMED_LIST("state", "released", LEDGER_NAMES, "total"));
  double *released = keep_numbers(out, 1, n);
  ledger_t ledger = keep_ledger(out, 2, Rf_asInteger(max_ledger), Rf_asLogical(silent));
  draws_t draws = draws_of((uint64_t)Rf_asReal(seed), (uint64_t)Rf_asReal(run), &ledger);
  for (R_xlen_t i = 0; i < n; i++) {
    released[i] = counter_add(which, block, REAL(par), REAL(items)[i], &draws);
  }
  memcpy(keep_block(out, 0, size), block, size);
  SET_VECTOR_ELT(out, 2 + LEDGER_COLUMNS, Rf_ScalarInteger(ledger.n));
  UNPROTECT(1);
  return out;
}

/* What a factorisation of so many items has: list(norm, nodes, variance), the variance of each sum
   in units of that of a release. With bound Inf, of as many items as asked for. */
SEXP ffi_toeplitz(SEXP bound, SEXP items) {
  const double most = Rf_asReal(bound);
  const R_xlen_t n = (R_xlen_t)Rf_asReal(items);
  toeplitz_t *t =
      (toeplitz_t *)R_alloc(toeplitz_size(most, 0) / sizeof(double) + 1, sizeof(double));
  toeplitz_init(t, most, 0);
  SEXP out = PROTECT(NAMED_LIST("norm", "nodes", "variance"));
  SET_VECTOR_ELT(out, 0, Rf_ScalarReal(t->norm));
  SET_VECTOR_ELT(out, 1, Rf_ScalarInteger(t->nodes));
  double *variance = keep_numbers(out, 2, n);
  for (R_xlen_t i = 0; i < n; i++) {
    toeplitz_add(t, NULL, NULL, NULL, NULL);
    variance[i] = t->variance;
  }
  UNPROTECT(1);
  return out;
}
