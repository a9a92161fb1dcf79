/* Beta Thompson sampling: lecture notes, Algorithm 1; Agrawal and Goyal (2012). */

#include "policy_ts_beta.h"
#include "sample.h"

enum { PRIOR_1, PRIOR_2 };
static const param_t PARAMS[] = {{"prior_1", REQUIRED}, {"prior_2", REQUIRED}, {NULL}};

static size_t size(const spec_t *spec) {
  const double *prior = spec->par;
  const size_t groups = ts_beta_has_groups(spec->k, prior[PRIOR_1], prior[PRIOR_2])
                            ? beta_groups_size(spec->k)
                            : 0;
  return sizeof(ts_beta_t) + sizeof(tb_arm_t) * (size_t)spec->k + groups;
}

static void init(void *state, const spec_t *spec) {
  ts_beta_t *s = state;
  *s = (ts_beta_t){.k = spec->k,
                   .leader = -1,
                   .prior_1 = spec->par[PRIOR_1],
                   .prior_2 = spec->par[PRIOR_2]};
  for (int i = 0; i < spec->k; i++) {
    s->arms[i] = (tb_arm_t){s->prior_1, s->prior_2, 0};
  }
  if (ts_beta_groups(s)) beta_groups_init(ts_beta_groups(s), s->k);
}

int ts_beta_choose(const void *state, const round_t *round, draws_t *draws) {
  const tb_arm_t *arms = ((const ts_beta_t *)state)->arms;
  argmax_t best = ARGMAX;
  FOR_EACH_ARM(i, round) {
    argmax_add(&best, i, sample_beta(&draws->policy, arms[i].a, arms[i].b));
  }
  return argmax_arm(&best);
}

static void update(void *state, const feedback_t *feedback, draws_t *draws) {
  tb_arm_t *a = &((ts_beta_t *)state)->arms[feedback->arm];
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

const policy_t policy_ts_beta = {.name = "ts_beta",
                                 .params = PARAMS,
                                 .state_version = 2,
                                 .size = size,
                                 .init = init,
                                 .choose = ts_beta_choose,
                                 .update = update,
                                 .skip = ts_beta_skip,
                                 .report = report};
