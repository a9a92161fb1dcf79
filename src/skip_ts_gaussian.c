/* Gaussian Thompson sampling, as skip_thompson.h asks for it.

   While the mean of the leader l stays above a level (and its variance only falls),

     P(theta_j > theta_l) <= bound_j = Q((level - mean_j) / sqrt(var_l + var_j)).

   How far a stretch may go: rewards are at least 0, so after r pulls of l its mean is at
   least S / (n + 1 + r), above the level for r <= S / level - n - 1. New rewards push that
   limit on: bounds hold until the mean of l has drifted.

   The groups (skip_arm_groups.h) look for thetas above a level c, of which there are few: each is with
   chance Q((c - mean_i) / sd_i). */

#include "policy_ts_gaussian.h"
#include "sample.h"

#define ROUNDS 32 /* in one call of skip() where they are played one by one */

/* What rounding may add to a bound, relative: arguments of exp stay below 750, so its
   error is below 1e-12. */
#define MARGIN (1 + 1e-10)

static double upper_tail(double z) { return 0.5 * erfc(z * M_SQRT1_2); }

/* Sampford's (1953) bound of the normal tail for z >= 0, 2 % above it at z = 1 and
   closer further out. */
static double upper_tail_bound(double z) {
  return 0.3989422804014327 * exp(-0.5 * z * z) * 4 / (3 * z + sqrt(z * z + 8)) * MARGIN;
}

/* ---- the posteriors ------------------------------------------------------------------ */

static posterior_t of(const void *policy, int arm, double drift) {
  (void)drift;
  const ts_arm_t *a = &((const ts_gaussian_t *)policy)->arms[arm];
  return (posterior_t){a->mean, a->sd};
}

/* The slope by Sampford's (1953) bound of the normal hazard */
static arm_above_t above(posterior_t p, double c) {
  const double z = (c - p.x) / p.y, chance = upper_tail(z);
  return (arm_above_t){chance,
                       z > -1 ? chance / p.y * 0.25 * (3 * z + sqrt(z * z + 8)) : 0};
}

static double draw_above(posterior_t p, double c, rng_t *rng) {
  return p.x + p.y * sample_normal_above(rng, (c - p.x) / p.y);
}

static double draw_below(posterior_t p, double c, rng_t *rng) {
  return p.x - p.y * sample_normal_above(rng, (p.x - c) / p.y);
}

static double as_it_is(double level) { return level; }

static const family_t NORMAL = {as_it_is, above, draw_above, draw_below};

/* ---- the block ---------------------------------------------------------------------- */

/* A bound needs level >= mean_j: below that a smaller variance does not help. */
static double bound(const void *policy, const thompson_t *block, int j) {
  const ts_gaussian_t *s = policy;
  const double var = s->arms[j].sd * s->arms[j].sd + s->most_var;
  const double gap = block->level - s->arms[j].mean;
  return gap < 0 ? 1 : upper_tail_bound(gap / sqrt(var));
}

/* Choose the slack x / kappa between the leader's mean and the level. Over it, bounds grow
   by about exp(x), kappa = max_j z_j / sd_j, and a stretch takes n slack / mean rounds;
   candidates and stretches together are fewest where x^2 exp(x) = kappa mean / (n P). */
static double best_slack(double kappa, double mean, double n, double chance) {
  const double y = 0.5 * sqrt(kappa * mean / (n * chance + 1e-300));
  const double log1 = log1p(y); /* Lambert's W: x = 2 W(y) */
  const double x = 2 * log1 * (1 - log1p(log1) / (2 + log1));
  return fmin(x, 3) / kappa;
}

