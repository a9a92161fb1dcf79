/* A policy written in R as a kernel like any other. Its state is an R value, `state` in the
   host's environment, so there is one session at a time, on the main thread. Whoever saves the session
   saves that value beside it: the flat state has the rest. */

#include <string.h>
#include "r_custom.h"
#include "r_list.h"

/* What is being called, and when, for the error message. */
enum { WHERE_WHAT, WHERE_T, WHERE_RUN };
enum {
  NOTHING,
  START,
  CHOOSE,
  COMMIT,
  UPDATE,
  REPORT,
  PROBABILITY,
  FINISH,
  VERDICT,
  REFUSE_ARM,
  REFUSE_STATE,
  N_CALLS
};
static const char *const CALLS[N_CALLS] = {"",        "start",      "choose",      "commit",
                                           "update",  "report",     "probability", "finish",
                                           "verdict", "refuse_arm", "refuse_state"};

typedef struct {
  callback_t r;
  policy_t policy; /* policy_custom with the verbs that it has */
  double *where;
  SEXP calls[N_CALLS];  /* NULL without it */
  SEXP round, feedback; /* lists, to be copied and filled in */
  SEXP round_name, feedback_name, state_name;
  SEXP all_arms, arms; /* 1 ... k, as one vector and one by one */
  int k, dim;
  int plain; /* does the policy promise nothing, so that sums may be published? */
} host_t;

typedef struct {
  host_t *host;      /* first, see spec_t */
  int64_t begun;     /* is there a state? */
  int64_t stateless; /* was it NULL from the start? */
  tally_t seen[];    /* of each arm */
} state_t;

static SEXP define(SEXP env, const char *name, SEXP value) {
  PROTECT(value);
  Rf_defineVar(Rf_install(name), value, env);
  UNPROTECT(1);
  return value;
}

void custom_resume(const spec_t *spec) {
  host_t *host = spec->host;
  if (!host) return;
  host->where[WHERE_WHAT] = NOTHING;
  callback_resume(&host->r);
}

/* ---- what the functions get to know ------------------------------------------------- */

/* The arms on offer, from 1. */
static SEXP offer_of(const host_t *host, const round_t *round) {
  const int *all = INTEGER(host->all_arms);
  int same = round->n_offer == host->k;
  for (int i = 0; same && i < host->k; i++) same = round->offer[i] + 1 == all[i];
  if (same) return host->all_arms;
  SEXP offer = Rf_allocVector(INTSXP, round->n_offer);
  for (int i = 0; i < round->n_offer; i++) INTEGER(offer)[i] = round->offer[i] + 1;
  return offer;
}

/* One context for all arms is a vector; else a matrix with a row for each arm, NA for those
   that are not on offer. */
static SEXP context_of(const host_t *host, const round_t *round) {
  if (!round->context || round->context_step == 0) return numbers(round->context, host->dim);
  SEXP out = Rf_allocMatrix(REALSXP, host->k, host->dim);
  double *x = REAL(out);
  for (int i = 0; i < host->k * host->dim; i++) x[i] = NA_REAL;
  FOR_EACH_ARM(arm, round) {
    const double *context = round_context(round, arm);
    for (int j = 0; j < host->dim; j++) x[arm + j * host->k] = context[j];
  }
  return out;
}

/* The list that a name has in the host, to be written anew; another one if the policy has kept it. */
static SEXP own_list(const host_t *host, SEXP name, SEXP model) {
  SEXP list = Rf_eval(name, host->r.env);
  if (list != model && !MAYBE_SHARED(list)) return list;
  list = PROTECT(Rf_shallow_duplicate(model));
  Rf_defineVar(name, list, host->r.env);
  UNPROTECT(1);
  return list;
}

/* A number of a list, in its place if nobody else has that */
static void set_number(SEXP list, int at, double x) {
  SEXP old = VECTOR_ELT(list, at);
  if (TYPEOF(old) == REALSXP && !MAYBE_SHARED(old)) REAL(old)[0] = x;
  else SET_VECTOR_ELT(list, at, Rf_ScalarReal(x));
}

static void set_value(SEXP list, int at, SEXP x) {
  if (VECTOR_ELT(list, at) != x) SET_VECTOR_ELT(list, at, x);
}

static void define_round(const host_t *host, const round_t *round) {
  SEXP list = own_list(host, host->round_name, host->round);
  set_number(list, 0, (double)round->t);
  set_value(list, 1, offer_of(host, round));
  set_value(list, 2, context_of(host, round));
}

