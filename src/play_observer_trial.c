/* The results of a trial: its cost, the longest sequence of people on one arm, and its conclusions, by
   evidence that is valid at any time, and, if people are randomised, by one test at the end
   (policy_final_test.h). It looks at every round, so the plain engine plays it. A policy that randomises and
   releases nothing is one block. */

#include "play_judge.h"
#include "policy_final_test.h"

/* A column holds REWARD, LONGEST, NAMED (the arm of the policy's own verdict, 0: none), COUNTED (visits
   that count: play_visits.h); then k numbers each of pulls, means and the round at which an arm was shown
   to be better (than the control, or than all others); then, arm a against b at a + k b, k by k lower
   bounds of differences by evidence, and of the test at the end estimates, standard errors, Z, and shares
   and terms of noise with Laplace tails. */
enum { REWARD, LONGEST, NAMED, COUNTED, FIRST, BY_ARM = 3, BY_PAIR = 6 };

typedef struct {
  int64_t run, longest;
  int last, released, named;
  judge_t judge;
  int64_t *pulls, *counted;
  double *sums, *squares, *proved; /* by arm; of rewards that count; squares about 1/2 */
  final_test_t test;
} trial_t;

static size_t rows(const survey_t *survey) {
  const size_t k = (size_t)survey->k;
  return FIRST + BY_ARM * k + BY_PAIR * k * k;
}

static size_t size(const survey_t *survey) {
  const size_t k = (size_t)survey->k;
  return sizeof(trial_t) + judge_size(survey) + final_test_size(survey->k) +
         k * (2 * sizeof(int64_t) + 3 * sizeof(double));
}

static void begin(observer_t *observer) {
  trial_t *trial = observer->space;
  const int k = observer->survey->k;
  *trial = (trial_t){.last = -1};
  judge_begin(&trial->judge, observer->survey, trial + 1);
  char *after = (char *)(trial + 1) + judge_size(observer->survey);
  final_test_begin(&trial->test, k, after);
  trial->sums = (double *)(after + final_test_size(k));
  trial->squares = trial->sums + k;
  trial->proved = trial->squares + k;
  trial->pulls = (int64_t *)(trial->proved + k);
  trial->counted = trial->pulls + k;
  for (int i = 0; i < k; i++) {
    trial->sums[i] = trial->squares[i] = 0;
    trial->proved[i] = NAN;
    trial->pulls[i] = trial->counted[i] = 0;
  }
  observer->next = 1;
}

static void see(observer_t *observer, const environment_t *env, int arm, double reward) {
  trial_t *trial = observer->space;
  trial->pulls[arm]++;
  if (!env->passed) {
    trial->counted[arm]++;
    trial->sums[arm] += reward;
    trial->squares[arm] += (reward - 0.5) * (reward - 0.5);
  }
  trial->run = arm == trial->last ? trial->run + 1 : 1;
  trial->last = arm;
  if (trial->run > trial->longest) trial->longest = trial->run;
  observer->next++;
}

/* ---- evidence ---------------------------------------------------------------------- */

/* Is an arm shown to be better than the control, or, without a control, than all others? */
static int is_proved(const trial_t *trial, const survey_t *survey, int arm) {
  const int k = survey->k, control = survey->control;
  for (int i = 0; i < k; i++) {
    if (i == arm || (control > 0 && i != control - 1)) continue;
    if (!judge_proves(&trial->judge, survey, arm, i)) return 0;
  }
  return arm != control - 1;
}

static int released(observer_t *observer, const session_t *session) {
  trial_t *trial = observer->space;
  const survey_t *survey = observer->survey;
  const int k = survey->k;
  if (!judge_hear(&trial->judge, survey, session)) return 0;
  verdict_t own;
  trial->released = 1;
  if (session_verdict(session, &own) == SESSION_OK && own.stop) trial->named = own.arm + 1;
  if (trial->judge.n && trial->judge.rows[0].chance > 0) {
    final_test_add(&trial->test, trial->judge.rows, trial->judge.n);
  }
  while (judge_look(&trial->judge, survey)) {
    for (int i = 0; i < k; i++) {
      if (isnan(trial->proved[i]) && is_proved(trial, survey, i)) trial->proved[i] = (double)session->t;
    }
  }
  return 0;
}

/* ---- the end ----------------------------------------------------------------------- */

static void write_pairs(const trial_t *trial, const survey_t *survey, double *lower) {
  const int k = survey->k;
  double *estimate = lower + k * k, *error = estimate + k * k, *z = error + k * k;
  double *share = z + k * k, *terms = share + k * k;
  for (int i = 0; i < k; i++) {
    for (int j = 0; j < k; j++) {
      const int at = i + k * j;
      const final_result_t of = final_test_of(&trial->test, i, j);
      const int asked =
          i != j && (!(survey->control > 0) || i == survey->control - 1 || j == survey->control - 1);
      lower[at] = asked && survey->concludes ? judge_lower(&trial->judge, survey, i, j) : NAN;
      estimate[at] = of.difference, error[at] = of.error, z[at] = of.z;
      share[at] = of.share, terms[at] = of.terms;
    }
  }
}

static void finish(observer_t *observer, const environment_t *env, const reports_t *reports) {
  trial_t *trial = observer->space;
  const survey_t *survey = observer->survey;
  const int k = survey->k;
  double *out = observer->out[0];
  out[REWARD] = env->reward_sum;
  out[LONGEST] = (double)trial->longest;
  out[NAMED] = trial->named;
  out[COUNTED] = 0;
  for (int i = 0; i < k; i++) out[COUNTED] += (double)trial->counted[i];
  if (survey->blind && !trial->released) {
    for (int i = 0; i < k; i++) {
      const double n = (double)trial->counted[i];
      trial->judge.rows[i] = (release_t){.arm = i,
                                         .size = n,
                                         .sum = trial->sums[i],
                                         .chance = 1,
                                         .squares = trial->squares[i],
                                         .weight = trial->squares[i] != n / 4}; /* 0: of rewards of 0 and 1 */
    }
    final_test_add(&trial->test, trial->judge.rows, k);
  }
  final_test_close(&trial->test);
  double *pulls = out + FIRST, *mean = pulls + k, *proved = mean + k;
  for (int i = 0; i < k; i++) {
    const report_t report = reports->of(reports->policy, i);
    pulls[i] = (double)trial->pulls[i];
    mean[i] = report.rewards > 0 ? report.sum / report.rewards : trial->sums[i] / (double)trial->counted[i];
    proved[i] = trial->proved[i];
  }
  write_pairs(trial, survey, proved + k);
}

OBSERVER(trial, .output = {{"trial", 0, rows}}, .size = size, .begin = begin, .see = see,
         .released = released, .finish = finish);
