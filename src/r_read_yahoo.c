/* Reading the Yahoo! R6A log chunk by chunk. Pools stay the same for long stretches of lines,
   features and all, so their text is compared before it is parsed: most lines cost a
   memcmp(). */

#include <string.h>
#include "r_read.h"
#include "yahoo.h"

enum { CARRY, TEXT, IDS, FEATURES, HASH, COUNTS, N_KEPT };
enum { LINES, EVENTS, BAD_LINES, BAD_USERS, NOT_OFFERED, BAD_ARTICLES, N_COUNTS };

/* What is known of a pool, beside its text and ids. */
typedef struct {
  uint64_t hash;
  int dropped;
} pool_t;

typedef struct {
  int pools, last; /* how many are known; that of the last line */
  double left;     /* rows still wanted */
} state_t;

static SEXP kept(SEXP handle) { return R_ExternalPtrProtected(handle); }

SEXP ffi_yahoo_begin(SEXP max_rows) {
  SEXP list = PROTECT(Rf_allocVector(VECSXP, N_KEPT + 1));
  SET_VECTOR_ELT(list, CARRY, Rf_allocVector(RAWSXP, 0));
  SET_VECTOR_ELT(list, TEXT, Rf_allocVector(VECSXP, 16));
  SET_VECTOR_ELT(list, IDS, Rf_allocVector(VECSXP, 16));
  SET_VECTOR_ELT(list, FEATURES, Rf_allocVector(VECSXP, 16));
  SET_VECTOR_ELT(list, HASH, Rf_allocVector(RAWSXP, 16 * sizeof(pool_t)));
  SEXP counts = Rf_allocVector(REALSXP, N_COUNTS);
  SET_VECTOR_ELT(list, COUNTS, counts);
  for (int i = 0; i < N_COUNTS; i++) REAL(counts)[i] = 0;
  SEXP block = Rf_allocVector(RAWSXP, sizeof(state_t));
  SET_VECTOR_ELT(list, N_KEPT, block);
  state_t *state = (state_t *)RAW(block);
  *state = (state_t){0, -1, Rf_asReal(max_rows)};
  SEXP handle = R_MakeExternalPtr(state, R_NilValue, list);
  UNPROTECT(1);
  return handle;
}

static void grow(SEXP list, int at, R_xlen_t to) {
  SET_VECTOR_ELT(list, at, Rf_xlengthgets(VECTOR_ELT(list, at), to));
}

static int same(SEXP text, const char *at, size_t n) {
  return (size_t)Rf_xlength(text) == n && memcmp(RAW(text), at, n) == 0;
}

/* The number of the pool with this text, parsed when it is new. */
static int find_pool(SEXP list, state_t *state, const char *text, const char *end) {
  const size_t n = (size_t)(end - text);
  SEXP texts = VECTOR_ELT(list, TEXT);
  if (state->last >= 0 && same(VECTOR_ELT(texts, state->last), text, n)) return state->last;
  const uint64_t hash = yahoo_hash(text, n);
  const pool_t *known = (const pool_t *)RAW(VECTOR_ELT(list, HASH));
  /* Newest first: an old pool seldom comes back. */
  for (int i = state->pools - 1; i >= 0; i--) {
    if (known[i].hash == hash && same(VECTOR_ELT(texts, i), text, n)) return i;
  }
  const int at = state->pools;
  if (at == Rf_xlength(texts)) {
    grow(list, TEXT, 2 * (R_xlen_t)at);
    grow(list, IDS, 2 * (R_xlen_t)at);
    grow(list, FEATURES, 2 * (R_xlen_t)at);
    grow(list, HASH, 2 * (R_xlen_t)at * (R_xlen_t)sizeof(pool_t));
  }
  SEXP copy = Rf_allocVector(RAWSXP, (R_xlen_t)n);
  SET_VECTOR_ELT(VECTOR_ELT(list, TEXT), at, copy);
  memcpy(RAW(copy), text, n);
  /* One place more than blocks: a bad block is read before it is dropped. */
  const int blocks = yahoo_blocks(text, end);
  SEXP ids = PROTECT(Rf_allocVector(INTSXP, blocks + 1));
  SEXP features = PROTECT(Rf_allocMatrix(REALSXP, YAHOO_DIM, blocks + 1));
  int dropped;
  const int left = yahoo_articles(text, end, blocks, INTEGER(ids), REAL(features), &dropped);
  SET_VECTOR_ELT(VECTOR_ELT(list, IDS), at, Rf_lengthgets(ids, left));
  SET_VECTOR_ELT(VECTOR_ELT(list, FEATURES), at, Rf_lengthgets(features, left * YAHOO_DIM));
  UNPROTECT(2);
  ((pool_t *)RAW(VECTOR_ELT(list, HASH)))[at] = (pool_t){hash, dropped};
  state->pools++;
  return at;
}

