/* A policy that is started anew when what it released shows that a mean has changed. Of each arm the
   interval that holds its mean at all looks at once (policy_evidence_means.h), with chance delta / k of an
   error, is cut with those of earlier looks; where nothing is left the mean is not what it was. All arms are
   then begun anew, and rewards of earlier pulls are not used. Only sums that the policy published are read.

   An arm that is not pulled shows no change: in every `explore`-th round, if that is not 0, the arms are
   played in turn. */

#include "policy_evidence_means.h"
#include "policy_inner.h"

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
  arm_t arms[]; /* then the policy */
} state_t;

static inner_t inner(const state_t *s) { return inner_at(s->inner, s->arms + s->k); }

static size_t size(const spec_t *spec) {
  return sizeof(state_t) + sizeof(arm_t) * (size_t)spec->k + inner_size(spec->inner);
}

static void begin(state_t *s) {
  s->start = s->played;
  for (int i = 0; i < s->k; i++) {
    s->arms[i] = (arm_t){.lower = -INFINITY, .upper = INFINITY};
    evidence_begin(&s->arms[i].evidence, 0);
  }
  inner_begin(inner(s));
}

static void init(void *state, const spec_t *spec) {
  state_t *s = state;
  *s =
      (state_t){.inner = spec->inner, .k = spec->k, .delta = spec->par[DELTA], .explore = spec->par[EXPLORE]};
  begin(s);
}

static int choose(const void *state, const round_t *round, draws_t *draws) {
  const state_t *s = state;
  const int64_t every = (int64_t)s->explore;
  if (every > 0 && round->t % every == 0) return round->offer[round->t / every % round->n_offer];
  return inner_choose(inner(s), round, round->t - s->start, draws);
}

static int64_t commit(void *state, const round_t *round, int arm, draws_t *draws) {
  state_t *s = state;
  s->played = round->t;
  return inner_commit(inner(s), round, round->t - s->start, arm, draws);
}

/* Has an arm's mean changed, as its releases have it? They are read when they have grown by a fiftieth. */
static int changed(state_t *s, int arm, const draws_t *draws) {
  const report_t report = inner_report(inner(s), arm);
  arm_t *a = &s->arms[arm];
  const double n = report.rewards - a->n;
  if (!(n > 0) || n < a->n / 50) return 0;
  const noise_law_t law = {.kind = report.kind, .scale = report.scale};
  const release_t row = {.size = n,
                         .sum = report.sum - a->sum,
                         .terms = report.terms - a->terms,
                         .noise = noise_as_drawn(&law, draws)};
  evidence_release(&a->evidence, &row);
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
  inner_update(inner(s), &own, draws);
  if (changed(s, own.arm, draws)) begin(s);
}

static report_t report(const void *state, int arm) { return inner_report(inner(state), arm); }

static void finish(void *state, draws_t *draws) { inner_finish(inner(state), draws); }

static int sound(const void *state, const void *fresh) {
  const state_t *s = state, *f = fresh;
  int all = SAME(k);
  for (int64_t i = 0; all && i < s->k; i++) all = evidence_is_sound(&s->arms[i].evidence);
  return all && inner_is_sound(inner_at(f->inner, s->arms + s->k), inner(f));
}

POLICY(detect, .state_version = 2, .tosses = 1, .releases = 1, .commit = commit, .update = update,
       .report = report, .finish = finish, .sound = sound);
