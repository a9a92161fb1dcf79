#ifndef DPTS_PLAY_ANSWERS_H
#define DPTS_PLAY_ANSWERS_H
/* What people answer in a simulation: some never do, and the others have other outcomes beside the reward, as
   R/agent-outcome.R has them. Such an outcome is 0 or 1. Its sums of a block are released with those of the
   reward. R may look at what was released, and pause arms. */

#include "noise_report.h"
#include "round.h"

struct release_mark_t;
struct release_row_t;

/* A row for R: the number of an outcome, 0 for the reward; that of the block; a row of the release table; the
   stratum, from 1 */
enum { ANSWER_COLUMNS = 11 };
enum { ANSWER_BLOCKS = 32 }; /* more than ever wait at once in a stratum */

typedef struct {
  int k, n, looks;      /* arms, of all strata; other outcomes; does R look? */
  int strata;           /* of src/policy_strata.c; 1: none */
  const double *silent; /* of each arm, the share of people who never answer */
  double missing;       /* what a person without a reward counts as */
  const double *rate, *slope,
      *mean;           /* of each outcome and arm: its chance where the reward is the arm's mean,
                                        and how it grows with the reward */
  const double *none;  /* of each outcome, what no answer counts as */
  const report_t *how; /* of each outcome, its noise */
  /* Of a run */
  rng_t rng;
  draws_t draws;
  int64_t *released;            /* blocks of each stratum */
  struct release_mark_t *known; /* of each arm */
  double *value;                /* of the last person: each outcome */
  double *sums, *squares;       /* of each block that may wait, outcome and arm of its stratum: at_block() */
  int *offer, n_offer;          /* the arms that are not paused, in all strata */
  double *rows;                 /* ANSWER_COLUMNS each, that R has not seen */
  int64_t n_rows, most_rows;
} answers_t;

void answers_begin(answers_t *answers, uint64_t seed, uint64_t run);
/* A person of this arm whose reward is the one given: draws what is answered, and returns what the reward
   counts as. */
double answers_draw(answers_t *answers, int arm, double reward);
/* The answers of the last person are in this block. */
void answers_add(answers_t *answers, int64_t block, int arm);
/* The next block of a stratum was released. */
void answers_next(answers_t *answers, int stratum);
/* The row of an arm in the last block that was released of its stratum; what R has not seen of it is kept. */
void answers_release(answers_t *answers, int arm, int64_t t, const struct release_row_t *row);
/* These arms, from 1, are paused in all strata. */
void answers_pause(answers_t *answers, const int *arms, int n);
/* Takes the arms that are paused from what a round offers. */
void answers_offer(const answers_t *answers, round_t *round);
/* The number of arms of a stratum */
static inline int answers_each(const answers_t *answers) { return answers->k / answers->strata; }

#endif
