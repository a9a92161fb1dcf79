/* Policies and adversaries from outside, written with inst/include/dpts.h: what they are given, their
   registration, and the check that policies keep the contract. */

#include <string.h>
#include "noise_counter_tree.h"
#include "r_read.h"
#include "sample.h"

/* ---- what they are given ---------------------------------------------------------------- */

static double uniform(draws_t *draws) { return rng_unif(&draws->policy); }
static double normal(draws_t *draws) { return sample_normal(&draws->policy); }
static double beta(draws_t *draws, double a, double b) {
  return sample_beta(&draws->policy, a, b);
}

/* A pull that cannot be made ends the play. */
static double pull(player_t *player, int arm, int64_t n) {
  if (arm < 0 || arm >= player->k || n < 1 || n > player_left(player))
    player->failed = NO_ARM;
  if (player->failed) return NAN;
  return n == 1 ? player_pull(player, arm) : player_pull_many(player, arm, n);
}

static void new_tree(void *tree, int levels, int kind, double scale) {
  tree_init(tree, levels, (enum noise_kind)kind, scale);
}
static double add_to_tree(void *tree, double item, draws_t *draws) {
  return tree_add(tree, item, draws);
}

static const dpts_host HOST = {.laplace = release_laplace,
                               .gaussian = release_gaussian,
                               .bit = release_bit,
                               .uniform = uniform,
                               .normal = normal,
                               .beta = beta,
                               .left = player_left,
                               .next = player_round,
                               .pull = pull,
                               .tree_levels = tree_levels,
                               .tree_size = tree_size,
                               .tree_init = new_tree,
                               .tree_add = add_to_tree};

/* ---- registration ------------------------------------------------------------------------ */

/* One is kept for each policy, for ever: sessions point to it. Of an adversary the name and parameters of
   `policy` are its own. */
typedef struct compiled_t {
  policy_t policy; /* first: a spec's policy is this */
  const dpts_policy *own;
  const dpts_adversary *adversary; /* or NULL */
  const char *library;
  struct compiled_t *next;
} compiled_t;

static compiled_t *registered;

static dpts_problem problem_of(const spec_t *spec) {
  return (dpts_problem){spec->k, spec->dim, spec->horizon, spec->par};
}

static size_t size(const spec_t *spec) {
  const dpts_problem problem = problem_of(spec);
  return ((const compiled_t *)spec->policy)->own->size(&problem);
}

static void init(void *state, const spec_t *spec) {
  const dpts_problem problem = problem_of(spec);
  ((const compiled_t *)spec->policy)->own->init(state, &problem);
}

static const char *what_is_wrong(const char *what, const char *name,
                                 const dpts_param *params, const char *lacks) {
  static char text[200];
  int n = 0;
  if (!name) return "a policy or adversary has no name";
  while (params && params[n].name) n++;
  if (!lacks && n <= POLICY_MAX_PAR) return NULL;
  snprintf(text, sizeof text, "%s \"%.50s\" %s", what, name,
           lacks ? lacks : "has more than 16 parameters");
  return text;
}

static const param_t NO_PARAMS[] = {{.name = NULL}};

static compiled_t *keep(const char *library) {
  SEXP block = Rf_allocVector(RAWSXP, (R_xlen_t)(sizeof(compiled_t) + strlen(library) + 1));
  R_PreserveObject(block);
  compiled_t *new = (compiled_t *)RAW(block);
  *new = (compiled_t){.library = strcpy((char *)(new + 1), library), .next = registered};
  return registered = new;
}

static void keep_policy(const char *library, const dpts_policy *own) {
  compiled_t *new = keep(library);
  new->own = own;
  new->policy = (policy_t){.name = own->name,
                           .params = own->params ? own->params : NO_PARAMS,
                           .state_version = own->state_version,
                           .tosses = own->tosses,
                           .releases = own->releases,
                           .each_once = own->each_once,
                           .needs_horizon = own->needs_horizon,
                           .needs_context = own->needs_context,
                           .size = size,
                           .init = init,
                           .choose = own->choose,
                           .commit = own->commit,
                           .update = own->update,
                           .skip = own->skip,
                           .report = own->report,
                           .probability = own->probability,
                           .finish = own->finish,
                           .verdict = own->verdict};
}

