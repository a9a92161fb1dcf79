#include "skip_beta_groups.h"

#include <string.h>
#include "play_round.h"
#include "sample.h"

/* Chances and bounds of them are the same number where a stretch ends. */
#define ROUNDING 1e-9

static arm_groups_t *groups_of(beta_groups_t *s) { return (arm_groups_t *)(s + 1); }

size_t beta_groups_size(int k) { return sizeof(beta_groups_t) + arm_groups_size(k); }

/* A level that suits fresh arms is where to begin. */
void beta_groups_init(beta_groups_t *s, int k) {
  memset(s, 0, beta_groups_size(k));
  s->k = k;
  s->level.c = 1;
}

static double theta_of(double level) { return fmax(0, -expm1(-level)); }

const arm_groups_t *beta_groups_arms(const beta_groups_t *s) {
  return (const arm_groups_t *)(s + 1);
}

double beta_groups_level(const beta_groups_t *s) { return theta_of(s->level.c); }

typedef struct {
  const posteriors_t *posteriors;
  double drift;
} at_drift_t;

/* Chances of theta > c and of -log(1 - theta) > level are the same; the slope is by the level. */
static arm_above_t above(const void *at_, int arm, double level) {
  const at_drift_t *at = at_;
  const beta_t p = at->posteriors->of(at->posteriors->policy, arm, at->drift);
  const double c = theta_of(level);
  arm_above_t result;
  double density;
  result.chance = beta_upper(p.a, p.b, c, &density);
  result.slope = density * (1 - c);
  return result;
}

void beta_groups_open(beta_groups_t *s, const posteriors_t *posteriors, double drift) {
  const at_drift_t at = {posteriors, drift};
  s->drift = drift;
  s->open = 1;
  arm_level_drop(&s->level);
  arm_level_find(&s->level, groups_of(s), s->k, above, &at);
}

void beta_groups_renew(beta_groups_t *s, const posteriors_t *posteriors, int arm) {
  const at_drift_t at = {posteriors, s->drift};
  arm_groups_set(groups_of(s), arm, above(&at, arm, s->level.c).chance);
  if (!arm_level_stands(&s->level, groups_of(s))) {
    arm_level_find(&s->level, groups_of(s), s->k, above, &at);
  }
}

/* An arm above its chance at the end of the stretch: does it exceed c now as well? -1: its chance
   has grown past that. */
static int goes_on(beta_t now, beta_t end, double chance, double c, rng_t *rng) {
  if (now.a == end.a && now.b == end.b) return 1;
  double density;
  const double p = beta_upper(now.a, now.b, c, &density);
  if (p > chance * (1 + ROUNDING)) return -1;
  return rng_unif(rng) * chance < p;
}

int beta_groups_choose(beta_groups_t *s, const posteriors_t *posteriors, double drift,
                       rng_t *rng) {
  const void *policy = posteriors->policy;
  const arm_groups_t *groups = groups_of(s);
  if (groups->expected != groups->expected) return -1;
  const double c = theta_of(s->level.c);
  argmax_t best = ARGMAX;
  arm_walk_t walk = arm_groups_begin(rng);
  for (int i; (i = arm_groups_next(groups, &walk, rng)) >= 0;) {
    const beta_t p = posteriors->of(policy, i, drift);
    const int on =
        goes_on(p, posteriors->of(policy, i, s->drift), groups->chance[i], c, rng);
    if (on < 0) return BETA_GROUPS_BROKEN;
    if (on) argmax_add(&best, i, sample_beta_beyond(rng, p.a, p.b, c));
  }
  if (best.arm < 0) {
    for (int i = 0; i < s->k; i++) {
      const beta_t p = posteriors->of(policy, i, drift);
      argmax_add(&best, i, 1 - sample_beta_beyond(rng, p.b, p.a, 1 - c));
    }
  }
  return argmax_arm(&best);
}
