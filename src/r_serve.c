#include <errno.h>
#include <string.h>
#include "r_api.h"
#include "serve.h"

static serve_t *serve_of(SEXP pointer) {
  serve_t *serve = TYPEOF(pointer) == EXTPTRSXP ? R_ExternalPtrAddr(pointer) : NULL;
  if (!serve) Rf_error("the server was closed, or was never open");
  return serve;
}

SEXP ffi_serve_close(SEXP pointer) {
  if (TYPEOF(pointer) != EXTPTRSXP) return R_NilValue; /* none was opened */
  serve_close(R_ExternalPtrAddr(pointer));
  R_ClearExternalPtr(pointer);
  return R_NilValue;
}

static void finalize(SEXP pointer) { ffi_serve_close(pointer); }

/* A server, or why there is none, as text */
SEXP ffi_serve_open(SEXP host, SEXP port, SEXP seconds, SEXP bytes) {
  SEXP pointer = PROTECT(R_MakeExternalPtr(NULL, R_NilValue, R_NilValue));
  R_RegisterCFinalizerEx(pointer, finalize, TRUE);
  serve_t *serve = serve_open(Rf_translateChar(STRING_ELT(host, 0)), Rf_asInteger(port), Rf_asReal(seconds),
                              Rf_asReal(bytes));
  R_SetExternalPtrAddr(pointer, serve);
  UNPROTECT(1);
  return serve ? pointer : Rf_mkString(strerror(errno));
}

/* The next request, named as Rook names its parts: NULL if none comes in so many milliseconds */
SEXP ffi_serve_next(SEXP pointer, SEXP milliseconds) {
  static const char *names[] = {"id",
                                "again",
                                "whole",
                                "REQUEST_METHOD",
                                "PATH_INFO",
                                "QUERY_STRING",
                                "HTTP_CONTENT_LENGTH",
                                "HTTP_AUTHORIZATION",
                                "HTTP_TRANSFER_ENCODING",
                                "HTTP_UPGRADE",
                                "bodyRaw",
                                ""};
  enum { SOUND = 3, BODY = 10 }; /* one that is no HTTP has these first parts */
  serve_request_t request;
  R_CheckUserInterrupt();
  if (!serve_next(serve_of(pointer), Rf_asInteger(milliseconds), &request)) return R_NilValue;
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  SET_VECTOR_ELT(out, 0, Rf_ScalarInteger(request.id));
  SET_VECTOR_ELT(out, 1, Rf_ScalarLogical(request.again));
  SET_VECTOR_ELT(out, 2, Rf_ScalarLogical(request.whole));
  if (request.sound) {
    SET_VECTOR_ELT(out, SOUND, Rf_mkString(request.method));
    SET_VECTOR_ELT(out, 4, Rf_mkString(request.path));
    SET_VECTOR_ELT(out, 5, Rf_mkString(request.query));
    SET_VECTOR_ELT(out, 6, Rf_ScalarReal(request.length >= 0 ? request.length : R_PosInf));
    if (request.authorization) SET_VECTOR_ELT(out, 7, Rf_mkString(request.authorization));
    if (request.chunked) SET_VECTOR_ELT(out, 8, Rf_mkString("chunked"));
    if (request.upgrade) SET_VECTOR_ELT(out, 9, Rf_mkString("yes"));
    if (request.whole) {
      SEXP body = Rf_allocVector(RAWSXP, (R_xlen_t)request.length);
      SET_VECTOR_ELT(out, BODY, body);
      if (request.length > 0) memcpy(RAW(body), request.body, (size_t)request.length);
    }
  }
  UNPROTECT(1);
  return out;
}

SEXP ffi_serve_let_in(SEXP pointer, SEXP id) {
  serve_let_in(serve_of(pointer), Rf_asInteger(id));
  return R_NilValue;
}

SEXP ffi_serve_answer(SEXP pointer, SEXP id, SEXP head, SEXP body) {
  SEXP text = STRING_ELT(body, 0);
  serve_answer(serve_of(pointer), Rf_asInteger(id), CHAR(STRING_ELT(head, 0)), CHAR(text),
               (size_t)LENGTH(text));
  return R_NilValue;
}