/* Take the arm of the largest mean for the leader. */
static double open_block(const thompson_kind_t *kind, void *policy, thompson_t *block,
                         const player_t *player) {
  (void)player;
  ts_gaussian_t *s = policy;
  int l = 0;
  for (int i = 1; i < s->k; i++)
    if (s->arms[i].mean > s->arms[l].mean) l = i;
  const ts_arm_t *leader = &s->arms[l];
  /* A block lasts for some share of the leader's pulls, and it takes a look at all arms. */
  if (block->grouped && leader->n < s->k) return 1;
  block->leader = l;
  block->level = leader->mean;
  block->n = leader->n;
  s->most_var = leader->sd * leader->sd * MARGIN;
  /* The arm that matters for the slack is the one most often a candidate. */
  double chance = 0, most = 0, kappa = 0;
  for (int j = 0; j < s->k; j++) {
    if (j == l) continue;
    const double p = bound(s, block, j);
    chance += p;
    if (p > most) {
      const double var = s->arms[j].sd * s->arms[j].sd + s->most_var;
      most = p;
      kappa = (leader->mean - s->arms[j].mean) / var + 1 / sqrt(var);
    }
  }
  if (chance > thompson_dense(kind, block)) return chance;
  double slack =
      s->k == 1 ? leader->mean : best_slack(kappa, leader->mean, leader->n, chance);
  for (;; slack *= 0.5) {
    s->slack = slack;
    block->level = leader->mean - slack;
    /* Another arm may come within reach first: lower the price to that of a stretch. */
    const double total = thompson_fill(kind, s, block);
    if (!(total > 4 * chance + leader->mean / (leader->n * slack))) return total;
  }
}

/* How many more rounds the leader can be pulled before its mean could fall below the
   level; below 0 if that has come too close to the mean, or is too far from it. */
static double safe(const void *policy, const thompson_t *block, const player_t *player) {
  (void)player;
  const ts_gaussian_t *s = policy;
  const ts_arm_t *leader = &s->arms[block->leader];
  const double slack = leader->mean - block->level;
  if (slack < 0.4 * s->slack || slack > 1.8 * s->slack || leader->n > 1.5 * block->n)
    return -1;
  if (block->level <= 0) return INFINITY;
  return fmax(0, leader->sum / block->level * (1 - 1e-14) - leader->n - 1);
}

/* theta_j - theta_l = sd z - gap > 0, then theta_l given it. */
static int meet(const void *policy, const thompson_t *block, candidate_t *c, rng_t *rng) {
  const ts_arm_t *l = &((const ts_gaussian_t *)policy)->arms[block->leader];
  const ts_arm_t *j = &((const ts_gaussian_t *)policy)->arms[c->event];
  const double var_l = l->sd * l->sd, sd = sqrt(var_l + j->sd * j->sd);
  const double gap = l->mean - j->mean, bound = thompson_bound(block, c->event);
  const double chance = upper_tail(gap / sd);
  if (chance > bound) return -1;
  if (rng_unif(rng) * bound >= chance) return 0;
  const double z = sample_normal_above(rng, gap / sd);
  c->level = l->mean - var_l / sd * z + l->sd * j->sd / sd * sample_normal(rng);
  c->theta = c->level + (sd * z - gap);
  return 1;
}

static double draw(const void *policy, const thompson_t *block, int arm,
                   const candidate_t *c, rng_t *rng) {
  const ts_arm_t *a = &((const ts_gaussian_t *)policy)->arms[arm];
  return arm == c->event        ? c->theta
         : arm == block->leader ? c->level
                                : a->mean + a->sd * sample_normal(rng);
}

/* ---- rounds ------------------------------------------------------------------------- */

static int pull(void *policy, player_t *player, int arm, int64_t n, draws_t *draws) {
  (void)draws;
  ts_gaussian_add(policy, arm, player_pull_many(player, arm, n), (double)n);
  return 1;
}

THOMPSON(.family = &NORMAL, .dense = 0.2, .rest = 32, .pause = 32,
         .choose = ts_gaussian_choose, .pull = pull, .of = of, .open = open_block,
         .bound = bound, .safe = safe, .meet = meet, .draw = draw);

/* With a filter every draw is paid for, one by one, until the budget is spent. */
static void play_filtered(ts_gaussian_t *s, player_t *player, draws_t *draws) {
  for (int n = 0; n < ROUNDS && player_left(player) > 0; n++) {
    const round_t round = player_round(player);
    const int arm = player_choose(player, ts_gaussian_choose, s, draws);
    if (arm < 0) return;
    ts_gaussian_pay(s, &round);
    pull(s, player, arm, s->spent ? player_stretch(player, INFINITY) : 1, draws);
  }
}

void ts_gaussian_skip(void *state, player_t *player, draws_t *draws) {
  ts_gaussian_t *s = state;
  if (s->filter < INFINITY) {
    play_filtered(s, player, draws);
  } else if (s->waiting > 0) { /* one arm's pre-pulls */
    const int i = s->opened;
    pull(s, player, i, player_stretch(player, s->prepulls - s->arms[i].n), draws);
  } else {
    thompson_skip(&KIND, s, ts_thompson(s), player, draws);
  }
}
