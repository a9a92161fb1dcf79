/* A policy under the microscope, for tests and audits: fed given rewards, with the ledger
   of everything it released. */

#include <string.h>
#include "r_read.h"

/* A broken policy may choose no arm at all; tests are to say so, not to crash. */
static int check_arm(int arm, int n_arms) {
  if (arm < 0 || arm >= n_arms) Rf_error("the policy chose no arm");
  return arm;
}

/* Play the rewards in order. arms: the arm to observe in each round, or NA to let the
   policy choose. rewards: one a round, or a matrix of one row a round and one column an
   arm. -> list(arm, released, exact, law, scale, noise, round, state) */
SEXP ffi_trace(SEXP policy, SEXP k, SEXP arms, SEXP rewards, SEXP horizon, SEXP seed,
               SEXP silent, SEXP max_ledger) {
  const int n_arms = Rf_asInteger(k), rounds = (int)Rf_xlength(arms);
  const int table = Rf_isMatrix(rewards);
  spec_t spec;
  read_policy(policy, n_arms, Rf_asReal(horizon), &spec);

  const char *names[] = {"arm", "released", "exact", "law", "scale",
                         "noise", "total", "state", ""};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  SEXP arm_out = Rf_allocVector(INTSXP, rounds);
  SET_VECTOR_ELT(out, 0, arm_out);
  SEXP released = Rf_allocVector(INTSXP, rounds);
  SET_VECTOR_ELT(out, 1, released);
  ledger_t ledger = keep_ledger(out, 2, Rf_asInteger(max_ledger), Rf_asLogical(silent));
  dice_t dice = dice_of((uint64_t)Rf_asReal(seed), 1, &ledger);
  void *state = new_state(&spec);

  round_t round = {.n_pool = n_arms};
  for (int i = 0; i < rounds; i++) {
    round.t = i + 1;
    const int forced = INTEGER(arms)[i];
    const int arm = check_arm(
        forced == NA_INTEGER ? spec.policy->choose(state, &round, &dice) : forced - 1, n_arms);
    const double reward = REAL(rewards)[table ? i + (R_xlen_t)rounds * arm : i];
    spec.policy->observe(state, &round, arm, reward, &dice);
    INTEGER(arm_out)[i] = arm + 1;
    INTEGER(released)[i] = ledger.n; /* how many numbers were released so far */
  }
  SET_VECTOR_ELT(out, 6, Rf_ScalarInteger(ledger.n));
  SEXP block = Rf_allocVector(RAWSXP, (R_xlen_t)spec.policy->size(&spec));
  SET_VECTOR_ELT(out, 7, block);
  memcpy(RAW(block), state, (size_t)Rf_xlength(block));
  UNPROTECT(1);
  return out;
}

/* Many runs on one fixed table of rewards (a row a round, a column an arm): what an
   attacker sees. -> integer matrix of arms, a row a round, a column a run */
SEXP ffi_play_table(SEXP policy, SEXP table, SEXP runs, SEXP seed) {
  const int rounds = Rf_nrows(table), n_arms = Rf_ncols(table), n = Rf_asInteger(runs);
  spec_t spec;
  read_policy(policy, n_arms, rounds, &spec);
  SEXP out = PROTECT(Rf_allocMatrix(INTSXP, rounds, n));
  void *state = new_state(&spec);
  round_t round = {.n_pool = n_arms};
  for (int run = 0; run < n; run++) {
    if (run % 1024 == 0) R_CheckUserInterrupt();
    dice_t dice = dice_of((uint64_t)Rf_asReal(seed), (uint64_t)run + 1, NULL);
    spec.policy->init(state, &spec);
    int *column = INTEGER(out) + (R_xlen_t)rounds * run;
    for (int i = 0; i < rounds; i++) {
      round.t = i + 1;
      const int arm = check_arm(spec.policy->choose(state, &round, &dice), n_arms);
      spec.policy->observe(state, &round, arm, REAL(table)[i + (R_xlen_t)rounds * arm], &dice);
      column[i] = arm + 1;
    }
  }
  UNPROTECT(1);
  return out;
}
