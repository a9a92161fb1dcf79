/* The results of a trial: its cost, the longest sequence of people on one arm, and its conclusions, by
   evidence that is valid at any time, and, if people are randomised, by one test at the end
   (policy_final_test.h), and at looks before it: the recorded rounds but the last say of how many people
   something must have been released. It looks at every round, so the plain engine plays it. A policy that
   randomises and releases nothing is one block. */

#include "play_judge.h"
#include "policy_final_test.h"

/* A column holds REWARD, LONGEST, NAMED (the arm of the policy's own verdict, 0: none); then pulls, those
   that count (play_visits.h), and means of each arm, in all strata; then for each part the round
   at which an arm of k was shown to be better (than the control, or than all others), and, arm a against b at
   a + k b, k by k lower bounds of differences by evidence, and of the test at the end estimates, standard
   errors, Z, and shares and terms of noise with Laplace tails. Then, of each look before the end at the first
   part, the number of people of whom something was released (NaN: there was no look), the variance of an
   arm's noise so far, and what the test then says, as at the end. If there are looks, that variance at the
   end is the last row. */
enum { REWARD, LONGEST, NAMED, FIRST, BY_ARM = 3, BY_TEST = 5, BY_PAIR = 1 + BY_TEST };

typedef struct {
  int64_t run, longest;
  int last, released, named;
  judge_t judge;
  int64_t *pulls, *counted;
  double *sums, *squares; /* by arm; of rewards that count; squares about 1/2 */
  double *proved;         /* by part, and arm of k */
  final_test_t *tests;    /* by part, and room for a copy */
  double people;          /* of whom something was released */
  double noise;           /* the variance of it in the sums of an arm */
  int looks;              /* how many were made */
} trial_t;

static int looks(const survey_t *survey) { return survey->n_rounds - 1; }

static size_t rows_of_look(const survey_t *survey) {
  return 2 + BY_TEST * (size_t)survey->design.k * (size_t)survey->design.k;
}

static size_t rows_of_end(const survey_t *survey) {
  const size_t k = (size_t)survey->design.k;
  return FIRST + BY_ARM * (size_t)survey->k + (size_t)survey->parts * (k + BY_PAIR * k * k);
}

static size_t rows(const survey_t *survey) {
  return rows_of_end(survey) + (size_t)looks(survey) * rows_of_look(survey) + (looks(survey) > 0);
}

static size_t test_size(const survey_t *survey) {
  return final_test_size(survey->design.k, survey->design.strata);
}

static size_t size(const survey_t *survey) {
  const size_t parts = (size_t)survey->parts;
  return sizeof(trial_t) + judge_size(survey) + (parts + 1) * (sizeof(final_test_t) + test_size(survey)) +
         (size_t)survey->k * (2 * sizeof(int64_t) + 2 * sizeof(double)) +
         parts * (size_t)survey->design.k * sizeof(double);
}

static void begin(observer_t *observer) {
  trial_t *trial = observer->space;
  const survey_t *survey = observer->survey;
  const int k = survey->k, parts = survey->parts, proofs = parts * survey->design.k;
  *trial = (trial_t){.last = -1};
  judge_begin(&trial->judge, survey, trial + 1);
  trial->tests = (final_test_t *)((char *)(trial + 1) + judge_size(survey));
  char *after = (char *)(trial->tests + parts + 1);
  for (int i = 0; i <= parts; i++, after += test_size(survey)) {
    final_test_begin(&trial->tests[i], survey->design.k, survey->design.strata, after);
  }
  trial->sums = (double *)after;
  trial->squares = trial->sums + k;
  trial->proved = trial->squares + k;
  trial->pulls = (int64_t *)(trial->proved + proofs);
  trial->counted = trial->pulls + k;
  for (int i = 0; i < k; i++) {
    trial->sums[i] = trial->squares[i] = 0;
    trial->pulls[i] = trial->counted[i] = 0;
  }
  for (int i = 0; i < proofs; i++) trial->proved[i] = NAN;
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
  const int same = arm % observer->survey->design.k; /* in whatever stratum */
  trial->run = same == trial->last ? trial->run + 1 : 1;
  trial->last = same;
  if (trial->run > trial->longest) trial->longest = trial->run;
  observer->next++;
}

/* ---- evidence ---------------------------------------------------------------------- */

