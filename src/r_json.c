/* Values of R as JSON. A vector of one element is that element, but for one of class AsIs. Names make an
   object of a list. A data frame is an array of its rows. What is no number is null. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "r_api.h"

typedef struct {
  char *text;
  size_t used, capacity;
} json_t;

static char *room_for(json_t *json, size_t more) {
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
  memcpy(room_for(json, n), text, n);
  json->used += n;
}

static void put_string(json_t *json, SEXP string) {
  const char *x = Rf_translateCharUTF8(string);
  char *const start = room_for(json, 6 * strlen(x) + 2), *at = start;
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

/* The fewest digits that read back as the same number. Some locales write a comma in it. */
static void put_number(json_t *json, double x) {
  char text[32];
  if (!R_FINITE(x)) {
    put(json, "null");
    return;
  }
  snprintf(text, sizeof text, "%.15g", x);
  if (strtod(text, NULL) != x) snprintf(text, sizeof text, "%.17g", x);
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
  default:
    Rf_error("no JSON for a value of type %s", Rf_type2char(TYPEOF(x)));
  }
}

static SEXP levels_of(SEXP x) {
  return Rf_inherits(x, "factor") ? Rf_getAttrib(x, R_LevelsSymbol) : R_NilValue;
}

static void put_value(json_t *json, SEXP x) {
  if (x == R_NilValue) {
    put(json, "null");
    return;
  }
  const R_xlen_t n = Rf_xlength(x);
  SEXP names = PROTECT(Rf_getAttrib(x, R_NamesSymbol)), levels = PROTECT(levels_of(x));
  if (Rf_inherits(x, "data.frame")) {
    const R_xlen_t rows = n ? Rf_xlength(VECTOR_ELT(x, 0)) : 0;
    put(json, "[");
    for (R_xlen_t i = 0; i < rows; i++) {
      for (R_xlen_t j = 0; j < n; j++) {
        put(json, j ? "," : i ? ",{" : "{");
        put_string(json, STRING_ELT(names, j));
        put(json, ":");
        put_element(json, VECTOR_ELT(x, j), levels_of(VECTOR_ELT(x, j)), i);
      }
      put(json, "}");
    }
    put(json, "]");
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
  json_t json = {R_alloc(1024, 1), 0, 1024};
  put_value(&json, value);
  SEXP text = PROTECT(Rf_mkCharLenCE(json.text, (int)json.used, CE_UTF8)), out = Rf_ScalarString(text);
  UNPROTECT(1);
  return out;
}
