#ifndef DPTS_PLAY_LANES_H
#define DPTS_PLAY_LANES_H
/* Lanes: runs of one policy side by side, one run per lane, in step. If no arm leads and every round
   must be played, the vector unit plays the rounds of several runs together. Each lane uses its own
   run's random streams, so its results do not depend on the other lanes; its draws differ from those of
   the plain loop, with the same distribution. */

#include "play_environment.h"
#include "policy.h"

#define LANES 32 /* the most lanes in a block */

/* Lanes in a block for n runs: 16 or 32. Lanes without a run are idle. */
static inline int lanes_width(int n) { return n <= 16 ? 16 : LANES; }

typedef struct {
  const policy_t *policy;
  /* Can lanes play this policy? */
  int (*can)(const spec_t *spec);
  /* Are lanes faster? This depends on the problem alone, never on the machine. */
  int (*pays)(const spec_t *spec, const arms_t *arms);
  size_t (*size)(const spec_t *spec); /* bytes of a block, on a multiple of 64 */
  /* Starts n runs, or the next segment of a restarted policy, from the present state of their
     environments. */
  void (*begin)(void *block, const spec_t *spec, environment_t *envs, draws_t *draws, int n);
  /* Plays at most this number of rounds of each run, with observers. */
  void (*play)(void *block, environment_t *envs, int n, int64_t rounds);
  /* Updates the environments' pulls and rewards. */
  void (*update)(void *block, environment_t *envs, int n);
  /* The rewards of an arm that the policy has seen since it was started. */
  tally_t (*seen)(void *block, int lane, int arm);
} lanes_t;

extern const lanes_t lanes_ts_gaussian;

/* The lanes of a policy; NULL if it has none. */
static inline const lanes_t *lanes_of(const policy_t *policy) {
  return policy == lanes_ts_gaussian.policy ? &lanes_ts_gaussian : NULL;
}

extern int lanes_widest; /* play_lanes_ts_gaussian.c */
void lanes_draw_normals(uint64_t seed, double *x, double *exact, int64_t n);

#endif
