/* What agents need of C besides sessions and exact noise. */

#include <stdio.h>
#include <string.h>
#include "math_util.h"
#include <sys/stat.h>
#include "r_list.h"

/* A checksum of bytes, as text. It finds damage; it is no signature. */
SEXP ffi_checksum(SEXP bytes) {
  return hexadecimal(hash_on(HASH_START, RAW(bytes), (size_t)Rf_xlength(bytes)));
}

static char *write_hex(char *at, SEXP bytes) {
  const char digits[] = "0123456789abcdef";
  const Rbyte *x = RAW(bytes);
  for (R_xlen_t i = 0; i < Rf_xlength(bytes); i++) {
    *at++ = digits[x[i] >> 4];
    *at++ = digits[x[i] & 15];
  }
  *at = 0;
  return at;
}

/* Bytes as hexadecimal text */
SEXP ffi_hex(SEXP bytes) {
  char *text = R_alloc((size_t)Rf_xlength(bytes) * 2 + 1, 1);
  write_hex(text, bytes);
  return Rf_mkString(text);
}

/* ... and back */
SEXP ffi_unhex(SEXP text) {
  const char *x = CHAR(STRING_ELT(text, 0));
  const R_xlen_t n = LENGTH(STRING_ELT(text, 0)) / 2;
  SEXP out = Rf_allocVector(RAWSXP, n);
  for (R_xlen_t i = 0; i < 2 * n; i++) {
    const int digit = (x[i] & 15) + (x[i] > '9' ? 9 : 0);
    RAW(out)[i / 2] = (Rbyte)(i % 2 ? RAW(out)[i / 2] | digit : digit << 4);
  }
  return out;
}

enum { LONGEST_ESCAPE = 6 };

static char *json_string(char *at, size_t room, const char *text) {
  const char *last = at + room;
  *at++ = '"';
  for (; *text; text++) {
    if (*text == '"' || *text == '\\') *at++ = '\\';
    if ((unsigned char)*text < ' ') at += snprintf(at, (size_t)(last - at), "\\u%04x", (unsigned)*text);
    else *at++ = *text;
  }
  *at++ = '"';
  return at;
}

/* One value as JSON or, but for strings, as SQL; NA and what is no value are null. Some locales
   write a comma in a number. */
static char *json_cell(char *at, size_t room, SEXP x, R_xlen_t i) {
  char *end = at;
  if (TYPEOF(x) == STRSXP && STRING_ELT(x, i) != NA_STRING) {
    end = json_string(at, room, Rf_translateCharUTF8(STRING_ELT(x, i)));
  } else if (TYPEOF(x) == INTSXP && INTEGER(x)[i] != NA_INTEGER) {
    end += snprintf(at, room, "%d", INTEGER(x)[i]);
  } else if (TYPEOF(x) == REALSXP && !ISNAN(REAL(x)[i])) {
    end += snprintf(at, room, "%.17g", REAL(x)[i]);
    for (char *p = at; p < end; p++) {
      if (*p == ',') *p = '.';
    }
  } else {
    end += snprintf(at, room, "null");
  }
  return end;
}

enum { MOST = 32 }; /* characters of a number, or beside a string */

/* Columns, the first of which is not NULL unless there are no rows */
static R_xlen_t n_rows(SEXP columns) { return Rf_length(columns) ? Rf_xlength(VECTOR_ELT(columns, 0)) : 0; }

static size_t cells_room(SEXP x) {
  size_t room = (size_t)Rf_xlength(x) * MOST;
  for (R_xlen_t i = 0; TYPEOF(x) == STRSXP && i < Rf_xlength(x); i++) {
    room += LONGEST_ESCAPE * strlen(Rf_translateCharUTF8(STRING_ELT(x, i)));
  }
  return room;
}

static size_t rows_room(SEXP columns) {
  size_t room = MOST + (size_t)n_rows(columns) * (size_t)(Rf_length(columns) + 1) * MOST;
  for (int j = 0; j < Rf_length(columns); j++) room += cells_room(VECTOR_ELT(columns, j));
  return room;
}

static char *write_rows(char *at, char *last, SEXP columns) {
  const R_xlen_t n = n_rows(columns);
  for (R_xlen_t i = 0; i < n; i++) {
    for (int j = 0; j < Rf_length(columns); j++) {
      *at++ = i || j ? ',' : '[';
      if (j == 0) *at++ = '[';
      at = json_cell(at, (size_t)(last - at), VECTOR_ELT(columns, j), i);
    }
    *at++ = ']';
  }
  return at + snprintf(at, (size_t)(last - at), n ? "]" : "[]");
}

/* Columns as JSON: an array of rows */
SEXP ffi_json_rows(SEXP columns) {
  const size_t room = rows_room(columns);
  char *text = R_alloc(room, 1);
  write_rows(text, text + room, columns);
  return Rf_ScalarString(Rf_mkCharCE(text, CE_UTF8));
}

/* A named list as a JSON object: of numbers and strings, bytes as PostgreSQL reads them, and columns as
   arrays of rows. What is NULL is left out. */
SEXP ffi_json_record(SEXP list) {
  SEXP names = Rf_getAttrib(list, R_NamesSymbol);
  size_t room = MOST;
  for (int j = 0; j < Rf_length(list); j++) {
    SEXP x = VECTOR_ELT(list, j);
    room += MOST + strlen(CHAR(STRING_ELT(names, j)));
    room += TYPEOF(x) == VECSXP ? rows_room(x) : cells_room(x);
    if (TYPEOF(x) == RAWSXP) room += 2 * (size_t)Rf_xlength(x);
  }
  char *text = R_alloc(room, 1), *last = text + room, *at = text;
  for (int j = 0; j < Rf_length(list); j++) {
    SEXP x = VECTOR_ELT(list, j);
    if (x == R_NilValue) continue;
    at += snprintf(at, (size_t)(last - at), "%c\"%s\":", at == text ? '{' : ',', CHAR(STRING_ELT(names, j)));
    if (TYPEOF(x) == VECSXP) at = write_rows(at, last, x);
    else if (TYPEOF(x) == RAWSXP) {
      at += snprintf(at, (size_t)(last - at), "\"\\\\x");
      at = write_hex(at, x);
      *at++ = '"';
    } else at = json_cell(at, (size_t)(last - at), x, 0);
  }
  strcpy(at, "}");
  return Rf_ScalarString(Rf_mkCharCE(text, CE_UTF8));
}

/* Seconds on a clock that nobody sets */
SEXP ffi_ticks(void) { return Rf_ScalarReal(now()); }

/* Which file a path names now, as text; NA if none */
SEXP ffi_file_identity(SEXP path) {
  struct stat about;
  char text[64];
  if (stat(R_ExpandFileName(Rf_translateChar(STRING_ELT(path, 0))), &about) != 0)
    return Rf_ScalarString(NA_STRING);
  snprintf(text, sizeof text, "%.0f-%.0f", (double)about.st_dev, (double)about.st_ino);
  return Rf_mkString(text);
}
