#ifndef DPTS_SKIP_ARM_LEVEL_H
#define DPTS_SKIP_ARM_LEVEL_H
/* A level that only a few of many posterior draws exceed in a round (skip_arm_groups.h). It may depend
   only on the past; then it affects the cost of a round, but not the result.

   As posteriors become narrower, fewer draws exceed the level. When their expected number has drifted
   too far, a new level is chosen. */

#include "skip_arm_groups.h"

typedef struct {
  double c;           /* the level */
  double slope;       /* minus the derivative of the expected number above it; 0: not known */
  double least, most; /* range of that number in which the level holds */
} arm_level_t;

/* The probability that an arm's draw is above a level, and minus its approximate derivative there. */
typedef struct {
  double chance, slope;
} arm_above_t;
typedef arm_above_t arm_above_fn(const void *policy, int arm, double c);

/* Is the expected number of arms above the level still in its range? */
static inline int arm_level_holds(const arm_level_t *level, const arm_groups_t *groups) {
  return groups->expected > level->least && groups->expected < level->most;
}

/* Marks the groups as out of date; the level is the start of the next search. */
static inline void arm_level_drop(arm_level_t *level) {
  level->most = -1;
  level->slope = 0;
}

/* Finds a level that holds, and sorts k arms into groups by their probabilities above it. */
void arm_level_find(arm_level_t *level, arm_groups_t *groups, int k, arm_above_fn *above, const void *policy);

#endif
