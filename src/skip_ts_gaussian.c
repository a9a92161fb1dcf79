/* Gaussian Thompson sampling, many rounds at once and exactly.

   Once an arm leads, nearly every round pulls it. Call it l and choose a level below its
   mean. While the mean of l stays above the level (and its variance only falls),

     P(theta_j > theta_l) <= bound_j = Q((level - mean_j) / sqrt(var_l + var_j)),

   so the chance that a round does not pull l is at most P = sum_j bound_j. Rounds are
   thinned: each is a candidate with chance P, all others pull l, and a stretch between
   candidates costs one geometric and one Binomial draw. A candidate round takes up arm j
   with chance bound_j / P and goes on with chance p_j / bound_j, p_j the exact
   P(theta_j > theta_l) of that round, and then draws the thetas given theta_j > theta_l.
   If N arms beat l, this round could have been taken up by each of them: it counts with
   chance 1 / N (Karp and Luby 1983), and pulls the best of them. Every outcome then has
   its own probability, so the distribution is that of the plain policy whatever the level is; the
   level decides the cost alone.

   How far the stretch may go: rewards are at least 0, so after r pulls of l its mean is at
   least S / (n + 1 + r), above the level for r <= S / level - n - 1. New rewards push that
   limit on: bounds stand until the mean of l has drifted.

   Where no arm leads, rounds are played one by one, among many arms by their groups
   (skip_ts_gaussian_groups.c). */

#include "policy_ts_gaussian.h"
#include "sample.h"

/* Above this chance of a candidate rounds are played one by one, so many in a row. */
#define DENSE        0.2
#define DENSE_ROUNDS 32

static double dense(const ts_gaussian_t *s) { return arm_groups_dense(DENSE, s->k); }

/* What rounding may add to a bound, relative: arguments of exp stay below 750, so its
   error is below 1e-12. */
#define MARGIN (1 + 1e-10)

static double upper_tail(double z) { return 0.5 * erfc(z * M_SQRT1_2); }

/* Sampford's (1953) bound of the normal tail for z >= 0, 2 % above it at z = 1 and
   closer further out. */
static double upper_tail_bound(double z) {
  return 0.3989422804014327 * exp(-0.5 * z * z) * 4 / (3 * z + sqrt(z * z + 8)) * MARGIN;
}

/* ---- a tree of sums: leaves hold bounds, the root their sum ------------------------- */

static void tree_set(ts_gaussian_t *s, int arm, double value) {
  double *tree = ts_tree(s);
  int i = s->leaves + arm;
  tree[i] = value;
  for (; i > 1; i /= 2) tree[i / 2] = tree[i] + tree[i ^ 1];
}

/* The arm in whose share of [0, total) the number u falls. */
static int tree_find(ts_gaussian_t *s, double u) {
  const double *tree = ts_tree(s);
  int i = 1;
  while (i < s->leaves) {
    i *= 2;
    if (u >= tree[i] && tree[i + 1] > 0) u -= tree[i++];
  }
  return i - s->leaves;
}

/* ---- the block ---------------------------------------------------------------------- */

