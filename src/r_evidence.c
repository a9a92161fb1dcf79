/* Evidence as R sees it: from the releases of one run. */

#include "r_read.h"
#include "math_util.h"
#include "policy_final_test.h"

noise_law_t read_noise(SEXP noise) {
  const double *law = REAL(noise);
  return (noise_law_t){(enum noise_kind)law[0], law[1], law[2], law[3]};
}

const martingale_t *read_rule(SEXP ask) {
  const martingale_t *rule = martingale_find(text_of(list_get(ask, "kind")));
  if (!rule) Rf_error("no such kind of evidence");
  return rule;
}

design_t read_design(SEXP ask, int k) {
  return (design_t){.k = k,
                    .threshold = list_number(ask, "threshold"),
                    .margin = list_number(ask, "margin"),
                    .risk = list_number(ask, "risk"),
                    .floor = list_number(ask, "floor"),
                    .centre = list_number(ask, "centre"),
                    .strata = (int)fmax(1, list_number(ask, "strata")),
                    .permuted = list_number(ask, "permuted") != 0,
                    .rate = list_number(ask, "rate")};
}

static double *keep_matrix(SEXP list, int at, int rows, int columns) {
  SEXP matrix = Rf_allocMatrix(REALSXP, rows, columns);
  SET_VECTOR_ELT(list, at, matrix);
  for (R_xlen_t i = 0; i < Rf_xlength(matrix); i++) REAL(matrix)[i] = NA_REAL;
  return REAL(matrix);
}

/* The columns of a matrix of releases, in the order of WEIGHED in R/releases.R */
enum { ARM, BLOCK, PART, SIZE, SUM, TERMS, CHANCE, KIND, SCALE, STEP, CORRELATION, SQUARES, WEIGHT, LOOK };

static const double *column(SEXP table, int at) { return REAL(table) + (size_t)at * (size_t)Rf_nrows(table); }

/* Arms, strata and looks are counted from 1 in R. */
static const release_t *read_releases(SEXP table) {
  const int n = Rf_nrows(table);
  release_t *rows = (release_t *)R_alloc((size_t)n, sizeof *rows);
  for (int i = 0; i < n; i++) {
    double x[LOOK];
    for (int j = 0; j < LOOK; j++) x[j] = column(table, j)[i];
    rows[i] = (release_t){.arm = (int)x[ARM] - 1,
                          .stratum = (int)x[PART] - 1,
                          .block = x[BLOCK],
                          .size = x[SIZE],
                          .sum = x[SUM],
                          .terms = x[TERMS],
                          .chance = x[CHANCE],
                          .noise = {(enum noise_kind)x[KIND], x[SCALE], x[STEP], x[CORRELATION]},
                          .squares = x[SQUARES],
                          .weight = x[WEIGHT]};
  }
  return rows;
}

/* `table`: releases in order; the rows of a look are of a block, or of several in strata. `ask`: the kind of
   evidence and its design; interval, the threshold of the lower bounds, and running, do bounds of earlier
   looks still hold? `known`: what this returned of the same question and the first rows of the table, or
   NULL. `seconds`: after so many no further look is begun
   -> list(pair, lower, estimate, state, heard, rows): ln W at each look, in rows, arm a against b in column
   a + k b (from 0); at the end bounds and estimates of the differences, a in rows and b in columns. With a
   rate: of pair ln E that the mean is above it in column a, and below it in column k + a. And to go on from
   here: the martingale, after how many looks each arm was heard last, and how many rows were heard */
