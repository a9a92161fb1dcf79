#ifndef DPTS_SKIP_THOMPSON_BETA_H
#define DPTS_SKIP_THOMPSON_BETA_H
/* What all policies with Beta posteriors give skip_thompson.h. The draws need densities whose logarithm is
   concave: a, b >= 1. */

#include "skip_thompson.h"

/* For the groups levels are -log(1 - theta), in which the tails are nearly straight. */
extern const family_t BETA;
static inline double beta_theta(double level) { return fmax(0, -expm1(-level)); }

static inline double beta_mean(posterior_t p) { return p.x / (p.x + p.y); }

/* Takes the arm of the largest mean for the leader; a level between its mean and those of the others; and
   a number of rounds that is worth it. */
double thompson_open_beta(const thompson_kind_t *kind, void *policy, thompson_t *block,
                          const player_t *player);

#endif
