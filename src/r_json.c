/* Values of R as JSON: for those who ask a service, and rows of tables for stores. What is no number is
   null. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "r_list.h"

typedef struct {
  char *text;
  size_t used, capacity;
  int digits; /* of numbers: 15 where these read back as the same number, or always 17 */
} json_t;

static json_t json_begin(int digits) { return (json_t){R_alloc(64, 1), 0, 64, digits}; }

static SEXP json_end(const json_t *json) {
  SEXP text = PROTECT(Rf_mkCharLenCE(json->text, (int)json->used, CE_UTF8)), out = Rf_ScalarString(text);
  UNPROTECT(1);
  return out;
}

static char *space_for(json_t *json, size_t more) {
  if (json->capacity - json->used <= more) {
    const size_t capacity = 2 * json->capacity + more + 1;
    char *text = R_alloc(capacity, 1);
    memcpy(text, json->text, json->used);
    json->text = text;
    json->capacity = capacity;
  }
  return json->text + json->used;
}

static void put(json_t *json, const char *text) {
  const size_t n = strlen(text);
  memcpy(space_for(json, n), text, n);
  json->used += n;
}

static void put_string(json_t *json, SEXP string) {
  const char *x = Rf_translateCharUTF8(string);
  char *const start = space_for(json, 6 * strlen(x) + 2), *at = start;
  *at++ = '"';
  for (; *x; x++) {
    const unsigned char c = (unsigned char)*x;
    if (c < ' ' || c == 127) at += snprintf(at, 7, "\\u%04x", (unsigned)c);
    else {
      if (c == '"' || c == '\\') *at++ = '\\';
      *at++ = *x;
    }
  }
  *at++ = '"';
  json->used += (size_t)(at - start);
}

/* Can 15 digits not be enough, by the text of 17? A number that reads back from 15 digits is within half a
   unit of its last bit of them, which is 11.1 units of the 17th digit at most. */
static int needs_17(const char *text) {
  int digits = 0, last = 0;
  for (; *text && *text != 'e'; text++) {
    if (*text < '0' || *text > '9' || (!digits && *text == '0')) continue;
    digits++;
    last = (10 * last + *text - '0') % 100;
  }
  return digits == 17 && last > 11 && last < 89;
}

/* Some locales write a comma in a number. */
static void put_number(json_t *json, double x) {
  char text[32];
  if (!R_FINITE(x)) {
    put(json, "null");
    return;
  }
  if (fabs(x) < 1e15 && x == trunc(x) && x != 0) { /* the same text, in a third of the time */
    char *at = text + sizeof text;
    *--at = 0;
    for (long long left = (long long)fabs(x); left > 0; left /= 10) *--at = (char)('0' + left % 10);
    if (x < 0) *--at = '-';
    put(json, at);
    return;
  }
  snprintf(text, sizeof text, "%.17g", x);
  if (json->digits < 17 && !(fabs(x) > 1e-300 && needs_17(text))) {
    snprintf(text, sizeof text, "%.15g", x);
    if (strtod(text, NULL) != x) snprintf(text, sizeof text, "%.17g", x);
  }
  char *comma = strchr(text, ',');
  if (comma) *comma = '.';
  put(json, text);
}

static void put_element(json_t *json, SEXP x, SEXP levels, R_xlen_t i) {
  switch (TYPEOF(x)) {
  case STRSXP:
    if (STRING_ELT(x, i) == NA_STRING) put(json, "null");
    else put_string(json, STRING_ELT(x, i));
    return;
  case REALSXP:
    put_number(json, REAL(x)[i]);
    return;
  case LGLSXP:
    put(json, LOGICAL(x)[i] == NA_LOGICAL ? "null" : LOGICAL(x)[i] ? "true" : "false");
    return;
  case INTSXP:
    if (INTEGER(x)[i] == NA_INTEGER) put(json, "null");
    else if (levels != R_NilValue) put_string(json, STRING_ELT(levels, INTEGER(x)[i] - 1));
    else put_number(json, INTEGER(x)[i]);
    return;
  case NILSXP:
    put(json, "null");
    return;
  default:
    Rf_error("no JSON for a value of type %s", Rf_type2char(TYPEOF(x)));
  }
}

static SEXP levels_of(SEXP x) {
  return Rf_inherits(x, "factor") ? Rf_getAttrib(x, R_LevelsSymbol) : R_NilValue;
}

/* The texts of some strings */
static const char **as_json(SEXP strings) {
  const R_xlen_t n = Rf_xlength(strings);
  const char **out = (const char **)R_alloc((size_t)n, sizeof *out);
  for (R_xlen_t i = 0; i < n; i++) {
    json_t json = json_begin(15);
    put_string(&json, STRING_ELT(strings, i));
    *space_for(&json, 1) = 0;
    out[i] = json.text;
  }
  return out;
}

