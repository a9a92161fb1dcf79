/* Policies and adversaries from outside, written with inst/include/dpts.h: what they are given, and their
   registration. r_compiled_check.c checks that policies keep the contract. */

#include <string.h>
#include "noise_counter_tree.h"
#include "r_compiled.h"
#include "r_list.h"
#include "sample.h"

/* ---- what they are given ---------------------------------------------------------------- */

static double uniform(draws_t *draws) { return rng_unif(&draws->policy); }
static double normal(draws_t *draws) { return sample_normal(&draws->policy); }
static double beta(draws_t *draws, double a, double b) { return sample_beta(&draws->policy, a, b); }

/* A pull that cannot be made ends the play. */
static double pull(player_t *player, int arm, int64_t n) {
  if (arm < 0 || arm >= player->k || n < 1 || n > player_left(player)) player->failed = NO_ARM;
  if (player->failed) return NAN;
  return n == 1 ? player_pull(player, arm) : player_pull_many(player, arm, n);
}

static void new_tree(void *tree, int levels, int kind, double scale) {
  tree_init(tree, levels, (enum noise_kind)kind, scale);
}
static double add_to_tree(void *tree, double item, draws_t *draws) { return tree_add(tree, item, draws); }

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

/* A registered policy or adversary. It is never freed, since sessions point to it. For an adversary, only the
   name and the parameters in `policy` are used. */
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

static const char *what_is_wrong(const char *what, const char *name, const dpts_param *params,
                                 const char *lacks) {
  static char text[200];
  int n = 0;
  if (!name) return "a policy or adversary has no name";
  while (params && params[n].name) n++;
  if (!lacks && n <= POLICY_MAX_PAR) return NULL;
  snprintf(text, sizeof text, "%s \"%.50s\" %s", what, name, lacks ? lacks : "has more than 16 parameters");
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
                           .from_outside = 1,
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
  new->policy = (policy_t){.name = own->name, .params = own->params ? own->params : NO_PARAMS};
}

const char *compiled_register(const char *library, dpts_entry_t entry) {
  static char text[200];
  const dpts_module *module = entry(&HOST);
  if (!module || module->version != DPTS_VERSION) {
    snprintf(text, sizeof text, "it was written for version %u of dpts.h, and this is version %d",
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
    if (!strcmp(c->library, library) && !strcmp(c->policy.name, name) && (!c->own) == adversary) return c;
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
  const char *wrong =
      compiled_register(text_of(library), (dpts_entry_t)(void (*)(void))R_ExternalPtrAddrFn(entry));
  return wrong ? Rf_mkString(wrong) : R_NilValue;
}

/* The policies of a library, or its adversaries, by name */
SEXP ffi_compiled_names(SEXP library, SEXP adversaries) {
  const char *key = text_of(library);
  const int what = Rf_asLogical(adversaries);
  int n = 0;
  for (compiled_t *c = registered; c; c = c->next) n += (!c->own) == what && !strcmp(c->library, key);
  SEXP out = PROTECT(Rf_allocVector(STRSXP, n));
  for (compiled_t *c = registered; c; c = c->next) {
    if ((!c->own) == what && !strcmp(c->library, key)) SET_STRING_ELT(out, --n, Rf_mkChar(c->policy.name));
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