/* Is an arm shown to be better than the control, or, without a control, than all others? */
static int is_proved(const trial_t *trial, const survey_t *survey, int arm) {
  const int k = survey->design.k, control = survey->control;
  for (int i = 0; i < k; i++) {
    if (i == arm || (control > 0 && i != control - 1)) continue;
    if (!judge_proves(&trial->judge, survey, arm, i)) return 0;
  }
  return arm != control - 1;
}

static void write_test(const final_test_t *test, double *out) {
  const int k = test->k, all = k * k;
  for (int at = 0; at < all; at++) {
    const final_result_t of = final_test_of(test, at % k, at / k);
    const double column[BY_TEST] = {of.difference, of.error, of.z, of.share, of.terms};
    for (int i = 0; i < BY_TEST; i++) out[at + all * i] = column[i];
  }
}

static void look(observer_t *observer, trial_t *trial) {
  const survey_t *survey = observer->survey;
  for (; trial->looks < looks(survey) && trial->people >= survey->rounds[trial->looks]; trial->looks++) {
    double *out = (double *)observer->out[0] + rows_of_end(survey);
    out += (size_t)trial->looks * rows_of_look(survey);
    final_test_t *now = &trial->tests[survey->parts];
    final_test_copy(now, trial->tests);
    final_test_close(now);
    out[0] = trial->people;
    out[1] = trial->noise;
    write_test(now, out + 2);
  }
}

static int released(observer_t *observer, const session_t *session) {
  trial_t *trial = observer->space;
  const survey_t *survey = observer->survey;
  const int k = survey->design.k;
  if (!judge_hear(&trial->judge, survey, session)) return 0;
  verdict_t own;
  trial->released = 1;
  if (session_verdict(session, &own) == SESSION_OK && own.stop) trial->named = own.arm + 1;
  for (enum judge_look now; (now = judge_look(&trial->judge, survey));) {
    const judge_t *judge = &trial->judge;
    const release_t *block = judge_block(judge);
    if (block->chance > 0) final_test_add(&trial->tests[judge->part], block, judge->latest);
    for (int i = 0; i < judge->latest; i++) trial->people += block[i].size;
    trial->noise += noise_law_variance(&block->noise) * block->terms;
    if (now != LOOK) continue;
    look(observer, trial);
    double *proved = trial->proved + judge->part * k;
    for (int i = 0; i < k; i++) {
      if (isnan(proved[i]) && is_proved(trial, survey, i)) proved[i] = (double)session->t;
    }
  }
  return 0;
}

/* ---- the end ----------------------------------------------------------------------- */

static void write_pairs(const trial_t *trial, const survey_t *survey, int part, double *lower) {
  const int k = survey->design.k;
  for (int i = 0; i < k; i++) {
    for (int j = 0; j < k; j++) {
      const int at = i + k * j;
      const int asked =
          i != j && (!(survey->control > 0) || i == survey->control - 1 || j == survey->control - 1);
      lower[at] = asked && survey->concludes ? judge_lower(&trial->judge, survey, part, i, j) : NAN;
    }
  }
  write_test(&trial->tests[part], lower + k * k);
}

static void finish(observer_t *observer, const environment_t *env, const reports_t *reports) {
  trial_t *trial = observer->space;
  const survey_t *survey = observer->survey;
  const int k = survey->k, own = survey->design.k;
  double *out = observer->out[0];
  out[REWARD] = env->reward_sum;
  out[LONGEST] = (double)trial->longest;
  out[NAMED] = trial->named;
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
    final_test_add(trial->tests, trial->judge.rows, k);
  }
  if (looks(survey) > 0) out[rows(survey) - 1] = trial->noise;
  double *pulls = out + FIRST, *counted = pulls + k, *mean = counted + k, *proved = mean + k;
  for (int i = 0; i < k; i++) {
    const report_t report = reports->of(reports->policy, i);
    pulls[i] = (double)trial->pulls[i];
    counted[i] = (double)trial->counted[i];
    mean[i] = report.rewards > 0 ? report.sum / report.rewards : trial->sums[i] / counted[i];
  }
  for (int part = 0; part < survey->parts; part++, proved += own + BY_PAIR * own * own) {
    final_test_close(&trial->tests[part]);
    for (int i = 0; i < own; i++) proved[i] = trial->proved[part * own + i];
    write_pairs(trial, survey, part, proved + own);
  }
}

OBSERVER(trial, .output = {{"trial", 0, rows}}, .size = size, .begin = begin, .see = see,
         .released = released, .finish = finish);
