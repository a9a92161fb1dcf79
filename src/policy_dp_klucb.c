/* DP-KLUCB: Azize, Wu, Honda, Orabona, Ito and Basu (2025).

   Batches grow by `ratio`, nothing is forgotten: the private sum adds each batch's sum and
   one Lap(1 / epsilon). Pull the arm of the largest
   max{ y : d_epsilon(clip(mean), y) <= ln(t) / n }; of equals (many may be 1) that with the
   fewest pulls. */

#include "policy_batches.h"
#include "math_kl.h"

enum { EPSILON, RATIO, FIRST };
PARAMETERS(PARAMS, NEEDS("epsilon"), NEEDS("ratio"), NEEDS("first"));

static plan_t plan(const spec_t *spec) {
  const double *par = spec->par;
  return (plan_t){
      .first = par[FIRST], .ratio = par[RATIO], .how = {.kind = NOISE_LAPLACE, .scale = 1 / par[EPSILON]}};
}

static double index_of(const void *state, int arm, double ln_t) {
  const batches_t *s = state;
  const released_t *a = &s->arms[arm];
  return d_epsilon_upper(clip01(a->mean), ln_t / a->n, s->par[EPSILON]);
}

static const index_t ORDER = {.index = index_of, .alike = batches_alike, .rank = batches_rewards, .most = 1};

static int best_arm(const batches_t *s, const round_t *round) {
  return batches_best(s, round, &ORDER, log((double)round->t));
}

BATCH_POLICY(dp_klucb, NULL, 0)
