#include "skip_arm_level.h"

static void fill(arm_level_t *level, arm_groups_t *groups, int k, double c, arm_above_fn *above,
                 const void *policy) {
  level->c = c;
  level->slope = 0;
  for (int i = 0; i < k; i++) {
    const arm_above_t arm = above(policy, i, c);
    groups->chance[i] = arm.chance;
    level->slope += arm.slope;
  }
  arm_groups_fill(groups, k);
}

/* The target for the expected number of arms above the level. With probability exp(-target) there is
   none, and then all k arms are drawn, so the target grows with log k. */
static double wanted(int k) { return 1.2 * log(k); }

/* A Newton step for the logarithm of the expected number, which is nearly linear in the level. */
static double newton(const arm_level_t *level, const arm_groups_t *groups, int k) {
  const double expected = groups->expected;
  return level->c + log(expected / wanted(k)) * expected / level->slope;
}

/* Newton's method inside a bracket. A poor level only costs time, so the search may stop with one. */
void arm_level_find(arm_level_t *level, arm_groups_t *groups, int k, arm_above_fn *above,
                    const void *policy) {
  double c = level->slope > 0 ? newton(level, groups, k) : level->c;
  double lower = -INFINITY, upper = INFINITY;
  for (int step = 0; step < 40; step++) {
    fill(level, groups, k, c, above, policy);
    if (groups->expected > 0.85 * wanted(k) && groups->expected < 1.3 * wanted(k)) break;
    if (groups->expected > wanted(k)) lower = c;
    else upper = c;
    c = newton(level, groups, k);
    if (c > lower && c < upper) continue;
    c = isfinite(lower) && isfinite(upper) ? 0.5 * (lower + upper) : isfinite(upper) ? upper - 1 : lower + 1;
  }
  level->least = 0.6 * groups->expected;
  level->most = 1.8 * groups->expected;
}
