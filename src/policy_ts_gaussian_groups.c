/* Gaussian Thompson sampling among many arms of which none leads: a round at a time and exactly,
   but without a draw of each posterior.

   Choose a level c that a few draws exceed. Each theta_i does with chance
   Q((c - mean_i) / sd_i), independently of the others, so the arms that do are found in time
   proportional to their number (arm_groups.h). Only these are drawn, from their normal given
   theta_i > c, and the largest is the largest of all. In the rare round in which no arm exceeds c,
   every arm is drawn given theta_i <= c. This is the distribution of the plain policy for every
   c that hangs on the past alone; the level decides the cost.

   The chances stand until their arm is pulled. As posteriors sharpen fewer arms exceed c: when
   the expected number has drifted, c is chosen anew. */

#include "policy_ts_gaussian.h"
#include "sample.h"

/* Rounds in one call of skip(): some 1e5 operations. */
#define ROUNDS 256

static double upper_tail(double z) { return 0.5 * erfc(z * M_SQRT1_2); }

static double chance_above(const ts_arm_t *a, double c) {
  return upper_tail((c - a->mean) / a->sd);
}

/* ---- the level ---------------------------------------------------------------------- */

/* All chances for this level, and minus the slope of their sum, roughly, by Sampford's (1953) bound of
   the normal hazard. */
static void fill(ts_gaussian_t *s, double c) {
  arm_groups_t *groups = ts_groups(s);
  s->level.c = c;
  s->level.slope = 0;
  for (int i = 0; i < s->k; i++) {
    const ts_arm_t *a = &s->arms[i];
    const double z = (c - a->mean) / a->sd, p = upper_tail(z);
    groups->chance[i] = p;
    if (z > -1) s->level.slope += p / a->sd * 0.25 * (3 * z + sqrt(z * z + 8));
  }
  arm_groups_fill(groups, s->k);
}

/* The number of arms that should exceed the level. None does with a chance of exp(-this) and then
   k arms are drawn, so it grows with log k. */
static double wanted(const ts_gaussian_t *s) { return 1.2 * log(s->k); }

/* Where the logarithm of the expected number, which is nearly straight, should be as wanted. */
static double newton(ts_gaussian_t *s) {
  const double expected = ts_groups(s)->expected;
  return s->level.c + log(expected / wanted(s)) * expected / s->level.slope;
}

/* Newton's method within brackets. A poor level costs time, nothing else, so the search may end
   with one. */
static void find_level(ts_gaussian_t *s) {
  const arm_groups_t *groups = ts_groups(s);
  double c = s->level.slope > 0 ? newton(s) : s->level.c;
  double lower = -INFINITY, upper = INFINITY;
  for (int step = 0; step < 40; step++) {
    fill(s, c);
    if (groups->expected > 0.85 * wanted(s) && groups->expected < 1.3 * wanted(s)) break;
    if (groups->expected > wanted(s)) lower = c;
    else upper = c;
    c = newton(s);
    if (c > lower && c < upper) continue;
    c = isfinite(lower) && isfinite(upper) ? 0.5 * (lower + upper)
        : isfinite(upper)                  ? upper - 1
                                           : lower + 1;
  }
  s->level.least = 0.6 * groups->expected;
  s->level.most = 1.8 * groups->expected;
}

void ts_gaussian_open_groups(ts_gaussian_t *s, int64_t rounds) {
  s->level = (ts_level_t){.left = rounds, .most = -1, .c = -INFINITY};
  for (int i = 0; i < s->k; i++) s->level.c = fmax(s->level.c, s->arms[i].mean);
}

/* ---- rounds ------------------------------------------------------------------------- */

static int choose(const ts_gaussian_t *s, const arm_groups_t *groups, rng_t *rng) {
  const ts_arm_t *arms = s->arms;
  const double c = s->level.c;
  argmax_t best = ARGMAX;
  arm_walk_t walk = arm_groups_begin(rng);
  for (int i; (i = arm_groups_next(groups, &walk, rng)) >= 0;) {
    const double z = sample_normal_above(rng, (c - arms[i].mean) / arms[i].sd);
    argmax_add(&best, i, arms[i].mean + arms[i].sd * z);
  }
  if (best.arm < 0) {
    for (int i = 0; i < s->k; i++) {
      const double z = sample_normal_above(rng, (arms[i].mean - c) / arms[i].sd);
      argmax_add(&best, i, arms[i].mean - arms[i].sd * z);
    }
  }
  return argmax_arm(&best);
}

void ts_gaussian_play_groups(ts_gaussian_t *s, player_t *player, draws_t *draws) {
  arm_groups_t *groups = ts_groups(s);
  for (int n = 0; n < ROUNDS && s->level.left > 0 && player_left(player) > 0; n++) {
    if (!(groups->expected > s->level.least && groups->expected < s->level.most)) {
      find_level(s);
    }
    s->level.left--;
    const int arm = choose(s, groups, &draws->policy);
    if (arm < 0) {
      player->failed = NO_ARM;
      return;
    }
    ts_gaussian_add(s, arm, player_pull(player, arm), 1);
    arm_groups_set(groups, arm, chance_above(&s->arms[arm], s->level.c));
  }
}
