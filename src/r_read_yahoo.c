/* Reading lines of the Yahoo! R6A log (ydata-fp-td-clicks-v1_0):

     timestamp displayed click |user 2:x 3:x 4:x 5:x 6:x 1:x |article 2:x ... 1:x |...

   Features are keyed by their ids 1 .. 6, in any order. Pools stay the same for long stretches of
   lines, and articles for longer ones, features and all: a line's articles are compared with those
   of the line before as text, then each with all that were read, and what is new is read. */

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "math_util.h"
#include "r_read.h"

#define YAHOO_DIM 6

enum yahoo_status { YAHOO_BLANK, YAHOO_BAD_LINE, YAHOO_BAD_USER, YAHOO_NOT_OFFERED, YAHOO_GOOD };

static const char *skip_spaces(const char *at) { return at + strspn(at, " \t"); }

/* A whole number below 2^31 and a space; NULL if there is none. */
static const char *read_int(const char *at, int *out) {
  const char *start = at;
  int64_t x = 0;
  for (; *at >= '0' && *at <= '9' && x <= INT_MAX; at++) x = 10 * x + (*at - '0');
  if (at == start || x > INT_MAX || *at != ' ') return NULL;
  *out = (int)x;
  return skip_spaces(at);
}

/* `2:x 3:x ...` up to a bar or the end. 0 unless the ids are exactly 1 .. 6. */
static int read_features(const char *at, double *out) {
  unsigned seen = 0;
  int n = 0;
  for (at = skip_spaces(at); !strchr("|\r\n", *at); at = skip_spaces(at), n++) {
    char *end;
    if (*at < '1' || *at > '6' || at[1] != ':' || !strchr("+-.0123456789", at[2])) return 0;
    const double x = strtod(at + 2, &end);
    if (end == at + 2 || !R_FINITE(x) || !strchr(" \t|\r\n", *end)) return 0;
    out[*at - '1'] = x;
    seen |= 1u << (*at - '0');
    at = end;
  }
  return n == YAHOO_DIM && seen == 0x7e;
}

/* An article's block, `id 2:x 3:x ...`: where it came first. */
typedef struct {
  const char *text;
  size_t size;
  int id, line;
} block_t;

enum { MIN_BLOCK = 26 }; /* bytes of |1 2:0 3:0 4:0 5:0 6:0 1:1 */

/* All blocks that were read and are well-formed, by their text. */
typedef struct {
  block_t *block;
  int n;
  int *slot;    /* from 1, the block whose text has this hash; 0: none */
  size_t slots; /* a power of 2, at least twice as many as there can be blocks */
} blocks_t;

/* NULL if it is malformed. */
static const block_t *find_block(blocks_t *known, const char *text, size_t size, int line) {
  double features[YAHOO_DIM];
  int id;
  size_t at = (size_t)hash_on(HASH_START, text, size);
  int *slot;
  while (*(slot = &known->slot[at++ & (known->slots - 1)])) {
    const block_t *block = &known->block[*slot - 1];
    if (block->size == size && memcmp(block->text, text, size) == 0) return block;
  }
  const char *behind = read_int(text, &id);
  if (!behind || !read_features(behind, features)) return NULL;
  known->block[known->n] = (block_t){text, size, id, line};
  *slot = known->n + 1;
  return &known->block[known->n++];
}

static int is_among(int id, const int *pool, int n) {
  for (int i = 0; i < n; i++) {
    if (pool[i] == id) return 1;
  }
  return 0;
}

/* The articles of a line, each once, from their first bar on -> how many. `bad`: other blocks. */
static int read_pool(blocks_t *known, const char *at, const char *stop, int line, int *pool, int *bad) {
  int n = 0;
  for (*bad = 0; at < stop;) {
    const char *text = at + 1;
    at = memchr(text, '|', (size_t)(stop - text));
    if (!at) at = stop;
    const block_t *block = find_block(known, text, (size_t)(at - text), line);
    if (block && !is_among(block->id, pool, n)) pool[n++] = block->id;
    else ++*bad;
  }
  return n;
}

/* The lines that end in the next bytes of a file, of which `rest` are left from before
   -> list(status, timestamp, arm, click, offer, user, rest, pools, malformed, id, line, features).
   user: a column a line; pools, malformed: the articles of each offer, and how many blocks are none;
   offer: which is a line's; id, line, features: of all articles that were read, where first (from 1) */
