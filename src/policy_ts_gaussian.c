/* Gaussian Thompson sampling: Ou, Avella Medina and Cummings (2024), Algorithm 2, which
   with prepulls = 0 and variance_scale = 1 is their Algorithm 1.

   1. Pull arm 1 b times, then arm 2 b times, ... (blocks in arm order).
   2. Draw theta_i ~ N(S_i / (n_i + 1), c / (n_i + 1)), pull the arm of the largest.

   Late rewards: n_i counts pulls, and a reward that is out counts as 1/2 in S_i. At once, this
   is the paper's algorithm; late, a reward still moves a mean by at most 1 / (n_i + 1).

   The filter (ours; fully adaptive composition of Gaussian DP, Smith and Thakurta 2022): a
   draw costs each arm on offer of which something was learned 1 / (c (n_i + 1)), the squared mu of
   its draw. A draw is made only if no arm has then paid more than mu^2. From the first round
   in which one would, the arm on offer that was pulled most is played, for ever: its pulls are
   published, so that costs nothing. */

#include <string.h>
#include "policy_ts_gaussian.h"
#include "sample.h"

PARAMETERS(PARAMS, NEEDS("prepulls"), NEEDS("variance_scale"), NEEDS("filter"));

static size_t size(const spec_t *spec) {
  return sizeof(ts_gaussian_t) + sizeof(ts_arm_t) * (size_t)spec->k +
         thompson_size(spec->k, spec->k >= ARM_GROUPS_FROM);
}

static void init(void *state, const spec_t *spec) {
  ts_gaussian_t *s = state;
  const double mu = spec->par[FILTER];
  *s = (ts_gaussian_t){.prepulls = spec->par[PREPULLS],
                       .variance_scale = spec->par[VARIANCE_SCALE],
                       .filter = mu * mu,
                       .waiting = spec->par[PREPULLS] > 0 ? spec->k : 0,
                       .k = spec->k};
  for (int i = 0; i < spec->k; i++) {
    s->arms[i] = (ts_arm_t){.sd = sqrt(s->variance_scale)};
  }
  thompson_init(ts_thompson(s), s->k, s->k >= ARM_GROUPS_FROM);
}

/* ---- the filter --------------------------------------------------------------------- */

/* What a draw costs an arm: nothing before any of its rewards is used. */
static double price(const ts_gaussian_t *s, const ts_arm_t *a) {
  return a->n > 0 ? 1 / (s->variance_scale * (a->m + 1)) : 0;
}

/* Is there a draw in this round, and may it be made? One arm alone needs none. */
static int may_draw(const ts_gaussian_t *s, const round_t *round) {
  if (s->spent) return 0;
  if (round->n_offer == 1) return 1;
  FOR_EACH_ARM(i, round) {
    if (s->arms[i].paid + price(s, &s->arms[i]) > s->filter) return 0;
  }
  return 1;
}

static int most_pulled(const round_t *round) {
  int choice = round->offer[0];
  FOR_EACH_ARM(i, round) {
    if (round->pulls[i] > round->pulls[choice]) choice = i;
  }
  return choice;
}

/* ---- the policy --------------------------------------------------------------------- */

/* The arm whose pre-pulls come next, or -1. */
static int prepull(const ts_gaussian_t *s, const round_t *round) {
  if (s->waiting == 0) return -1;
  if (round_is_full(round)) return s->opened;
  FOR_EACH_ARM(i, round) if (s->arms[i].m < s->prepulls) return i;
  return -1;
}

int ts_gaussian_choose(const void *state, const round_t *round, draws_t *draws) {
  const ts_gaussian_t *s = state;
  const ts_arm_t *arms = s->arms;
  const int first = prepull(s, round);
  if (first >= 0) return first;
  if (s->filter < INFINITY && !may_draw(s, round)) return most_pulled(round);
  argmax_t best = ARGMAX;
  FOR_EACH_ARM(i, round) {
    argmax_add(&best, i, arms[i].mean + arms[i].sd * sample_normal(&draws->policy));
  }
  return argmax_arm(&best);
}

/* The round's draw is paid for when its choice is played. */
void ts_gaussian_pay(ts_gaussian_t *s, const round_t *round) {
  if (s->filter == INFINITY || prepull(s, round) >= 0 || round->n_offer == 1) return;
  if (!may_draw(s, round)) {
    s->spent = 1;
    return;
  }
  FOR_EACH_ARM(i, round) s->arms[i].paid += price(s, &s->arms[i]);
}

static int64_t commit(void *state, const round_t *round, int arm, draws_t *draws) {
  (void)draws;
  ts_gaussian_t *s = state;
  ts_gaussian_pay(s, round);
  ts_gaussian_assign(s, arm, 1);
  ts_gaussian_renew(s, &s->arms[arm]);
  return 0;
}

static void update(void *state, const feedback_t *feedback, draws_t *draws) {
  (void)draws;
  ts_gaussian_t *s = state;
  ts_arm_t *a = &s->arms[feedback->arm];
  a->sum += feedback->reward;
  a->n += 1;
  ts_gaussian_renew(s, a);
}

static double charged(const void *state) {
  const ts_gaussian_t *s = state;
  if (!(s->filter < INFINITY)) return NAN;
  double most = 0;
  for (int i = 0; i < s->k; i++) most = fmax(most, s->arms[i].paid);
  return most;
}

static void grow(void *state, const void *of_old, int k) {
  ts_gaussian_t *s = state;
  const ts_gaussian_t *old = of_old;
  s->waiting += old->waiting - (s->prepulls > 0 ? k : 0);
  s->opened = old->opened;
  s->spent = old->spent;
  memcpy(s->arms, old->arms, sizeof *s->arms * (size_t)k);
}

POLICY_OF(ts_gaussian, PARAMS, init, ts_gaussian_choose, .state_version = 4, .tosses = 1,
          .commit = commit, .update = update, .skip = ts_gaussian_skip,
          .lanes = &lanes_ts_gaussian, .charged = charged, .grow = grow);
