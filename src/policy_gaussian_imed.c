/* Gaussian IMED: an index that knows its own noise, under Gaussian DP.

   Pull each arm `first` times, then in batches that grow by `ratio`; nothing is forgotten: the
   private sum of n rewards in B batches has noise N(0, B / mu^2). With x = clip(sum / n)
   and x* the highest of them, pull the arm of the least
   inf over z in [x, x*] of n^2 mu^2 (z - x)^2 / (2 B) + n kl(z, x*)  +  ln(n).

   by_variance: batches are weighted by their inverse variance, and n in the index becomes what
   the mean is worth. tail: the noise's tail probability in place of its rate, see
   kl_blurred(). leader: growth of an arm's pulls while its mean is the highest, else ratio. All
   only process what was released. */

#include "batches.h"
#include "kl.h"

enum { MU, RATIO, FIRST, BY_VARIANCE, INDEX, LEADER, CORRELATION, SAFETY };
enum { RATE, TAIL, TOTAL };
static const char *const PARAMS[] = {"mu",     "ratio",       "first",  "by_variance", "index",
                                     "leader", "correlation", "safety", NULL};

static plan_t plan(const double *par) {
  return (plan_t){.first = par[FIRST], .ratio = par[RATIO], .leader = par[LEADER],
                  .law = NOISE_GAUSSIAN, .scale = 1 / par[MU],
                  .by_variance = par[BY_VARIANCE] == 1, .correlation = par[CORRELATION]};
}

static int best(const batches_t *s, const round_t *round) {
  double top = 0, lowest = INFINITY;
  int choice = -1;
  FOR_EACH_ARM(i, round) top = fmax(top, clip01(s->arms[i].mean));
  FOR_EACH_ARM(i, round) {
    const batch_arm_t *a = &s->arms[i];
    const double sd = a->spread * s->plan.scale;
    const blur_t blur = {NOISE_GAUSSIAN, sd, a->terms, s->par[INDEX] == TAIL};
    const double rate = kl_blurred(clip01(a->mean), top, a->m, &blur);
    double index = rate + log(a->m);
    if (s->par[INDEX] == TOTAL) {
      const double significance = tail_of_rate(rate);
      index = fmax(0, significance - s->par[SAFETY] * log1p(significance)) -
              log(1 / a->m + 4 * a->terms * sd * sd);
    }
    if (index < lowest) lowest = index, choice = i;
  }
  return choice;
}

BATCH_POLICY(gaussian_imed, PARAMS)