static void define_feedback(const host_t *host, const feedback_t *feedback) {
  SEXP list = own_list(host, host->feedback_name, host->feedback);
  set_number(list, 0, (double)feedback->t);
  set_value(list, 1, VECTOR_ELT(host->arms, feedback->arm));
  set_number(list, 2, feedback->reward);
  set_value(list, 3, numbers(feedback->context, host->dim));
}

/* ---- calls ---------------------------------------------------------------------------- */

/* NULL: R has jumped, and the policy has failed. */
static SEXP call(host_t *host, int what, SEXP call, double t, draws_t *draws) {
  host->where[WHERE_WHAT] = what;
  host->where[WHERE_T] = t;
  host->where[WHERE_RUN] = (double)draws->run;
  SEXP value = callback_eval(&host->r, call);
  if (!value) {
    draws->failed = 1;
    return NULL;
  }
  host->where[WHERE_WHAT] = NOTHING;
  return value;
}

/* Before the first call of a session the policy gets its first state, and in a simulation words for a
   stream of R's generator, L'Ecuyer's combined one, whose state is short (L'Ecuyer 1999). */
static host_t *begin(const void *state, double t, draws_t *draws) {
  state_t *s = (state_t *)state;
  host_t *host = s->host;
  if (s->begun) return host;
  s->begun = 1;
  if (!draws->live) {
    SEXP words = define(host->r.env, "words", Rf_allocVector(INTSXP, 6));
    for (int i = 0; i < 6; i++) {
      const uint64_t modulus = i < 3 ? 4294967087u : 4294944443u;
      const uint32_t word = (uint32_t)(1 + rng_next(&draws->policy) % (modulus - 1));
      memcpy(INTEGER(words) + i, &word, sizeof word);
    }
  }
  s->stateless = call(host, START, host->calls[START], t, draws) == R_NilValue;
  return host;
}

/* Functions that give the new state. It is NULL where somebody forgot it. */
static void renew(const void *state, int what, SEXP function, double t, draws_t *draws) {
  const state_t *s = state;
  const SEXP value = call(s->host, what, function, t, draws);
  if (!value) return;
  if (value == R_NilValue && !s->stateless) {
    call(s->host, what, s->host->calls[REFUSE_STATE], t, draws);
    return;
  }
  PROTECT(value);
  Rf_defineVar(s->host->state_name, value, s->host->r.env);
  UNPROTECT(1);
}

/* ---- the policy ------------------------------------------------------------------------ */

static size_t size(const spec_t *spec) { return sizeof(state_t) + sizeof(tally_t) * (size_t)spec->k; }

static void init(void *state, const spec_t *spec) {
  state_t *s = state;
  memset(s, 0, size(spec));
  s->host = spec->host;
}

/* The arm that choose() gave, from 0; -1: it is no arm on offer. */
static int arm_of(const host_t *host, SEXP value, const round_t *round) {
  double arm = NA_REAL;
  if (Rf_length(value) == 1 && !Rf_isFactor(value)) {
    if (TYPEOF(value) == INTSXP && INTEGER(value)[0] != NA_INTEGER) arm = INTEGER(value)[0];
    if (TYPEOF(value) == REALSXP) arm = REAL(value)[0];
  }
  if (!(arm >= 1 && arm <= host->k) || arm != (int)arm) return -1;
  FOR_EACH_ARM(i, round) if (i + 1 == (int)arm) return i;
  return -1;
}

static int choose(const void *state, const round_t *round, draws_t *draws) {
  host_t *host = begin(state, (double)round->t, draws);
  define_round(host, round);
  SEXP value = call(host, CHOOSE, host->calls[CHOOSE], (double)round->t, draws);
  if (!value) return -1;
  const int arm = arm_of(host, value, round);
  if (arm < 0) {
    define(host->r.env, "arm", value);
    call(host, CHOOSE, host->calls[REFUSE_ARM], (double)round->t, draws);
  }
  return arm;
}

static int64_t commit(void *state, const round_t *round, int arm, draws_t *draws) {
  host_t *host = begin(state, (double)round->t, draws);
  if (!host->calls[COMMIT]) return 0;
  define_round(host, round);
  define(host->r.env, "arm", Rf_ScalarInteger(arm + 1));
  renew(state, COMMIT, host->calls[COMMIT], (double)round->t, draws);
  return 0;
}

static void update(void *state, const feedback_t *feedback, draws_t *draws) {
  host_t *host = begin(state, (double)feedback->t, draws);
  tally_t *seen = &((state_t *)state)->seen[feedback->arm];
  seen->n += 1;
  seen->sum += feedback->reward;
  define_feedback(host, feedback);
  renew(state, UPDATE, host->calls[UPDATE], (double)feedback->t, draws);
}

