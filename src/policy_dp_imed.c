/* DP-IMED: Azize, Wu, Honda, Orabona, Ito and Basu (2025).

   The batches of DP-KLUCB. Pull the arm of the least
   n d_epsilon(clip(mean), highest clip(mean)) + ln(n).

   index 1 and 2 (ours): in place of n d_epsilon, which allows for one noise variable, the rate
   or the tail of the noise that is really there, see kl_blurred(). by_variance (ours): batches
   are weighted by their inverse variance, and n becomes what the mean is worth. leader (ours):
   growth of an arm's pulls while its mean is the highest, else ratio. All only process what
   was released, so privacy is the same. */

#include "batches.h"
#include "kl.h"

enum { EPSILON, RATIO, FIRST, BY_VARIANCE, INDEX, LEADER };
enum { DIVERGENCE, RATE, TAIL };
static const char *const PARAMS[] = {"epsilon", "ratio", "first", "by_variance", "index",
                                     "leader", NULL};

static plan_t plan(const double *par) {
  return (plan_t){.first = par[FIRST], .ratio = par[RATIO], .leader = par[LEADER],
                  .law = NOISE_LAPLACE, .scale = 1 / par[EPSILON],
                  .by_variance = par[BY_VARIANCE] == 1};
}

static int best(const batches_t *s, const round_t *round) {
  const int kind = (int)s->par[INDEX];
  double top = 0, lowest = INFINITY;
  int choice = -1;
  FOR_EACH_ARM(i, round) top = fmax(top, clip01(s->arms[i].mean));
  FOR_EACH_ARM(i, round) {
    const batch_arm_t *a = &s->arms[i];
    const blur_t blur = {NOISE_LAPLACE, a->spread * s->plan.scale, a->terms, kind == TAIL};
    const double x = clip01(a->mean);
    const double gap = kind == DIVERGENCE ? a->m * d_epsilon(x, top, s->par[EPSILON])
                                          : kl_blurred(x, top, a->m, &blur);
    const double index = gap + log(a->m);
    if (index < lowest) lowest = index, choice = i;
  }
  return choice;
}

BATCH_POLICY(dp_imed, PARAMS)
