/* Gaussian Thompson sampling among many arms of which none leads: a round at a time and exactly,
   but without a draw of each posterior.

   Choose a level c that a few draws exceed. Each theta_i does with chance
   Q((c - mean_i) / sd_i), independently of the others, so the arms that do are found in time
   proportional to their number (skip_arm_groups.h). Only these are drawn, from their normal given
   theta_i > c, and the largest is the largest of all. In the rare round in which no arm exceeds c,
   every arm is drawn given theta_i <= c. This is the distribution of the plain policy for every
   c that hangs on the past alone; the level decides the cost.

   The chances stand until their arm is pulled, and the level until their sum has drifted
   (skip_arm_level.h). */

#include "policy_ts_gaussian.h"
#include "sample.h"

/* Rounds in one call of skip(): some 1e5 operations. */
#define ROUNDS 256

static double upper_tail(double z) { return 0.5 * erfc(z * M_SQRT1_2); }

/* An arm's chance above c, and minus its slope by Sampford's (1953) bound of the normal hazard. */
static arm_above_t above(const void *policy, int arm, double c) {
  const ts_arm_t *a = &((const ts_gaussian_t *)policy)->arms[arm];
  const double z = (c - a->mean) / a->sd, p = upper_tail(z);
  return (arm_above_t){p, z > -1 ? p / a->sd * 0.25 * (3 * z + sqrt(z * z + 8)) : 0};
}

void ts_gaussian_open_groups(ts_gaussian_t *s, int64_t rounds) {
  s->grouped = rounds;
  s->level = (arm_level_t){.most = -1, .c = -INFINITY};
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
  for (int n = 0; n < ROUNDS && s->grouped > 0 && player_left(player) > 0; n++) {
    if (!arm_level_stands(&s->level, groups)) {
      arm_level_find(&s->level, groups, s->k, above, s);
    }
    s->grouped--;
    const int arm = choose(s, groups, &draws->policy);
    if (arm < 0) {
      player->failed = NO_ARM;
      return;
    }
    ts_gaussian_add(s, arm, player_pull(player, arm), 1);
    arm_groups_set(groups, arm,
                   upper_tail((s->level.c - s->arms[arm].mean) / s->arms[arm].sd));
  }
}
