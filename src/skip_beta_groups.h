#ifndef DPTS_SKIP_BETA_GROUPS_H
#define DPTS_SKIP_BETA_GROUPS_H
/* Thompson sampling among many arms of which none leads, where posteriors are Beta distributions: a
   round at a time and exactly, but without a draw of each posterior.

   As for Gaussian ones (skip_ts_gaussian_groups.c), only the few draws above a level c are made,
   each given theta_i > c, and the largest is the largest of all. In the rare round in which there is
   none, every arm is drawn given theta_i <= c.

   Posteriors may drift upwards from round to round, as those of the lazy policies do. Then the
   groups hold each arm's chance at the end of a stretch of rounds, which bounds those before: an
   arm that they find goes on with its chance now over that bound. */

#include "skip_arm_level.h"

/* A policy's posteriors: of an arm, where the drift has come to `drift`; a, b >= 1. With more drift
   none is lower. */
typedef struct {
  const void *policy;
  beta_t (*of)(const void *policy, int arm, double drift);
} posteriors_t;

/* The groups, an arm_groups_t, come behind it. */
typedef struct {
  int32_t k;
  int32_t open; /* do the groups hold chances? 0 when arms were renewed elsewhere */
  double drift; /* at the end of the stretch, whose chances the groups hold */
  /* Of -log(1 - theta), in which tails of Beta distributions are nearly straight. */
  arm_level_t level;
} beta_groups_t;

size_t beta_groups_size(int k);
void beta_groups_init(beta_groups_t *s, int k);
/* For tests: the groups, and the theta of their level */
const arm_groups_t *beta_groups_arms(const beta_groups_t *s);
double beta_groups_level(const beta_groups_t *s);

/* A new stretch, up to this drift. */
void beta_groups_open(beta_groups_t *s, const posteriors_t *posteriors, double drift);
/* The choice in a round; -1: a draw is not a number; BETA_GROUPS_BROKEN: a posterior is above the one
   at the end of the stretch. */
#define BETA_GROUPS_BROKEN (-2)
int beta_groups_choose(beta_groups_t *s, const posteriors_t *posteriors, double drift,
                       rng_t *rng);
/* An arm's posterior has changed otherwise than by drift. */
void beta_groups_renew(beta_groups_t *s, const posteriors_t *posteriors, int arm);

#endif
