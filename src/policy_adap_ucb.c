/* AdaP-UCB: Azize and Basu (2022), Algorithm 1.

   Play each arm once. At the start t of an episode pull the arm of the largest
   mean + sqrt(alpha ln(2 t) / (2 m)) + alpha ln(t) / (epsilon m) until its pulls have
   doubled. The mean is that of the m rewards of the arm's last episode, half of all its
   pulls, and has the noise of one Lap(1 / epsilon) on their sum. */

#include "batches.h"

enum { EPSILON, ALPHA };
static const param_t PARAMS[] = {{"epsilon", REQUIRED}, {"alpha", REQUIRED}, {NULL}};

static plan_t plan(const spec_t *spec) {
  const double *par = spec->par;
  return (plan_t){.first = 1,
                  .ratio = 2,
                  .kind = NOISE_LAPLACE,
                  .scale = 1 / par[EPSILON],
                  .forget = 1};
}

static int best_arm(const batches_t *s, const round_t *round) {
  const double alpha = s->par[ALPHA], epsilon = s->par[EPSILON], t = (double)round->t;
  argmax_t best = ARGMAX;
  FOR_EACH_ARM(i, round) {
    const batch_arm_t *a = &s->arms[i];
    const double index =
        a->mean + sqrt(alpha * log(2 * t) / (2 * a->m)) + alpha * log(t) / (epsilon * a->m);
    argmax_add(&best, i, index);
  }
  return argmax_arm(&best);
}

BATCH_POLICY(adap_ucb, NULL)
