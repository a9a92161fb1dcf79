/* A policy under the microscope, for tests and audits: a session in a scripted environment,
   with the ledger of everything that it released. */

#include <string.h>
#include "math_util.h"
#include "r_custom.h"
#include "r_read.h"

/* What is on offer, what is pulled and its reward, step by step. */
typedef struct {
  environment_t env;
  int k, steps, at;
  const int *arms;       /* the arm to pull, from 1; NA: the policy chooses */
  const double *rewards; /* one per step, or steps x k */
  int table;             /* is it the latter? */
  const int **offer;     /* arms on offer, from 0; none, or NULL: all */
  const int *n_offer;
  const int *discard;    /* is the choice discarded? NULL: never */
  const double *context; /* dim x steps, or dim x k x steps; NULL: none */
  int dim, own;
  int *arm_out, *released;
  const ledger_t *ledger;
  /* For couplings: does the policy get a stream of its own for each step, so that however many
     numbers a step takes, the next finds the same ones? NULL: no. */
  draws_t *fresh;
  uint64_t seed;
  /* A hash of all that the policy says before each step and at the end: reports, verdict, chances.
     NULL: it is not asked. And the chances. */
  const session_t *session;
  double *said, *chances;
} script_t;

/* `round`: NULL at the end, where there are no chances */
static void note_said(script_t *script, int at, const round_t *round) {
  if (!script->said) return;
  uint64_t hash = HASH_START;
  for (int i = 0; i < script->k; i++) {
    double numbers[N_REPORT];
    const report_t report = session_report(script->session, i);
    report_write(&report, numbers);
    hash = hash_on(hash, numbers, sizeof numbers);
  }
  verdict_t verdict;
  session_verdict(script->session, &verdict);
  const double named[] = {verdict.stop, verdict.arm, verdict.error};
  hash = hash_on(hash, named, sizeof named);
  if (round && script->session->spec->policy->probability) {
    double *chances = script->chances + (size_t)script->k * (size_t)at;
    session_probability(script->session, round, chances);
    hash = hash_on(hash, chances, sizeof(double) * (size_t)script->k);
  }
  script->said[at] = (double)(hash >> 11); /* the 53 bits of a double */
}

#define FRESH 0x10000u /* past the purposes of sample_rng.h: step i has the purpose FRESH + i */

static void offer(environment_t *env, round_t *round) {
  script_t *script = (script_t *)env;
  const int at = script->at;
  if (at > 0) script->released[at - 1] = script->ledger->n;
  if (script->fresh) rng_seed(&script->fresh->policy, script->seed, 1, FRESH + (uint64_t)at);
  if (script->offer && script->n_offer[at] > 0) {
    round->offer = script->offer[at];
    round->n_offer = script->n_offer[at];
  }
  if (!script->context) return;
  const size_t each = (size_t)script->dim * (size_t)(script->own ? script->k : 1);
  round->context = script->context + each * (size_t)at;
  round->context_step = script->own ? script->dim : 0;
}

static int force(environment_t *env, const round_t *round) {
  script_t *script = (script_t *)env;
  note_said(script, script->at, round);
  const int arm = script->arms[script->at];
  return arm == NA_INTEGER ? -1 : arm - 1;
}

static int pull(environment_t *env, const round_t *round, int arm, double *reward) {
  (void)round;
  script_t *script = (script_t *)env;
  const int at = script->at++;
  env->player.t = script->at; /* who comes next, where people come again */
  script->arm_out[at] = arm + 1;
  env->over = script->at == script->steps;
  *reward = script->rewards[script->table ? at + (size_t)script->steps * (size_t)arm : (size_t)at];
  return !(script->discard && script->discard[at]);
}

static const environment_kind_t SCRIPT = {.name = "script", .offer = offer, .force = force, .pull = pull};

static void read_offers(SEXP offers, script_t *script) {
  if (offers == R_NilValue) return;
  const size_t n = (size_t)script->steps;
  int *sizes = (int *)R_alloc(n, sizeof(int));
  script->offer = (const int **)R_alloc(n, sizeof(int *));
  script->n_offer = sizes;
  for (size_t i = 0; i < n; i++) {
    SEXP arms = VECTOR_ELT(offers, (R_xlen_t)i);
    int *from_0 = (int *)R_alloc((size_t)Rf_xlength(arms), sizeof(int));
    sizes[i] = (int)Rf_xlength(arms);
    for (int j = 0; j < sizes[i]; j++) from_0[j] = INTEGER(arms)[j] - 1;
    script->offer[i] = from_0;
  }
}

static const double *read_contexts(SEXP context, script_t *script) {
  if (context == R_NilValue) return NULL;
  script->dim = Rf_nrows(context);
  return REAL(context);
}

static late_t read_delays(SEXP delays, int dim) {
  late_t late = {.delays = INTEGER(delays), .n_delays = Rf_xlength(delays)};
  const int64_t longest = late_longest_of(late.delays, late.n_delays);
  late_on(&late, R_alloc(late_size(longest, dim), 1), longest, dim);
  late_begin(&late);
  return late;
}

/* visits: see read_visits() */
static void read_people(SEXP visits, environment_t *env) {
  if (visits == R_NilValue) return;
  visits_t *people = (visits_t *)R_alloc(1, sizeof *people);
  read_visits(visits, people);
  people->group = (visitor_t *)R_alloc((size_t)people->apart, sizeof *people->group);
  env->visits = people;
}