/* A bound needs level >= mean_j: below that a smaller variance does not help. */
static double bound(const ts_gaussian_t *s, int j) {
  const double var = s->arms[j].sd * s->arms[j].sd + s->block.var;
  const double gap = s->block.mean - s->arms[j].mean;
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

static void fill(ts_gaussian_t *s) {
  double *tree = ts_tree(s);
  for (int j = 0; j < s->k; j++) {
    tree[s->leaves + j] = j == s->block.leader ? 0 : bound(s, j);
  }
  for (int i = s->leaves - 1; i > 0; i--) tree[i] = tree[2 * i] + tree[2 * i + 1];
}

/* Take the arm of the largest mean for the leader. Returns the chance of a candidate. */
static double open_block(ts_gaussian_t *s) {
  int l = 0;
  for (int i = 1; i < s->k; i++)
    if (s->arms[i].mean > s->arms[l].mean) l = i;
  const ts_arm_t *leader = &s->arms[l];
  /* A block lasts for some share of the leader's pulls, and it takes a look at all arms. */
  if (s->k >= ARM_GROUPS_FROM && leader->n < s->k) return 1;
  s->block = (ts_block_t){.leader = l,
                          .mean = leader->mean,
                          .n = leader->n,
                          .var = leader->sd * leader->sd * MARGIN};
  /* The arm that matters for the slack is the one most often a candidate. */
  double chance = 0, most = 0, kappa = 0;
  for (int j = 0; j < s->k; j++) {
    if (j == l) continue;
    const double p = bound(s, j);
    chance += p;
    if (p > most) {
      const double var = s->arms[j].sd * s->arms[j].sd + s->block.var;
      most = p;
      kappa = (leader->mean - s->arms[j].mean) / var + 1 / sqrt(var);
    }
  }
  if (chance > dense(s)) return chance;
  double slack =
      s->k == 1 ? leader->mean : best_slack(kappa, leader->mean, leader->n, chance);
  for (;; slack *= 0.5) {
    s->block.slack = slack;
    s->block.mean = leader->mean - slack;
    fill(s);
    /* Another arm may come within reach first: lower the price to that of a stretch. */
    const double total = ts_tree(s)[1];
    if (!(total > 4 * chance + leader->mean / (leader->n * slack))) return total;
  }
}

/* How many more rounds the leader can be pulled before its mean could fall below the
   level. */
static double safe_rounds(const ts_gaussian_t *s) {
  const ts_arm_t *leader = &s->arms[s->block.leader];
  if (s->block.mean <= 0) return INFINITY;
  return floor(leader->sum / s->block.mean * (1 - 1e-14) - leader->n - 1);
}

/* Has the level come too close to the leader's mean, or too far from it? */
static int worn(const ts_gaussian_t *s) {
  const ts_block_t *block = &s->block;
  if (block->leader < 0) return 1;
  const ts_arm_t *leader = &s->arms[block->leader];
  const double slack = leader->mean - block->mean;
  return slack < 0.4 * block->slack || slack > 1.8 * block->slack ||
         leader->n > 1.5 * block->n;
}

/* ---- rounds ------------------------------------------------------------------------- */

static void pull(ts_gaussian_t *s, player_t *player, int arm, int64_t n) {
  ts_gaussian_add(s, arm, player_pull_many(player, arm, n), (double)n);
}

static void play_densely(ts_gaussian_t *s, player_t *player, draws_t *draws) {
  s->block.leader = -1;
  if (s->k >= ARM_GROUPS_FROM) {
    ts_gaussian_open_groups(s, s->k / 4 + DENSE_ROUNDS);
    ts_gaussian_play_groups(s, player, draws);
    return;
  }
  int64_t n = player_left(player) < DENSE_ROUNDS ? player_left(player) : DENSE_ROUNDS;
  for (; n > 0; n--) {
    const int arm = player_choose(player, ts_gaussian_choose, s, draws);
    if (arm < 0) return;
    ts_gaussian_add(s, arm, player_pull(player, arm), 1);
  }
}

/* With a filter every draw is paid for, one by one, until the budget is spent. */
static void play_filtered(ts_gaussian_t *s, player_t *player, draws_t *draws) {
  for (int n = 0; n < DENSE_ROUNDS && player_left(player) > 0; n++) {
    const round_t round = player_round(player);
    const int arm = player_choose(player, ts_gaussian_choose, s, draws);
    if (arm < 0) return;
    ts_gaussian_pay(s, &round);
    if (s->spent) {
      pull(s, player, arm, player_stretch(player, INFINITY));
      return;
    }
    pull(s, player, arm, 1);
  }
}

/* A candidate round: the arm to pull; -1: a chance is above its bound. */
static int candidate(ts_gaussian_t *s, rng_t *rng) {
  const int l = s->block.leader, j = tree_find(s, rng_unif(rng) * ts_tree(s)[1]);
  const ts_arm_t *arms = s->arms;
  const double var_l = arms[l].sd * arms[l].sd, var_j = arms[j].sd * arms[j].sd;
  const double sd = sqrt(var_l + var_j), gap = arms[l].mean - arms[j].mean;
  const double bound = ts_tree(s)[s->leaves + j], chance = upper_tail(gap / sd);
  if (chance > bound) return -1;
  if (rng_unif(rng) * bound >= chance) return l;

  /* theta_j - theta_l = sd z - gap > 0, then theta_l given it. */
  const double z = sample_normal_above(rng, gap / sd);
  const double theta_l =
      arms[l].mean - var_l / sd * z + arms[l].sd * arms[j].sd / sd * sample_normal(rng);
  double best = theta_l + (sd * z - gap);
  int choice = j, beat = 1;
  for (int i = 0; i < s->k; i++) {
    if (i == l || i == j) continue;
    const double theta = arms[i].mean + arms[i].sd * sample_normal(rng);
    if (theta > theta_l) beat++;
    if (theta > best) best = theta, choice = i;
  }
  return beat == 1 || rng_below(rng, beat) == 0 ? choice : l;
}

void ts_gaussian_skip(void *state, player_t *player, draws_t *draws) {
  ts_gaussian_t *s = state;
  if (s->filter < INFINITY) {
    play_filtered(s, player, draws);
    return;
  }
  if (s->waiting > 0) { /* one arm's pre-pulls */
    const int i = s->opened;
    pull(s, player, i, player_stretch(player, s->prepulls - s->arms[i].n));
    return;
  }
  if (s->grouped > 0) {
    ts_gaussian_play_groups(s, player, draws);
    return;
  }
  if (worn(s) && open_block(s) > dense(s)) {
    play_densely(s, player, draws);
    return;
  }
  /* Whether a round is thinned must not depend on a draw, so this comes before them. */
  const double safe = fmin(safe_rounds(s), 0x1p53);
  if (safe < 1) {
    play_densely(s, player, draws);
    return;
  }
  const int leader = s->block.leader;
  const int64_t most = player_stretch(player, (int64_t)safe);
  const double total = ts_tree(s)[1];
  const double gap = total > 0 ? sample_geometric(&draws->policy, total) : INFINITY;
  if (gap >= (double)most) {
    /* No candidate in these rounds. Of the next one nothing is known, even where
       gap == most would tell: the wait has no memory and starts anew. */
    pull(s, player, leader, most);
    return;
  }
  if (gap > 0) pull(s, player, leader, (int64_t)gap);
  const int arm = candidate(s, &draws->policy);
  if (arm < 0) {
    player->failed = BROKEN_BOUND;
    return;
  }
  pull(s, player, arm, 1);
  if (arm != leader) {
    tree_set(s, arm, bound(s, arm));
    if (ts_tree(s)[1] > dense(s)) s->block.leader = -1;
  }
}