static void keep_adversary(const char *library, const dpts_adversary *own) {
  compiled_t *new = keep(library);
  new->adversary = own;
  new->policy =
      (policy_t){.name = own->name, .params = own->params ? own->params : NO_PARAMS};
}

/* The policies of a library; called by that of a package, too -> NULL, or what is wrong */
const char *compiled_register(const char *library, dpts_entry_t entry) {
  static char text[200];
  const dpts_module *module = entry(&HOST);
  if (!module || module->version != DPTS_VERSION) {
    snprintf(text, sizeof text,
             "it was written for version %u of dpts.h, and this is version %d",
             module ? module->version : 0, DPTS_VERSION);
    return text;
  }
  const dpts_policy *const *p = module->policies;
  const dpts_adversary *const *a = module->adversaries;
  if (p && !p[0]) return "its DPTS_POLICIES(...) names none";
  if (a && !a[0]) return "its DPTS_ADVERSARIES(...) names none";
  const char *wrong = NULL;
  for (int i = 0; p && p[i] && !wrong; i++) {
    const int whole = p[i]->size && p[i]->init && p[i]->choose;
    wrong = what_is_wrong("policy", p[i]->name, p[i]->params,
                          whole ? NULL : "needs the functions size, init and choose");
  }
  for (int i = 0; a && a[i] && !wrong; i++) {
    const int whole = a[i]->size && a[i]->offer && a[i]->see;
    wrong = what_is_wrong("adversary", a[i]->name, a[i]->params,
                          whole ? NULL : "needs the functions size, offer and see");
  }
  if (wrong) return wrong;
  for (int i = 0; p && p[i]; i++) keep_policy(library, p[i]);
  for (int i = 0; a && a[i]; i++) keep_adversary(library, a[i]);
  return NULL;
}

static const compiled_t *find(const char *library, const char *name, int adversary) {
  for (compiled_t *c = registered; c; c = c->next) {
    if (!strcmp(c->library, library) && !strcmp(c->policy.name, name) &&
        (!c->own) == adversary)
      return c;
  }
  return NULL;
}

const policy_t *compiled_find(const char *library, const char *name) {
  const compiled_t *found = find(library, name, 0);
  return found ? &found->policy : NULL;
}

const dpts_adversary *compiled_adversary(const char *library, const char *name) {
  const compiled_t *found = find(library, name, 1);
  return found ? found->adversary : NULL;
}

/* A loaded library's entry -> NULL, or what is wrong */
SEXP ffi_compiled_register(SEXP library, SEXP entry) {
  const char *wrong = compiled_register(
      text_of(library), (dpts_entry_t)(void (*)(void))R_ExternalPtrAddrFn(entry));
  return wrong ? Rf_mkString(wrong) : R_NilValue;
}

/* The policies of a library, or its adversaries, by name */
SEXP ffi_compiled_names(SEXP library, SEXP adversaries) {
  const char *key = text_of(library);
  const int what = Rf_asLogical(adversaries);
  int n = 0;
  for (compiled_t *c = registered; c; c = c->next)
    n += (!c->own) == what && !strcmp(c->library, key);
  SEXP out = PROTECT(Rf_allocVector(STRSXP, n));
  for (compiled_t *c = registered; c; c = c->next) {
    if ((!c->own) == what && !strcmp(c->library, key))
      SET_STRING_ELT(out, --n, Rf_mkChar(c->policy.name));
  }
  UNPROTECT(1);
  return out;
}

