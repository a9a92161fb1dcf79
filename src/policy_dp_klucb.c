/* DP-KLUCB: Azize, Wu, Honda, Orabona, Ito and Basu (2025).

   Batches grow by `ratio`, nothing is forgotten: the private sum adds each batch's sum and
   one Lap(1 / epsilon). Pull the arm of the largest
   max{ y : d_epsilon(clip(mean), y) <= ln(t) / n }; of equals (many may be 1) that with the
   fewest pulls. */

#include "batches.h"
#include "kl.h"

enum { EPSILON, RATIO, FIRST };
static const param_t PARAMS[] = {
    {"epsilon", REQUIRED}, {"ratio", REQUIRED}, {"first", REQUIRED}, {NULL}};

static plan_t plan(const spec_t *spec) {
  const double *par = spec->par;
  return (plan_t){.first = par[FIRST],
                  .ratio = par[RATIO],
                  .kind = NOISE_LAPLACE,
                  .scale = 1 / par[EPSILON]};
}

static int best_arm(const batches_t *s, const round_t *round) {
  const double ln_t = log((double)round->t);
  argmax_t best = ARGMAX;
  FOR_EACH_ARM(i, round) {
    const batch_arm_t *a = &s->arms[i];
    const double index = d_epsilon_upper(clip01(a->mean), ln_t / a->n, s->par[EPSILON]);
    if (best.arm >= 0 && index == best.value && a->n < s->arms[best.arm].n) best.arm = i;
    argmax_add(&best, i, index);
  }
  return argmax_arm(&best);
}

BATCH_POLICY(dp_klucb, NULL)
