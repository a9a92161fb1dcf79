/* Shims of the privacy accountants. R has checked the arguments and recycled them to
   one length. Memory is R's, so an interrupt leaks nothing. */

#include <R_ext/Utils.h>
#include <math.h>
#include <string.h>
#include "account.h"
#include "account_bit.h"
#include "r_list.h"

/* How many conversions run between two checks for an interrupt: about 20 ms. */
#define SLICE 16384

static SEXP map2(double (*f)(double, double), SEXP x, SEXP y) {
  R_xlen_t n = Rf_xlength(x);
  SEXP out = PROTECT(Rf_allocVector(REALSXP, n));
  for (R_xlen_t i = 0; i < n; i++) {
    if (i % SLICE == SLICE - 1) R_CheckUserInterrupt();
    REAL(out)[i] = f(REAL(x)[i], REAL(y)[i]);
  }
  UNPROTECT(1);
  return out;
}

static double delta_of(double mu, double epsilon) { return gdp_delta(mu, epsilon, 0); }
static double log_delta_of(double mu, double epsilon) { return gdp_delta(mu, epsilon, 1); }

SEXP ffi_gdp_delta(SEXP mu, SEXP epsilon, SEXP log) {
  return map2(Rf_asLogical(log) ? log_delta_of : delta_of, mu, epsilon);
}

SEXP ffi_gdp_epsilon(SEXP mu, SEXP delta) { return map2(gdp_epsilon, mu, delta); }

SEXP ffi_gdp_mu(SEXP epsilon, SEXP delta) { return map2(gdp_mu, epsilon, delta); }

static losses_t losses_of(SEXP x) {
  return (losses_t){.n = (long)Rf_xlength(VECTOR_ELT(x, 0)),
                    .loss = REAL(VECTOR_ELT(x, 0)),
                    .p = REAL(VECTOR_ELT(x, 1)),
                    .q = REAL(VECTOR_ELT(x, 2))};
}

/* Each of x and y is a list of losses, in order, and of their probabilities under P and Q. -> a list of
   the probabilities of the cells between knots */
SEXP ffi_losses_add(SEXP x, SEXP y, SEXP knots) {
  const R_xlen_t cells = Rf_xlength(knots) - 1;
  SEXP out = PROTECT(Rf_allocVector(VECSXP, 2));
  for (int i = 0; i < 2; i++) SET_VECTOR_ELT(out, i, Rf_allocVector(REALSXP, cells));
  const losses_t a = losses_of(x), b = losses_of(y);
  losses_add(&a, &b, REAL(knots), (long)cells, REAL(VECTOR_ELT(out, 0)), REAL(VECTOR_ELT(out, 1)));
  UNPROTECT(1);
  return out;
}

/* Tell R, which may show a bar, what share of the work is done: `report` is a function of it.
   Memory is R's: an error or an interrupt in there leaks nothing. */
static void tell_share(SEXP report, double share) {
  SEXP done = PROTECT(Rf_ScalarReal(share)), call = PROTECT(Rf_lang2(report, done));
  Rf_eval(call, R_BaseEnv);
  UNPROTECT(2);
}

/* -> W = log E_Q[(P/Q)^alpha], one for each problem */
SEXP ffi_sequence_exact(SEXP alpha, SEXP rounds, SEXP start, SEXP scale, SEXP report) {
  R_xlen_t n = Rf_xlength(alpha);
  SEXP out = PROTECT(Rf_allocVector(REALSXP, n));
  double most = 0;
  for (R_xlen_t i = 0; i < n; i++) most = fmax(most, sequence_exact_size(REAL(rounds)[i]));
  double *work = (double *)R_alloc((size_t)most, sizeof(double));
  for (R_xlen_t i = 0; i < n; i++) {
    sequence_exact run;
    sequence_exact_begin(&run, REAL(alpha)[i], REAL(rounds)[i], REAL(start)[i], REAL(scale)[i], work);
    while (sequence_exact_step(&run)) {
      R_CheckUserInterrupt();
      double left = 1 - run.tau / run.rounds;
      if (fmod(run.tau, 64) == 0) tell_share(report, (i + 1 - left * left) / n);
    }
    REAL(out)[i] = run.value[0];
  }
  UNPROTECT(1);
  return out;
}

