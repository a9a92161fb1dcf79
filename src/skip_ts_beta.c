/* Beta Thompson sampling, many rounds at once and exactly: the idea of
   skip_ts_gaussian.c, with other events.

   Let l lead and choose a level x between its mean and the others'. A round in which
   theta_l >= x and no other theta > x pulls l. The exceptions are independent events,
   theta_l < x and theta_j > x for j other than l. While only l is pulled the chances of the
   latter stand still and are computed once; that of the former is kept below a bound.
   Candidates come at the sum P of these chances. A candidate takes up one event, in
   proportion to its chance; goes on with its true chance over the one allowed for; draws
   the thetas given the event; and if N of the events have happened, counts with chance
   1 / N (Karp and Luby 1983) and pulls the arm of the largest theta.

   The bound: Chernoff's of P(theta_l < x) grows by at most its slope with each reward of 0
   and falls with each of 1, so a distance to the bound in logarithms is a number of safe
   rounds.

   Where no arm leads, rounds are played one by one, among many arms by their groups
   (skip_beta_groups.h). */

#include <math.h>
#include "policy_ts_beta.h"
#include "sample.h"

#define DENSE        0.2
#define PLAIN_ROUNDS 32
#define MARGIN       1e-6 /* for rounding, in logarithms, at any horizon */

static double dense(ts_beta_t *s) {
  return ts_beta_groups(s) ? arm_groups_dense(DENSE, s->k) : DENSE;
}

static double mean(const tb_arm_t *arm) { return arm->a / (arm->a + arm->b); }

static double variance(const tb_arm_t *arm) {
  const double n = arm->a + arm->b;
  return arm->a * arm->b / (n * n * (n + 1));
}

/* ---- the block ---------------------------------------------------------------------- */

/* The level that lies, after r rewards of 0, as many standard deviations below the
   leader's mean as above the nearest other's. */
static double find_level(const ts_beta_t *s, int l, double r) {
  const tb_arm_t late = {s->arms[l].a, s->arms[l].b + r, 0};
  const double m = mean(&late), sd = sqrt(variance(&late));
  double level = 0;
  for (int j = 0; j < s->k; j++) {
    if (j == l) continue;
    const double sd_j = sqrt(variance(&s->arms[j]));
    level = fmax(level, (m * sd_j + mean(&s->arms[j]) * sd) / (sd + sd_j));
  }
  return level;
}

/* Bounds of the chance of a candidate, the leader's part after r rewards of 0. */
static double chance_at(const ts_beta_t *s, int l, double r, double level, double *below) {
  double above = 0;
  for (int j = 0; j < s->k; j++) {
    if (j == l) continue;
    if (mean(&s->arms[j]) >= level) return 1;
    above += exp(beta_log_bound(s->arms[j].b, s->arms[j].a, 1 - level));
  }
  const double a = s->arms[l].a, b = s->arms[l].b + r;
  *below = a / (a + b) > level ? exp(beta_log_bound(a, b, level)) : 1;
  return above + *below;
}

static double chance_above(const tb_arm_t *arm, double x) {
  return beta_below(arm->b, arm->a, 1 - x);
}

/* Returns the chance of a candidate; above dense() no block is opened. */
static double open_block(ts_beta_t *s) {
  int l = 0;
  for (int i = 1; i < s->k; i++)
    if (mean(&s->arms[i]) > mean(&s->arms[l])) l = i;
  double about = 0;
  for (int i = 0; i < s->k; i++) {
    /* The draws below need densities whose logarithm is concave. */
    if (s->arms[i].a < 1 || s->arms[i].b < 1) return 1;
    if (i == l) continue;
    const double gap = mean(&s->arms[l]) - mean(&s->arms[i]);
    about += exp(-0.5 * gap * gap / (variance(&s->arms[l]) + variance(&s->arms[i])));
  }
  /* A quick look, by normal approximation, before the search for a level. */
  if (about > 5 * dense(s)) return 1;
  const tb_arm_t *leader = &s->arms[l];
  const double n = leader->a + leader->b;
  /* Longer stretches need a lower level, and so more candidates: weigh them. */
  double least = INFINITY, least_below = 0;
  for (double share = 0.3; share * n > 2 && share > 1e-3; share *= 0.25) {
    const double r = share * n, level = find_level(s, l, r);
    double below = 1;
    const double cost = chance_at(s, l, r, level, &below) + 1 / r;
    if (cost < least) least = cost, s->level = level, least_below = below;
  }
  if (least > 3 * dense(s)) return 1;
  s->above = 0;
  for (int j = 0; j < s->k; j++) {
    s->arms[j].above = j == l ? 0 : chance_above(&s->arms[j], s->level);
    s->above += s->arms[j].above;
  }
  s->below = fmax(fmax(0.3 * s->above, least_below), 1e-300);
  if (s->above + s->below > dense(s)) return 1;
  s->leader = l;
  s->n = n;
  if (ts_beta_groups(s)) ts_beta_groups(s)->open = 0;
  return s->above + s->below;
}

/* Rounds that the leader can be pulled before its bound could pass the one allowed. */
static double safe_rounds(const ts_beta_t *s) {
  const tb_arm_t *leader = &s->arms[s->leader];
  if (mean(leader) <= s->level) return -1;
  const double room =
      log(s->below) - MARGIN - beta_log_bound(leader->a, leader->b, s->level);
  /* Slope of the bound for a reward of 0; it only falls from here on. */
  const double slope = log((1 - s->level) * (leader->a + leader->b) / leader->b);
  return room < 0 ? -1 : fmin(floor(room / slope), 0x1p53);
}

