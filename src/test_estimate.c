/* The estimators of batch policies, for tests. */

#include "noise_moving_average.h"
#include "math_normal_laplace.h"
#include "r_read.h"

/* Release batches of so many rewards with such exact sums as a moving average; carries, one per
   batch. -> list(mean, rewards, noise, ledger...), a number after each release */
SEXP ffi_moving_average(SEXP sizes, SEXP sums, SEXP carries, SEXP sd, SEXP seed, SEXP silent) {
  const int n = (int)Rf_xlength(sizes);
  SEXP out = PROTECT(NAMED_LIST("mean", "rewards", "sd", LEDGER_NAMES));
  double *column[3];
  for (int i = 0; i < 3; i++) column[i] = keep_numbers(out, i, n);
  ledger_t ledger = keep_ledger(out, 3, n, Rf_asLogical(silent));
  draws_t draws = draws_of((uint64_t)Rf_asReal(seed), 1, &ledger);
  moving_average_t average = {0};
  for (int i = 0; i < n; i++) {
    const moving_row_t row = moving_average_release(&average, &draws, REAL(sizes)[i], REAL(sums)[i],
                                                    REAL(carries)[i], Rf_asReal(sd));
    moving_average_learn(&average, &row, REWARD_VARIANCE);
    column[0][i] = moving_average_mean(&average);
    column[1][i] = moving_average_rewards(&average);
    column[2][i] = moving_average_noise(&average, REWARD_VARIANCE);
  }
  UNPROTECT(1);
  return out;
}

/* Released sums of so many rewards with Laplace noise of scale b; means to judge.
   -> list(mean, information, cost), the last for each of `at` */
SEXP ffi_likelihood(SEXP sizes, SEXP noisy, SEXP b, SEXP at) {
  likelihood_t l = {0};
  const double scale = Rf_asReal(b);
  for (R_xlen_t i = 0; i < Rf_xlength(sizes); i++) {
    likelihood_add(&l, REAL(sizes)[i], REAL(noisy)[i], scale);
  }
  SEXP out = PROTECT(NAMED_LIST("mean", "information", "cost"));
  SET_VECTOR_ELT(out, 0, Rf_ScalarReal(likelihood_mean(&l, scale, 0.5)));
  SET_VECTOR_ELT(out, 1, Rf_ScalarReal(likelihood_information(&l, scale)));
  double *cost = keep_numbers(out, 2, Rf_xlength(at));
  for (R_xlen_t i = 0; i < Rf_xlength(at); i++) {
    cost[i] = likelihood_cost(&l, REAL(at)[i], REAL(at)[i], scale);
  }
  UNPROTECT(1);
  return out;
}
