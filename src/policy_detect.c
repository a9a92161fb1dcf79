/* A policy that is started anew when what it released shows that a mean has changed. Of each arm the interval that
   holds its mean at all looks at once (policy_evidence.h), with the chance delta / k of an error, is cut with those of
   earlier looks; where nothing is left the mean is not what it was. All arms are then begun anew, and rewards of
   earlier pulls are not used. Only sums that the policy published are read.

   An arm that is not pulled shows no change: in every `explore`-th round, if that is not 0, the arms are played in turn. */

#include "policy.h"
#include "policy_evidence.h"

enum { DELTA, EXPLORE };
PARAMETERS(PARAMS, NEEDS("delta"), NEEDS("explore"));

typedef struct {
  evidence_t evidence;
  double n, sum, terms; /* that it has read */
  double lower, upper;
} arm_t;

typedef struct {
  const spec_t *inner; /* not saved: a spec's `inner` */
  int64_t k, played;   /* arms; rounds */
  int64_t start;       /* rounds before this life of the policy */
  double delta, explore;
  arm_t arms[]; /* then the policy's counts of pulls, and its state */
} state_t;

static int64_t *counts(const state_t *s) { return (int64_t *)(s->arms + s->k); }
static void *inner_state(const state_t *s) { return counts(s) + s->k; }

static size_t size(const spec_t *spec) {
  return sizeof(state_t) + (sizeof(arm_t) + sizeof(int64_t)) * (size_t)spec->k +
         spec->inner->policy->size(spec->inner);
}

static void begin(state_t *s) {
  s->start = s->played;
  for (int i = 0; i < s->k; i++) {
    s->arms[i] = (arm_t){.lower = -INFINITY, .upper = INFINITY};
    evidence_begin(&s->arms[i].evidence, 0);
    counts(s)[i] = 0;
  }
  s->inner->policy->init(inner_state(s), s->inner);
}

static void init(void *state, const spec_t *spec) {
  state_t *s = state;
  *s = (state_t){.inner = spec->inner,
                 .k = spec->k,
                 .delta = spec->par[DELTA],
                 .explore = spec->par[EXPLORE]};
  begin(s);
}

static int choose(const void *state, const round_t *round, draws_t *draws) {
  const state_t *s = state;
  const int64_t every = (int64_t)s->explore;
  if (every > 0 && round->t % every == 0)
    return round->offer[round->t / every % round->n_offer];
  const round_t own = round_inside(round, round->t - s->start, counts(s));
  return s->inner->policy->choose(inner_state(s), &own, draws);
}

static int64_t commit(void *state, const round_t *round, int arm, draws_t *draws) {
  state_t *s = state;
  const policy_t *policy = s->inner->policy;
  const round_t own = round_inside(round, round->t - s->start, counts(s));
  const int64_t batch =
      policy->commit ? policy->commit(inner_state(s), &own, arm, draws) : 0;
  counts(s)[arm]++;
  s->played = round->t;
  return batch;
}

/* Has an arm's mean changed, as its releases have it? They are read when they have grown by a fiftieth. */
static int changed(state_t *s, int arm, const draws_t *draws) {
  const report_t report = s->inner->policy->report(inner_state(s), arm);
  arm_t *a = &s->arms[arm];
  const double n = report.rewards - a->n;
  if (!(n > 0) || n < a->n / 50) return 0;
  const noise_law_t law = {.kind = report.kind, .scale = report.scale};
  const noise_law_t drawn = noise_as_drawn(&law, draws);
  evidence_release(&a->evidence, &drawn, n, report.sum - a->sum, report.terms - a->terms);
  a->n = report.rewards;
  a->sum = report.sum;
  a->terms = report.terms;
  double lower, upper;
  evidence_interval(&a->evidence, s->delta / (double)s->k, &lower, &upper);
  a->lower = fmax(a->lower, lower);
  a->upper = fmin(a->upper, upper);
  return a->lower > a->upper;
}

static void update(void *state, const feedback_t *feedback, draws_t *draws) {
  state_t *s = state;
  feedback_t own = *feedback;
  own.t -= s->start;
  if (own.t <= 0) return;
  if (s->inner->policy->update) s->inner->policy->update(inner_state(s), &own, draws);
  if (changed(s, own.arm, draws)) begin(s);
}

static report_t report(const void *state, int arm) {
  const state_t *s = state;
  return s->inner->policy->report(inner_state(s), arm);
}

static void finish(void *state, draws_t *draws) {
  const state_t *s = state;
  if (s->inner->policy->finish) s->inner->policy->finish(inner_state(s), draws);
}

POLICY(detect, .state_version = 1, .tosses = 1, .releases = 1, .commit = commit,
       .update = update, .report = report, .finish = finish);
