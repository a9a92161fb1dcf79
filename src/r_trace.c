/* A policy under the microscope, for tests and audits: a session in a scripted environment,
   with the ledger of everything that it released. */

#include <string.h>
#include "policy_linear_model.h"
#include "policy_ts_beta.h"
#include "r_custom.h"
#include "r_read.h"

/* What is on offer, what is pulled and what it yields, step by step. */
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
} script_t;

#define FRESH \
  0x10000u /* past the purposes of sample_rng.h: step i has the purpose FRESH + i */

static void offer(environment_t *env, round_t *round) {
  script_t *script = (script_t *)env;
  const int at = script->at;
  if (at > 0) script->released[at - 1] = script->ledger->n;
  if (script->fresh)
    rng_seed(&script->fresh->policy, script->seed, 1, FRESH + (uint64_t)at);
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
  (void)round;
  const script_t *script = (const script_t *)env;
  const int arm = script->arms[script->at];
  return arm == NA_INTEGER ? -1 : arm - 1;
}

static int pull(environment_t *env, const round_t *round, int arm, double *reward) {
  (void)round;
  script_t *script = (script_t *)env;
  const int at = script->at++;
  script->arm_out[at] = arm + 1;
  env->over = script->at == script->steps;
  *reward =
      script
          ->rewards[script->table ? at + (size_t)script->steps * (size_t)arm : (size_t)at];
  return !(script->discard && script->discard[at]);
}

static const environment_kind_t SCRIPT = {
    .name = "script", .offer = offer, .force = force, .pull = pull};

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

/* Room for all pulls to be out at once. */
static late_t read_delays(SEXP delays, int dim, int steps) {
  const size_t room = (size_t)steps + 1;
  late_t late = {.delays = INTEGER(delays),
                 .n_delays = Rf_xlength(delays),
                 .room = (int)room,
                 .dim = dim};
  int64_t longest = 0;
  for (int64_t i = 0; i < late.n_delays; i++) {
    if (late.delays[i] > longest) longest = late.delays[i];
  }
  const size_t places = late_places(longest);
  late.mask = (int64_t)places - 1;
  late.first = (int *)R_alloc(places, sizeof(int));
  late.last = (int *)R_alloc(places, sizeof(int));
  late.pending = (pending_t *)R_alloc(room, sizeof(pending_t));
  late.context = (double *)R_alloc(room * (size_t)dim + 1, sizeof(double));
  late_begin(&late);
  return late;
}

/* The session goes to bytes, and a new one comes from them. */
static session_status_t save_and_restore(session_t *session) {
  const size_t size = session_save_size(session);
  void *bytes = R_alloc(size, 1);
  session_save(session, bytes);
  draws_t draws = draws_of(0, 0, session->draws.ledger);
  draws.run = session->draws.run;
  *session = new_session(session->spec, draws);
  return session_restore(session, bytes, size);
}

/* saves: after which steps the session is saved and restored, increasing; or NULL */
static session_status_t play(session_t *session, script_t *script, late_t *late,
                             SEXP saves) {
  session_status_t status = SESSION_OK;
  for (R_xlen_t i = 0; i < Rf_xlength(saves) && status == SESSION_OK; i++) {
    status = session_play(session, &script->env, late, INTEGER(saves)[i] - script->at);
    if (status == SESSION_OK) status = save_and_restore(session);
  }
  return status == SESSION_OK ? session_play(session, &script->env, late, INT64_MAX)
                              : status;
}

/* script: list(k, horizon, arms, rewards, offers, discard, contexts, own, delays, saves, seed,
   run, silent, max_ledger, forced, fresh); those that are not needed are NULL.
   -> list(arm, released, the ledger's columns, total, state, report: a column for each arm) */
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

  const char *names[] = {"arm", "released", LEDGER_NAMES, "total", "state", "report", ""};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  for (int i = 0; i < 2; i++) {
    SET_VECTOR_ELT(out, i, Rf_allocVector(INTSXP, script.steps));
    memset(INTEGER(VECTOR_ELT(out, i)), 0, sizeof(int) * (size_t)script.steps);
  }
  script.arm_out = INTEGER(VECTOR_ELT(out, 0));
  script.released = INTEGER(VECTOR_ELT(out, 1));
  ledger_t ledger = keep_ledger(out, 2, (int)list_number(script_, "max_ledger"),
                                (int)list_number(script_, "silent"));
  if (forced != R_NilValue) {
    ledger.forced = REAL(forced);
    ledger.n_forced = (int)Rf_xlength(forced);
  }
  script.ledger = &ledger;

  spec_t spec;
  read_policy(policy, script.k, script.dim, list_number(script_, "horizon"), &spec);
  script.seed = (uint64_t)list_number(script_, "seed");
  const double run = list_number(script_, "run");
  session_t session =
      new_session(&spec, draws_of(script.seed, ISNAN(run) ? 1 : (uint64_t)run, &ledger));
  if (list_number(script_, "fresh") == 1) script.fresh = &session.draws;
  late_t late;
  const int is_late = delays != R_NilValue;
  if (is_late) late = read_delays(delays, spec.dim, script.steps);
  script.env.over = script.steps == 0;
  const session_status_t status =
      play(&session, &script, is_late ? &late : NULL, list_get(script_, "saves"));
  if (status != SESSION_OK) {
    custom_resume(&spec);
    Rf_error("policy \"%s\" failed in round %.0f: %s", spec.policy->name,
             (double)session_stopped_at(&session, status), session_message(status));
  }
  if (script.steps > 0) script.released[script.steps - 1] = ledger.n;
  SET_VECTOR_ELT(out, 2 + LEDGER_COLUMNS, Rf_ScalarInteger(ledger.n));
  SEXP block = Rf_allocVector(RAWSXP, (R_xlen_t)spec.policy->size(&spec));
  SET_VECTOR_ELT(out, 3 + LEDGER_COLUMNS, block);
  memcpy(RAW(block), session.state, (size_t)Rf_xlength(block));
  SEXP report = Rf_allocMatrix(REALSXP, N_REPORT, script.k);
  SET_VECTOR_ELT(out, 3 + LEDGER_COLUMNS + 1, report);
  for (int i = 0; i < script.k; i++) {
    const report_t one = session_report(&session, i);
    report_write(&one, REAL(report) + N_REPORT * i);
  }
  UNPROTECT(1);
  return out;
}

