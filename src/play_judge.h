#ifndef DPTS_PLAY_JUDGE_H
#define DPTS_PLAY_JUDGE_H
/* What the releases of a run have proved of pairs of arms: by tosses where the policy tosses, else by means.
   Read from the policy's reports, release by release. For observers. */

#include "play_session.h"
#include "policy_evidence_tosses.h"

typedef struct {
  noted_t known;
  news_t news; /* of the last look; size and terms 0: none */
  int proves;  /* is it evidence? */
  evidence_t evidence;
} judged_t;

typedef struct {
  double kappa[BETS];
  int laws; /* is the noise known? */
  judged_t *at;
  bet_t *bets; /* k by k */
  tossed_t *tossed;
} judge_t;

static inline size_t judge_size(int k) {
  return (size_t)k * (sizeof(judged_t) + sizeof(tossed_t) + (size_t)k * sizeof(bet_t));
}

/* On memory of that size */
void judge_begin(judge_t *judge, const survey_t *survey, void *memory);

/* The policy may have released something. Returns whether it did. */
int judge_hear(judge_t *judge, const survey_t *survey, const session_t *session);

static inline noise_law_t judge_law(const survey_t *survey, const session_t *session,
                                    int arm) {
  const report_t report = session_report(session, arm);
  return (noise_law_t){report.kind, report.scale, 0, survey->carry};
}

/* Is a proved by this line to be better than b? By means this is answered without much work where it is far
   from it. */
int judge_proves(const judge_t *judge, const survey_t *survey, int a, int b, double line);

/* A lower bound of the difference, a less b, at this line; NAN: tosses in fixed numbers have none */
double judge_lower(const judge_t *judge, const survey_t *survey, int a, int b, double line);

#endif