static report_t report(const void *state, int arm) {
  const state_t *s = state;
  if (!s->host->plain) return (report_t){0};
  return report_plain(s->seen[arm].n, s->seen[arm].sum);
}

/* ---- what it says of itself: R checks what the functions give -------------------------------- */

/* NULL: R has jumped, which the shim lets go on. */
static const double *answer_numbers(host_t *host, int what, SEXP function) {
  host->where[WHERE_WHAT] = what;
  SEXP value = callback_eval(&host->r, function);
  if (!value) return NULL;
  host->where[WHERE_WHAT] = NOTHING;
  return REAL(value); /* used before R is called again */
}

static report_t stated_report(const void *state, int arm) {
  const state_t *s = state;
  if (!s->begun) return (report_t){0};
  define(s->host->r.env, "arm", Rf_ScalarInteger(arm + 1));
  const double *x = answer_numbers(s->host, REPORT, s->host->calls[REPORT]);
  if (!x) return (report_t){0};
  return (report_t){.rewards = x[0],
                    .sum = x[1],
                    .kind = (int)x[2],
                    .terms = x[3],
                    .scale = x[4],
                    .last_terms = x[5],
                    .last_scale = x[6],
                    .looks = x[7]};
}

static void stated_probability(const void *state, const round_t *round, double *p) {
  draws_t live = {.live = 1}; /* in a simulation it has begun: chances are asked after the choice */
  host_t *host = begin(state, (double)round->t, &live);
  define_round(host, round);
  const double *x = answer_numbers(host, PROBABILITY, host->calls[PROBABILITY]);
  for (int i = 0; i < host->k; i++) p[i] = x ? x[i] : NAN;
}

static void stated_finish(void *state, draws_t *draws) {
  begin(state, ((state_t *)state)->host->where[WHERE_T], draws);
  renew(state, FINISH, ((state_t *)state)->host->calls[FINISH], ((state_t *)state)->host->where[WHERE_T],
        draws);
}

static verdict_t stated_verdict(const void *state) {
  const state_t *s = state;
  const verdict_t none = {.arm = -1, .error = NAN};
  const double *x = s->begun ? answer_numbers(s->host, VERDICT, s->host->calls[VERDICT]) : NULL;
  return x ? (verdict_t){x[0] != 0, (int)x[1] - 1, x[2]} : none;
}

static const param_t PARAMS[] = {{.name = NULL}};

POLICY(custom, .state_version = 1, .tosses = 1, .commit = commit, .update = update, .report = report);

void custom_read(SEXP value, spec_t *spec) {
  SEXP env = list_get(value, "env"), calls = list_get(value, "calls");
  host_t *host = (host_t *)RAW(define(env, "host", Rf_allocVector(RAWSXP, sizeof(host_t))));
  SEXP all_arms = define(env, "arms", Rf_allocVector(INTSXP, spec->k));
  for (int i = 0; i < spec->k; i++) INTEGER(all_arms)[i] = i + 1;
  MARK_NOT_MUTABLE(all_arms);
  SEXP arms = define(env, "each_arm", Rf_allocVector(VECSXP, spec->k));
  for (int i = 0; i < spec->k; i++) {
    SET_VECTOR_ELT(arms, i, Rf_ScalarInteger(i + 1));
    MARK_NOT_MUTABLE(VECTOR_ELT(arms, i));
  }
  define(env, "k", Rf_ScalarInteger(spec->k));
  define(env, "horizon", Rf_ScalarReal(spec->horizon));
  define(env, "round", list_get(value, "round"));
  define(env, "feedback", list_get(value, "feedback"));
  *host = (host_t){.r = callback_new(env),
                   .where = REAL(list_get(value, "where")),
                   .policy = policy_custom,
                   .round = list_get(value, "round"),
                   .feedback = list_get(value, "feedback"),
                   .round_name = Rf_install("round"),
                   .feedback_name = Rf_install("feedback"),
                   .state_name = Rf_install("state"),
                   .all_arms = all_arms,
                   .arms = arms,
                   .plain = list_number(value, "plain") != 0,
                   .k = spec->k,
                   .dim = spec->dim};
  for (int i = START; i < N_CALLS; i++) {
    SEXP call = list_get(calls, CALLS[i]);
    host->calls[i] = call == R_NilValue ? NULL : call;
  }
  if (host->calls[REPORT]) host->policy.report = stated_report;
  if (host->calls[PROBABILITY]) host->policy.probability = stated_probability;
  if (host->calls[FINISH]) host->policy.finish = stated_finish;
  if (host->calls[VERDICT]) host->policy.verdict = stated_verdict;
  spec->host = host;
  spec->policy = &host->policy;
}
