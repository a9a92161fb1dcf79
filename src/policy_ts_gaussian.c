/* Gaussian Thompson sampling: Ou, Avella Medina and Cummings (2024), Algorithm 2, which
   with prepulls = 0 and variance_scale = 1 is their Algorithm 1.

   1. Pull arm 1 b times, then arm 2 b times, ... (blocks in arm order).
   2. Draw theta_i ~ N(S_i / (n_i + 1), c / (n_i + 1)), pull the arm of the largest.

   Late rewards: n_i counts pulls, and an outstanding reward counts as 1/2 in S_i. Without delays this
   is the paper's algorithm; with delays a reward still moves a mean by at most 1 / (n_i + 1).

   The privacy filter (ours; fully adaptive composition of Gaussian DP, Smith and Thakurta 2022): a draw
   costs each arm on offer that has rewards 1 / (c (n_i + 1)), the squared mu of its draw. A draw is made
   only if no arm's total then exceeds mu^2. From the first round in which one would, the arm on offer
   with the most pulls is played permanently: pulls are published, so that costs nothing. */

#include <string.h>
#include "policy_ts_gaussian.h"
#include "sample.h"
#include "skip_thompson.h"

PARAMETERS(PARAMS, NEEDS("prepulls"), NEEDS("variance_scale"), NEEDS("filter"));

typedef struct {
  double m, n;     /* pulls, and observed rewards */
  double sum;      /* of those rewards */
  double mean, sd; /* of the posterior */
  double paid;     /* for the filter: what draws have cost this arm's rewards, as sum of mu^2 */
} ts_arm_t;

typedef struct {
  double prepulls, variance_scale;
  double filter;   /* the budget, mu^2; Inf: no filter */
  int64_t waiting; /* arms with pre-pulls left */
  int32_t k;
  int32_t opened;         /* all arms before it have had their pre-pulls */
  int64_t spent;          /* is the filter's budget spent? */
  double slack, most_var; /* of a block: initial distance of mean and level, and the leader's variance */
  ts_arm_t arms[];        /* k of them, then a thompson_t */
} ts_gaussian_t;

static thompson_t *thompson_of(ts_gaussian_t *s) { return (thompson_t *)(s->arms + s->k); }

/* An outstanding reward counts as this much. Any fixed number serves, since it is public. */
#define TS_GUESS 0.5

/* S / (m + 1), not a running mean: the + 1 is essential for privacy (Ou et al., Lemma 3). It counts
   pulls, not observed rewards: otherwise late rewards would move the mean by more. */
static void renew(const ts_gaussian_t *s, ts_arm_t *a) {
  a->mean = (a->sum + TS_GUESS * (a->m - a->n)) / (a->m + 1);
  a->sd = sqrt(s->variance_scale / (a->m + 1));
}

static void assign(ts_gaussian_t *s, int arm, double n) {
  ts_arm_t *a = &s->arms[arm];
  const int opens = a->m < s->prepulls && a->m + n >= s->prepulls;
  a->m += n;
  if (!opens) return;
  s->waiting -= 1;
  while (s->opened < s->k && s->arms[s->opened].m >= s->prepulls) s->opened++;
}

/* Adds n pulls whose rewards, which add up to `sum`, are observed. */
static void add(ts_gaussian_t *s, int arm, double sum, double n) {
  ts_arm_t *a = &s->arms[arm];
  assign(s, arm, n);
  a->n += n;
  a->sum += sum;
  renew(s, a);
}

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
  thompson_init(thompson_of(s), s->k, s->k >= ARM_GROUPS_FROM);
}

/* ---- the filter --------------------------------------------------------------------- */

/* The cost of a draw for an arm: nothing while it has no rewards. */
static double price(const ts_gaussian_t *s, const ts_arm_t *a) {
  return a->n > 0 ? 1 / (s->variance_scale * (a->m + 1)) : 0;
}

/* May the arms be drawn in this round? A single arm needs no draw, and costs nothing. */
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

