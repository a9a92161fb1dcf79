#ifndef DPTS_SKIP_THOMPSON_BETA_H
#define DPTS_SKIP_THOMPSON_BETA_H
/* What policies with Beta posteriors supply to skip_thompson.h. The draws need log-concave densities: a,
   b >= 1. */

#include "math_beta.h"
#include "skip_thompson.h"

/* For the groups, levels are on the scale -log(1 - theta), on which log tail probabilities are nearly
   linear. */
extern const family_t BETA;
static inline double beta_theta(double level) { return fmax(0, -expm1(-level)); }

static inline double beta_mean(posterior_t p) { return p.x / (p.x + p.y); }

/* Chooses the arm of the largest mean as leader, a level between its mean and those of the others, and a
   number of rounds. */
double thompson_open_beta(const thompson_kind_t *kind, void *policy, thompson_t *block,
                          const player_t *player);

#endif
