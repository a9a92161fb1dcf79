#ifndef DPTS_LANES_H
#define DPTS_LANES_H
/* Lanes: runs of one policy side by side, a run a lane, in step. Where no arm leads and
   every round must be played, the rounds of different runs go through the vector unit
   together. A lane has its run's own streams, so that the company it is in changes
   nothing; its draws are other than those of the plain policy, with the same law. */

#include "noise.h"
#include "world.h"

#define LANES 32 /* most lanes in a block */

/* Lanes in a block for n runs: 16 or 32. Lanes without a run idle along. */
static inline int lanes_width(int n) { return n <= 16 ? 16 : LANES; }

typedef struct lanes_t {
  /* Can they play this at all? */
  int (*can)(const void *spec);
  /* Are lanes the better choice? Decided by the problem alone, never by the machine. */
  int (*pays)(const void *spec, const arms_t *arms);
  size_t (*size)(const void *spec); /* bytes of a block, on a multiple of 64 */
  /* Start n runs, whose worlds stand at round 0. */
  void (*begin)(void *block, const void *spec, world_t *worlds, dice_t *dice, int n);
  /* Play at most so many rounds of each run, recording on the way. */
  void (*play)(void *block, world_t *worlds, int n, int64_t rounds);
} lanes_t;

extern int lanes_widest; /* lanes_ts_gaussian.c */
void lanes_draw_normals(uint64_t seed, double *x, double *exact, int64_t n);

#endif