/* The arm that is due for a pre-pull, or -1. */
static int prepull(const ts_gaussian_t *s, const round_t *round) {
  if (s->waiting == 0) return -1;
  if (round_is_full(round)) return s->opened;
  FOR_EACH_ARM(i, round) if (s->arms[i].m < s->prepulls) return i;
  return -1;
}

static int choose(const void *state, const round_t *round, draws_t *draws) {
  const ts_gaussian_t *s = state;
  const ts_arm_t *arms = s->arms;
  const int first = prepull(s, round);
  if (first >= 0) return first;
  if (s->filter < INFINITY && !may_draw(s, round)) return most_pulled(round);
  argmax_t best = ARGMAX;
  FOR_EACH_ARM(i, round) { argmax_add(&best, i, arms[i].mean + arms[i].sd * sample_normal(&draws->policy)); }
  return argmax_arm(&best);
}

/* Charges the round's draw, when its choice is played. */
static void pay(ts_gaussian_t *s, const round_t *round) {
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
  pay(s, round);
  assign(s, arm, 1);
  renew(s, &s->arms[arm]);
  return 0;
}

static void update(void *state, const feedback_t *feedback, draws_t *draws) {
  (void)draws;
  ts_gaussian_t *s = state;
  ts_arm_t *a = &s->arms[feedback->arm];
  a->sum += feedback->reward;
  a->n += 1;
  renew(s, a);
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

/* ---- skipping -------------------------------------------------------------------------

   See skip_thompson.h. While the mean of the leader l stays above a level (and its variance only decreases),

     P(theta_j > theta_l) <= bound_j = Q((level - mean_j) / sqrt(var_l + var_j)).

   The length of a stretch: rewards are at least 0, so after r pulls of l its mean is at least
   S / (n + 1 + r), which is above the level for r <= S / level - n - 1. New rewards extend that limit: the
   bounds hold until the mean of l has drifted.

   The groups (skip_arm_groups.h) find the few thetas above a level c: theta_i is above it with probability
   Q((c - mean_i) / sd_i). */

#define ROUNDS 32 /* per call of skip() that plays them one by one */

/* Covers the relative rounding error of a bound: arguments of exp are below 750, so it is below 1e-12. */
#define MARGIN (1 + 1e-10)

static double upper_tail(double z) { return 0.5 * erfc(z * M_SQRT1_2); }

/* Sampford's (1953) upper bound on the normal tail for z >= 0: 2% above it at z = 1, and tighter further
   out. */
static double upper_tail_bound(double z) {
  return 0.3989422804014327 * exp(-0.5 * z * z) * 4 / (3 * z + sqrt(z * z + 8)) * MARGIN;
}

/* ---- the posteriors ------------------------------------------------------------------ */

static posterior_t of(const void *policy, int arm, double drift) {
  (void)drift;
  const ts_arm_t *a = &((const ts_gaussian_t *)policy)->arms[arm];
  return (posterior_t){a->mean, a->sd};
}

/* The slope uses Sampford's (1953) bound on the normal hazard. */
static arm_above_t above(posterior_t p, double c) {
  const double z = (c - p.x) / p.y, chance = upper_tail(z);
  return (arm_above_t){chance, z > -1 ? chance / p.y * 0.25 * (3 * z + sqrt(z * z + 8)) : 0};
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

/* A bound needs level >= mean_j: otherwise a smaller variance would increase the probability. */
static double bound(const void *policy, const thompson_t *block, int j) {
  const ts_gaussian_t *s = policy;
  const double var = s->arms[j].sd * s->arms[j].sd + s->most_var;
  const double gap = block->level - s->arms[j].mean;
  return gap < 0 ? 1 : upper_tail_bound(gap / sqrt(var));
}

/* Chooses the slack x / kappa, the distance between the leader's mean and the level. With kappa = max_j
   z_j / sd_j, it multiplies bounds by about exp(x), and a stretch has n slack / mean rounds; the number
   of candidates and stretches together is smallest where x^2 exp(x) = kappa mean / (n P). */
static double best_slack(double kappa, double mean, double n, double chance) {
  const double y = 0.5 * sqrt(kappa * mean / (n * chance + 1e-300));
  const double log1 = log1p(y); /* Lambert's W: x = 2 W(y) */
  const double x = 2 * log1 * (1 - log1p(log1) / (2 + log1));
  return fmin(x, 3) / kappa;
}

/* The leader is the arm of the largest mean. */
static double open_block(const thompson_kind_t *kind, void *policy, thompson_t *block,
                         const player_t *player) {
  (void)player;
  ts_gaussian_t *s = policy;
  int l = 0;
  for (int i = 1; i < s->k; i++)
    if (s->arms[i].mean > s->arms[l].mean) l = i;
  const ts_arm_t *leader = &s->arms[l];
  /* A block lasts for a fraction of the leader's pulls, and opening it looks at all arms. */
  if (block->grouped && leader->n < s->k) return 1;
  block->leader = l;
  block->level = leader->mean;
  block->n = leader->n;
  s->most_var = leader->sd * leader->sd * MARGIN;
  /* The slack depends on the arm that is most often a candidate. */
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
  double slack = s->k == 1 ? leader->mean : best_slack(kappa, leader->mean, leader->n, chance);
  for (;; slack *= 0.5) {
    s->slack = slack;
    block->level = leader->mean - slack;
    /* Another arm may come within reach of the level: halve the slack until candidates cost no more than
       stretches. */
    const double total = thompson_fill(kind, s, block);
    if (!(total > 4 * chance + leader->mean / (leader->n * slack))) return total;
  }
}

/* The number of rounds for which the leader can be pulled before its mean could fall below the level;
   below 0 if the level is too close to the mean now, or too far from it. */
static double safe(const void *policy, const thompson_t *block, const player_t *player) {
  (void)player;
  const ts_gaussian_t *s = policy;
  const ts_arm_t *leader = &s->arms[block->leader];
  const double slack = leader->mean - block->level;
  if (slack < 0.4 * s->slack || slack > 1.8 * s->slack || leader->n > 1.5 * block->n) return -1;
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

static double draw(const void *policy, const thompson_t *block, int arm, const candidate_t *c, rng_t *rng) {
  const ts_arm_t *a = &((const ts_gaussian_t *)policy)->arms[arm];
  return arm == c->event ? c->theta : arm == block->leader ? c->level : a->mean + a->sd * sample_normal(rng);
}

/* ---- rounds ------------------------------------------------------------------------- */

static int pull(void *policy, player_t *player, int arm, int64_t n, draws_t *draws) {
  (void)draws;
  add(policy, arm, player_pull_many(player, arm, n), (double)n);
  return 1;
}

THOMPSON(.family = &NORMAL, .dense = 0.2, .rest = 32, .pause = 32, .choose = choose, .pull = pull, .of = of,
         .open = open_block, .bound = bound, .safe = safe, .meet = meet, .draw = draw);

/* With a filter every draw is charged, round by round, until the budget is spent. */
static void play_filtered(ts_gaussian_t *s, player_t *player, draws_t *draws) {
  for (int n = 0; n < ROUNDS && player_left(player) > 0; n++) {
    const round_t round = player_round(player);
    const int arm = player_choose(player, choose, s, draws);
    if (arm < 0) return;
    pay(s, &round);
    pull(s, player, arm, s->spent ? player_stretch(player, INFINITY) : 1, draws);
  }
}

static void skip(void *state, player_t *player, draws_t *draws) {
  ts_gaussian_t *s = state;
  if (s->filter < INFINITY) {
    play_filtered(s, player, draws);
  } else if (s->waiting > 0) { /* one arm's pre-pulls */
    const int i = s->opened;
    pull(s, player, i, player_stretch(player, s->prepulls - s->arms[i].n), draws);
  } else {
    thompson_skip(&KIND, s, thompson_of(s), player, draws);
  }
}

static int sound(const void *state, const void *fresh) {
  const ts_gaussian_t *s = state, *f = fresh;
  return SAME(k) && is_in(s->opened, 0, s->k + 1);
}

POLICY(ts_gaussian, .state_version = 4, .tosses = 1, .commit = commit, .update = update, .skip = skip,
       .charged = charged, .grow = grow, .sound = sound);
