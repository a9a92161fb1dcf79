#ifndef DPTS_PLAY_JUDGE_H
#define DPTS_PLAY_JUDGE_H
/* What the releases of a run have proved, by the rule of the survey (policy_evidence.h), release by
   release. For observers. */

#include "play_session.h"

typedef struct {
  void *state;           /* of the rule, for each part */
  release_mark_t *known; /* of each arm */
  release_t *rows;
  int n, heard;     /* rows of this round that are evidence, and how many of them the rule has heard */
  int part, latest; /* of the block that was heard last: the part, and how many rows */
  double t;         /* the round */
  looks_t looks;    /* of all strata together */
  void *counted;    /* the state at the last look; NULL: with one stratum there is one after each block */
} judge_t;

size_t judge_size(const survey_t *survey);

/* On memory of that size */
void judge_begin(judge_t *judge, const survey_t *survey, void *memory);

/* The policy may have released something. Returns whether it did. */
int judge_hear(judge_t *judge, const survey_t *survey, const session_t *session);

/* Hears the next block: is there a look after it? */
enum judge_look { NO_BLOCK, BLOCK, LOOK };
enum judge_look judge_look(judge_t *judge, const survey_t *survey);

/* Its rows */
static inline const release_t *judge_block(const judge_t *judge) {
  return judge->rows + judge->heard - judge->latest;
}

/* In the part of the block that was heard last, is a proved to be better than b, or less than the survey's
   margin worse? */
int judge_proves(const judge_t *judge, const survey_t *survey, int a, int b);

/* An estimate of the difference, a less b; NAN: nothing was released of one of them */
double judge_estimate(const judge_t *judge, const survey_t *survey, int a, int b);

/* A lower bound of the difference at the last look, a less b, in a part, for the survey's intervals; NAN: the
   rule has none */
double judge_lower(const judge_t *judge, const survey_t *survey, int part, int a, int b);

#endif