/* -> list(value = W, slack = largest inflation of the loss) */
SEXP ffi_sequence_grid(SEXP alpha, SEXP rounds, SEXP start, SEXP scale, SEXP coarse_) {
  const double coarse = Rf_asReal(coarse_);
  R_xlen_t n = Rf_xlength(alpha);
  SEXP out = PROTECT(NAMED_LIST("value", "slack"));
  double *value = keep_numbers(out, 0, n), *slack = keep_numbers(out, 1, n);
  double most = 0;
  for (R_xlen_t i = 0; i < n; i++)
    most = fmax(most, sequence_grid_size(REAL(rounds)[i], REAL(start)[i], REAL(scale)[i], coarse));
  double *work = (double *)R_alloc((size_t)most, sizeof(double));
  for (R_xlen_t i = 0; i < n; i++) {
    sequence_grid run;
    sequence_grid_begin(&run, REAL(alpha)[i], REAL(rounds)[i], REAL(start)[i], REAL(scale)[i], coarse, work);
    for (long j = 0; j < run.shifts; j++) {
      sequence_grid_column(&run, j);
      R_CheckUserInterrupt();
    }
    for (long k = run.nodes - 1; k >= 0; k--) sequence_grid_cell(&run, k);
    while (sequence_grid_step(&run))
      if (run.steps % 64 == 0) R_CheckUserInterrupt();
    value[i] = sequence_grid_value(&run);
    slack[i] = run.slack;
  }
  UNPROTECT(1);
  return out;
}

/* -> mu, one for each problem; NaN if an inequality of the proof was not met. the
   share that is done is that of the logarithm of the rounds. */
SEXP ffi_near_gdp(SEXP rounds, SEXP start, SEXP scale, SEXP nu, SEXP coarse_, SEXP report) {
  const double coarse = Rf_asReal(coarse_);
  R_xlen_t n = Rf_xlength(rounds);
  SEXP out = PROTECT(Rf_allocVector(REALSXP, n));
  double most = 0;
  for (R_xlen_t i = 0; i < n; i++) most = fmax(most, near_gdp_size(REAL(rounds)[i], REAL(start)[i], coarse));
  double *work = (double *)R_alloc((size_t)most, sizeof(double));
  for (R_xlen_t i = 0; i < n; i++) {
    near_gdp run;
    near_gdp_begin(&run, REAL(rounds)[i], REAL(start)[i], REAL(scale)[i], REAL(nu)[i], coarse, work);
    int status; /* a step takes a millisecond or a few */
    for (long steps = 1; (status = near_gdp_step(&run)) > 0; steps++) {
      R_CheckUserInterrupt();
      if (steps % 32 == 0) tell_share(report, (i + log1p(run.tau) / log1p(run.rounds)) / n);
    }
    REAL(out)[i] = status < 0 ? NAN : near_gdp_mu(&run);
  }
  UNPROTECT(1);
  return out;
}

/* -> bounds on delta at epsilon = step (j - below), j = 0, ..., points - 1 */
SEXP ffi_sequence_lattice(SEXP rounds, SEXP start, SEXP scale, SEXP nodes, SEXP step, SEXP below, SEXP points,
                          SEXP report) {
  double n = Rf_asReal(points), rows = Rf_asReal(nodes);
  SEXP out = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)n));
  double *work = (double *)R_alloc((size_t)sequence_lattice_size(rows, n), sizeof(double));
  sequence_lattice run;
  sequence_lattice_begin(&run, Rf_asReal(rounds), Rf_asReal(start), Rf_asReal(scale), rows, Rf_asReal(step),
                         Rf_asReal(below), n, work);
  while (sequence_lattice_step(&run)) { /* a step takes some milliseconds */
    if (fmod(run.tau, 4) == 0) R_CheckUserInterrupt();
    if (fmod(run.tau, 32) == 0) tell_share(report, run.tau / run.rounds);
  }
  memcpy(REAL(out), sequence_lattice_value(&run), (size_t)n * sizeof(double));
  UNPROTECT(1);
  return out;
}

/* -> list(loss = L, weight = log P/R, one for each transcript first, first + 1, ..., value = W, roughly) */
SEXP ffi_adversary(SEXP rounds, SEXP start, SEXP scale, SEXP alpha, SEXP bounded, SEXP seed, SEXP first,
                   SEXP runs, SEXP report) {
  R_xlen_t n = (R_xlen_t)Rf_asReal(runs);
  SEXP out = PROTECT(NAMED_LIST("loss", "weight", "value"));
  double *loss = keep_numbers(out, 0, n), *weight = keep_numbers(out, 1, n);
  double *work =
      (double *)R_alloc((size_t)adversary_size(Rf_asReal(rounds), Rf_asReal(start)), sizeof(double));
  adversary run;
  adversary_begin(&run, Rf_asReal(rounds), Rf_asReal(start), Rf_asReal(scale), Rf_asReal(alpha),
                  Rf_asInteger(bounded), work);
  while (adversary_solve(&run)) R_CheckUserInterrupt();
  SET_VECTOR_ELT(out, 2, Rf_ScalarReal(run.value[0]));
  for (R_xlen_t i = 0; i < n; i++) {
    if (i % 32 == 31) R_CheckUserInterrupt();
    if (i % 1024 == 1023) tell_share(report, (double)i / n);
    adversary_play(&run, (uint64_t)Rf_asReal(seed), (uint64_t)(Rf_asReal(first) + i), loss + i, weight + i);
  }
  UNPROTECT(1);
  return out;
}
