/* At the end of a run: the pulls of each arm, the policy's report of it, and whether the rewards that R
   supplied agree with their means. */

#include "play_environment.h"

static size_t rows_pulls(const survey_t *survey) { return (size_t)survey->k; }

static void finish_pulls(observer_t *observer, const environment_t *env, const reports_t *reports) {
  (void)reports;
  double *out = observer->out[0];
  for (int i = 0; i < observer->survey->k; i++) out[i] = (double)env->player.pulls[i];
}

OBSERVER(pulls, .output = {{"pulls", 0, rows_pulls}}, .finish = finish_pulls);

static size_t rows_estimates(const survey_t *survey) { return N_REPORT * (size_t)survey->k; }

static void finish_estimates(observer_t *observer, const environment_t *env, const reports_t *reports) {
  (void)env;
  double *out = observer->out[0];
  for (int i = 0; i < observer->survey->k; i++) {
    const report_t report = reports->of(reports->policy, i);
    report_write(&report, out + N_REPORT * (size_t)i);
  }
}

OBSERVER(estimates, .output = {{"report", 0, rows_estimates}}, .finish = finish_estimates);

/* The sum of rewards minus its expectation, and an upper bound on its variance. */
static size_t rows_earned(const survey_t *survey) {
  (void)survey;
  return 2;
}

static void finish_earned(observer_t *observer, const environment_t *env, const reports_t *reports) {
  (void)reports;
  double *out = observer->out[0];
  out[0] = env->reward_sum - env->expected;
  out[1] = env->spread;
}

OBSERVER(earned, .output = {{"earned", 0, rows_earned}}, .finish = finish_earned);
