#ifndef DPTS_SKIP_ARM_LEVEL_H
#define DPTS_SKIP_ARM_LEVEL_H
/* A level that a few of many posteriors' draws exceed in a round (skip_arm_groups.h). It may depend on the
   past alone; then it decides what a round costs, and not what happens.

   As posteriors sharpen fewer draws exceed it. When their expected number has drifted, the level is
   chosen anew. */

#include "skip_arm_groups.h"

typedef struct {
  double c;           /* the level */
  double slope;       /* of the expected number above it, downwards; 0: not known */
  double least, most; /* between which that number may drift */
} arm_level_t;

/* An arm's chance to be above a level, and minus its slope there, roughly. */
typedef struct {
  double chance, slope;
} arm_above_t;
typedef arm_above_t arm_above_fn(const void *policy, int arm, double c);

/* Does the level still hold? */
static inline int arm_level_holds(const arm_level_t *level, const arm_groups_t *groups) {
  return groups->expected > level->least && groups->expected < level->most;
}

/* The chances that the groups know are out of date: the level is a place to begin from. */
static inline void arm_level_drop(arm_level_t *level) {
  level->most = -1;
  level->slope = 0;
}

/* Find a level that holds, and put k arms into groups by their chances above it. */
void arm_level_find(arm_level_t *level, arm_groups_t *groups, int k, arm_above_fn *above,
                    const void *policy);

#endif
