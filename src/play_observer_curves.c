/* Cumulative regret and reward, at the recorded rounds. */

#include "play_environment.h"

static size_t rows(const survey_t *survey) { return (size_t)survey->n_rounds; }

static void look_next(observer_t *observer) {
  const survey_t *survey = observer->survey;
  observer->next = observer->kept < survey->n_rounds ? (int64_t)survey->rounds[observer->kept] : INT64_MAX;
}

static void keep(observer_t *observer, double value) {
  ((double *)observer->out[0])[observer->kept++] = value;
  look_next(observer);
}

/* If gaps are constant, regret is computed at the recorded rounds as the sum over arms of pulls times
   gap: exact, and at no cost in the rounds between. */
static void see_regret(observer_t *observer, const environment_t *env, int arm, double reward) {
  (void)arm, (void)reward;
  double regret = env->regret_sum;
  if (!env->kind->changing) {
    for (int i = 0; i < env->arms->k; i++) {
      regret += (double)env->player.pulls[i] * env->arms->gap[i];
    }
  }
  keep(observer, regret);
}

static void see_reward(observer_t *observer, const environment_t *env, int arm, double reward) {
  (void)arm, (void)reward;
  keep(observer, env->reward_sum);
}

OBSERVER(regret, .output = {{"regret", 0, rows}}, .begin = look_next, .see = see_regret);

OBSERVER(reward, .output = {{"reward", 0, rows}}, .begin = look_next, .see = see_reward);
