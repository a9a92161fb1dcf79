/* Replay in calls, like simulation: begin() makes a handle whose memory belongs to R, advance()
   plays for a slice of time, and feed() gives it the next block of a log. */

#include <string.h>
#include "play_replay.h"
#include "r_custom.h"
#include "r_read.h"

typedef struct {
  replay_t replay;
  event_log_t log;
  spec_t spec;
} handle_t;

static const double *optional_reals(SEXP list, const char *name) {
  SEXP value = list_get(list, name);
  return value == R_NilValue ? NULL : REAL(value);
}

static const int *optional_ints(SEXP list, const char *name) {
  SEXP value = list_get(list, name);
  return value == R_NilValue ? NULL : INTEGER(value);
}

/* The log points into the R value, which must stay protected. */
static void read_log(SEXP value, event_log_t *log) {
  SEXP arm = list_get(value, "arm"), context = list_get(value, "context");
  SEXP features = list_get(value, "features");
  log->n = (int64_t)Rf_xlength(arm);
  log->k = (int)list_number(value, "k");
  log->arm = INTEGER(arm);
  log->reward = REAL(list_get(value, "reward"));
  log->pool = optional_ints(value, "pool");
  log->pool_start = optional_ints(value, "pool_start");
  log->pool_arms = optional_ints(value, "pool_arms");
  log->keep = optional_reals(value, "keep");
  log->weight = optional_reals(value, "weight");
  log->context = optional_reals(value, "context");
  log->dim = log->context ? Rf_nrows(context) : 0;
  log->features = optional_reals(value, "features");
  log->arm_dim = log->features ? Rf_nrows(features) : 0;
}

enum { LOG, POLICY, RUNS, STRUCT, SESSION, LATE, SPACE, SEEN, WATCH, COUNTS, N_KEPT };

/* how: list(own, runs, seed, delay, horizon, observers, last, finish, chances: of how many events they are
   wanted) -> list(seen, handle, chances); seen: what the observers keep, a column for each run; chances: k x
   events */
SEXP ffi_replay_begin(SEXP log, SEXP policy, SEXP how) {
  SEXP out = PROTECT(NAMED_LIST("seen", "handle", "chances"));
  SEXP kept = PROTECT(Rf_allocVector(VECSXP, N_KEPT));
  SET_VECTOR_ELT(kept, LOG, log);
  SEXP runs = list_get(how, "runs");
  SET_VECTOR_ELT(kept, RUNS, runs);
  SET_VECTOR_ELT(kept, POLICY, policy);
  handle_t *h = keep_block(kept, STRUCT, sizeof(handle_t));
  replay_t *replay = &h->replay;
  read_log(log, &h->log);
  replay->log = &h->log;
  replay->own = list_number(how, "own") != 0;
  replay->last = list_number(how, "last") != 0;
  replay->finish = list_number(how, "finish") == 1;
  const int products = h->log.arm_dim * (h->log.dim ? h->log.dim : 1);
  const double horizon = list_number(how, "horizon");
  read_policy(policy, h->log.k, replay->own ? products : h->log.dim, horizon, &h->spec);
  replay->seed = (uint64_t)list_number(how, "seed");
  replay->runs = REAL(runs);
  replay->n_runs = (int)Rf_xlength(runs);
  replay->horizon = (int64_t)horizon;

  const int dim = h->spec.dim;
  const size_t k = (size_t)h->log.k;
  const int64_t longest = (int64_t)list_number(how, "delay");
  replay->session = session_on(keep_block(kept, SESSION, session_size(&h->spec)), &h->spec);
  replay->late = (late_t){.delay = longest, .mask = -1};
  if (longest > 0) {
    late_on(&replay->late, keep_block(kept, LATE, late_size(longest, dim)), longest, dim);
  }
  replay->space = keep_block(kept, SPACE, replay->own ? sizeof(double) * (size_t)dim * k : 0);
  replay->observation.survey = (survey_t){.k = h->log.k,
                                          .horizon = replay->horizon,
                                          .tosses = h->spec.policy->probability != NULL,
                                          .concludes = spec_concludes(&h->spec)};
  SEXP seen = read_observers(list_get(how, "observers"), replay->n_runs, &replay->observation);
  SET_VECTOR_ELT(kept, SEEN, seen);
  SET_VECTOR_ELT(out, 0, seen);
  replay->watch = keep_block(kept, WATCH, observation_size(&replay->observation));
  replay->env.player.pulls = keep_block(kept, COUNTS, sizeof(int64_t) * k);
  const double events = list_number(how, "chances");
  if (events > 0) {
    SET_VECTOR_ELT(out, 2, Rf_allocMatrix(REALSXP, h->log.k, (int)events));
    replay->chances = REAL(VECTOR_ELT(out, 2));
  }
  replay_begin(replay);
  SET_VECTOR_ELT(out, 1, R_MakeExternalPtr(h, R_NilValue, kept));
  UNPROTECT(2);
  return out;
}

/* The next events of the log for a handle of one run, which has finished those before. */
SEXP ffi_replay_feed(SEXP handle, SEXP log, SEXP before, SEXP last) {
  handle_t *h = handle_of(handle);
  SET_VECTOR_ELT(R_ExternalPtrProtected(handle), LOG, log);
  read_log(log, &h->log);
  replay_feed(&h->replay, (int64_t)Rf_asReal(before), Rf_asLogical(last));
  return R_NilValue;
}

/* -> the share of the work that is done; 1 when it is finished */
SEXP ffi_replay_advance(SEXP handle, SEXP seconds) {
  handle_t *h = handle_of(handle);
  R_CheckUserInterrupt();
  const replay_t *replay = &h->replay;
  const int finished = replay_advance(&h->replay, Rf_asReal(seconds));
  if (replay->status != SESSION_OK) {
    custom_resume(&h->spec);
    Rf_error("policy \"%s\" failed at event %.0f of run %.0f: %s", h->spec.policy->name,
             (double)(replay->before + replay->at), replay->runs[replay->run],
             session_message(replay->status));
  }
  custom_resume(&h->spec);
  if (finished) return Rf_ScalarReal(1);
  const double done = replay_progress(&h->replay);
  return Rf_ScalarReal(done < 1 ? done : 1 - 1e-9);
}
