/* Beta Thompson sampling: lecture notes, Algorithm 1; Agrawal and Goyal (2012). */

#include "policy_ts_beta.h"
#include "sample.h"

enum { PRIOR_1, PRIOR_2 };
static const char *const PARAMS[] = {"prior_1", "prior_2", NULL};

static size_t size(const spec_t *spec) {
  return sizeof(ts_beta_t) + sizeof(tb_arm_t) * (size_t)spec->k;
}

static void init(void *state, const spec_t *spec) {
  ts_beta_t *s = state;
  *s = (ts_beta_t){.k = spec->k, .leader = -1};
  for (int i = 0; i < spec->k; i++) {
    s->arms[i] = (tb_arm_t){spec->par[PRIOR_1], spec->par[PRIOR_2], 0};
  }
}

int ts_beta_choose(void *state, const round_t *round, dice_t *dice) {
  const tb_arm_t *arms = ((const ts_beta_t *)state)->arms;
  double best = -1;
  int choice = -1;
  FOR_EACH_ARM(i, round) {
    const double theta = sample_beta(&dice->policy, arms[i].a, arms[i].b);
    if (theta > best || choice < 0) best = theta, choice = i;
  }
  return choice;
}

static void observe(void *state, const round_t *round, int arm, double reward,
                    dice_t *dice) {
  (void)round;
  tb_arm_t *a = &((ts_beta_t *)state)->arms[arm];
  const double coin = sample_coin(&dice->policy, reward);
  a->a += coin;
  a->b += 1 - coin;
}

const policy_t policy_ts_beta = {"ts_beta",      PARAMS,  size,        init,
                                 ts_beta_choose, observe, ts_beta_skip, NULL};
