/* Beta Thompson sampling: lecture notes, Algorithm 1; Agrawal and Goyal (2012). */

#include <string.h>
#include "policy.h"
#include "sample.h"
#include "sample_beta_tail.h"
#include "skip_thompson_beta.h"

enum { PRIOR_1, PRIOR_2 };
PARAMETERS(PARAMS, NEEDS("prior_1"), NEEDS("prior_2"));

typedef struct {
  int64_t k;
  double prior_1, prior_2;
  beta_t arms[]; /* the posteriors of k arms; then a thompson_t */
} ts_beta_t;

static thompson_t *thompson_of(const ts_beta_t *s) { return (thompson_t *)(s->arms + s->k); }

/* Are many arms played by groups? Their draws need log-concave densities. */
static int grouped(const spec_t *spec) {
  return spec->k >= ARM_GROUPS_FROM && spec->par[PRIOR_1] >= 1 && spec->par[PRIOR_2] >= 1;
}

static size_t size(const spec_t *spec) {
  return sizeof(ts_beta_t) + sizeof(beta_t) * (size_t)spec->k + thompson_size(spec->k, grouped(spec));
}

static void init(void *state, const spec_t *spec) {
  ts_beta_t *s = state;
  *s = (ts_beta_t){.k = spec->k, .prior_1 = spec->par[PRIOR_1], .prior_2 = spec->par[PRIOR_2]};
  for (int i = 0; i < spec->k; i++) s->arms[i] = (beta_t){s->prior_1, s->prior_2};
  thompson_init(thompson_of(s), spec->k, grouped(spec));
}

static int choose(const void *state, const round_t *round, draws_t *draws) {
  const beta_t *arms = ((const ts_beta_t *)state)->arms;
  argmax_t best = ARGMAX;
  FOR_EACH_ARM(i, round) { argmax_add(&best, i, sample_beta(&draws->policy, arms[i].a, arms[i].b)); }
  return argmax_arm(&best);
}

static void update(void *state, const feedback_t *feedback, draws_t *draws) {
  beta_t *a = &((ts_beta_t *)state)->arms[feedback->arm];
  const double coin = sample_coin(&draws->policy, feedback->reward);
  a->a += coin;
  a->b += 1 - coin;
}

/* The number of ones, which has the expectation of the rewards' sum. */
static report_t report(const void *state, int arm) {
  const ts_beta_t *s = state;
  const double ones = s->arms[arm].a - s->prior_1, others = s->arms[arm].b - s->prior_2;
  return report_plain(round(ones + others), round(ones));
}

static void grow(void *state, const void *old, int k) {
  memcpy(((ts_beta_t *)state)->arms, ((const ts_beta_t *)old)->arms, sizeof(beta_t) * (size_t)k);
}

/* ---- skipping -------------------------------------------------------------------------

   See skip_thompson.h. Posteriors do not drift, and between two pulls of an arm the probability of
   theta_j > level does not change. That of theta_l < level stays below a bound: the logarithm of its
   Chernoff bound grows by at most its slope with each reward of 0 and decreases with each reward of 1, so
   its distance from the logarithm of the bound gives a number of rounds. */

#define MARGIN 1e-6 /* for rounding errors of logarithms, at any horizon */

static posterior_t of(const void *policy, int arm, double drift) {
  (void)drift;
  const beta_t *a = &((const ts_beta_t *)policy)->arms[arm];
  return (posterior_t){a->a, a->b};
}

static double bound(const void *policy, const thompson_t *block, int arm) {
  const posterior_t p = of(policy, arm, 0);
  return beta_mean(p) < block->level ? beta_below(p.y, p.x, 1 - block->level) : 1;
}

static double safe(const void *policy, const thompson_t *block, const player_t *player) {
  (void)player;
  const posterior_t p = of(policy, block->leader, 0);
  if (beta_mean(p) <= block->level) return 0;
  const double left = log(block->own) - MARGIN - beta_log_bound(p.x, p.y, block->level);
  /* The slope for a reward of 0; from here on it only decreases. */
  const double slope = log((1 - block->level) * (p.x + p.y) / p.y);
  const double rounds = fmin(floor(left / slope), 0x1p53);
  if (left < 0 || rounds < 2) return 0;
  return p.x + p.y > 1.5 * block->n ? -1 : rounds;
}

static int meet(const void *policy, const thompson_t *block, candidate_t *c, rng_t *rng) {
  (void)rng;
  if (c->event != block->leader) return 1;
  /* u is uniform below the bound; the true probability is seldom needed. */
  const posterior_t p = of(policy, c->event, 0);
  return c->u < exp(beta_log_bound(p.x, p.y, c->level) + MARGIN) && c->u < beta_below(p.x, p.y, c->level);
}

static double draw(const void *policy, const thompson_t *block, int arm, const candidate_t *c, rng_t *rng) {
  const posterior_t p = of(policy, arm, 0);
  return arm != c->event        ? sample_beta(rng, p.x, p.y)
         : arm == block->leader ? 1 - sample_beta_above(rng, p.y, p.x, 1 - c->level)
                                : sample_beta_above(rng, p.x, p.y, c->level);
}

static int pull(void *policy, player_t *player, int arm, int64_t n, draws_t *draws) {
  beta_t *a = &((ts_beta_t *)policy)->arms[arm];
  const double ones = player_pull_coins(player, arm, n, &draws->policy);
  a->a += ones;
  a->b += (double)n - ones;
  return 1;
}

THOMPSON(.family = &BETA, .dense = 0.2, .rest = 32, .share = 0.1, .pause = 8, .farther = 1, .choose = choose,
         .pull = pull, .of = of, .open = thompson_open_beta, .bound = bound, .safe = safe, .meet = meet,
         .draw = draw);

static void skip(void *state, player_t *player, draws_t *draws) {
  ts_beta_t *s = state;
  thompson_skip(&KIND, s, thompson_of(s), player, draws);
}

static int sound(const void *state, const void *fresh) {
  const ts_beta_t *s = state, *f = fresh;
  return SAME(k);
}

POLICY(ts_beta, .state_version = 3, .tosses = 1, .tosses_coins = 1, .update = update, .skip = skip,
       .report = report, .grow = grow, .sound = sound);
