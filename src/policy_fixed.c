/* Always the same arm: a baseline for replays. Where the arm is not on offer, the first that is. */

#include "policy.h"

enum { ARM };
PARAMETERS(PARAMS, NEEDS("arm"));

static size_t size(const spec_t *spec) {
  (void)spec;
  return sizeof(int64_t);
}

static void init(void *state, const spec_t *spec) { *(int64_t *)state = (int64_t)spec->par[ARM] - 1; }

static int choose(const void *state, const round_t *round, draws_t *draws) {
  (void)draws;
  const int arm = (int)*(const int64_t *)state;
  FOR_EACH_ARM(i, round) if (i == arm) return arm;
  return round->offer[0];
}

static void grow(void *state, const void *old, int k) { (void)state, (void)old, (void)k; }

POLICY(fixed, .state_version = 1, .grow = grow);
