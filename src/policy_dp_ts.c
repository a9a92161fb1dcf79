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

#include <math.h>
#include "counter_log.h"
#include "policy.h"
#include "sample.h"

enum { EPSILON, LOG_BASE };
static const char *const PARAMS[] = {"epsilon", "log_base", NULL};

typedef struct {
  double n, mean; /* pulls and private mean */
  double shift;   /* v is shift log(t), with natural log(t) */
} arm_t;

typedef struct {
  double k, levels, epsilon;
  double log_scale; /* 1 / ln(log_base) */
  double waiting;   /* arms not pulled yet */
  arm_t arms[];
} state_t;

static void *counters(state_t *s) { return s->arms + (size_t)s->k; }

static size_t size(const spec_t *spec) {
  const int levels = tree_levels(spec->horizon);
  return sizeof(state_t) + (sizeof(arm_t) + hybrid_size(levels)) * (size_t)spec->k;
}

static void init(void *state, const spec_t *spec) {
  state_t *s = state;
  const int levels = tree_levels(spec->horizon);
  *s = (state_t){.k = spec->k, .levels = levels, .epsilon = spec->par[EPSILON],
                 .log_scale = 1 / log(spec->par[LOG_BASE]), .waiting = spec->k};
  for (int i = 0; i < spec->k; i++) {
    s->arms[i] = (arm_t){0, 0, 0};
    hybrid_init(hybrid_at(counters(s), levels, (size_t)i), levels, 1, s->epsilon);
  }
}

static int choose(void *state, const round_t *round, dice_t *dice) {
  const state_t *s = state;
  const arm_t *arms = s->arms;
  if (s->waiting > 0) {
    FOR_EACH_ARM(i, round) if (arms[i].n == 0) return i;
  }
  const double log_t = log((double)round->t);
  double best = -1;
  int choice = -1;
  FOR_EACH_ARM(i, round) {
    const double n = arms[i].n;
    const double shifted = fmin(fmax(arms[i].mean + arms[i].shift * log_t, 0), 1);
    const double theta = sample_beta(&dice->policy, shifted * n + 1, (1 - shifted) * n + 1);
    if (theta > best) best = theta, choice = i;
  }
  return choice;
}

static void observe(void *state, const round_t *round, int arm, double reward,
                    dice_t *dice) {
  (void)round;
  state_t *s = state;
  arm_t *a = &s->arms[arm];
  hybrid_t *counter = hybrid_at(counters(s), (int)s->levels, (size_t)arm);
  const double coin = sample_coin(&dice->policy, reward);
  const double sum = hybrid_add(counter, coin, dice);
  if (a->n == 0) s->waiting -= 1;
  const double n = a->n += 1;
  a->mean = sum / n;
  a->shift = 6 * sqrt(8) * (log(n + 1) * s->log_scale) * s->log_scale / (s->epsilon * n);
}

const policy_t policy_dp_ts = {"dp_ts", PARAMS, size, init, choose, observe, NULL};