/* Many runs on one fixed table of rewards (a row per round, a column per arm): what an
   attacker sees. runs: how many, or the numbers of the first and the last.
   -> integer matrix of arms, a row per round, a column per run */
SEXP ffi_play_table(SEXP policy, SEXP table, SEXP runs, SEXP seed) {
  const int rounds = Rf_nrows(table), k = Rf_ncols(table), ends = Rf_length(runs) == 2;
  SEXP numbers = PROTECT(Rf_coerceVector(runs, REALSXP));
  const uint64_t first = ends ? (uint64_t)REAL(numbers)[0] : 1;
  const int n = (int)(ends ? REAL(numbers)[1] - REAL(numbers)[0] + 1 : REAL(numbers)[0]);
  /* Some 1e6 rounds between two looks at the keyboard */
  const int look = 1 + 1000000 / (rounds + 1);
  spec_t spec;
  read_policy(policy, k, 0, rounds, &spec);
  SEXP out = PROTECT(Rf_allocMatrix(INTSXP, rounds, n));
  int *free_choice = (int *)R_alloc((size_t)rounds, sizeof(int));
  int *released = (int *)R_alloc((size_t)rounds, sizeof(int));
  for (int i = 0; i < rounds; i++) free_choice[i] = NA_INTEGER;
  const ledger_t none = {0};
  script_t script = {.env.kind = &SCRIPT,
                     .k = k,
                     .steps = rounds,
                     .arms = free_choice,
                     .rewards = REAL(table),
                     .table = 1,
                     .released = released,
                     .ledger = &none};
  session_t session = new_session(&spec, draws_of(0, 0, NULL));
  for (int run = 0; run < n; run++) {
    if (run % look == 0) R_CheckUserInterrupt();
    session.draws = draws_of((uint64_t)Rf_asReal(seed), first + (uint64_t)run, NULL);
    session_begin(&session);
    script.at = script.env.over = 0;
    script.arm_out = INTEGER(out) + (R_xlen_t)rounds * run;
    const session_status_t status = session_play(&session, &script.env, NULL, rounds);
    if (status != SESSION_OK) {
      custom_resume(&spec);
      Rf_error("policy \"%s\" failed in round %.0f: %s", spec.policy->name,
               (double)session_stopped_at(&session, status), session_message(status));
    }
  }
  UNPROTECT(2);
  return out;
}

/* A player whose rewards are certain */
typedef struct {
  player_t player;
  const double *rewards; /* 0 or 1, of each arm */
} certain_t;

static double certain_many(player_t *player, int arm, int64_t n) {
  player->t += n;
  player->pulls[arm] += n;
  return ((const certain_t *)player)->rewards[arm] * (double)n;
}

static double certain(player_t *player, int arm) { return certain_many(player, arm, 1); }

static void certain_cycles(player_t *player, const int *arms, int n, int64_t cycles,
                           double *sums, double *scratch) {
  (void)scratch;
  for (int i = 0; i < n; i++) sums[i] = certain_many(player, arms[i], cycles);
}

/* Many runs of a policy's skip() from a given state, after round t, so many rounds, where the rewards
   of each arm are certain -> integer matrix of pulls, a row per arm, a column per run; as an attribute, the
   state in which the last run ends */