SEXP ffi_evidence(SEXP arms, SEXP table, SEXP ask, SEXP known, SEXP seconds) {
  const int k = Rf_asInteger(arms);
  const martingale_t *rule = read_rule(ask);
  const design_t design = read_design(ask, k);
  const double *of_look = column(table, LOOK);
  const int n = Rf_nrows(table);
  const release_t *rows = read_releases(table);
  double *scale = (double *)R_alloc((size_t)k, sizeof *scale); /* of each arm's last noise */
  for (int a = 0; a < k; a++) scale[a] = -1;
  const int looks = n > 0 ? (int)of_look[n - 1] : 0;
  for (int i = 0; i < n; i++) {
    const noise_law_t *law = &rows[i].noise;
    const double was = scale[rows[i].arm];
    if (law->correlation > 0 && was >= 0 && was != law->scale)
      Rf_error("correlated noise of an arm must have one law");
    scale[rows[i].arm] = law->scale;
  }
  const int rated = !isnan(design.rate);
  if (rated && !rule->against) Rf_error("no evidence against a rate");
  SEXP out = PROTECT(NAMED_LIST("pair", "lower", "estimate", "state", "heard", "rows"));
  double *pair = keep_matrix(out, 0, looks, k * (rated ? 2 : k)), *lower = keep_matrix(out, 1, k, k),
         *estimate = keep_matrix(out, 2, k, k);
  const double interval = list_number(ask, "interval");
  const int bounded = !rated && interval < INFINITY, running = list_number(ask, "running") != 0;
  SET_VECTOR_ELT(out, 3, Rf_allocVector(RAWSXP, (R_xlen_t)rule->size(&design)));
  SET_VECTOR_ELT(out, 4, Rf_allocVector(INTSXP, k));
  void *state = RAW(VECTOR_ELT(out, 3));
  int *heard = INTEGER(VECTOR_ELT(out, 4)), from = 0;
  if (known == R_NilValue) {
    for (int at = 0; at < k * k && bounded; at++) lower[at] = -1;
    for (int a = 0; a < k; a++) heard[a] = 0;
    rule->begin(state, &design);
  } else {
    from = Rf_asInteger(list_get(known, "rows"));
    SEXP old = list_get(known, "pair");
    for (int at = 0; at < Rf_ncols(old); at++)
      for (int i = 0; i < Rf_nrows(old); i++)
        pair[i + (size_t)looks * (size_t)at] = REAL(old)[i + (size_t)Rf_nrows(old) * (size_t)at];
    memcpy(lower, REAL(list_get(known, "lower")), (size_t)(k * k) * sizeof *lower);
    memcpy(heard, INTEGER(list_get(known, "heard")), (size_t)k * sizeof *heard);
    memcpy(state, RAW(list_get(known, "state")), (size_t)XLENGTH(VECTOR_ELT(out, 3)));
  }
  const double end = now() + Rf_asReal(seconds);
  int i = from;
  for (int j, look = from ? (int)of_look[from - 1] : 0; i < n; i = j, look++) {
    R_CheckUserInterrupt();
    if (i > from && now() > end) break;
    for (j = i + 1; j < n && of_look[j] == of_look[i];) j++;
    martingale_hear(rule, state, rows + i, j - i);
    for (int row = i; row < j; row++) heard[rows[row].arm] = look + 1;
    for (int a = 0; a < k; a++) {
      for (int b = 0; b < (rated ? 2 : k); b++) {
        if (!rated && a == b) continue;
        const int at = a + k * b, changed = look == 0 || heard[a] > look || (!rated && heard[b] > look);
        double *to = pair + look + (size_t)looks * (size_t)at;
        *to = !changed ? to[-1]
              : rated  ? rule->against(state, a, b ? -1 : 1)
                       : rule->pair(state, a, b, design.margin, -INFINITY);
        if (bounded && (running ? changed : j == n))
          lower[at] = or_na(rule->lower(state, a, b, interval, lower[at]));
        if (!rated && j == n) estimate[at] = or_na(rule->estimate(state, a, b));
      }
    }
  }
  SET_VECTOR_ELT(out, 5, Rf_ScalarInteger(i));
  UNPROTECT(1);
  return out;
}

/* Of blocks in order: the number of looks so far. `open`: are others of its round to come? */
SEXP ffi_looks(SEXP strata, SEXP stratum, SEXP people, SEXP t, SEXP open) {
  const int n = Rf_length(stratum), parts = Rf_asInteger(strata);
  looks_t looks;
  looks_begin(&looks, parts, R_alloc((size_t)parts, 1));
  SEXP out = PROTECT(Rf_allocVector(REALSXP, n));
  double so_far = 0;
  for (int i = 0; i < n; i++) {
    so_far += looks_hear(&looks, (int)REAL(stratum)[i] - 1, REAL(people)[i], REAL(t)[i], LOGICAL(open)[i]);
    REAL(out)[i] = so_far;
  }
  UNPROTECT(1);
  return out;
}

/* The test at the planned end (policy_final_test.h), arm a against b in row a + k b (from 0) of a matrix
   with columns difference, error, z, share, terms */
SEXP ffi_final_test(SEXP arms, SEXP strata, SEXP table) {
  const int k = Rf_asInteger(arms), parts = Rf_asInteger(strata);
  const int n = Rf_nrows(table);
  const release_t *rows = read_releases(table);
  final_test_t test;
  final_test_begin(&test, k, parts, R_alloc(final_test_size(k, parts), 1));
  for (int i = 0, j; i < n; i = j) {
    for (j = i + 1; j < n && rows[j].block == rows[i].block;) j++;
    final_test_add(&test, rows + i, j - i);
  }
  final_test_close(&test);
  SEXP out = PROTECT(Rf_allocMatrix(REALSXP, k * k, 5));
  for (int at = 0; at < k * k; at++) {
    const final_result_t of = final_test_of(&test, at % k, at / k);
    const double column[] = {or_na(of.difference), or_na(of.error), or_na(of.z), of.share, of.terms};
    for (int i = 0; i < 5; i++) REAL(out)[at + (R_xlen_t)k * k * i] = column[i];
  }
  UNPROTECT(1);
  return out;
}