SEXP ffi_yahoo_lines(SEXP rest, SEXP more) {
  const size_t n_rest = (size_t)Rf_xlength(rest), n_more = (size_t)Rf_xlength(more);
  SEXP bytes = PROTECT(Rf_allocVector(RAWSXP, (R_xlen_t)(n_rest + n_more)));
  memcpy(RAW(bytes), RAW(rest), n_rest);
  memcpy(RAW(bytes) + n_rest, RAW(more), n_more);
  const char *at = (const char *)RAW(bytes), *end = at + n_rest + n_more, *stop;
  R_xlen_t lines = 0, n = 0;
  for (const char *p = at; (p = memchr(p, '\n', (size_t)(end - p))); p++) lines++;
  SEXP out = PROTECT(NAMED_LIST("status", "timestamp", "arm", "click", "offer", "user", "rest", "pools",
                                "malformed", "id", "line", "features"));
  int *status = keep_integers(out, 0, lines), *timestamp = keep_integers(out, 1, lines);
  int *arm = keep_integers(out, 2, lines), *click = keep_integers(out, 3, lines);
  int *offer = keep_integers(out, 4, lines), offers = 0;
  SEXP user = SET_VECTOR_ELT(out, 5, Rf_allocMatrix(REALSXP, YAHOO_DIM, (int)lines));
  SEXP pools = SET_VECTOR_ELT(out, 7, Rf_allocVector(VECSXP, lines));
  int *malformed = keep_integers(out, 8, lines);
  const size_t most = (n_rest + n_more) / MIN_BLOCK + 1;
  blocks_t known = {.slots = 1024};
  while (known.slots < 2 * most) known.slots *= 2;
  known.slot = (int *)R_alloc(known.slots, sizeof(int));
  memset(known.slot, 0, known.slots * sizeof(int));
  known.block = (block_t *)R_alloc(most, sizeof(block_t));
  int *pool = (int *)R_alloc(most, sizeof(int)), n_pool = 0;
  const char *last = NULL;
  size_t n_last = 0;
  for (; (stop = memchr(at, '\n', (size_t)(end - at))); at = stop + 1, n++) {
    status[n] = at + strspn(at, " \r") == stop ? YAHOO_BLANK : YAHOO_BAD_LINE;
    timestamp[n] = arm[n] = click[n] = offer[n] = NA_INTEGER;
    const char *p = read_int(at, &timestamp[n]);
    if (p) p = read_int(p, &arm[n]);
    if (p) p = read_int(p, &click[n]);
    if (!p || click[n] > 1 || strncmp(p, "|user ", 6) != 0) continue;
    status[n] = YAHOO_BAD_USER;
    if (!read_features(p + 6, REAL(user) + n * YAHOO_DIM)) continue;
    p = memchr(p + 1, '|', (size_t)(stop - p - 1));
    const char *articles = p ? p : stop;
    const size_t size = (size_t)(stop - articles);
    if (!last || size != n_last || memcmp(last, articles, size) != 0) {
      last = articles;
      n_last = size;
      n_pool = read_pool(&known, articles, stop, (int)n + 1, pool, &malformed[offers]);
      SEXP ids = SET_VECTOR_ELT(pools, offers++, Rf_allocVector(INTSXP, n_pool));
      memcpy(INTEGER(ids), pool, sizeof(int) * (size_t)n_pool);
    }
    offer[n] = offers;
    status[n] = is_among(arm[n], pool, n_pool) ? YAHOO_GOOD : YAHOO_NOT_OFFERED;
  }
  SEXP left = SET_VECTOR_ELT(out, 6, Rf_allocVector(RAWSXP, (R_xlen_t)(end - at)));
  memcpy(RAW(left), at, (size_t)(end - at));
  SET_VECTOR_ELT(out, 7, Rf_xlengthgets(pools, offers));
  int *id = keep_integers(out, 9, known.n), *line = keep_integers(out, 10, known.n);
  SEXP features = SET_VECTOR_ELT(out, 11, Rf_allocMatrix(REALSXP, YAHOO_DIM, known.n));
  for (int i = 0; i < known.n; i++) {
    line[i] = known.block[i].line;
    read_features(read_int(known.block[i].text, &id[i]), REAL(features) + i * YAHOO_DIM);
  }
  UNPROTECT(2);
  return out;
}
