/* The baseline: every arm on offer with the same chance. */

#include "policy.h"

static const char *const PARAMS[] = {NULL};

static size_t size(const spec_t *spec) {
  (void)spec;
  return sizeof(double);
}

static void init(void *state, const spec_t *spec) {
  (void)spec;
  *(double *)state = 0;
}

static int choose(void *state, const round_t *round, dice_t *dice) {
  (void)state;
  const int at = rng_below(&dice->policy, round->n_pool);
  return round->pool ? round->pool[at] : at;
}

static void observe(void *state, const round_t *round, int arm, double reward,
                    dice_t *dice) {
  (void)state, (void)round, (void)arm, (void)reward, (void)dice;
}

const policy_t policy_uniform = {"uniform", PARAMS, size, init, choose, observe, NULL};
