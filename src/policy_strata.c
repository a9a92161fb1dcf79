/* One policy in several strata of people: each stratum has a state of its own, with its own batches or blocks
   and chances. An arm of stratum s, of k arms each, has the number s k + arm, and a round is of one stratum,
   whose arms alone are on offer. A person is in one stratum, and a reward in one batch of it, so the
   guarantee is that of the policy (parallel composition). Batch b of stratum s has the number (b - 1) strata
   + s + 1. */

#include <string.h>
#include "policy_inner.h"

PARAMETERS(PARAMS, NEEDS("strata"));

typedef struct {
  const spec_t *inner;     /* not saved: a spec's `inner` */
  int64_t k, strata, each; /* arms and bytes of a stratum */
  /* Then k ints, and for each stratum how many rounds it had and its policy */
} state_t;

static int64_t ints_size(int64_t k) { return (k * (int64_t)sizeof(int) + 7) / 8 * 8; }

/* The arms on offer in a stratum */
static int *offered(const state_t *s) { return (int *)(s + 1); }

static int64_t *rounds(const state_t *s, int64_t stratum) {
  return (int64_t *)((char *)(s + 1) + ints_size(s->k) + stratum * s->each);
}

static inner_t inner(const state_t *s, int64_t stratum) { return inner_at(s->inner, rounds(s, stratum) + 1); }

static int64_t each_size(const spec_t *inner) {
  return (int64_t)(sizeof(int64_t) + (inner_size(inner) + 7) / 8 * 8);
}

static size_t size(const spec_t *spec) {
  return sizeof(state_t) +
         (size_t)(ints_size(spec->inner->k) + (int64_t)spec->par[0] * each_size(spec->inner));
}

static void init(void *state, const spec_t *spec) {
  state_t *s = state;
  memset(s, 0, size(spec));
  *s = (state_t){spec->inner, spec->inner->k, (int64_t)spec->par[0], each_size(spec->inner)};
  for (int64_t i = 0; i < s->strata; i++) inner_begin(inner(s, i));
}

/* The round as its stratum's policy sees it */
static round_t own_round(const state_t *s, const round_t *round, int64_t *stratum) {
  int *arms = offered(s);
  *stratum = round->offer[0] / s->k;
  round_t own = *round;
  for (int i = 0; i < round->n_offer; i++) arms[i] = round->offer[i] - (int)(*stratum * s->k);
  own.offer = arms;
  if (round->context_step > 0) own.context = round->context + *stratum * s->k * round->context_step;
  return own;
}

/* What is not remembered from round to round is zero. */
static void forget_offer(const state_t *s) { memset(offered(s), 0, (size_t)ints_size(s->k)); }

static int choose(const void *state, const round_t *round, draws_t *draws) {
  const state_t *s = state;
  int64_t at;
  const round_t own = own_round(s, round, &at);
  const int arm = inner_choose(inner(s, at), &own, *rounds(s, at) + 1, draws);
  forget_offer(s);
  return arm < 0 ? arm : (int)(at * s->k) + arm;
}

static void probability(const void *state, const round_t *round, double *p) {
  const state_t *s = state;
  int64_t at;
  const round_t own = own_round(s, round, &at), seen = inner_round(inner(s, at), &own, *rounds(s, at) + 1);
  s->inner->policy->probability(inner(s, at).state, &seen, p + at * s->k);
  forget_offer(s);
}

static int64_t commit(void *state, const round_t *round, int arm, draws_t *draws) {
  state_t *s = state;
  int64_t at;
  const round_t own = own_round(s, round, &at);
  const int64_t t = ++*rounds(s, at), batch = inner_commit(inner(s, at), &own, t, arm % (int)s->k, draws);
  forget_offer(s);
  return batch > 0 ? (batch - 1) * s->strata + at + 1 : 0;
}

static int pass(void *state, const round_t *round, int arm, int64_t held) {
  state_t *s = state;
  int64_t at;
  const round_t own = own_round(s, round, &at);
  forget_offer(s);
  if (held > 0 && (held - 1) % s->strata != at) held = -1; /* a person is in one stratum */
  if (held > 0) held = (held - 1) / s->strata + 1;
  return s->inner->policy->pass ? s->inner->policy->pass(inner(s, at).state, &own, arm % (int)s->k, held) : 0;
}

static int64_t close(void *state, int arm, draws_t *draws) {
  const state_t *s = state;
  const int64_t at = arm / s->k;
  if (!s->inner->policy->close) return 0;
  const int64_t batch = s->inner->policy->close(inner(s, at).state, arm % (int)s->k, draws);
  return batch > 0 ? (batch - 1) * s->strata + at + 1 : 0;
}

static int unpull(void *state, int arm, int64_t batch) {
  const state_t *s = state;
  const policy_t *policy = s->inner->policy;
  if (!policy->unpull) return 0;
  return policy->unpull(inner(s, arm / s->k).state, arm % (int)s->k, (batch - 1) / s->strata + 1);
}

static void update(void *state, const feedback_t *feedback, draws_t *draws) {
  state_t *s = state;
  const int64_t at = feedback->arm / s->k;
  feedback_t own = *feedback;
  own.arm = feedback->arm % (int)s->k;
  own.batch = feedback->batch > 0 ? (feedback->batch - 1) / s->strata + 1 : 0;
  inner_update(inner(s, at), &own, draws);
}

static report_t report(const void *state, int arm) {
  const state_t *s = state;
  return inner_report(inner(s, arm / s->k), arm % (int)s->k);
}

static int release_next(void *state, draws_t *draws) {
  const state_t *s = state;
  for (int64_t at = 0; at < s->strata && s->inner->policy->release_next; at++) {
    if (s->inner->policy->release_next(inner(s, at).state, draws)) return 1;
  }
  return 0;
}

static void finish(void *state, draws_t *draws) {
  const state_t *s = state;
  for (int64_t at = 0; at < s->strata; at++) inner_finish(inner(s, at), draws);
}

static int sound(const void *state, const void *fresh) {
  const state_t *s = state, *f = fresh;
  int all = SAME(k) && SAME(strata) && SAME(each);
  for (int64_t at = 0; all && at < s->strata; at++) {
    all = *rounds(s, at) >= 0 && inner_is_sound(inner_at(f->inner, rounds(s, at) + 1), inner(f, at));
  }
  return all;
}

POLICY(strata, .state_version = 1, .tosses = 1, .releases = 1, .each_once = 1, .commit = commit, .pass = pass,
       .close = close, .unpull = unpull, .update = update, .report = report, .probability = probability,
       .release_next = release_next, .finish = finish, .sound = sound);
