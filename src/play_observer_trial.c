/* The results of a trial: its cost, the longest sequence of people on one arm, and its conclusions, by
   evidence that is valid at any time, and, if people are randomised, by one z-test at the end. It looks
   at every round, so the plain engine plays it.

   The z-test of arms a and b combines blocks: with D_j the difference of the means that block j has
   released, V_j its variance, noise included, and n_j the people in it, Z(d) = sum_j sqrt(n_j / n) (D_j
   - d) / sqrt(V_j). Within a block the probabilities are fixed and the arms are compared at the same
   time. So each term is nearly standard normal given the blocks before it, and so is the sum, whatever
   the probabilities depend on and whatever drifts, provided that block sizes do not depend on outcomes.
   A policy that randomises and learns nothing is one block. */

#include "play_judge.h"
#include "math_util.h"

/* A column holds REWARD, LONGEST, NAMED (the arm of the policy's own verdict, 0: none); then k numbers
   each of pulls, means and the round at which an arm was shown to be better (than the control, or than
   all others); then k by k lower bounds of differences by evidence, and estimates and standard errors of
   the z-test, arm a against b at a + k b. */
enum { REWARD, LONGEST, NAMED, FIRST, BY_ARM = 3, BY_PAIR = 3 };

typedef struct {
  double scaled, weight; /* sum of sqrt(n_j) D_j / sqrt(V_j), and of sqrt(n_j) / sqrt(V_j) */
  double people;
} combined_t;

/* An arm in a block: its number of rewards, their noisy sum, the variance of the noise; and whether
   people could be randomised to it. */
typedef struct {
  double n, sum, noise;
  int in;
} part_t;

typedef struct {
  int64_t run, longest;
  int last, released, named;
  judge_t judge;
  int64_t *pulls;
  double *sums, *proved; /* by arm */
  part_t *block;         /* the last one */
  combined_t *pairs;     /* k by k */
} trial_t;

static size_t rows(const survey_t *survey) {
  const size_t k = (size_t)survey->k;
  return FIRST + BY_ARM * k + BY_PAIR * k * k;
}

static size_t size(const survey_t *survey) {
  const size_t k = (size_t)survey->k;
  return sizeof(trial_t) + judge_size(survey) + k * (sizeof(int64_t) + 2 * sizeof(double) + sizeof(part_t)) +
         k * k * sizeof(combined_t);
}

static void begin(observer_t *observer) {
  trial_t *trial = observer->space;
  const int k = observer->survey->k;
  *trial = (trial_t){.last = -1};
  judge_begin(&trial->judge, observer->survey, trial + 1);
  trial->pairs = (combined_t *)((char *)(trial + 1) + judge_size(observer->survey));
  trial->sums = (double *)(trial->pairs + k * k);
  trial->proved = trial->sums + k;
  trial->block = (part_t *)(trial->proved + k);
  trial->pulls = (int64_t *)(trial->block + k);
  for (int i = 0; i < k; i++) {
    trial->sums[i] = 0;
    trial->proved[i] = NAN;
    trial->pulls[i] = 0;
    for (int j = 0; j < k; j++) trial->pairs[i * k + j] = (combined_t){0};
  }
  observer->next = 1;
}

static void see(observer_t *observer, const environment_t *env, int arm, double reward) {
  trial_t *trial = observer->space;
  (void)env;
  trial->pulls[arm]++;
  trial->sums[arm] += reward;
  trial->run = arm == trial->last ? trial->run + 1 : 1;
  trial->last = arm;
  if (trial->run > trial->longest) trial->longest = trial->run;
  observer->next++;
}

/* ---- the z-test -------------------------------------------------------------------- */

/* The variance of an arm's mean in a block: that of 0/1 rewards, an upper bound for all rewards in [0, 1].
   Means may drift from block to block, so for few people the arm's mean is shrunk towards the block's. */
static double variance_of(const part_t *arm, double level) {
  const double x = clip01((arm->sum + 100 * level) / (arm->n + 100));
  return (fmax(x * (1 - x), 0.01) + arm->noise / arm->n) / arm->n;
}

/* Adds the last block. If one of two arms got nobody, the block counts as a difference of 0. Omitting it
   would raise the weight of the earlier blocks, and an arm gets nobody when it looked bad. */
static void add_block(trial_t *trial, int k) {
  const part_t *of = trial->block;
  double people = 0, sum = 0;
  for (int i = 0; i < k; i++) people += of[i].n, sum += of[i].sum;
  const double level = clip01((sum + 1) / (people + 2));
  for (int i = 0; i < k; i++) {
    for (int j = 0; j < k; j++) {
      if (i == j || !(of[i].in && of[j].in)) continue;
      combined_t *pair = &trial->pairs[i + k * j];
      pair->people += people;
      if (!(of[i].n > 0 && of[j].n > 0)) continue;
      const double gap = of[i].sum / of[i].n - of[j].sum / of[j].n;
      const double sd = sqrt(variance_of(&of[i], level) + variance_of(&of[j], level));
      pair->scaled += sqrt(people) * gap / sd;
      pair->weight += sqrt(people) / sd;
    }
  }
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
  for (int i = 0; i < k; i++) trial->block[i] = (part_t){0};
  for (int i = 0; i < trial->judge.n; i++) {
    const release_t *row = &trial->judge.rows[i];
    if (!(row->chance > 0)) continue;
    const double noise = noise_variance(row->noise.kind, row->noise.scale);
    trial->block[row->arm] = (part_t){row->size, row->sum, noise, 1};
  }
  add_block(trial, k);
  for (int i = 0; i < k && survey->concludes; i++) {
    if (isnan(trial->proved[i]) && is_proved(trial, survey, i)) {
      trial->proved[i] = (double)session->t;
    }
  }
  return 0;
}

/* ---- the end ----------------------------------------------------------------------- */

static void write_pairs(const trial_t *trial, const survey_t *survey, double *lower) {
  const int k = survey->k;
  double *estimate = lower + k * k, *error = estimate + k * k;
  for (int i = 0; i < k; i++) {
    for (int j = 0; j < k; j++) {
      const int at = i + k * j;
      const combined_t *pair = &trial->pairs[at];
      const int asked =
          i != j && (!(survey->control > 0) || i == survey->control - 1 || j == survey->control - 1);
      lower[at] = asked && survey->concludes ? judge_lower(&trial->judge, survey, i, j) : NAN;
      estimate[at] = pair->weight > 0 ? pair->scaled / pair->weight : NAN;
      error[at] = pair->weight > 0 ? sqrt(pair->people) / pair->weight : NAN;
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
  if (survey->blind && !trial->released) {
    for (int i = 0; i < k; i++) {
      trial->block[i] = (part_t){(double)trial->pulls[i], trial->sums[i], 0, 1};
    }
    add_block(trial, k);
  }
  double *pulls = out + FIRST, *mean = pulls + k, *proved = mean + k;
  for (int i = 0; i < k; i++) {
    const report_t report = reports->of(reports->policy, i);
    pulls[i] = (double)trial->pulls[i];
    mean[i] = report.rewards > 0 ? report.sum / report.rewards : trial->sums[i] / (double)trial->pulls[i];
    proved[i] = trial->proved[i];
  }
  write_pairs(trial, survey, proved + k);
}

OBSERVER(trial, .output = {{"trial", 0, rows}}, .size = size, .begin = begin, .see = see,
         .released = released, .finish = finish);
