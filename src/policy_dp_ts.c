/* DP-TS: Hu and Hegde (2022), Algorithm 1.

   2-4.   Pull each arm once.
   6-11.  mean = (C + B) / O; shifted = clip(mean + v) to [0, 1] with
          v = 6 sqrt(8) log(O + 1) log(t) / (epsilon O);
          theta ~ Beta(shifted O + 1, (1 - shifted) O + 1); pull the arm of the largest.
   12-19. C is the modified logarithmic mechanism, B the binary mechanism on the rewards
          since, each with epsilon / 2: together the hybrid counter with boundaries at
          O = 2^(r + 1) - 1.

   Readings: the index uses the private mean (line 7 as printed has the exact one); the noise
   of a node is drawn once and kept. */

#include <string.h>
#include <math.h>
#include "noise_counter_log.h"
#include "policy.h"
#include "sample.h"
#include "math_util.h"

enum { EPSILON, LOG_BASE };
PARAMETERS(PARAMS, NEEDS("epsilon"), NEEDS("log_base"));

typedef struct {
  double n, mean; /* pulls and private mean */
  double shift;   /* v is shift ln(t) */
} arm_t;

typedef struct {
  double epsilon;
  double log_scale;   /* 1 / ln(log_base) */
  int64_t k, waiting; /* waiting: arms without rewards */
  int64_t levels;
  arm_t arms[];
} state_t;

static void *counters(const state_t *s) { return (void *)(s->arms + s->k); }

static size_t size(const spec_t *spec) {
  const int levels = tree_levels(spec->horizon);
  return sizeof(state_t) + (sizeof(arm_t) + hybrid_size(levels)) * (size_t)spec->k;
}

static void init(void *state, const spec_t *spec) {
  state_t *s = state;
  const int levels = tree_levels(spec->horizon);
  *s = (state_t){.k = spec->k,
                 .levels = levels,
                 .epsilon = spec->par[EPSILON],
                 .log_scale = 1 / log(spec->par[LOG_BASE]),
                 .waiting = spec->k};
  for (int i = 0; i < spec->k; i++) {
    s->arms[i] = (arm_t){0, 0, 0};
    hybrid_init(hybrid_at(counters(s), levels, (size_t)i), levels, 1, s->epsilon);
  }
}

static int choose(const void *state, const round_t *round, draws_t *draws) {
  const state_t *s = state;
  const arm_t *arms = s->arms;
  const int first = opening_choice(s->waiting, round, &arms->n, sizeof *arms);
  if (first >= 0) return first;
  const double ln_t = log((double)round->t);
  argmax_t best = ARGMAX;
  FOR_EACH_ARM(i, round) {
    const double n = arms[i].n;
    const double shifted = clip01(arms[i].mean + arms[i].shift * ln_t);
    argmax_add(&best, i, sample_beta(&draws->policy, shifted * n + 1, (1 - shifted) * n + 1));
  }
  return argmax_arm(&best);
}

static void update(void *state, const feedback_t *feedback, draws_t *draws) {
  state_t *s = state;
  arm_t *a = &s->arms[feedback->arm];
  hybrid_t *counter = hybrid_at(counters(s), (int)s->levels, (size_t)feedback->arm);
  const double coin = sample_coin(&draws->policy, feedback->reward);
  const double sum = hybrid_add(counter, coin, draws);
  if (a->n == 0) s->waiting -= 1;
  const double n = a->n += 1;
  a->mean = sum / n;
  a->shift = 6 * sqrt(8) * (log(n + 1) * s->log_scale) * s->log_scale / (s->epsilon * n);
}

static report_t report(const void *state, int arm) {
  const state_t *s = state;
  return hybrid_report(hybrid_at(counters(s), (int)s->levels, (size_t)arm));
}

static void grow(void *state, const void *of_old, int k) {
  state_t *s = state, *old = (state_t *)of_old;
  s->waiting += old->waiting - k;
  memcpy(s->arms, old->arms, sizeof *s->arms * (size_t)k);
  memcpy(counters(s), counters(old), hybrid_size((int)s->levels) * (size_t)k);
}

static int sound(const void *state, const void *fresh) {
  const state_t *s = state, *f = fresh;
  return SAME(k) && SAME(levels) && hybrids_are_sound(counters(s), (int)s->levels, s->k);
}

POLICY(dp_ts, .state_version = 1, .tosses = 1, .tosses_coins = 1, .releases = 1, .needs_horizon = 1,
       .update = update, .report = report, .grow = grow, .sound = sound);
