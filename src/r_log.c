/* Logs that come in blocks: pools, and what is summed over events. Sums and the log's identity
   are taken event by event in states that go from block to block, so that it makes no difference
   where a log is cut. A state is a raw vector. */

#include <string.h>
#include "r_read.h"
#include "sample_rng.h"

/* ---- pools ------------------------------------------------------------------------ */

/* A list column of pools holds few distinct vectors, many times each. Elements that are the same
   R object get the same number. -> list(id, first): the number of each event's pool, from 0,
   and the event in which a pool comes first, from 1 */
SEXP ffi_pool_ids(SEXP pools) {
  const R_xlen_t n = Rf_xlength(pools);
  size_t capacity = 1024;
  while (capacity < 2 * (size_t)n) capacity *= 2;
  SEXP *seen = (SEXP *)R_alloc(capacity, sizeof(SEXP));
  int *number = (int *)R_alloc(capacity, sizeof(int));
  memset(seen, 0, capacity * sizeof(SEXP));
  SEXP id = PROTECT(Rf_allocVector(INTSXP, n)), first = PROTECT(Rf_allocVector(REALSXP, n));
  int found = 0;
  for (R_xlen_t i = 0; i < n; i++) {
    SEXP pool = VECTOR_ELT(pools, i);
    size_t at = (((size_t)pool >> 4) * 0x9e3779b97f4a7c15u >> 20) & (capacity - 1);
    while (seen[at] && seen[at] != pool) at = (at + 1) & (capacity - 1);
    if (!seen[at]) {
      seen[at] = pool;
      number[at] = found;
      REAL(first)[found++] = (double)i + 1;
    }
    INTEGER(id)[i] = number[at];
  }
  SEXP out = PROTECT(NAMED_LIST("id", "first"));
  SET_VECTOR_ELT(out, 0, id);
  SET_VECTOR_ELT(out, 1, Rf_lengthgets(first, found));
  UNPROTECT(3);
  return out;
}

/* Which events show an arm outside their pool? -> how many, and the first, from 1 */
SEXP ffi_pool_misses(SEXP arm, SEXP pool, SEXP start, SEXP members) {
  double misses = 0, first = 0;
  for (R_xlen_t i = 0; i < Rf_xlength(arm); i++) {
    const int p = INTEGER(pool)[i], a = INTEGER(arm)[i];
    int inside = 0;
    for (int j = INTEGER(start)[p]; j < INTEGER(start)[p + 1] && !inside; j++) {
      inside = INTEGER(members)[j] == a;
    }
    if (!inside && misses++ == 0) first = (double)i + 1;
  }
  return NUMBERS(misses, first);
}

/* ---- sums ------------------------------------------------------------------------- */

/* Sums are carried as R carries those of sum(), in the widest type. */
typedef long double wide_t;

/* The sums of a state, or n zeros if it is NULL, in memory that lasts as long as the call. */
static wide_t *sums_open(SEXP state, size_t n) {
  wide_t *sums = R_allocLD(n);
  if (state == R_NilValue) {
    for (size_t i = 0; i < n; i++) sums[i] = 0;
    return sums;
  }
  if ((size_t)Rf_xlength(state) != sizeof(wide_t) * n) Rf_error("the sums are damaged");
  memcpy(sums, RAW(state), sizeof(wide_t) * n);
  return sums;
}

static SEXP sums_close(const wide_t *sums, size_t n) {
  SEXP state = Rf_allocVector(RAWSXP, (R_xlen_t)(sizeof(wide_t) * n));
  memcpy(RAW(state), sums, sizeof(wide_t) * n);
  return state;
}

/* The sum of each column, one of a list of vectors of doubles. */
SEXP ffi_log_sums(SEXP state, SEXP columns) {
  const size_t n = (size_t)Rf_xlength(columns);
  wide_t *sums = sums_open(state, n);
  for (size_t c = 0; c < n; c++) {
    SEXP column = VECTOR_ELT(columns, (R_xlen_t)c);
    const double *x = REAL(column);
    const R_xlen_t rows = Rf_xlength(column); /* R's functions are not inlined here */
    wide_t sum = sums[c];
    for (R_xlen_t i = 0; i < rows; i++) sum += x[i];
    sums[c] = sum;
  }
  return sums_close(sums, n);
}

