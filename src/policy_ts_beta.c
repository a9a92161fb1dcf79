/* Beta Thompson sampling: lecture notes, Algorithm 1; Agrawal and Goyal (2012). */

#include <math.h>
#include "policy.h"
#include "sample.h"

enum { PRIOR_1, PRIOR_2 };
static const char *const PARAMS[] = {"prior_1", "prior_2", NULL};

typedef struct {
  double a, b; /* the posterior is Beta(a, b) */
} arm_t;

static size_t size(const spec_t *spec) { return sizeof(arm_t) * (size_t)spec->k; }

static void init(void *state, const spec_t *spec) {
  arm_t *arms = state;
  for (int i = 0; i < spec->k; i++) {
    arms[i] = (arm_t){spec->par[PRIOR_1], spec->par[PRIOR_2]};
  }
}

static int choose(void *state, const round_t *round, dice_t *dice) {
  const arm_t *arms = state;
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
  arm_t *a = (arm_t *)state + arm;
  const double coin = sample_coin(&dice->policy, reward);
  a->a += coin;
  a->b += 1 - coin;
}

const policy_t policy_ts_beta = {"ts_beta", PARAMS, size, init, choose, observe, NULL};
