#include <string.h>
#include "play_answers.h"
#include "play_session.h"
#include "policy_released.h"

void answers_begin(answers_t *answers, uint64_t seed, uint64_t run) {
  const size_t k = (size_t)answers->k, all = ANSWER_BLOCKS * (size_t)answers->n * k;
  rng_seed(&answers->rng, seed, run, RNG_ANSWERS);
  answers->draws = (draws_t){.run = run};
  rng_seed(&answers->draws.noise, rng_next(&answers->rng), run, RNG_NOISE);
  answers->n_rows = 0;
  memset(answers->released, 0, sizeof(int64_t) * (size_t)answers->strata);
  memset(answers->known, 0, sizeof(release_mark_t) * k);
  memset(answers->sums, 0, sizeof(double) * all);
  memset(answers->squares, 0, sizeof(double) * all);
  answers->n_offer = answers->k;
  for (int i = 0; i < answers->k; i++) answers->offer[i] = i;
}

/* As many random numbers for each person, whatever is answered: designs share them. */
double answers_draw(answers_t *answers, int arm, double reward) {
  const int silent = rng_unif(&answers->rng) < answers->silent[arm];
  for (int h = 0; h < answers->n; h++) {
    const int at = h * answers->k + arm;
    const double chance = answers->rate[at] + answers->slope[at] * (reward - answers->mean[arm]);
    const int has = rng_unif(&answers->rng) < chance;
    answers->value[h] = silent ? answers->none[h] : has;
  }
  return silent ? answers->missing : reward;
}

/* Where in its block an outcome of an arm is summed */
static size_t at_block(const answers_t *answers, int64_t block, int h, int arm) {
  const int each = answers_each(answers);
  const int64_t place = block % ((int64_t)ANSWER_BLOCKS * answers->strata);
  return (size_t)((place * answers->n + h) * each + arm % each);
}

/* The number of the last block that was released of an arm's stratum, as src/policy_strata.c counts them */
static int64_t last_block(const answers_t *answers, int arm) {
  const int stratum = arm / answers_each(answers);
  return (answers->released[stratum] - 1) * answers->strata + stratum + 1;
}

void answers_add(answers_t *answers, int64_t block, int arm) {
  for (int h = 0; h < answers->n && block > 0; h++) {
    const size_t at = at_block(answers, block, h, arm);
    answers->sums[at] += answers->value[h];
    answers->squares[at] += (answers->value[h] - 0.5) * (answers->value[h] - 0.5);
  }
}

static void write_row(answers_t *answers, int h, int arm, int64_t t, double sum, double squares,
                      const release_row_t *row) {
  if (answers->n_rows == answers->most_rows) {
    answers->draws.failed = 1;
    return;
  }
  const int each = answers_each(answers);
  const double all[ANSWER_COLUMNS] = {h,
                                      (double)last_block(answers, arm),
                                      arm % each + 1,
                                      (double)t,
                                      row->size,
                                      sum,
                                      row->chance,
                                      row->terms,
                                      row->whole,
                                      squares,
                                      arm / each + 1};
  memcpy(answers->rows + ANSWER_COLUMNS * answers->n_rows++, all, sizeof all);
}

void answers_next(answers_t *answers, int stratum) { answers->released[stratum]++; }

void answers_release(answers_t *answers, int arm, int64_t t, const release_row_t *row) {
  write_row(answers, 0, arm, t, row->sum, row->squares, row);
  for (int h = 0; h < answers->n; h++) {
    const size_t at = at_block(answers, last_block(answers, arm), h, arm);
    report_t report = answers->how[h];
    const double sum =
        report_release(&report, row->size, answers->sums[at], answers->squares[at], &answers->draws);
    write_row(answers, h + 1, arm, t, sum, report.weight > 0 ? report.squares : NAN, row);
    answers->sums[at] = answers->squares[at] = 0;
  }
}

void answers_pause(answers_t *answers, const int *arms, int n) {
  int left = 0;
  for (int i = 0; i < answers->n_offer; i++) {
    int paused = 0;
    for (int j = 0; j < n; j++) paused |= answers->offer[i] % answers_each(answers) == arms[j] - 1;
    if (!paused) answers->offer[left++] = answers->offer[i];
  }
  answers->n_offer = left;
}

void answers_offer(const answers_t *answers, round_t *round) {
  if (answers->n_offer == answers->k) return;
  const int each = answers_each(answers), first = round->offer[0] / each * each;
  int from = 0, n = 0;
  while (answers->offer[from] < first) from++;
  while (from + n < answers->n_offer && answers->offer[from + n] < first + each) n++;
  round->offer = answers->offer + from;
  round->n_offer = n;
}
