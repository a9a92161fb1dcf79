/* Reading the Yahoo! R6A log chunk by chunk. Pools stay the same for long stretches of lines,
   features and all, so a line's text is compared with that of the line before: most lines cost a
   memcmp(). */

#include <string.h>
#include "math_util.h"
#include "r_read.h"
#include "play_yahoo.h"

/* What is kept between calls; the last is a state_t. */
enum {
  CARRY,
  LAST_TEXT,
  IDS,
  HASH,
  SLOT,
  ARTICLE,
  ARTICLE_SLOT,
  SCRATCH,
  COUNTS,
  STATE,
  N_KEPT
};
enum { LINES, EVENTS, BAD_LINES, BAD_USERS, NOT_OFFERED, BAD_ARTICLES, N_COUNTS };

typedef struct {
  double left; /* rows still wanted */
  int pools;   /* distinct pools so far */
  /* The last line's text of articles: its length, its pool and how many it dropped. */
  size_t n_text;
  int last, dropped;
  articles_t known;
} state_t;

static SEXP kept(SEXP handle) { return R_ExternalPtrProtected(handle); }

static void make_room_for_pools(SEXP list, state_t *state, R_xlen_t room) {
  SET_VECTOR_ELT(list, IDS, Rf_xlengthgets(VECTOR_ELT(list, IDS), room));
  SET_VECTOR_ELT(list, HASH,
                 Rf_xlengthgets(VECTOR_ELT(list, HASH), room * (R_xlen_t)sizeof(uint64_t)));
  SEXP slot = Rf_allocVector(INTSXP, 2 * room);
  SET_VECTOR_ELT(list, SLOT, slot);
  memset(INTEGER(slot), 0, sizeof(int) * 2 * (size_t)room);
  const uint64_t *hash = (const uint64_t *)RAW(VECTOR_ELT(list, HASH));
  const size_t mask = 2 * (size_t)room - 1;
  for (int i = 0; i < state->pools; i++) {
    size_t at = hash[i] & mask;
    while (INTEGER(slot)[at]) at = (at + 1) & mask;
    INTEGER(slot)[at] = i + 1;
  }
}

static void make_room_for_articles(SEXP list, state_t *state, R_xlen_t room) {
  const R_xlen_t bytes = room * (R_xlen_t)sizeof(article_t);
  SET_VECTOR_ELT(list, ARTICLE, Rf_xlengthgets(VECTOR_ELT(list, ARTICLE), bytes));
  SET_VECTOR_ELT(list, ARTICLE_SLOT, Rf_allocVector(INTSXP, 2 * room));
  SET_VECTOR_ELT(list, SCRATCH, Rf_allocVector(INTSXP, room));
  state->known.article = (article_t *)RAW(VECTOR_ELT(list, ARTICLE));
  state->known.slot = INTEGER(VECTOR_ELT(list, ARTICLE_SLOT));
  state->known.slots = (int)(2 * room);
  yahoo_index(&state->known);
}

SEXP ffi_yahoo_begin(SEXP max_rows) {
  SEXP list = PROTECT(Rf_allocVector(VECSXP, N_KEPT));
  state_t *state = keep_block(list, STATE, sizeof(state_t));
  state->left = Rf_asReal(max_rows);
  state->last = -1;
  for (int i = 0; i < STATE; i++) {
    SET_VECTOR_ELT(list, i, Rf_allocVector(i == IDS ? VECSXP : RAWSXP, 0));
  }
  SEXP counts = Rf_allocVector(REALSXP, N_COUNTS);
  SET_VECTOR_ELT(list, COUNTS, counts);
  for (int i = 0; i < N_COUNTS; i++) REAL(counts)[i] = 0;
  make_room_for_pools(list, state, 64);
  make_room_for_articles(list, state, 64);
  SEXP handle = R_MakeExternalPtr(state, R_NilValue, list);
  UNPROTECT(1);
  return handle;
}

