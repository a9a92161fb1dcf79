/* Beta Thompson sampling: lecture notes, Algorithm 1; Agrawal and Goyal (2012). */

#include <string.h>
#include "policy_ts_beta.h"
#include "sample.h"

enum { PRIOR_1, PRIOR_2 };
PARAMETERS(PARAMS, NEEDS("prior_1"), NEEDS("prior_2"));

/* Are many arms played by groups? Their draws need densities whose logarithm is concave. */
static int grouped(const spec_t *spec) {
  return spec->k >= ARM_GROUPS_FROM && spec->par[PRIOR_1] >= 1 && spec->par[PRIOR_2] >= 1;
}

static size_t size(const spec_t *spec) {
  return sizeof(ts_beta_t) + sizeof(beta_t) * (size_t)spec->k +
         thompson_size(spec->k, grouped(spec));
}

static void init(void *state, const spec_t *spec) {
  ts_beta_t *s = state;
  *s = (ts_beta_t){
      .k = spec->k, .prior_1 = spec->par[PRIOR_1], .prior_2 = spec->par[PRIOR_2]};
  for (int i = 0; i < spec->k; i++) s->arms[i] = (beta_t){s->prior_1, s->prior_2};
  thompson_init(ts_beta_thompson(s), spec->k, grouped(spec));
}

int ts_beta_choose(const void *state, const round_t *round, draws_t *draws) {
  const beta_t *arms = ((const ts_beta_t *)state)->arms;
  argmax_t best = ARGMAX;
  FOR_EACH_ARM(i, round) {
    argmax_add(&best, i, sample_beta(&draws->policy, arms[i].a, arms[i].b));
  }
  return argmax_arm(&best);
}

static void update(void *state, const feedback_t *feedback, draws_t *draws) {
  beta_t *a = &((ts_beta_t *)state)->arms[feedback->arm];
  const double coin = sample_coin(&draws->policy, feedback->reward);
  a->a += coin;
  a->b += 1 - coin;
}

/* Coins that showed 1 have the rewards' mean. */
static report_t report(const void *state, int arm) {
  const ts_beta_t *s = state;
  const double ones = s->arms[arm].a - s->prior_1, others = s->arms[arm].b - s->prior_2;
  return report_plain(round(ones + others), round(ones));
}

static void grow(void *state, const void *old, int k) {
  memcpy(((ts_beta_t *)state)->arms, ((const ts_beta_t *)old)->arms,
         sizeof(beta_t) * (size_t)k);
}

POLICY_OF(ts_beta, PARAMS, init, ts_beta_choose, .state_version = 3, .tosses = 1,
          .tosses_coins = 1, .update = update, .skip = ts_beta_skip, .report = report,
          .grow = grow);
