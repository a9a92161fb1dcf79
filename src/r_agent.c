/* What agents need of C besides sessions and exact noise. */

#if !defined(_WIN32)
#define _DEFAULT_SOURCE
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#endif
#include <stdint.h>
#include <stdio.h>
#include "r_api.h"

/* A checksum of bytes, as text: FNV-1a of 64 bits. It finds damage; it is no signature. */
SEXP ffi_checksum(SEXP bytes) {
  uint64_t hash = 0xcbf29ce484222325u;
  const Rbyte *x = RAW(bytes);
  const R_xlen_t n = Rf_xlength(bytes);
  for (R_xlen_t i = 0; i < n; i++) hash = (hash ^ x[i]) * 0x100000001b3u;
  char text[24];
  snprintf(text, sizeof text, "%016llx", (unsigned long long)hash);
  return Rf_mkString(text);
}

/* Bytes as hexadecimal text */
SEXP ffi_hex(SEXP bytes) {
  const char digits[] = "0123456789abcdef";
  const Rbyte *x = RAW(bytes);
  const R_xlen_t n = Rf_xlength(bytes);
  char *text = R_alloc((size_t)n * 2 + 1, 1);
  for (R_xlen_t i = 0; i < n; i++) {
    text[2 * i] = digits[x[i] >> 4];
    text[2 * i + 1] = digits[x[i] & 15];
  }
  text[2 * n] = 0;
  return Rf_mkString(text);
}

/* httpuv sends the head and the body of an answer separately. With Nagle's algorithm the body
   waits until the client has acknowledged the head, which a client puts off for 40 ms. httpuv has
   no switch for it, so this one finds the socket of this process that listens on a port and
   switches it off; accepted connections inherit that. -> whether one was found */
SEXP ffi_answer_at_once(SEXP port) {
  int found = 0;
#if !defined(_WIN32)
  enum { MOST_FILES = 4096 };
  for (int fd = 3; fd < MOST_FILES; fd++) {
    int listens = 0, on = 1;
    socklen_t size = sizeof listens;
    if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) || !listens) continue;
    struct sockaddr_storage address;
    size = sizeof address;
    if (getsockname(fd, (struct sockaddr *)&address, &size)) continue;
    const uint16_t own =
        address.ss_family == AF_INET    ? ((struct sockaddr_in *)&address)->sin_port
        : address.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&address)->sin6_port
                                        : 0;
    if (ntohs(own) != Rf_asInteger(port)) continue;
    found |= setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0;
  }
#endif
  return Rf_ScalarLogical(found);
}
