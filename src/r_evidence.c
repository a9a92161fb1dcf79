/* Evidence as R sees it: from the releases of one run. */

#include "policy_evidence_tosses.h"
#include "r_read.h"

noise_law_t read_noise(SEXP noise) {
  const double *law = REAL(noise);
  return (noise_law_t){(enum noise_kind)law[0], law[1], law[2], law[3]};
}

static double *keep_matrix(SEXP list, int at, int rows, int columns) {
  SEXP matrix = Rf_allocMatrix(REALSXP, rows, columns);
  SET_VECTOR_ELT(list, at, matrix);
  for (R_xlen_t i = 0; i < Rf_xlength(matrix); i++) REAL(matrix)[i] = NA_REAL;
  return REAL(matrix);
}

/* Releases in order: arm (from 1), t, size, sum and terms of the release table; noise as above, of all of
   them; risk: c(of correlated noise, for each arm and sign, the line that shares of capital are valued for)
   -> list(pair, difference, mean): after each release W_ab in column a + k b (from 0) of pair; at the end
   the lower bound of a's mean less b's at this line, and the means (NA: nothing was released) */
SEXP ffi_evidence_means(SEXP k, SEXP arm, SEXP t, SEXP size, SEXP sum, SEXP terms,
                        SEXP noise, SEXP risk, SEXP margin, SEXP line) {
  const int arms = Rf_asInteger(k), n = Rf_length(arm);
  const noise_law_t law = read_noise(noise);
  const double eta = Rf_asReal(margin);
  SEXP out = PROTECT(NAMED_LIST("pair", "difference", "mean"));
  double *pair = keep_matrix(out, 0, n, arms * arms);
  double *difference = keep_matrix(out, 1, arms, arms);
  double *mean = keep_matrix(out, 2, 1, arms);
  evidence_t *e = (evidence_t *)R_alloc((size_t)arms, sizeof *e);
  for (int i = 0; i < arms; i++) evidence_begin(&e[i], REAL(risk)[0]);
  for (int i = 0; i < n; i++) {
    R_CheckUserInterrupt();
    const int a = (int)REAL(arm)[i] - 1;
    /* Before all that are released together, as in src/play_judge.c */
    for (int j = i;
         (i == 0 || REAL(t)[i] != REAL(t)[i - 1]) && j < n && REAL(t)[j] == REAL(t)[i];
         j++) {
      evidence_aim(&e[(int)REAL(arm)[j] - 1], e, sizeof *e, arms, REAL(size)[j],
                   REAL(risk)[1], eta);
    }
    evidence_release(&e[a], &law, REAL(size)[i], REAL(sum)[i], REAL(terms)[i]);
    for (int x = 0; x < arms; x++) {
      for (int y = 0; y < arms; y++) {
        const size_t at = (size_t)i + (size_t)n * (size_t)(x + arms * y);
        if (x == y) continue;
        if (i > 0 && x != a && y != a) pair[at] = pair[at - 1];
        else pair[at] = evidence_pair(&e[x], &e[y], eta);
      }
    }
  }
  for (int x = 0; x < arms; x++) {
    if (e[x].n > 0) mean[x] = e[x].mean;
    for (int y = 0; y < arms; y++) {
      if (x != y) difference[x + arms * y] = evidence_lower(&e[x], &e[y], Rf_asReal(line));
    }
  }
  UNPROTECT(1);
  return out;
}

/* Blocks in order: chance, n and sum are matrices with a row for each arm and a column for each block;
   least: no chance of a pair is below it
   -> list(pair, lower): ln W and the lower bound of the average difference, as above */
SEXP ffi_evidence_tosses(SEXP chance, SEXP tossed, SEXP sum, SEXP noise, SEXP permuted,
                         SEXP least, SEXP line, SEXP margin) {
  const int k = Rf_nrows(chance), n = Rf_ncols(chance), fixed = Rf_asLogical(permuted);
  const noise_law_t law = read_noise(noise);
  double kappa[BETS];
  bet_kappas(&law, Rf_asReal(least), kappa);
  SEXP out = PROTECT(NAMED_LIST("pair", "lower"));
  double *pair = keep_matrix(out, 0, n, k * k), *lower = keep_matrix(out, 1, n, k * k);
  tossed_t *now = (tossed_t *)R_alloc((size_t)k, sizeof *now);
  bet_t *bets = (bet_t *)R_alloc((size_t)(k * k), sizeof *bets);
  for (int i = 0; i < k; i++) now[i] = (tossed_t){0};
  for (int i = 0; i < k * k; i++) bets[i] = (bet_t){0};
  for (int i = 0; i < n; i++) {
    R_CheckUserInterrupt();
    for (int a = 0; a < k; a++) {
      const size_t at = (size_t)a + (size_t)k * (size_t)i;
      now[a].chance = REAL(chance)[at], now[a].n = REAL(tossed)[at],
      now[a].sum = REAL(sum)[at];
    }
    bets_add(bets, k, &law, kappa, now, fixed);
    for (int a = 0; a < k; a++) {
      for (int b = 0; b < k; b++) {
        if (a == b) continue;
        const bet_t *bet = &bets[a * k + b];
        const size_t at = (size_t)i + (size_t)n * (size_t)(a + k * b);
        pair[at] = bet_log(bet, kappa, -Rf_asReal(margin));
        if (!fixed) lower[at] = bet_lower(bet, kappa, Rf_asReal(line));
      }
    }
  }
  UNPROTECT(1);
  return out;
}