/* -> list(its properties, its parameters: 1 if required, by name, the choices of each or NULL) */
SEXP ffi_compiled_properties(SEXP library, SEXP name, SEXP adversary) {
  const compiled_t *found = find(text_of(library), text_of(name), Rf_asLogical(adversary));
  if (!found) Rf_error("no such policy");
  const policy_t *policy = &found->policy;
  int n = 0;
  while (policy->params[n].name) n++;
  SEXP out = PROTECT(Rf_allocVector(VECSXP, 3));
  SET_VECTOR_ELT(out, 0, policy_properties_of(policy));
  SEXP needs = Rf_allocVector(LGLSXP, n);
  SET_VECTOR_ELT(out, 1, needs);
  SEXP names = Rf_allocVector(STRSXP, n);
  Rf_setAttrib(needs, R_NamesSymbol, names);
  SET_VECTOR_ELT(out, 2, Rf_allocVector(VECSXP, n));
  for (int i = 0; i < n; i++) {
    const param_t *param = &policy->params[i];
    LOGICAL(needs)[i] = param->need == REQUIRED;
    SET_STRING_ELT(names, i, Rf_mkChar(param->name));
    int m = 0;
    while (param->choices && param->choices[m]) m++;
    if (m == 0) continue;
    SEXP choices = Rf_allocVector(STRSXP, m);
    SET_VECTOR_ELT(VECTOR_ELT(out, 2), i, choices);
    while (m-- > 0) SET_STRING_ELT(choices, m, Rf_mkChar(param->choices[m]));
  }
  UNPROTECT(1);
  return out;
}

/* ---- the contract ------------------------------------------------------------------------- */

/* Two sessions of one script, at different places in memory: one is moved about. Rewards come late now and
   then, arms are off offer, choices are made twice. States lie in the middle of marked room. */
enum { ROUNDS = 400, LATE = 7, MOST_ARMS = 16, MARGIN = 1 << 16 };

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
  return state[-1] != 1 || memcmp(state - MARGIN, state - MARGIN + 1, MARGIN - 1) ||
         *after != 1 || memcmp(after, after + 1, MARGIN - 1);
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
  static const int SOME[2][2] = {{0, 2}, {1, 2}};
  feedback_t late[ROUNDS];
  double chances[MOST_ARMS];
  rng_t rewards;
  rng_seed(&rewards, 1, 1, RNG_REWARD);
  for (int i = 0; i < ROUNDS; i++) {
    *at = i + 1;
    if (written_beside(c->one.state, c->size))
      return "it writes past the bytes that size() asks for";
    round_t round = session_round(&c->one);
    session_round(&c->two);
    if (i % 5 == 4) {
      round.offer = SOME[i / 5 % 2];
      round.n_offer = 2;
    }
    for (int j = 0; j < c->one.spec->dim; j++) c->context[j] = rng_unif(&rewards) / 2;
    if (c->one.spec->dim) round.context = c->context;
    const session_status_t toss = session_probability(&c->one, &round, chances);
    if (toss != SESSION_OK) return session_message(toss);
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
    late[i] = (feedback_t){i + 1, arm, (rng_unif(&rewards) < 0.7 - 0.2 * arm) != c->turned,
                           batch, round.context};
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
  if (written_beside(c->one.state, c->size))
    return "it writes past the bytes that size() asks for";
  return status == SESSION_OK ? NULL : session_message(status);
}

/* A policy's contract with so many arms -> NULL, or what is wrong */
SEXP ffi_compiled_check(SEXP policy, SEXP k, SEXP horizon, SEXP dim) {
  spec_t spec;
  read_policy(policy, Rf_asInteger(k), Rf_asInteger(dim), Rf_asReal(horizon), &spec);
  check_t c = {.size = spec.policy->size(&spec)};
  if (c.size > ((size_t)1 << 30))
    return Rf_mkString("size() asks for more than 1 GB for a few arms");
  c.before = new_state(c.size);
  c.spare = new_state(c.size);
  ledger_t ledger = {0};
  c.one = new_checked(&c, &spec, draws_of(1, 1, &ledger));
  c.two = new_checked(&c, &spec, draws_of(1, 1, NULL));
  int at;
  const char *wrong = check_rounds(&c, 1, &at);
  const compiled_t *own = (const compiled_t *)spec.policy;
  if (!wrong && own->policy.releases && ledger.n == 0) {
    check_t turned = {.size = c.size, .before = c.before, .spare = c.spare, .turned = 1};
    memcpy(turned.chosen, c.chosen, sizeof c.chosen);
    turned.one = new_checked(&c, &spec, draws_of(1, 1, NULL));
    turned.two = new_checked(&c, &spec, draws_of(1, 1, NULL));
    wrong = check_rounds(&turned, 1, &at);
  }
  for (int i = 0; i < spec.k && !wrong; i++) {
    const report_t report = session_report(&c.one, i);
    if (!(report.rewards >= 0) || !isfinite(report.sum))
      wrong = "its report() is not a number";
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