/* The number of the pool with these ids, in this order. */
static int find_pool(SEXP list, state_t *state, const int *id, int n) {
  const size_t bytes = sizeof(int) * (size_t)n;
  const uint64_t hash = hash_on(HASH_START, id, bytes);
  if (2 * (R_xlen_t)state->pools >= Rf_xlength(VECTOR_ELT(list, SLOT)) - 2) {
    make_room_for_pools(list, state, 2 * Rf_xlength(VECTOR_ELT(list, IDS)));
  }
  SEXP pools = VECTOR_ELT(list, IDS);
  uint64_t *hashes = (uint64_t *)RAW(VECTOR_ELT(list, HASH));
  int *slot = INTEGER(VECTOR_ELT(list, SLOT));
  const size_t mask = (size_t)Rf_xlength(VECTOR_ELT(list, SLOT)) - 1;
  size_t at = hash & mask;
  for (; slot[at]; at = (at + 1) & mask) {
    SEXP pool = VECTOR_ELT(pools, slot[at] - 1);
    if (hashes[slot[at] - 1] == hash && Rf_xlength(pool) == n &&
        memcmp(INTEGER(pool), id, bytes) == 0) {
      return slot[at] - 1;
    }
  }
  SEXP pool = Rf_allocVector(INTSXP, n);
  SET_VECTOR_ELT(pools, state->pools, pool);
  if (n) memcpy(INTEGER(pool), id, bytes);
  hashes[state->pools] = hash;
  slot[at] = ++state->pools;
  return state->pools - 1;
}

/* The pool of a line, whose text is only parsed if it is not that of the line before. */
static void look_at_pool(SEXP list, state_t *state, const char *text, const char *end) {
  const size_t n = (size_t)(end - text);
  SEXP last = VECTOR_ELT(list, LAST_TEXT);
  if (state->last >= 0 && n == state->n_text && memcmp(RAW(last), text, n) == 0) return;
  if ((size_t)Rf_xlength(last) < n) {
    SET_VECTOR_ELT(list, LAST_TEXT, last = Rf_allocVector(RAWSXP, 2 * (R_xlen_t)n));
  }
  if (n) memcpy(RAW(last), text, n);
  state->n_text = n;
  const int blocks = yahoo_blocks(text, end);
  if (2 * ((R_xlen_t)state->known.n + blocks) > state->known.slots) {
    R_xlen_t room = state->known.slots;
    while (room < state->known.n + blocks) room *= 2;
    make_room_for_articles(list, state, room);
  }
  int *id = INTEGER(VECTOR_ELT(list, SCRATCH));
  const int64_t line = (int64_t)REAL(VECTOR_ELT(list, COUNTS))[LINES];
  const int left = yahoo_articles(text, end, line, &state->known, id, &state->dropped);
  state->last = find_pool(list, state, id, left);
}

enum { TIMESTAMP, ARM, CLICK, POOL, USER };

static void read_line(SEXP list, state_t *state, const char *line, const char *end,
                      SEXP rows, R_xlen_t *n) {
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
  look_at_pool(list, state, event.articles, end);
  const int pool = state->last;
  counts[BAD_ARTICLES] += state->dropped;
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
  state_t *state = handle_of(handle);
  const size_t before = (size_t)Rf_xlength(carry), more = (size_t)Rf_xlength(bytes);
  SEXP text = PROTECT(Rf_allocVector(RAWSXP, (R_xlen_t)(before + more)));
  memcpy(RAW(text), RAW(carry), before);
  memcpy(RAW(text) + before, RAW(bytes), more);
  const char *at = (const char *)RAW(text), *end = at + before + more, *stop;

  R_xlen_t room = 1;
  for (const char *p = at; (p = memchr(p, '\n', (size_t)(end - p))); p++) room++;
  SEXP rows = PROTECT(NAMED_LIST("timestamp", "arm", "click", "pool", "user"));
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
    SET_VECTOR_ELT(rows, i,
                   Rf_xlengthgets(VECTOR_ELT(rows, i), n * (i == USER ? YAHOO_DIM : 1)));
  }
  UNPROTECT(2);
  return rows;
}

/* -> list(pools, articles, features, counts); pools: the ids of each; features: a column an
   article */
SEXP ffi_yahoo_finish(SEXP handle) {
  SEXP list = kept(handle);
  const state_t *state = handle_of(handle);
  const int n = state->known.n;
  SEXP out = PROTECT(NAMED_LIST("pools", "articles", "features", "counts"));
  SET_VECTOR_ELT(out, 0, Rf_xlengthgets(VECTOR_ELT(list, IDS), state->pools));
  int *ids = keep_integers(out, 1, n);
  SEXP features = SET_VECTOR_ELT(out, 2, Rf_allocMatrix(REALSXP, YAHOO_DIM, n));
  for (int i = 0; i < n; i++) {
    const article_t *article = &state->known.article[i];
    ids[i] = article->id;
    memcpy(REAL(features) + (size_t)i * YAHOO_DIM, article->features,
           sizeof article->features);
  }
  SET_VECTOR_ELT(out, 3, VECTOR_ELT(list, COUNTS));
  UNPROTECT(1);
  return out;
}