/* The session goes to bytes, and a new one comes from them. */
static session_status_t save_and_restore(session_t *session) {
  const size_t size = session_save_size(session);
  void *bytes = R_alloc(size, 1);
  session_save(session, bytes);
  draws_t draws = draws_of(0, 0, session->draws.ledger);
  draws.run = session->draws.run;
  *session = new_session(session->spec, draws);
  return session_restore(session, bytes, size, R_alloc(session_scratch(session), 1));
}

/* saves: after which steps the session is saved and restored, increasing; or NULL */
static session_status_t play(session_t *session, script_t *script, late_t *late, SEXP saves) {
  session_status_t status = SESSION_OK;
  for (R_xlen_t i = 0; i < Rf_xlength(saves) && status == SESSION_OK; i++) {
    status = session_play(session, &script->env, late, INTEGER(saves)[i] - script->at);
    if (status == SESSION_OK) status = save_and_restore(session);
  }
  return status == SESSION_OK ? session_play(session, &script->env, late, INT64_MAX) : status;
}

/* script: list(k, horizon, arms, rewards, offers, discard, contexts, own, delays, visits, saves, seed,
   run, silent, max_ledger, forced, fresh, ask: is the policy asked what it says in each step?, finish: is
   what is open released at the end?); those that are not needed are NULL.
   -> list(arm, released, the ledger's columns, total, state, report: a column for each arm, said: a hash for
   each step and the end, chances: a column for each step) */
SEXP ffi_trace(SEXP policy, SEXP script_) {
  script_t script = {.env.kind = &SCRIPT};
  SEXP rewards = list_get(script_, "rewards"), discard = list_get(script_, "discard");
  SEXP delays = list_get(script_, "delays"), forced = list_get(script_, "forced");
  script.k = (int)list_number(script_, "k");
  script.arms = INTEGER(list_get(script_, "arms"));
  script.steps = (int)Rf_xlength(list_get(script_, "arms"));
  script.rewards = REAL(rewards);
  script.table = Rf_isMatrix(rewards);
  script.discard = discard == R_NilValue ? NULL : LOGICAL(discard);
  script.own = list_number(script_, "own") == 1;
  script.context = read_contexts(list_get(script_, "contexts"), &script);
  read_offers(list_get(script_, "offers"), &script);
  read_people(list_get(script_, "visits"), &script.env);

  SEXP out =
      PROTECT(NAMED_LIST("arm", "released", LEDGER_NAMES, "total", "state", "report", "said", "chances"));
  for (int i = 0; i < 2; i++) {
    SET_VECTOR_ELT(out, i, Rf_allocVector(INTSXP, script.steps));
    memset(INTEGER(VECTOR_ELT(out, i)), 0, sizeof(int) * (size_t)script.steps);
  }
  script.arm_out = INTEGER(VECTOR_ELT(out, 0));
  script.released = INTEGER(VECTOR_ELT(out, 1));
  ledger_t ledger =
      keep_ledger(out, 2, (int)list_number(script_, "max_ledger"), (int)list_number(script_, "silent"));
  if (forced != R_NilValue) {
    ledger.forced = REAL(forced);
    ledger.n_forced = (int)Rf_xlength(forced);
  }
  script.ledger = &ledger;

  spec_t spec;
  read_policy(policy, script.k, script.dim, list_number(script_, "horizon"), &spec);
  script.seed = (uint64_t)list_number(script_, "seed");
  const double run = list_number(script_, "run");
  session_t session = new_session(&spec, draws_of(script.seed, ISNAN(run) ? 1 : (uint64_t)run, &ledger));
  if (list_number(script_, "fresh") == 1) script.fresh = &session.draws;
  late_t late;
  const int is_late = delays != R_NilValue;
  if (is_late) late = read_delays(delays, spec.dim);
  script.env.over = script.steps == 0;
  if (list_number(script_, "ask") == 1) {
    script.session = &session;
    script.said = keep_numbers(out, 4 + LEDGER_COLUMNS + 1, script.steps + 1);
    SEXP chances = Rf_allocMatrix(REALSXP, script.k, script.steps);
    SET_VECTOR_ELT(out, 4 + LEDGER_COLUMNS + 2, chances);
    script.chances = REAL(chances);
  }
  session_status_t status = play(&session, &script, is_late ? &late : NULL, list_get(script_, "saves"));
  if (status == SESSION_OK && list_number(script_, "finish") == 1) {
    status = session_finish(&session);
  }
  if (status != SESSION_OK) {
    custom_resume(&spec);
    Rf_error("policy \"%s\" failed in round %.0f: %s", spec.policy->name,
             (double)session_stopped_at(&session, status), session_message(status));
  }
  note_said(&script, script.steps, NULL);
  if (script.steps > 0) script.released[script.steps - 1] = ledger.n;
  SET_VECTOR_ELT(out, 2 + LEDGER_COLUMNS, Rf_ScalarInteger(ledger.n));
  SEXP block = Rf_allocVector(RAWSXP, (R_xlen_t)spec.policy->size(&spec));
  SET_VECTOR_ELT(out, 3 + LEDGER_COLUMNS, block);
  memcpy(RAW(block), session.state, (size_t)Rf_xlength(block));
  if (spec.inner) memset(RAW(block), 0, sizeof spec.inner);
  SEXP report = Rf_allocMatrix(REALSXP, N_REPORT, script.k);
  SET_VECTOR_ELT(out, 3 + LEDGER_COLUMNS + 1, report);
  for (int i = 0; i < script.k; i++) {
    const report_t one = session_report(&session, i);
    report_write(&one, REAL(report) + N_REPORT * i);
  }
  custom_resume(&spec);
  UNPROTECT(1);
  return out;
}