enum { TIMESTAMP, ARM, CLICK, POOL, USER };

static void read_line(SEXP list, state_t *state, const char *line, const char *end, SEXP rows,
                      R_xlen_t *n) {
  double *counts = REAL(VECTOR_ELT(list, COUNTS));
  while (end > line && (end[-1] == '\r' || end[-1] == ' ')) end--;
  if (end == line) return;
  counts[LINES]++;
  yahoo_line_t event;
  const enum yahoo_status status = yahoo_line(line, end, &event);
  if (status != YAHOO_OK) {
    counts[status == YAHOO_BAD_LINE ? BAD_LINES : BAD_USERS]++;
    return;
  }
  const int pool = state->last = find_pool(list, state, event.articles, end);
  counts[BAD_ARTICLES] += ((const pool_t *)RAW(VECTOR_ELT(list, HASH)))[pool].dropped;
  SEXP ids = VECTOR_ELT(VECTOR_ELT(list, IDS), pool);
  const int size = (int)Rf_xlength(ids), *id = INTEGER(ids);
  int offered = 0;
  for (int i = 0; i < size && !offered; i++) offered = id[i] == event.arm;
  if (!offered) {
    counts[NOT_OFFERED]++;
    return;
  }
  counts[EVENTS]++;
  state->left--;
  INTEGER(VECTOR_ELT(rows, TIMESTAMP))[*n] = event.timestamp;
  INTEGER(VECTOR_ELT(rows, ARM))[*n] = event.arm;
  INTEGER(VECTOR_ELT(rows, CLICK))[*n] = event.click;
  INTEGER(VECTOR_ELT(rows, POOL))[*n] = pool + 1;
  memcpy(REAL(VECTOR_ELT(rows, USER)) + *n * YAHOO_DIM, event.user, sizeof event.user);
  ++*n;
}

/* The events of the next bytes of a file; a line that the bytes cut waits for the next ones, unless
   they are the last. -> list(timestamp, arm, click, pool, user), user YAHOO_DIM numbers an event */
SEXP ffi_yahoo_feed(SEXP handle, SEXP bytes, SEXP last) {
  SEXP list = kept(handle), carry = VECTOR_ELT(list, CARRY);
  state_t *state = R_ExternalPtrAddr(handle);
  if (!state) Rf_error("the reader's handle is from another session");
  const size_t before = (size_t)Rf_xlength(carry), more = (size_t)Rf_xlength(bytes);
  SEXP text = PROTECT(Rf_allocVector(RAWSXP, (R_xlen_t)(before + more)));
  memcpy(RAW(text), RAW(carry), before);
  memcpy(RAW(text) + before, RAW(bytes), more);
  const char *at = (const char *)RAW(text), *end = at + before + more, *stop;

  R_xlen_t room = 1;
  for (const char *p = at; (p = memchr(p, '\n', (size_t)(end - p))); p++) room++;
  const char *names[] = {"timestamp", "arm", "click", "pool", "user", ""};
  SEXP rows = PROTECT(Rf_mkNamed(VECSXP, names));
  for (int i = 0; i < USER; i++) SET_VECTOR_ELT(rows, i, Rf_allocVector(INTSXP, room));
  SET_VECTOR_ELT(rows, USER, Rf_allocVector(REALSXP, room * YAHOO_DIM));
  R_xlen_t n = 0;
  while (state->left >= 1 && (stop = memchr(at, '\n', (size_t)(end - at)))) {
    read_line(list, state, at, stop, rows, &n);
    at = stop + 1;
  }
  if (Rf_asLogical(last)) {
    if (state->left >= 1) read_line(list, state, at, end, rows, &n);
    at = end;
  }
  SEXP rest = Rf_allocVector(RAWSXP, (R_xlen_t)(end - at));
  SET_VECTOR_ELT(list, CARRY, rest);
  memcpy(RAW(rest), at, (size_t)(end - at));
  for (int i = 0; i <= USER; i++) {
    SET_VECTOR_ELT(rows, i, Rf_xlengthgets(VECTOR_ELT(rows, i), n * (i == USER ? YAHOO_DIM : 1)));
  }
  UNPROTECT(2);
  return rows;
}

/* -> list(ids, features, counts); ids and features: an element a pool */
SEXP ffi_yahoo_finish(SEXP handle) {
  SEXP list = kept(handle);
  const state_t *state = R_ExternalPtrAddr(handle);
  const char *names[] = {"ids", "features", "counts", ""};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  SET_VECTOR_ELT(out, 0, Rf_xlengthgets(VECTOR_ELT(list, IDS), state->pools));
  SET_VECTOR_ELT(out, 1, Rf_xlengthgets(VECTOR_ELT(list, FEATURES), state->pools));
  SET_VECTOR_ELT(out, 2, VECTOR_ELT(list, COUNTS));
  UNPROTECT(1);
  return out;
}
