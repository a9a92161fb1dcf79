#include <signal.h>
#include "r_api.h"
#ifndef _WIN32
#include <poll.h>
#endif

/* A service is asked to end by SIGTERM: it is noted here, and the service looks. */

static volatile sig_atomic_t asked = 0;

#ifndef _WIN32
static struct sigaction before;
static int watching = 0;

static void note(int number) {
  (void)number;
  asked = 1;
}
#endif

/* Begins to watch, or ends it and leaves the signal as it was */
SEXP ffi_watch_end(SEXP on) {
#ifndef _WIN32
  if (Rf_asLogical(on) == TRUE && !watching) {
    struct sigaction ours = {0};
    ours.sa_handler = note;
    sigemptyset(&ours.sa_mask);
    asked = 0;
    watching = sigaction(SIGTERM, &ours, &before) == 0;
  } else if (Rf_asLogical(on) != TRUE && watching) {
    sigaction(SIGTERM, &before, NULL);
    watching = 0;
  }
#else
  (void)on;
#endif
  return R_NilValue;
}

/* Would a line on stderr be taken at once? A pipe that nobody reads is full one day. */
SEXP ffi_stderr_ready(void) {
#ifndef _WIN32
  struct pollfd err = {.fd = 2, .events = POLLOUT};
  return Rf_ScalarLogical(poll(&err, 1, 0) != 0);
#else
  return Rf_ScalarLogical(TRUE);
#endif
}

SEXP ffi_end_asked(void) { return Rf_ScalarLogical(asked != 0); }
