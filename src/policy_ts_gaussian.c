/* Gaussian Thompson sampling: Ou, Avella Medina and Cummings (2024), Algorithm 2, which
   with prepulls = 0 and variance_scale = 1 is their Algorithm 1.

   1. Pull arm 1 b times, then arm 2 b times, ... (blocks in arm order).
   2. Draw theta_i ~ N(S_i / (n_i + 1), c / (n_i + 1)), pull the arm of the largest. */

#include <math.h>
#include "policy.h"
#include "sample.h"

enum { PREPULLS, VARIANCE_SCALE };
static const char *const PARAMS[] = {"prepulls", "variance_scale", NULL};

typedef struct {
  double sum, n, mean, sd; /* mean and sd of the posterior */
} arm_t;

typedef struct {
  double prepulls, variance_scale;
  double waiting; /* arms with pre-pulls left */
  arm_t arms[];
} state_t;

static size_t size(const spec_t *spec) {
  return sizeof(state_t) + sizeof(arm_t) * (size_t)spec->k;
}

static void init(void *state, const spec_t *spec) {
  state_t *s = state;
  s->prepulls = spec->par[PREPULLS];
  s->variance_scale = spec->par[VARIANCE_SCALE];
  s->waiting = s->prepulls > 0 ? spec->k : 0;
  for (int i = 0; i < spec->k; i++) {
    s->arms[i] = (arm_t){0, 0, 0, sqrt(s->variance_scale)};
  }
}

static int choose(void *state, const round_t *round, dice_t *dice) {
  const state_t *s = state;
  const arm_t *arms = s->arms;
  if (s->waiting > 0) {
    FOR_EACH_ARM(i, round) if (arms[i].n < s->prepulls) return i;
  }
  double best = -INFINITY;
  int choice = -1;
  FOR_EACH_ARM(i, round) {
    const double theta = arms[i].mean + arms[i].sd * sample_normal(&dice->policy);
    if (theta > best) best = theta, choice = i;
  }
  return choice;
}

static void observe(void *state, const round_t *round, int arm, double reward,
                    dice_t *dice) {
  (void)round, (void)dice;
  state_t *s = state;
  arm_t *a = &s->arms[arm];
  a->sum += reward;
  a->n += 1;
  if (a->n == s->prepulls) s->waiting -= 1;
  /* S / (n + 1), never a running mean: the + 1 carries the privacy (Lemma 3). */
  a->mean = a->sum / (a->n + 1);
  a->sd = sqrt(s->variance_scale / (a->n + 1));
}

const policy_t policy_ts_gaussian = {"ts_gaussian", PARAMS, size, init, choose, observe,
                                     NULL};
