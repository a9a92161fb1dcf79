#ifndef DPTS_POLICY_PLAIN_MEANS_H
#define DPTS_POLICY_PLAIN_MEANS_H
/* Index policies over plain means: UCB1, IMED, KL-UCB. Each arm is pulled once; then the arm of
   the best index, which depends on an arm's count and mean. A policy gives its choose(), an add() of
   n rewards (plain_add() and what else its index reads) and a sure() for skip_leader.h. */

#include <string.h>
#include "skip_leader.h"
#include "policy.h"
#include "policy_tournament.h"

typedef struct {
  double sum, n, mean;
  double of_n; /* what else the index reads: 1 / sqrt(n) for UCB1, ln(n) for IMED */
} plain_arm_t;

typedef struct {
  int64_t k, waiting; /* arms without rewards */
  plain_arm_t arms[]; /* k of them, then the tournament, then perhaps a tree for the highest mean */
} plain_t;

static inline tournament_t *plain_tournament(const plain_t *s) { return tournament_at(s->arms + s->k, s->k); }

static inline double *plain_highest(const plain_t *s) {
  return (double *)((char *)(s->arms + s->k) + tournament_size(s->k));
}

static inline size_t plain_size(int64_t k, int highest) {
  return sizeof(plain_t) + sizeof(plain_arm_t) * (size_t)k + tournament_size(k) +
         (highest ? highest_size(k) : 0);
}

static inline void plain_init(plain_t *s, int64_t k, int highest) {
  *s = (plain_t){.k = k, .waiting = k};
  for (int64_t i = 0; i < k; i++) s->arms[i] = (plain_arm_t){0};
  tournament_init(plain_tournament(s), k);
  if (highest) highest_init(plain_highest(s), k);
}

static inline void plain_grow(plain_t *s, const plain_t *old, int k, int highest) {
  s->waiting += old->waiting - k;
  memcpy(s->arms, old->arms, sizeof *s->arms * (size_t)k);
  for (int i = 0; highest && i < k; i++) {
    if (s->arms[i].n > 0) highest_set(plain_highest(s), s->k, i, s->arms[i].mean);
  }
}

/* For an index_t */
static inline int plain_alike(const void *state, int a, int b) {
  const plain_arm_t *arms = ((const plain_t *)state)->arms;
  return arms[a].n == arms[b].n && arms[a].mean == arms[b].mean;
}

/* The arm to be pulled before there are indices, or -1; t: the round's tournament. */
static inline int plain_opening(const plain_t *s, const round_t *round, tournament_t *t) {
  return tournament_opening(t, s->waiting, round, &s->arms->n, sizeof *s->arms);
}

static inline plain_arm_t *plain_add(plain_t *s, int arm, double sum, double n) {
  plain_arm_t *a = &s->arms[arm];
  if (a->n == 0) s->waiting--;
  a->sum += sum;
  a->n += n;
  a->mean = a->sum / a->n;
  tournament_changed(plain_tournament(s), arm);
  return a;
}

static inline report_t plain_report(const void *state, int arm) {
  const plain_arm_t *a = &((const plain_t *)state)->arms[arm];
  return report_plain(a->n, a->sum);
}

/* The other functions of a policy. HIGHEST: does it need a tree for the highest mean? */
#define PLAIN_POLICY(NAME, HIGHEST)                                                                      \
  static size_t size(const spec_t *spec) { return plain_size(spec->k, HIGHEST); }                        \
  static void init(void *state, const spec_t *spec) { plain_init(state, spec->k, HIGHEST); }             \
  static void grow(void *state, const void *old, int k) { plain_grow(state, old, k, HIGHEST); }          \
  static int sound(const void *state, const void *fresh) {                                               \
    const plain_t *s = state, *f = fresh;                                                                \
    return SAME(k) && tournament_is_sound(plain_tournament(s), s->k);                                    \
  }                                                                                                      \
  static void update(void *state, const feedback_t *feedback, draws_t *draws) {                          \
    (void)draws;                                                                                         \
    add(state, feedback->arm, feedback->reward, 1);                                                      \
  }                                                                                                      \
  static void skip(void *state, player_t *player, draws_t *draws) {                                      \
    leader_skip(state, player, draws, choose, add, sure);                                                \
  }                                                                                                      \
  POLICY(NAME, .state_version = 3, .update = update, .skip = skip, .report = plain_report, .grow = grow, \
         .sound = sound);

#endif
