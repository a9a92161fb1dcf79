/* Rewards of which a part is known of each person before the toss: normal, with the deviation z of the person
   from the mean that the round's context predicts, and clipped to [0, 1]. */

#include <math.h>
#include "math_util.h"
#include "play_environment.h"
#include "sample.h"

enum { R2, LEVEL };
enum { PREDICTION, DEVIATION, NUMBERS };

static size_t size(const world_t *world) {
  (void)world;
  return sizeof(double) * NUMBERS;
}

/* par of an arm: mean, sd, clipped (play_arms.c); all have the same sd */
static void offer(environment_t *env, round_t *round) {
  const world_t *world = env->world;
  double *person = env->space;
  person[DEVIATION] = sqrt(*world->par[R2]) * sample_normal(&env->contexts);
  person[PREDICTION] = *world->par[LEVEL] + env->arms->source[0].par[1] * person[DEVIATION];
  round->context = &person[PREDICTION];
  round->context_step = 0;
}

static int pull(environment_t *env, const round_t *round, int arm, double *reward) {
  (void)round;
  const double *par = env->arms->source[arm].par, *person = env->space;
  const double rest = sqrt(1 - *env->world->par[R2]) * sample_normal(&env->reward);
  *reward = clip01(par[0] + par[1] * (person[DEVIATION] + rest));
  environment_step(env, arm, *reward);
  return 1;
}

WORLD(predicted, .offer = offer, .pull = pull, .size = size, .dim = 1, .params = {"r2", "level"});
