/* Reading lines of the Yahoo! R6A log (ydata-fp-td-clicks-v1_0):

     timestamp displayed click |user 2:x 3:x 4:x 5:x 6:x 1:x |article 2:x ... 1:x |...

   Features are keyed by their ids 1 .. 6, in any order. Pools stay the same for long stretches of
   lines, features and all, so a line's articles are compared with those of the line before as
   text: R parses what is new. */

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "r_read.h"

#define YAHOO_DIM 6

enum yahoo_status { YAHOO_BLANK, YAHOO_BAD_LINE, YAHOO_BAD_USER, YAHOO_GOOD };

static const char *skip_spaces(const char *at) { return at + strspn(at, " \t"); }

/* A whole number below 2^31 and a space; NULL if there is none. */
static const char *read_int(const char *at, int *out) {
  const size_t digits = strspn(at, "0123456789");
  if (digits == 0) return NULL;
  char *end;
  const double x = strtod(at, &end);
  if (end != at + digits || x > INT_MAX || *end != ' ') return NULL;
  *out = (int)x;
  return skip_spaces(end);
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

/* The lines that end in the next bytes of a file, of which `rest` are left from before
   -> list(status, timestamp, arm, click, offer, user, text, rest); user: a column a line; text: each
   text of articles, behind its first bar; offer: which of them is a line's */
SEXP ffi_yahoo_lines(SEXP rest, SEXP more) {
  const size_t n_rest = (size_t)Rf_xlength(rest), n_more = (size_t)Rf_xlength(more);
  SEXP bytes = PROTECT(Rf_allocVector(RAWSXP, (R_xlen_t)(n_rest + n_more)));
  memcpy(RAW(bytes), RAW(rest), n_rest);
  memcpy(RAW(bytes) + n_rest, RAW(more), n_more);
  const char *at = (const char *)RAW(bytes), *end = at + n_rest + n_more, *stop;
  R_xlen_t lines = 0, n = 0;
  for (const char *p = at; (p = memchr(p, '\n', (size_t)(end - p))); p++) lines++;
  SEXP out = PROTECT(
      NAMED_LIST("status", "timestamp", "arm", "click", "offer", "user", "text", "rest"));
  int *status = keep_integers(out, 0, lines), *timestamp = keep_integers(out, 1, lines);
  int *arm = keep_integers(out, 2, lines), *click = keep_integers(out, 3, lines);
  int *offer = keep_integers(out, 4, lines), texts = 0;
  SEXP user = SET_VECTOR_ELT(out, 5, Rf_allocMatrix(REALSXP, YAHOO_DIM, (int)lines));
  SEXP text = SET_VECTOR_ELT(out, 6, Rf_allocVector(STRSXP, lines));
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
    status[n] = YAHOO_GOOD;
    p = memchr(p + 1, '|', (size_t)(stop - p - 1));
    const char *articles = p ? p + 1 : stop;
    const size_t size = (size_t)(stop - articles);
    if (!last || size != n_last || memcmp(last, articles, size) != 0) {
      last = articles;
      n_last = size;
      SET_STRING_ELT(text, texts++,
                     Rf_mkCharLenCE(last, (int)strnlen(last, size), CE_LATIN1));
    }
    offer[n] = texts;
  }
  SET_VECTOR_ELT(out, 6, Rf_xlengthgets(text, texts));
  SEXP left = SET_VECTOR_ELT(out, 7, Rf_allocVector(RAWSXP, (R_xlen_t)(end - at)));
  memcpy(RAW(left), at, (size_t)(end - at));
  UNPROTECT(2);
  return out;
}

/* -> list(id, features) of blocks `id 2:x 3:x ...`, YAHOO_DIM features a block; an id is NA where
   its features are malformed */
SEXP ffi_yahoo_articles(SEXP blocks) {
  const R_xlen_t n = Rf_xlength(blocks);
  SEXP out = PROTECT(NAMED_LIST("id", "features"));
  int *id = keep_integers(out, 0, n);
  SEXP features = SET_VECTOR_ELT(out, 1, Rf_allocMatrix(REALSXP, YAHOO_DIM, (int)n));
  for (R_xlen_t i = 0; i < n; i++) {
    const char *at = read_int(CHAR(STRING_ELT(blocks, i)), &id[i]);
    if (!at || !read_features(at, REAL(features) + i * YAHOO_DIM)) id[i] = NA_INTEGER;
  }
  UNPROTECT(1);
  return out;
}
