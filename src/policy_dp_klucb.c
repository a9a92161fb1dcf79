/* DP-KLUCB: Azize, Wu, Honda, Orabona, Ito and Basu (2025).

   Batches grow by `ratio`, nothing is forgotten: the private sum adds each batch's sum and
   one Lap(1 / epsilon). Pull the arm of the largest
   max{ y : d_epsilon(clip(mean), y) <= ln(t) / n }; of equals (many may be 1) that with the
   fewest pulls. */

#include "batches.h"
#include "kl.h"

enum { EPSILON, RATIO, FIRST };
static const char *const PARAMS[] = {"epsilon", "ratio", "first", NULL};

static plan_t plan(const double *par) {
  return (plan_t){.first = par[FIRST], .ratio = par[RATIO], .law = NOISE_LAPLACE,
                  .scale = 1 / par[EPSILON]};
}

static int best(const batches_t *s, const round_t *round) {
  const double log_t = log((double)round->t);
  double highest = -INFINITY;
  int choice = -1;
  FOR_EACH_ARM(i, round) {
    const batch_arm_t *a = &s->arms[i];
    const double index = d_epsilon_upper(clip01(a->mean), log_t / a->n, s->par[EPSILON]);
    if (index > highest || (index == highest && a->n < s->arms[choice].n)) {
      highest = index, choice = i;
    }
  }
  return choice;
}

BATCH_POLICY(dp_klucb, PARAMS)