/* ---- rounds ------------------------------------------------------------------------- */

static void pull(ts_beta_t *s, player_t *player, draws_t *draws, int arm, int64_t n) {
  const double ones = player_pull_coins(player, arm, n, &draws->policy);
  s->arms[arm].a += ones;
  s->arms[arm].b += (double)n - ones;
}

static beta_t posterior(const void *state, int arm, double drift) {
  (void)drift;
  const tb_arm_t *a = &((const ts_beta_t *)state)->arms[arm];
  return (beta_t){a->a, a->b};
}

static void play_groups(ts_beta_t *s, player_t *player, draws_t *draws, double n) {
  beta_groups_t *groups = ts_beta_groups(s);
  const posteriors_t posteriors = {s, posterior};
  if (!groups->open) beta_groups_open(groups, &posteriors, 0);
  for (; n > 0 && player_left(player) > 0; n--) {
    const int arm = beta_groups_choose(groups, &posteriors, 0, &draws->policy);
    if (arm < 0) {
      player->failed = NO_ARM;
      return;
    }
    pull(s, player, draws, arm, 1);
    beta_groups_renew(groups, &posteriors, arm);
  }
}

static void play_plainly(ts_beta_t *s, player_t *player, draws_t *draws, double n) {
  for (; n > 0 && player_left(player) > 0; n--) {
    const int arm = player_choose(player, ts_beta_choose, s, draws);
    if (arm >= 0) pull(s, player, draws, arm, 1);
  }
}

/* Some of the rounds that are to be played one by one. */
static void play_densely(ts_beta_t *s, player_t *player, draws_t *draws) {
  const int by_groups = ts_beta_groups(s) != NULL;
  const double n = fmin(s->plain, by_groups ? ARM_GROUPS_ROUNDS : PLAIN_ROUNDS);
  (by_groups ? play_groups : play_plainly)(s, player, draws, n);
  s->plain -= n;
}

/* A candidate round: the arm to pull. */
static int candidate(ts_beta_t *s, rng_t *rng) {
  const int l = s->leader;
  const double x = s->level;
  const tb_arm_t *arms = s->arms;
  double u = rng_unif(rng) * (s->above + s->below);
  int event = l;
  if (u < s->below) {
    /* u is uniform below the bound; the true chance is seldom needed. */
    const double bound = exp(beta_log_bound(arms[l].a, arms[l].b, x) + MARGIN);
    if (u >= bound || u >= beta_below(arms[l].a, arms[l].b, x)) return l;
  } else {
    u -= s->below;
    for (int j = 0; j < s->k; j++) {
      if (j == l || arms[j].above == 0) continue;
      event = j;
      if (u < arms[j].above) break;
      u -= arms[j].above;
    }
    if (event == l) return l;
  }
  double best = -1;
  int choice = l, happened = 0;
  for (int i = 0; i < s->k; i++) {
    double theta;
    if (i != event) theta = sample_beta(rng, arms[i].a, arms[i].b);
    else if (i == l) theta = 1 - sample_beta_above(rng, arms[i].b, arms[i].a, 1 - x);
    else theta = sample_beta_above(rng, arms[i].a, arms[i].b, x);
    happened += i == event || (i == l ? theta < x : theta > x);
    if (theta > best) best = theta, choice = i;
  }
  return happened == 1 || rng_below(rng, happened) == 0 ? choice : l;
}

static void leave_block(ts_beta_t *s, double plain) {
  s->leader = -1;
  s->plain = plain;
}

/* Groups take a look at every arm when they begin, and so does the next look for a leader. */
static double dense_rounds(ts_beta_t *s) {
  return ts_beta_groups(s) ? PLAIN_ROUNDS + s->k / 4 : PLAIN_ROUNDS;
}

void ts_beta_skip(void *state, player_t *player, draws_t *draws) {
  ts_beta_t *s = state;
  if (s->plain > 0) {
    play_densely(s, player, draws);
    return;
  }
  /* Where no arm leads, look again after a tenth of the rounds so far. */
  if (s->leader < 0 && open_block(s) > dense(s)) {
    leave_block(s, fmax(dense_rounds(s), 0.1 * (double)player->t));
    play_densely(s, player, draws);
    return;
  }
  const int l = s->leader;
  const double safe = safe_rounds(s);
  if (safe < 2) {
    leave_block(s, 0.25 * dense_rounds(s));
    play_densely(s, player, draws);
    return;
  }
  if (s->arms[l].a + s->arms[l].b > 1.5 * s->n) {
    leave_block(s, 0);
    ts_beta_skip(state, player, draws);
    return;
  }
  const int64_t most = player_stretch(player, (int64_t)safe);
  const double gap = sample_geometric(&draws->policy, s->above + s->below);
  if (gap >= (double)most) { /* no candidate in these rounds */
    pull(s, player, draws, l, most);
    return;
  }
  if (gap > 0) pull(s, player, draws, l, (int64_t)gap);
  const int arm = candidate(s, &draws->policy);
  pull(s, player, draws, arm, 1);
  if (arm == l) return;
  s->arms[arm].above =
      mean(&s->arms[arm]) < s->level ? chance_above(&s->arms[arm], s->level) : 1;
  s->above = 0;
  for (int j = 0; j < s->k; j++) s->above += s->arms[j].above;
  if (s->above + s->below > dense(s)) leave_block(s, 0);
}
