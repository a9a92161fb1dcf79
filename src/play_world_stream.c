/* Streams: the rewards of every round and arm are given, as an audit plays them. */

#include "play_environment.h"

static int pull_stream(environment_t *env, const round_t *round, int arm, double *reward) {
  const int64_t at = round->t - 1 + env->player.horizon * arm;
  *reward = env->world->par[0][at]; /* a row for each round, a column for each arm */
  environment_step(env, arm, *reward);
  return 1;
}

WORLD(stream, .pull = pull_stream, .changing = 1, .params = {"rewards"});
