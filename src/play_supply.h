#ifndef DPTS_PLAY_SUPPLY_H
#define DPTS_PLAY_SUPPLY_H
/* Rewards that are not drawn here: those of a log, in its order, and those that the caller supplies in
   blocks. When an arm has none left, the environment is over for the moment: the caller supplies the
   next block, and play continues. So nothing below the shims calls R, and policies keep their speed. The
   m-th reward of an arm is the same for all policies of a run, and blocks have the same sizes: 64, 256,
   1024, ... up to a limit that depends on k. */

#include "play_environment.h"

/* The most rewards in a block. */
static inline int supply_most(int k) {
  const int most = (1 << 20) / k;
  return most < 64 ? 64 : most < 1 << 14 ? most : 1 << 14;
}

/* Continues, once nothing is wanted any more. */
void supply_resume(environment_t *env);

#endif
