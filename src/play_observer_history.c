/* The arm that was pulled in each round, and its reward. */

#include <string.h>
#include "play_session.h"

static size_t rows(const survey_t *survey) { return (size_t)survey->horizon; }

/* The state after the rounds so far. */
typedef struct {
  double sum;      /* of their rewards */
  int64_t pulls[]; /* of each arm */
} known_t;

static size_t size(const survey_t *survey) { return sizeof(known_t) + sizeof(int64_t) * (size_t)survey->k; }

static void begin(observer_t *observer) {
  memset(observer->space, 0, size(observer->survey));
  observer->next = 1;
}

static void see(observer_t *observer, const environment_t *env, int arm, double reward) {
  known_t *known = observer->space;
  if (arm < 0) { /* in lanes: find the arm and the reward by what has changed */
    for (arm = 0; env->player.pulls[arm] == known->pulls[arm];) arm++;
    reward = env->reward_sum - known->sum;
  }
  known->pulls[arm]++;
  known->sum = env->reward_sum;
  ((int *)observer->out[0])[observer->kept] = arm + 1;
  ((double *)observer->out[1])[observer->kept] = reward;
  observer->kept++;
  observer->next++;
}

OBSERVER(history, .output = {{"arms", 1, rows}, {"rewards", 0, rows}}, .size = size, .begin = begin,
         .see = see);
