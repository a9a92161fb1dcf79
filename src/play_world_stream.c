/* The rewards of all rounds and arms are given, as in an audit. */

#include "play_environment.h"

static int pull_stream(environment_t *env, const round_t *round, int arm, double *reward) {
  (void)round; /* the policy's, which does not count all visits of people who come again */
  const int64_t at = env->player.t + env->player.horizon * arm;
  *reward = env->world->par[0][at]; /* a row per round, a column per arm */
  environment_step(env, arm, *reward);
  return 1;
}

WORLD(stream, .pull = pull_stream, .changing = 1, .params = {"rewards"});