SEXP ffi_skip_from(SEXP policy, SEXP state, SEXP t, SEXP rewards, SEXP rounds, SEXP runs,
                   SEXP seed) {
  static const player_kind_t CERTAIN = {certain, certain_many, certain_cycles};
  const int k = Rf_length(rewards), n = Rf_asInteger(runs);
  const int64_t begin = (int64_t)Rf_asReal(t), end = begin + (int64_t)Rf_asReal(rounds);
  spec_t spec;
  read_policy(policy, k, 0, (double)end, &spec);
  if (!spec.policy->skip || spec.policy->size(&spec) != (size_t)Rf_xlength(state)) {
    Rf_error("no such state of policy \"%s\"", spec.policy->name);
  }
  const session_t session = new_session(&spec, draws_of(0, 0, NULL));
  SEXP out = PROTECT(Rf_allocMatrix(INTSXP, k, n));
  for (int run = 0; run < n; run++) {
    memcpy(session.state, RAW(state), (size_t)Rf_xlength(state));
    memset(session.pulls, 0, sizeof(int64_t) * (size_t)k);
    draws_t draws = draws_of((uint64_t)Rf_asReal(seed), (uint64_t)run + 1, NULL);
    certain_t player = {.player = {.kind = &CERTAIN,
                                   .t = begin,
                                   .horizon = end,
                                   .k = k,
                                   .sums = 1,
                                   .offer = session.arms,
                                   .pulls = session.pulls},
                        .rewards = REAL(rewards)};
    while (player_left(&player.player) > 0) {
      spec.policy->skip(session.state, &player.player, &draws);
    }
    if (player.player.failed) Rf_error("policy \"%s\" failed", spec.policy->name);
    for (int i = 0; i < k; i++) INTEGER(out)[i + k * run] = (int)session.pulls[i];
  }
  SEXP last = PROTECT(Rf_allocVector(RAWSXP, Rf_xlength(state)));
  memcpy(RAW(last), session.state, (size_t)Rf_xlength(state));
  Rf_setAttrib(out, Rf_install("state"), last);
  UNPROTECT(2);
  return out;
}

/* What the groups of arms in a state of Beta Thompson sampling hold, for each arm, beside the posteriors
   -> list(leader, open, level, chance, group, a, b); arms, groups and the leader from 0, group -1: the
   arm is not where the row has it */
SEXP ffi_read_groups(SEXP state) {
  const size_t bytes = (size_t)Rf_xlength(state);
  ts_beta_t *s = (ts_beta_t *)R_alloc(bytes / sizeof(double) + 1, sizeof(double));
  memcpy(s, RAW(state), bytes);
  const thompson_t *play = ts_beta_thompson(s);
  if (!play->grouped) Rf_error("no groups of arms");
  const arm_groups_t *arms = thompson_groups(play);
  const char *names[] = {"leader", "open", "level", "chance", "group", "a", "b", ""};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  SET_VECTOR_ELT(out, 0, Rf_ScalarInteger(play->leader));
  SET_VECTOR_ELT(out, 1, Rf_ScalarLogical(play->filled));
  SET_VECTOR_ELT(out, 2, Rf_ScalarReal(beta_theta(play->arm_level.c)));
  for (int i = 3; i < 7; i++) {
    SET_VECTOR_ELT(out, i, Rf_allocVector(i == 4 ? INTSXP : REALSXP, s->k));
  }
  for (int i = 0; i < s->k; i++) {
    REAL(VECTOR_ELT(out, 3))[i] = arms->chance[i];
    INTEGER(VECTOR_ELT(out, 4))[i] = play->filled ? arm_groups_where(arms, i) : -1;
    REAL(VECTOR_ELT(out, 5))[i] = s->arms[i].a;
    REAL(VECTOR_ELT(out, 6))[i] = s->arms[i].b;
  }
  UNPROTECT(1);
  return out;
}

/* The linear models in a policy's state, `at` bytes into it -> list(inverse, b, theta) */
SEXP ffi_read_linear(SEXP state, SEXP k, SEXP dim, SEXP at) {
  const int n_arms = Rf_asInteger(k), d = Rf_asInteger(dim);
  const size_t bytes = (size_t)Rf_xlength(state);
  double *copy = (double *)R_alloc(bytes / sizeof(double) + 1, sizeof(double));
  memcpy(copy, RAW(state), bytes);
  const linear_t *linear = (const linear_t *)((char *)copy + Rf_asInteger(at));
  const char *names[] = {"inverse", "b", "theta", ""};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  SET_VECTOR_ELT(out, 0, Rf_allocVector(REALSXP, (R_xlen_t)n_arms * d * d));
  SET_VECTOR_ELT(out, 1, Rf_allocMatrix(REALSXP, d, n_arms));
  SET_VECTOR_ELT(out, 2, Rf_allocMatrix(REALSXP, d, n_arms));
  for (int a = 0; a < n_arms; a++) {
    linear_read(linear, a, REAL(VECTOR_ELT(out, 0)) + (size_t)a * d * d,
                REAL(VECTOR_ELT(out, 1)) + (size_t)a * d,
                REAL(VECTOR_ELT(out, 2)) + (size_t)a * d);
  }
  UNPROTECT(1);
  return out;
}
