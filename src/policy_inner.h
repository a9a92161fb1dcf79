#ifndef DPTS_POLICY_INNER_H
#define DPTS_POLICY_INNER_H
/* A policy inside another one. It is played by a clock and counts of pulls of its own, which begin when it
   does; they lie at the end of the outer one's state, counts first. */

#include "policy.h"

typedef struct {
  const spec_t *spec;
  int64_t *counts;
  void *state;
} inner_t;

static inline size_t inner_size(const spec_t *inner) {
  return sizeof(int64_t) * (size_t)inner->k + inner->policy->size(inner);
}

static inline inner_t inner_at(const spec_t *inner, const void *memory) {
  int64_t *counts = (int64_t *)memory;
  return (inner_t){inner, counts, counts + inner->k};
}

static inline void inner_begin(inner_t in) {
  for (int i = 0; i < in.spec->k; i++) in.counts[i] = 0;
  in.spec->policy->init(in.state, in.spec);
}

/* The round as it sees it, its t-th. No tournament: the clocks of one are those of rounds that follow each
   other, all played by the policy that keeps it. */
static inline round_t inner_round(inner_t in, const round_t *round, int64_t t) {
  round_t own = *round;
  own.t = t;
  own.pulls = in.counts;
  own.all = NULL;
  return own;
}

static inline int inner_choose(inner_t in, const round_t *round, int64_t t, draws_t *draws) {
  const round_t own = inner_round(in, round, t);
  return in.spec->policy->choose(in.state, &own, draws);
}

static inline int64_t inner_commit(inner_t in, const round_t *round, int64_t t, int arm, draws_t *draws) {
  const policy_t *policy = in.spec->policy;
  const round_t own = inner_round(in, round, t);
  const int64_t batch = policy->commit ? policy->commit(in.state, &own, arm, draws) : 0;
  in.counts[arm]++;
  return batch;
}

static inline void inner_update(inner_t in, const feedback_t *feedback, draws_t *draws) {
  if (in.spec->policy->update) in.spec->policy->update(in.state, feedback, draws);
}

static inline void inner_finish(inner_t in, draws_t *draws) {
  if (in.spec->policy->finish) in.spec->policy->finish(in.state, draws);
}

static inline int inner_is_sound(inner_t in, inner_t fresh) {
  const policy_t *policy = in.spec->policy;
  for (int i = 0; i < in.spec->k; i++) {
    if (in.counts[i] < 0) return 0;
  }
  return !policy->sound || policy->sound(in.state, fresh.state);
}

static inline report_t inner_report(inner_t in, int arm) {
  const policy_t *policy = in.spec->policy;
  return policy->report ? policy->report(in.state, arm) : (report_t){0};
}

#endif
