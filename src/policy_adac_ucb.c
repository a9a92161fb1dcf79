/* AdaC-UCB: Azize and Basu (2023). The episodes of AdaP-UCB with Gaussian noise, under
   rho-zCDP, rho = mu^2 / 2: the sum of an episode gets N(0, 1 / (2 rho)), and the index is
   mean + sqrt(beta ln(t) (1 / (2 m) + 1 / (rho m^2))). */

#include "batches.h"

enum { MU, BETA };
static const char *const PARAMS[] = {"mu", "beta", NULL};

static plan_t plan(const double *par) {
  return (plan_t){.first = 1, .ratio = 2, .law = NOISE_GAUSSIAN, .scale = 1 / par[MU],
                  .forget = 1};
}

static int best(const batches_t *s, const round_t *round) {
  const double rho = s->par[MU] * s->par[MU] / 2;
  const double confidence = s->par[BETA] * log((double)round->t);
  double highest = -INFINITY;
  int choice = -1;
  FOR_EACH_ARM(i, round) {
    const double m = s->arms[i].m;
    const double index =
        s->arms[i].mean + sqrt(confidence * (1 / (2 * m) + 1 / (rho * m * m)));
    if (index > highest) highest = index, choice = i;
  }
  return choice;
}

BATCH_POLICY(adac_ucb, PARAMS)
