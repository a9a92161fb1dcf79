/* What policies are, for R. */

#include "policy_block_size.h"
#include "r_compiled.h"
#include "r_custom.h"

/* What R may ask of a policy, in this order. */
#define PROPERTIES(_)                           \
  _(tosses, policy->tosses)                     \
  _(releases, policy->releases)                 \
  _(batches, policy->batches)                   \
  _(each_once, policy->each_once)               \
  _(by_tosses, policy->by_tosses)               \
  _(needs_horizon, policy->needs_horizon)       \
  _(needs_context, policy->needs_context)       \
  _(fails_rarely, policy->fails_rarely)         \
  _(tosses_coins, policy->tosses_coins)         \
  _(learns, policy->update != NULL)             \
  _(skips, policy->skip != NULL)                \
  _(reports, policy->report != NULL)            \
  _(knows_chances, policy->probability != NULL) \
  _(finishes, policy->finish != NULL)           \
  _(grows, policy->grow != NULL)                \
  _(keeps_apart, policy->pass != NULL)          \
  _(closes, policy->close != NULL)              \
  _(unpulls, policy->unpull != NULL)            \
  _(gives_verdict, policy->verdict != NULL)

#define NAME(name, value)  #name,
#define VALUE(name, value) value,
static const char *const NAMES[] = {PROPERTIES(NAME) "from_horizon", ""};
enum { N_NUMBERS = sizeof NAMES / sizeof *NAMES - 2 };

/* One policy -> list(its properties as numbers, from_horizon: the parameters that it takes from the
   horizon if they are missing) */
SEXP policy_properties_of(const policy_t *policy) {
  const int values[] = {PROPERTIES(VALUE)};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, (const char **)NAMES));
  for (int i = 0; i < N_NUMBERS; i++) SET_VECTOR_ELT(out, i, Rf_ScalarReal(values[i]));
  int n = 0;
  for (const param_t *p = policy->params; p->name; p++) n += p->need == FROM_HORIZON;
  SEXP from = Rf_allocVector(STRSXP, n);
  SET_VECTOR_ELT(out, N_NUMBERS, from);
  n = 0;
  for (const param_t *p = policy->params; p->name; p++) {
    if (p->need == FROM_HORIZON) SET_STRING_ELT(from, n++, Rf_mkChar(p->name));
  }
  UNPROTECT(1);
  return out;
}

/* All policies in C, and the host of those in R: a named list of lists */
SEXP ffi_policy_properties(void) {
  int n = 0;
  while (policy_at((size_t)n)) n++;
  SEXP out = PROTECT(Rf_allocVector(VECSXP, n + 1));
  SEXP names = PROTECT(Rf_allocVector(STRSXP, n + 1));
  for (int i = 0; i <= n; i++) {
    const policy_t *policy = i < n ? policy_at((size_t)i) : &policy_custom;
    SET_VECTOR_ELT(out, i, policy_properties_of(policy));
    SET_STRING_ELT(names, i, Rf_mkChar(policy->name));
  }
  Rf_setAttrib(out, R_NamesSymbol, names);
  UNPROTECT(2);
  return out;
}

/* The sizes of a randomised experiment's next blocks, those that are whole when `until` people are in, at
   most a million. `made`: blocks so far; noise: the variance of a sum's; spread: of a reward, NA: it is not
   released */
SEXP ffi_block_sizes(SEXP growth, SEXP size, SEXP made, SEXP people, SEXP until, SEXP k, SEXP noise,
                     SEXP spread) {
  const double arms = Rf_asReal(k), v = Rf_asReal(spread), s2 = Rf_asReal(noise), end = Rf_asReal(until);
  const R_xlen_t most_blocks = 1000000;
  const int grows = Rf_length(growth) > 0, has_most = grows && Rf_length(size) > 1;
  const block_rule_t rule = {.growth = grows ? Rf_asReal(growth) : NA_REAL,
                             .size = REAL(size),
                             .named = grows ? 1 : Rf_length(size),
                             .most = has_most ? REAL(size)[1] : NA_REAL};
  SEXP out = R_NilValue;
  double *to = NULL;
  for (;;) { /* how many there are, then which */
    double n = Rf_asReal(people);
    R_xlen_t blocks = 0;
    for (;; blocks++) {
      const double next = (double)block_size(&rule, (int64_t)Rf_asReal(made) + blocks, n, arms,
                                             isnan(v) ? 0 : block_for_spread(arms, s2, v, n));
      if (n + next > end || blocks == most_blocks) break;
      if (to) to[blocks] = next;
      n += next;
    }
    if (to) break;
    out = PROTECT(Rf_allocVector(REALSXP, blocks));
    to = REAL(out);
  }
  UNPROTECT(1);
  return out;
}
