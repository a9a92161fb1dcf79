/* The kernels of evidence on many short records at once, for tests by enumeration. */

#include "policy_evidence_means.h"
#include "policy_evidence_tosses.h"
#include "r_read.h"

/* Batches of one arm: their sizes, and their sums, a column for each record; the gap is committed
   from a rival of this mean and variance; of correlated noise its risk, and the share of the capital that is
   valued at each release; squares likewise if `weight` is above 0 -> ln E^sign(theta) for each record */
SEXP ffi_test_means(SEXP size, SEXP sum, SEXP noise, SEXP sign, SEXP theta, SEXP rival, SEXP risk, SEXP share,
                    SEXP squares, SEXP weight) {
  const int n = Rf_nrows(sum), records = Rf_ncols(sum);
  release_t row = {.noise = read_noise(noise), .terms = 1, .weight = Rf_asReal(weight)};
  const evidence_t other = {.mean = REAL(rival)[0], .variance = REAL(rival)[1]};
  evidence_t *e = (evidence_t *)R_alloc(1, sizeof *e);
  SEXP out = PROTECT(Rf_allocVector(REALSXP, records));
  for (int i = 0; i < records; i++) {
    evidence_begin(e, Rf_asReal(risk));
    for (int j = 0; j < n; j++) {
      e->announced[Rf_asInteger(sign) < 0] = REAL(share)[j];
      const size_t at = (size_t)j + (size_t)n * (size_t)i;
      row.size = REAL(size)[j], row.sum = REAL(sum)[at];
      if (row.weight > 0) row.squares = REAL(squares)[at];
      evidence_release(e, &row);
      evidence_commit(e, evidence_gap(e, &other, 0));
    }
    REAL(out)[i] = evidence_at(e, Rf_asInteger(sign), Rf_asReal(theta));
  }
  UNPROTECT(1);
  return out;
}

/* One record of each of two arms -> list(pair, theta, value, slope_a, slope_b): the bound of
   evidence_pair(), and what it is a bound of, at these thetas */
SEXP ffi_test_pair(SEXP size, SEXP sum, SEXP noise, SEXP margin, SEXP theta) {
  const double eta = Rf_asReal(margin);
  release_t row = {.noise = read_noise(noise), .terms = 1};
  evidence_t *e = (evidence_t *)R_alloc(2, sizeof *e);
  for (int a = 0; a < 2; a++) {
    evidence_begin(&e[a], 0);
    for (int j = 0; j < Rf_nrows(sum); j++) {
      const size_t at = (size_t)j + (size_t)a * (size_t)Rf_nrows(sum);
      row.size = REAL(size)[at], row.sum = REAL(sum)[at];
      evidence_release(&e[a], &row);
    }
  }
  const int n = Rf_length(theta);
  SEXP out = PROTECT(Rf_allocVector(REALSXP, 1 + n));
  REAL(out)[0] = evidence_pair(&e[0], &e[1], eta);
  for (int i = 0; i < n; i++) {
    const double at = REAL(theta)[i];
    REAL(out)[1 + i] = evidence_at(&e[0], 1, at) + evidence_at(&e[1], -1, at + eta);
  }
  UNPROTECT(1);
  return out;
}

/* Batches of one arm -> lower, upper: the interval of its mean */
SEXP ffi_test_interval(SEXP size, SEXP sum, SEXP noise, SEXP alpha) {
  release_t row = {.noise = read_noise(noise), .terms = 1};
  evidence_t *e = (evidence_t *)R_alloc(1, sizeof *e);
  evidence_begin(e, 0);
  for (int j = 0; j < Rf_length(sum); j++) {
    row.size = REAL(size)[j], row.sum = REAL(sum)[j];
    evidence_release(e, &row);
  }
  SEXP out = Rf_allocVector(REALSXP, 2);
  evidence_interval(e, Rf_asReal(alpha), REAL(out), REAL(out) + 1);
  return out;
}

/* Blocks of two arms: p, a row for each block; people and sums of a and b in turn, two rows for each block
   and a column for each record; squares likewise if `weight` is above 0 -> ln F, a row for each kappa */
SEXP ffi_test_tosses(SEXP p, SEXP tossed, SEXP sum, SEXP squares, SEXP noise, SEXP weight, SEXP kappa,
                     SEXP permuted, SEXP strata) {
  const int n = Rf_nrows(p), records = Rf_ncols(sum), fixed = Rf_asLogical(permuted);
  const release_t row = {.noise = read_noise(noise), .weight = Rf_asReal(weight)};
  const int several = Rf_asInteger(strata);
  stakes_t stakes = {
      .n = Rf_length(kappa), .coins = several > 1 ? FINE_BETS : BETS, .centre = 0.5, .strata = several};
  for (int g = 0; g < stakes.n; g++) stakes.kappa[g] = REAL(kappa)[g];
  SEXP out = PROTECT(Rf_allocMatrix(REALSXP, stakes.n, records));
  for (int i = 0; i < records; i++) {
    bet_t bets[4] = {{0}};
    tossed_t block[2] = {{.now = row}, {.now = row}};
    for (int j = 0; j < n; j++) {
      const size_t at = 2 * ((size_t)j + (size_t)n * (size_t)i);
      for (int a = 0; a < 2; a++) {
        release_t *now = &block[a].now;
        now->size = REAL(tossed)[at + a], now->sum = REAL(sum)[at + a];
        if (row.weight > 0) now->squares = REAL(squares)[at + a];
        now->chance = a == 0 ? REAL(p)[at / 2] : 1 - REAL(p)[at / 2];
      }
      bets_add(bets, 2, &stakes, block, fixed);
    }
    for (int g = 0; g < stakes.n; g++) REAL(out)[g + stakes.n * (R_xlen_t)i] = bets[1].log[g];
  }
  UNPROTECT(1);
  return out;
}

/* What evidence takes a noise for where it is drawn live, or simulated -> the law */
SEXP ffi_test_drawn(SEXP noise, SEXP live) {
  const noise_law_t own = read_noise(noise);
  draws_t draws = {0};
  draws.live = Rf_asLogical(live);
  const noise_law_t drawn = noise_as_drawn(&own, &draws);
  return NUMBERS(drawn.kind, drawn.scale, drawn.correlation, drawn.step);
}

/* The kappas of a noise, where no chance is below `floor` */
SEXP ffi_test_kappas(SEXP noise, SEXP weight, SEXP floor, SEXP strata) {
  const noise_law_t own = read_noise(noise);
  const stakes_t stakes = bet_stakes(&own, Rf_asReal(weight), Rf_asReal(floor), Rf_asInteger(strata));
  SEXP out = Rf_allocVector(REALSXP, stakes.n);
  for (int g = 0; g < stakes.n; g++) REAL(out)[g] = stakes.kappa[g];
  return out;
}
