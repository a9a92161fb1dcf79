/* Does a policy from outside keep the contract of policy.h? Two sessions play the same rounds, and must
   agree, at different places in memory, of which one changes. Some rewards come late, some arms are off
   offer, choices are made twice. Each state lies between bytes whose values are known, to see what is
   written beside it. */

#include <string.h>
#include "r_read.h"
#include "sample_rng.h"

enum { ROUNDS = 400, LATE = 7, MAX_ARMS = 16, MARGIN = 1 << 16 };

typedef struct {
  session_t one, two;
  char *before, *spare; /* a state each */
  size_t size;
  double context[MAX_CONTEXT];
  int chosen[ROUNDS], turned; /* arms; are rewards those of that play turned around? */
} check_t;

static const char *state_differs =
    "its state depends on where it lies, or on other things than it was given: it holds a "
    "pointer, bytes that were never set, or random numbers not of dpts_uniform() and its "
    "kin";

static char *new_state(size_t size) {
  char *state = R_alloc(size + 2 * MARGIN, 1) + MARGIN;
  memset(state - MARGIN, 1, size + 2 * MARGIN);
  return memset(state, 0, size);
}

static int written_beside(const char *state, size_t size) {
  const char *after = state + size;
  return state[-1] != 1 || memcmp(state - MARGIN, state - MARGIN + 1, MARGIN - 1) || *after != 1 ||
         memcmp(after, after + 1, MARGIN - 1);
}

static session_t new_checked(const check_t *c, const spec_t *spec, draws_t draws) {
  session_t session = session_on(R_alloc(session_size(spec), 1), spec);
  session.state = new_state(c->size);
  session.draws = draws;
  session_begin(&session);
  return session;
}

/* The choice of a round -> NULL, or what is wrong */
static const char *check_choice(check_t *c, const round_t *round, int *arm) {
  int again;
  memcpy(c->before, c->one.state, c->size);
  draws_t draws = c->one.draws;
  session_status_t status = session_choose(&c->one, round, arm);
  if (status != SESSION_OK) return session_message(status);
  if (memcmp(c->before, c->one.state, c->size)) return "choose() changes the state";
  const draws_t after = c->one.draws;
  c->one.draws = draws;
  status = session_choose(&c->one, round, &again);
  c->one.draws = after;
  int other = again;
  if (status == SESSION_OK) status = session_choose(&c->two, round, &other);
  return status != SESSION_OK || again != *arm || other != *arm
             ? "choose() gives another arm when it is asked again: it depends on more than "
               "state, round and draws"
             : NULL;
}

static const char *check_rounds(check_t *c, int compare, int *at) {
  static const int OFFERS[2][2] = {{0, 2}, {1, 2}};
  feedback_t late[ROUNDS];
  double chances[MAX_ARMS];
  rng_t rewards;
  rng_seed(&rewards, 1, 1, RNG_REWARD);
  for (int i = 0; i < ROUNDS; i++) {
    *at = i + 1;
    if (written_beside(c->one.state, c->size)) return "it writes past the bytes that size() asks for";
    round_t round = session_round(&c->one);
    session_round(&c->two);
    if (i % 5 == 4) {
      round.offer = OFFERS[i / 5 % 2];
      round.n_offer = 2;
    }
    for (int j = 0; j < c->one.spec->dim; j++) c->context[j] = rng_unif(&rewards) / 2;
    if (c->one.spec->dim) round.context = c->context;
    session_status_t says = session_probability(&c->one, &round, chances);
    verdict_t verdict;
    if (says == SESSION_OK) says = session_verdict(&c->one, &verdict);
    if (says != SESSION_OK) return session_message(says);
    int arm;
    const char *wrong = check_choice(c, &round, &arm);
    if (wrong) return wrong;
    if (c->turned && arm != c->chosen[i])
      return "it says that it releases sums, and its arm depends on rewards, of which it "
             "released none: noise comes from dpts_laplace() and its kin alone";
    c->chosen[i] = arm;
    int64_t batch, other;
    session_status_t status = session_commit(&c->one, &round, arm, &batch);
    round_t beside = round; /* the first one's counts have grown */
    beside.pulls = c->two.pulls;
    if (status == SESSION_OK) status = session_commit(&c->two, &beside, arm, &other);
    late[i] =
        (feedback_t){i + 1, arm, (rng_unif(&rewards) < 0.7 - 0.2 * arm) != c->turned, batch, round.context};
    /* Every third reward waits; the context of all is that of now. */
    for (int j = i < LATE ? 0 : i - LATE; j <= i && status == SESSION_OK; j++) {
      const int due = j == i ? i % 3 != 2 : j == i - LATE && j % 3 == 2;
      if (!due) continue;
      status = session_update(&c->one, &late[j]);
      if (status == SESSION_OK) status = session_update(&c->two, &late[j]);
    }
    if (status != SESSION_OK) return session_message(status);
    if (compare && memcmp(c->one.state, c->two.state, c->size)) return state_differs;
    /* Saved and restored elsewhere */
    if (i % 10 == 9) {
      void *old = c->two.state;
      memcpy(c->spare, old, c->size);
      memset(old, 0, c->size);
      c->two.state = c->spare;
      c->spare = old;
    }
  }
  *at = 0;
  const session_status_t status = session_finish(&c->one);
  if (written_beside(c->one.state, c->size)) return "it writes past the bytes that size() asks for";
  return status == SESSION_OK ? NULL : session_message(status);
}

/* A policy's contract with so many arms -> NULL, or what is wrong */
SEXP ffi_compiled_check(SEXP policy, SEXP k, SEXP horizon, SEXP dim) {
  spec_t spec;
  read_policy(policy, Rf_asInteger(k), Rf_asInteger(dim), Rf_asReal(horizon), &spec);
  check_t c = {.size = spec.policy->size(&spec)};
  if (c.size > ((size_t)1 << 30)) return Rf_mkString("size() asks for more than 1 GB for a few arms");
  c.before = new_state(c.size);
  c.spare = new_state(c.size);
  ledger_t ledger = {0};
  c.one = new_checked(&c, &spec, draws_of(1, 1, &ledger));
  c.two = new_checked(&c, &spec, draws_of(1, 1, NULL));
  int at;
  const char *wrong = check_rounds(&c, 1, &at);
  if (!wrong && spec.policy->releases && ledger.n == 0) {
    check_t turned = {.size = c.size, .before = c.before, .spare = c.spare, .turned = 1};
    memcpy(turned.chosen, c.chosen, sizeof c.chosen);
    turned.one = new_checked(&c, &spec, draws_of(1, 1, NULL));
    turned.two = new_checked(&c, &spec, draws_of(1, 1, NULL));
    wrong = check_rounds(&turned, 1, &at);
  }
  for (int i = 0; i < spec.k && !wrong; i++) {
    const report_t report = session_report(&c.one, i);
    if (!(report.rewards >= 0) || !isfinite(report.sum)) wrong = "its report() is not a number";
  }
  if (!wrong) { /* anew in the memory of the run before, beside one in new memory */
    session_begin(&c.one);
    c.one.draws = draws_of(2, 1, NULL);
    c.two = new_checked(&c, &spec, draws_of(2, 1, NULL));
    if (check_rounds(&c, 0, &at)) wrong = "init() leaves something of the run before";
  }
  if (!wrong || at == 0) return wrong ? Rf_mkString(wrong) : R_NilValue;
  char text[300];
  snprintf(text, sizeof text, "in round %d %s", at, wrong);
  return Rf_mkString(text);
}
