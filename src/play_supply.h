#ifndef DPTS_PLAY_SUPPLY_H
#define DPTS_PLAY_SUPPLY_H
/* Rewards that are not drawn here: those of a log, in its order, and those that the caller
   supplies in blocks. When an arm has none left, the environment is over for the moment: the
   caller puts in the next block, and play goes on. So nothing below the shims calls R, and
   policies keep their speed. The m-th reward of an arm is the same for all policies of a run,
   and blocks have the same sizes: 64, 256, 1024, ... up to a number that k decides. */

#include "play_environment.h"

/* The most rewards in a block. */
static inline int supply_most(int k) {
  const int most = (1 << 20) / k;
  return most < 64 ? 64 : most < 1 << 14 ? most : 1 << 14;
}

/* What an environment waits for: one block for each arm that has no rewards left, or of one for
   all arms, for the rounds to come. */
typedef struct {
  int64_t block; /* its number, from 0 */
  int64_t first; /* a table's first round */
  int n;         /* how many rewards, or rounds */
} want_t;

/* Does the environment wait for rewards of this arm (of all arms, in a table)? */
int supply_wants(const environment_t *env, int arm, want_t *want);
/* Where the n rewards go that are wanted of an arm; of a table those of each arm, and (mean = 1)
   as many means. */
double *supply_room(const environment_t *env, int arm, int mean);
/* They are there (of all arms, in a table). */
void supply_put(environment_t *env, int arm);
/* Nothing is wanted any more. */
void supply_resume(environment_t *env);

#endif
