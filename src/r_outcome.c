/* Other outcomes of a live agent than the reward: sums of a block, released by exact noise like those of
   policy_randomised.c. What waits for its release is in the agent's store. */

#include "noise_exact_release.h"
#include "policy_released.h"
#include "r_read.h"

enum { SUM, SQUARES, COLUMNS };

report_t read_outcome(SEXP how) {
  const double *x = REAL(how);
  const mechanism_t own = with_squares(mechanism_for(x[0], x[1]), x[2] != 0 ? CONTINUOUS : BINARY);
  return report_of(&own);
}

/* The kind and scale of its noise, as in noise_report.h */
SEXP ffi_outcome_report(SEXP how) {
  const report_t report = read_outcome(how);
  SEXP out = Rf_allocVector(REALSXP, N_REPORT);
  report_write(&report, REAL(out));
  return out;
}

/* arm, value: of each person of a block, from 1 and on the grid. forced: values in place of released
   ones, for tests, or NULL -> the released sum and sum of squares of each of k arms, a column for each */
SEXP ffi_outcome_release(SEXP how, SEXP k, SEXP arm, SEXP value, SEXP forced) {
  const int n_arms = Rf_asInteger(k);
  ledger_t ledger = {.forced = Rf_length(forced) ? REAL(forced) : NULL, .n_forced = Rf_length(forced)};
  draws_t draws = {.ledger = &ledger, .live = 1};
  SEXP out = PROTECT(Rf_allocMatrix(REALSXP, n_arms, COLUMNS));
  double *sum = REAL(out), *squares = sum + (R_xlen_t)n_arms * SQUARES;
  for (int i = 0; i < n_arms * COLUMNS; i++) sum[i] = 0;
  for (R_xlen_t i = 0; i < Rf_xlength(value); i++) {
    const double x = on_grid(REAL(value)[i], EXACT_GRID);
    const int at = INTEGER(arm)[i] - 1;
    if (at < 0 || at >= n_arms || !(x >= 0 && x <= 1)) Rf_error("an outcome is outside of its range");
    sum[at] += x;
    squares[at] += reward_square(&draws, x);
  }
  for (int i = 0; i < n_arms; i++) {
    report_t report = read_outcome(how);
    sum[i] = report_release(&report, 0, sum[i], squares[i], &draws);
    squares[i] = report.weight > 0 ? report.squares : NA_REAL;
  }
  /* Sums before their noise are not left in R's memory. */
  if (draws.failed) {
    for (int i = 0; i < n_arms * COLUMNS; i++) sum[i] = 0;
    Rf_error("an outcome could not be released");
  }
  UNPROTECT(1);
  return out;
}
