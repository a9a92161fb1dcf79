/* Gaussian Thompson sampling: Ou, Avella Medina and Cummings (2024), Algorithm 2, which
   with prepulls = 0 and variance_scale = 1 is their Algorithm 1.

   1. Pull arm 1 b times, then arm 2 b times, ... (blocks in arm order).
   2. Draw theta_i ~ N(S_i / (n_i + 1), c / (n_i + 1)), pull the arm of the largest. */

#include "policy_ts_gaussian.h"
#include "sample.h"

static const char *const PARAMS[] = {"prepulls", "variance_scale", NULL};

static int leaves(int k) {
  int n = 1;
  while (n < k) n *= 2;
  return n;
}

static size_t size(const spec_t *spec) {
  return sizeof(ts_gaussian_t) + sizeof(ts_arm_t) * (size_t)spec->k +
         sizeof(double) * 2 * (size_t)leaves(spec->k);
}

static void init(void *state, const spec_t *spec) {
  ts_gaussian_t *s = state;
  s->prepulls = spec->par[PREPULLS];
  s->variance_scale = spec->par[VARIANCE_SCALE];
  s->waiting = s->prepulls > 0 ? spec->k : 0;
  s->k = spec->k;
  s->leaves = leaves(spec->k);
  s->block = (ts_block_t){.leader = -1};
  for (int i = 0; i < spec->k; i++) {
    s->arms[i] = (ts_arm_t){0, 0, 0, sqrt(s->variance_scale)};
  }
  for (int i = 0; i < 2 * s->leaves; i++) ts_tree(s)[i] = 0;
}

int ts_gaussian_choose(void *state, const round_t *round, dice_t *dice) {
  const ts_gaussian_t *s = state;
  const ts_arm_t *arms = s->arms;
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
  ts_gaussian_add(state, arm, reward, 1);
}

const policy_t policy_ts_gaussian = {"ts_gaussian",      PARAMS,  size,
                                     init,               ts_gaussian_choose,
                                     observe,            ts_gaussian_skip,
                                     &lanes_ts_gaussian};
