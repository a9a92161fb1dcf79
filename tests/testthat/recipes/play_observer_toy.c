/* A toy: how often the first arm was pulled, after the recorded rounds. */

#include "play_environment.h"

static size_t rows(const survey_t *survey) { return (size_t)survey->n_rounds; }

static void look_next(observer_t *observer) {
  const survey_t *survey = observer->survey;
  const int more = observer->kept < survey->n_rounds;
  observer->next = more ? (int64_t)survey->rounds[observer->kept] : INT64_MAX;
}

static void see(observer_t *observer, const environment_t *env, int arm, double reward) {
  (void)arm, (void)reward;
  ((double *)observer->out[0])[observer->kept++] = (double)env->player.pulls[0];
  look_next(observer);
}

OBSERVER(toy, .output = {{"first", 0, rows}}, .begin = look_next, .see = see);
