/* The baseline: every arm on offer with the same chance. */

#include "policy.h"

static const param_t PARAMS[] = {{.name = NULL}};

static size_t size(const spec_t *spec) {
  (void)spec;
  return sizeof(double);
}

static void init(void *state, const spec_t *spec) {
  (void)spec;
  *(double *)state = 0;
}

static int choose(const void *state, const round_t *round, draws_t *draws) {
  (void)state;
  return round->offer[rng_below(&draws->policy, round->n_offer)];
}

static void probability(const void *state, const round_t *round, double *p) {
  (void)state;
  FOR_EACH_ARM(i, round) p[i] = 1.0 / round->n_offer;
}

/* It knows nothing. */
static void grow(void *state, const void *old, int k) { (void)state, (void)old, (void)k; }

POLICY(uniform, .state_version = 1, .tosses = 1, .probability = probability, .grow = grow);