/* A data frame as an array of its rows. Names and levels come again in each. */
static void put_frame(json_t *json, SEXP x, SEXP names) {
  const R_xlen_t n = Rf_xlength(x), rows = n ? Rf_xlength(VECTOR_ELT(x, 0)) : 0;
  const char **name = as_json(names), ***level = (const char ***)R_alloc((size_t)n, sizeof *level);
  for (R_xlen_t j = 0; j < n; j++) {
    SEXP levels = PROTECT(levels_of(VECTOR_ELT(x, j)));
    level[j] = levels == R_NilValue ? NULL : as_json(levels);
    UNPROTECT(1);
  }
  put(json, "[");
  for (R_xlen_t i = 0; i < rows; i++) {
    for (R_xlen_t j = 0; j < n; j++) {
      put(json, j ? "," : i ? ",{" : "{");
      put(json, name[j]);
      put(json, ":");
      SEXP column = VECTOR_ELT(x, j);
      if (level[j] && INTEGER(column)[i] != NA_INTEGER) put(json, level[j][INTEGER(column)[i] - 1]);
      else put_element(json, column, R_NilValue, i);
    }
    put(json, "}");
  }
  put(json, "]");
}

/* A vector of one element is that element, but for one of class AsIs. Names make an object of a list. A data
   frame is an array of its rows. */
static void put_value(json_t *json, SEXP x) {
  if (x == R_NilValue) {
    put(json, "null");
    return;
  }
  const R_xlen_t n = Rf_xlength(x);
  SEXP names = PROTECT(Rf_getAttrib(x, R_NamesSymbol)), levels = PROTECT(levels_of(x));
  if (Rf_inherits(x, "data.frame")) {
    put_frame(json, x, names);
  } else if (TYPEOF(x) == VECSXP) {
    const int named = names != R_NilValue;
    put(json, named ? "{" : "[");
    for (R_xlen_t i = 0; i < n; i++) {
      if (i) put(json, ",");
      if (named) put_string(json, STRING_ELT(names, i));
      if (named) put(json, ":");
      put_value(json, VECTOR_ELT(x, i));
    }
    put(json, named ? "}" : "]");
  } else {
    const int one = n == 1 && !Rf_inherits(x, "AsIs");
    if (!one) put(json, "[");
    for (R_xlen_t i = 0; i < n; i++) {
      if (i) put(json, ",");
      put_element(json, x, levels, i);
    }
    if (!one) put(json, "]");
  }
  UNPROTECT(2);
}

SEXP ffi_json(SEXP value) {
  json_t json = json_begin(15);
  put_value(&json, value);
  return json_end(&json);
}

/* ---- rows for stores ------------------------------------------------------------------------------- */

/* Columns as an array of rows, each an array. The first one is not NULL unless there are no rows. */
static void put_rows(json_t *json, SEXP columns) {
  const R_xlen_t n = Rf_length(columns) ? Rf_xlength(VECTOR_ELT(columns, 0)) : 0;
  put(json, "[");
  for (R_xlen_t i = 0; i < n; i++) {
    for (int j = 0; j < Rf_length(columns); j++) {
      put(json, j ? "," : i ? ",[" : "[");
      put_element(json, VECTOR_ELT(columns, j), R_NilValue, i);
    }
    put(json, "]");
  }
  put(json, "]");
}

SEXP ffi_json_rows(SEXP columns) {
  json_t json = json_begin(17);
  put_rows(&json, columns);
  return json_end(&json);
}

/* A named list as an object: of numbers and strings, bytes as PostgreSQL reads them, and columns as arrays of
   rows. What is NULL is left out. */
SEXP ffi_json_record(SEXP list) {
  SEXP names = Rf_getAttrib(list, R_NamesSymbol);
  json_t json = json_begin(17);
  for (int j = 0; j < Rf_length(list); j++) {
    SEXP x = VECTOR_ELT(list, j);
    if (x == R_NilValue) continue;
    put(&json, json.used ? "," : "{");
    put_string(&json, STRING_ELT(names, j));
    put(&json, ":");
    if (TYPEOF(x) == VECSXP) put_rows(&json, x);
    else if (TYPEOF(x) == RAWSXP) {
      put(&json, "\"\\\\x");
      char *at = space_for(&json, 2 * (size_t)Rf_xlength(x) + 1);
      json.used += (size_t)(write_hex(at, x) - at);
      put(&json, "\"");
    } else put_element(&json, x, R_NilValue, 0);
  }
  put(&json, "}");
  return json_end(&json);
}
