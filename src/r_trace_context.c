/* A contextual policy under the microscope, for tests: fed given contexts and rewards. */

#include <string.h>
#include "linear_model.h"
#include "r_read.h"

/* Play the rewards (one a round) in order. arms: the arm to observe, or NA to let the policy
   choose. contexts: d x rounds, or d x (k rounds) when each arm has its own. read: the offset of
   the linear model in the policy's state, in bytes.
   -> list(arm, released, exact, law, scale, noise, total, inverse, b, theta) */
SEXP ffi_trace_context(SEXP policy, SEXP k, SEXP arms, SEXP rewards, SEXP contexts, SEXP own,
                       SEXP horizon, SEXP seed, SEXP silent, SEXP max_ledger, SEXP read) {
  const int n_arms = Rf_asInteger(k), rounds = (int)Rf_xlength(arms), d = Rf_nrows(contexts);
  const int each = Rf_asLogical(own);
  spec_t spec;
  read_policy(policy, n_arms, Rf_asReal(horizon), &spec);
  spec.dim = d;

  const char *names[] = {"arm", "released", "exact", "law", "scale", "noise",
                         "total", "inverse", "b", "theta", ""};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  SET_VECTOR_ELT(out, 0, Rf_allocVector(INTSXP, rounds));
  SET_VECTOR_ELT(out, 1, Rf_allocVector(INTSXP, rounds));
  ledger_t ledger = keep_ledger(out, 2, Rf_asInteger(max_ledger), Rf_asLogical(silent));
  dice_t dice = dice_of((uint64_t)Rf_asReal(seed), 1, &ledger);
  void *state = new_state(&spec);

  round_t round = {.n_pool = n_arms, .context_step = each ? d : 0};
  for (int i = 0; i < rounds; i++) {
    round.t = i + 1;
    round.context = REAL(contexts) + (size_t)d * (size_t)i * (size_t)(each ? n_arms : 1);
    const int forced = INTEGER(arms)[i];
    const int arm =
        forced == NA_INTEGER ? spec.policy->choose(state, &round, &dice) : forced - 1;
    spec.policy->observe(state, &round, arm, REAL(rewards)[i], &dice);
    INTEGER(VECTOR_ELT(out, 0))[i] = arm + 1;
    INTEGER(VECTOR_ELT(out, 1))[i] = ledger.n;
  }
  SET_VECTOR_ELT(out, 6, Rf_ScalarInteger(ledger.n));
  const linear_t *linear = (const linear_t *)((char *)state + Rf_asInteger(read));
  SEXP inverse = Rf_allocVector(REALSXP, (R_xlen_t)n_arms * d * d);
  SET_VECTOR_ELT(out, 7, inverse);
  SEXP b = Rf_allocMatrix(REALSXP, d, n_arms);
  SET_VECTOR_ELT(out, 8, b);
  SEXP theta = Rf_allocMatrix(REALSXP, d, n_arms);
  SET_VECTOR_ELT(out, 9, theta);
  for (int a = 0; a < n_arms; a++) {
    linear_read(linear, a, REAL(inverse) + (size_t)a * d * d, REAL(b) + (size_t)a * d,
                REAL(theta) + (size_t)a * d);
  }
  UNPROTECT(1);
  return out;
}
