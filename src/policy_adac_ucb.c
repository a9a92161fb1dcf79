/* AdaC-UCB: Azize and Basu (2023). The episodes of AdaP-UCB with Gaussian noise, under
   rho-zCDP, rho = mu^2 / 2: the sum of an episode gets N(0, 1 / (2 rho)), and the index is
   mean + sqrt(beta ln(t) (1 / (2 m) + 1 / (rho m^2))). */

#include "batches.h"

enum { MU, BETA };
static const param_t PARAMS[] = {{"mu", REQUIRED}, {"beta", REQUIRED}, {NULL}};

static plan_t plan(const spec_t *spec) {
  const double *par = spec->par;
  return (plan_t){
      .first = 1, .ratio = 2, .kind = NOISE_GAUSSIAN, .scale = 1 / par[MU], .forget = 1};
}

static int best_arm(const batches_t *s, const round_t *round) {
  const double rho = s->par[MU] * s->par[MU] / 2;
  const double confidence = s->par[BETA] * log((double)round->t);
  argmax_t best = ARGMAX;
  FOR_EACH_ARM(i, round) {
    const double m = s->arms[i].m;
    const double index =
        s->arms[i].mean + sqrt(confidence * (1 / (2 * m) + 1 / (rho * m * m)));
    argmax_add(&best, i, index);
  }
  return argmax_arm(&best);
}

BATCH_POLICY(adac_ucb, NULL)
