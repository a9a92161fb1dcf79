/* People of several strata: in each round one of them comes, by its share, and its arms alone are on offer.
   The arms are those of the strata, one after the other. */

#include "play_environment.h"
#include "sample.h"

enum { STRATA, SHARE };

static size_t size(const world_t *world) { return sizeof(int) * (size_t)world->arms->k; }

static void begin(environment_t *env, uint64_t seed, uint64_t run) {
  (void)seed, (void)run;
  int *arms = env->space;
  for (int i = 0; i < env->arms->k; i++) arms[i] = i;
}

static void offer(environment_t *env, round_t *round) {
  const int strata = (int)*env->world->par[STRATA], k = env->arms->k / strata;
  const double *share = env->world->par[SHARE];
  double u = rng_unif(&env->contexts);
  int at = 0;
  while (at + 1 < strata && (u -= share[at]) >= 0) at++;
  round->offer = (const int *)env->space + at * k;
  round->n_offer = k;
  round->all = NULL;
}

WORLD(strata, .offer = offer, .size = size, .begin = begin, .params = {"strata", "share"});
