/* AdaP-KLUCB: Azize and Basu (2022), section 5. The episodes of AdaP-UCB; the index is
   max{ q : kl(shifted, q) <= alpha ln(t) / m }, with
   shifted = clip(mean + alpha ln(t) / (epsilon m)) to [0, 1]. Many arms may have index 1 at
   once; of equals the one with the fewest pulls is taken. */

#include "policy_batches.h"
#include "math_kl.h"

enum { EPSILON, ALPHA };
PARAMETERS(PARAMS, NEEDS("epsilon"), NEEDS("alpha"));

static plan_t plan(const spec_t *spec) {
  const double *par = spec->par;
  return (plan_t){
      .first = 1, .ratio = 2, .how = {.kind = NOISE_LAPLACE, .scale = 1 / par[EPSILON], .forget = 1}};
}

static double index_of(const void *state, int arm, double confidence) {
  const batches_t *s = state;
  const released_t *a = &s->arms[arm];
  const double shifted = clip01(a->mean + confidence / (s->par[EPSILON] * a->m));
  return kl_upper(shifted, confidence / a->m);
}

static const index_t ORDER = {.index = index_of, .alike = batches_alike, .rank = batches_rewards, .most = 1};

static int best_arm(const batches_t *s, const round_t *round) {
  return batches_best(s, round, &ORDER, s->par[ALPHA] * log((double)round->t));
}

BATCH_POLICY(adap_klucb, NULL, 0)
