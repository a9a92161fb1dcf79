/* Always the same arm: a baseline for replays. Where the arm is not on offer, the first that
   is. */

#include "policy.h"

static const char *const PARAMS[] = {"arm", NULL};

static size_t size(const spec_t *spec) {
  (void)spec;
  return sizeof(double);
}

static void init(void *state, const spec_t *spec) {
  *(double *)state = spec->par[0] - 1;
}

static int choose(void *state, const round_t *round, dice_t *dice) {
  (void)dice;
  const int arm = (int)*(double *)state;
  FOR_EACH_ARM(i, round) if (i == arm) return arm;
  return round->pool ? round->pool[0] : 0;
}

static void observe(void *state, const round_t *round, int arm, double reward,
                    dice_t *dice) {
  (void)state, (void)round, (void)arm, (void)reward, (void)dice;
}

const policy_t policy_fixed = {"fixed", PARAMS, size, init, choose, observe, NULL};
