/* People of several strata: in each round a person of one of them comes, by its share, and its arms alone are
   on offer. Who comes again is of the same stratum. The arms are those of the strata, one after the other. */

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
  visitor_t *who = env->who;
  int at = 0;
  if (who && who->stratum > 0) {
    at = who->stratum - 1;
  } else {
    double u = rng_unif(&env->contexts);
    while (at + 1 < strata && (u -= share[at]) >= 0) at++;
  }
  if (who) who->stratum = at + 1;
  round->offer = (const int *)env->space + at * k;
  round->n_offer = k;
  round->all = NULL;
}

WORLD(strata, .offer = offer, .size = size, .begin = begin, .params = {"strata", "share"});