/* What a regression on contexts needs, for each of k arms: the upper half of the sum of x x' by
   columns, then the sum of x times the reward, over the events that show the arm. */
SEXP ffi_log_products(SEXP state, SEXP arm, SEXP k, SEXP context, SEXP reward) {
  const size_t d = (size_t)Rf_nrows(context), half = d * (d + 1) / 2, each = half + d;
  const size_t n = (size_t)Rf_asInteger(k) * each;
  wide_t *sums = sums_open(state, n);
  for (R_xlen_t i = 0; i < Rf_xlength(arm); i++) {
    wide_t *s = sums + each * (size_t)INTEGER(arm)[i];
    const double *x = REAL(context) + d * (size_t)i, r = REAL(reward)[i];
    for (size_t a = 0; a < d; a++) {
      for (size_t b = 0; b <= a; b++) *s++ += (wide_t)x[a] * x[b];
    }
    for (size_t a = 0; a < d; a++) *s++ += (wide_t)x[a] * r;
  }
  return sums_close(sums, n);
}

SEXP ffi_log_totals(SEXP state) {
  const size_t n = (size_t)Rf_xlength(state) / sizeof(wide_t);
  const wide_t *sums = sums_open(state, n);
  SEXP out = Rf_allocVector(REALSXP, (R_xlen_t)n);
  for (size_t i = 0; i < n; i++) REAL(out)[i] = (double)sums[i];
  return out;
}

/* ---- identity --------------------------------------------------------------------- */

/* Two hashes of 64 bits, side by side: each step is a bijection of the hash for a given word, and
   of the word for a given hash. */
typedef struct {
  uint64_t h[2];
} hash_t;

static inline void hash_word(hash_t *hash, uint64_t word) {
  word *= 0x9e3779b97f4a7c15u;
  word ^= word >> 32;
  hash->h[0] = (rng_rotl(hash->h[0], 29) ^ word) * 0xbf58476d1ce4e5b9u;
  hash->h[1] = (rng_rotl(hash->h[1], 37) ^ word) * 0x94d049bb133111ebu;
}

static inline void hash_number(hash_t *hash, double x) {
  uint64_t word;
  x += 0.0; /* there is one zero */
  memcpy(&word, &x, sizeof word);
  hash_word(hash, word);
}

/* Events, one after the other: arm, reward, propensity, pool and context, those that there are. */
SEXP ffi_log_hash(SEXP state, SEXP block) {
  hash_t hash = {{1, 2}};
  if (state != R_NilValue) memcpy(&hash, RAW(state), sizeof hash);
  SEXP arm = list_get(block, "arm"), propensity = list_get(block, "propensity"),
       pool = list_get(block, "pool"), start = list_get(block, "pool_start"),
       arms = list_get(block, "pool_arms"), context = list_get(block, "context");
  const int *shown = INTEGER(arm);
  const double *reward = REAL(list_get(block, "reward")),
               *chance = propensity == R_NilValue ? NULL : REAL(propensity);
  const R_xlen_t n = Rf_xlength(arm), dim = context == R_NilValue ? 0 : Rf_nrows(context);
  for (R_xlen_t i = 0; i < n; i++) {
    hash_word(&hash, (uint64_t)shown[i]);
    hash_number(&hash, reward[i]);
    if (chance) hash_number(&hash, chance[i]);
    if (pool != R_NilValue) {
      const int *at = INTEGER(start) + INTEGER(pool)[i];
      hash_word(&hash, (uint64_t)(at[1] - at[0]));
      for (int j = at[0]; j < at[1]; j++) hash_word(&hash, (uint64_t)INTEGER(arms)[j]);
    }
    for (R_xlen_t j = 0; j < dim; j++) hash_number(&hash, REAL(context)[dim * i + j]);
  }
  SEXP out = Rf_allocVector(RAWSXP, sizeof hash);
  memcpy(RAW(out), &hash, sizeof hash);
  return out;
}
