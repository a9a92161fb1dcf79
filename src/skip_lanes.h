#ifndef DPTS_SKIP_LANES_H
#define DPTS_SKIP_LANES_H
/* Lanes: runs of one policy side by side, one run per lane, in step. Where no arm leads and
   every round must be played, the rounds of different runs go through the vector unit
   together. A lane has its run's own streams, so that the company it is in changes
   nothing; its draws are other than those of the plain policy, with the same distribution. */

#include "play_environment.h"
#include "policy.h"

#define LANES 32 /* most lanes in a block */

/* Lanes in a block for n runs: 16 or 32. Lanes without a run idle along. */
static inline int lanes_width(int n) { return n <= 16 ? 16 : LANES; }

typedef struct lanes_t {
  /* Can they play this at all? */
  int (*can)(const spec_t *spec);
  /* Are lanes the better choice? Decided by the problem alone, never by the machine. */
  int (*pays)(const spec_t *spec, const arms_t *arms);
  size_t (*size)(const spec_t *spec); /* bytes of a block, on a multiple of 64 */
  /* Start n runs, or the next life of the policy in them, from where their environments
     stand. */
  void (*begin)(void *block, const spec_t *spec, environment_t *envs, draws_t *draws,
                int n);
  /* Play at most so many rounds of each run, recording on the way. */
  void (*play)(void *block, environment_t *envs, int n, int64_t rounds);
  /* Tell the environments what was pulled and what it yielded. */
  void (*tell)(void *block, environment_t *envs, int n);
  /* What the policy has seen of an arm in its life. */
  tally_t (*seen)(void *block, int lane, int arm);
} lanes_t;

extern int lanes_widest; /* skip_lanes_ts_gaussian.c */
void lanes_draw_normals(uint64_t seed, double *x, double *exact, int64_t n);

#endif
