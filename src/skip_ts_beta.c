/* Beta Thompson sampling, as skip_thompson.h asks for it: posteriors do not drift, and between two pulls of
   an arm the chances of theta_j > level are what they were. That of theta_l < level is kept below a bound:
   Chernoff's bound of it grows by at most its slope with each reward of 0 and falls with each of 1, so a
   distance to the bound in logarithms is a number of safe rounds. */

#include "policy_ts_beta.h"
#include "sample.h"

#define MARGIN 1e-6 /* for rounding, in logarithms, at any horizon */

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
  const double room = log(block->own) - MARGIN - beta_log_bound(p.x, p.y, block->level);
  /* Slope of the bound for a reward of 0; it only falls from here on. */
  const double slope = log((1 - block->level) * (p.x + p.y) / p.y);
  const double rounds = fmin(floor(room / slope), 0x1p53);
  if (room < 0 || rounds < 2) return 0;
  return p.x + p.y > 1.5 * block->n ? -1 : rounds;
}

static int meet(const void *policy, const thompson_t *block, candidate_t *c, rng_t *rng) {
  (void)rng;
  if (c->event != block->leader) return 1;
  /* u is uniform below the bound; the true chance is seldom needed. */
  const posterior_t p = of(policy, c->event, 0);
  return c->u < exp(beta_log_bound(p.x, p.y, c->level) + MARGIN) &&
         c->u < beta_below(p.x, p.y, c->level);
}

static double draw(const void *policy, const thompson_t *block, int arm,
                   const candidate_t *c, rng_t *rng) {
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

THOMPSON(.family = &BETA, .dense = 0.2, .rest = 32, .share = 0.1, .pause = 8, .farther = 1,
         .choose = ts_beta_choose, .pull = pull, .of = of, .open = thompson_open_beta,
         .bound = bound, .safe = safe, .meet = meet, .draw = draw);

void ts_beta_skip(void *state, player_t *player, draws_t *draws) {
  ts_beta_t *s = state;
  thompson_skip(&KIND, s, ts_beta_thompson(s), player, draws);
}
