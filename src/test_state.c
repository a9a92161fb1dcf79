/* States of policies for tests: skips from a given one, and what is in one. */

#include <string.h>
#include "policy_linear_model.h"
#include "r_read.h"
#include "skip_thompson.h"

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

static void certain_cycles(player_t *player, const int *arms, int n, int64_t cycles, double *sums,
                           void *scratch) {
  (void)scratch;
  for (int i = 0; i < n; i++) sums[i] = certain_many(player, arms[i], cycles);
}

/* Many runs of a policy's skip() from a given state, after round t, so many rounds, where the rewards
   of each arm are certain -> integer matrix of pulls, a row per arm, a column per run; as an attribute, the
   state in which the last run ends */
SEXP ffi_skip_from(SEXP policy, SEXP state, SEXP t, SEXP rewards, SEXP rounds, SEXP runs, SEXP seed) {
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

/* The block and the groups of arms at the end of a state of Thompson sampling -> a list, with bounds,
   chances and groups of each arm; arms, groups and the leader from 0, group -1: the arm is not where the
   row has it */
SEXP ffi_read_skip(SEXP state, SEXP k_) {
  const int k = Rf_asInteger(k_), grouped = k >= ARM_GROUPS_FROM;
  const size_t bytes = thompson_size(k, grouped);
  thompson_t *s = (thompson_t *)R_alloc(bytes / sizeof(double) + 1, sizeof(double));
  memcpy(s, RAW(state) + Rf_xlength(state) - bytes, bytes);
  SEXP out = PROTECT(NAMED_LIST("leader", "open", "level", "n", "begin", "drift", "own", "groups_drift",
                                "groups_level", "bound", "chance", "group"));
  const double numbers[] = {s->leader, s->filled, s->level,     s->n,          s->begin,
                            s->drift,  s->own,    s->arm_drift, s->arm_level.c};
  for (int i = 0; i < 9; i++) SET_VECTOR_ELT(out, i, Rf_ScalarReal(numbers[i]));
  memcpy(keep_numbers(out, 9, k), s->tree + s->leaves, sizeof(double) * (size_t)k);
  double *chance = keep_numbers(out, 10, k), *group = keep_numbers(out, 11, k);
  for (int i = 0; i < k; i++) {
    chance[i] = grouped ? thompson_groups(s)->chance[i] : NA_REAL;
    group[i] = grouped && s->filled ? arm_groups_where(thompson_groups(s), i) : -1;
  }
  UNPROTECT(1);
  return out;
}

/* The linear models of a policy's state -> list(inverse, b, theta) */
SEXP ffi_read_linear(SEXP state, SEXP k, SEXP dim) {
  const int n_arms = Rf_asInteger(k), d = Rf_asInteger(dim);
  const size_t bytes = (size_t)Rf_xlength(state);
  linear_t *linear = (linear_t *)R_alloc(bytes / sizeof(double) + 1, sizeof(double));
  memcpy(linear, RAW(state), bytes);
  SEXP out = PROTECT(NAMED_LIST("inverse", "b", "theta"));
  double *inverse = keep_numbers(out, 0, (R_xlen_t)n_arms * d * d);
  double *b = REAL(SET_VECTOR_ELT(out, 1, Rf_allocMatrix(REALSXP, d, n_arms)));
  double *theta = REAL(SET_VECTOR_ELT(out, 2, Rf_allocMatrix(REALSXP, d, n_arms)));
  for (int a = 0; a < n_arms; a++, inverse += d * d, b += d, theta += d) {
    linear_read(linear, a, inverse, b, theta);
  }
  UNPROTECT(1);
  return out;
}
