#include "play_judge.h"

void judge_begin(judge_t *judge, const survey_t *survey, void *memory) {
  const int k = survey->k;
  *judge = (judge_t){.at = memory};
  judge->bets = (bet_t *)(judge->at + k);
  judge->tossed = (tossed_t *)(judge->bets + k * k);
  for (int i = 0; i < k; i++) {
    judge->at[i] = (judged_t){.news = {0}};
    judge->tossed[i] = (tossed_t){0};
    evidence_begin(&judge->at[i].evidence, survey->risk);
    for (int j = 0; j < k; j++) judge->bets[i * k + j] = (bet_t){0};
  }
}

static int by_tosses(const survey_t *survey) { return survey->least > 0; }

/* Sums of batches. What is fixed before a release, tilts and announced shares, is fixed before all that
   are released together: a function of earlier releases alone, as the proofs want it. */
static void hear_batches(judge_t *judge, const survey_t *survey, const session_t *session) {
  const int k = survey->k;
  const evidence_t *first = &judge->at->evidence;
  for (int i = 0; i < k; i++) {
    judged_t *at = &judge->at[i];
    if (at->proves) {
      evidence_aim(&at->evidence, first, sizeof(judged_t), k, at->news.size, survey->line,
                   survey->margin);
    }
  }
  for (int i = 0; i < k; i++) {
    judged_t *at = &judge->at[i];
    if (!at->proves) continue;
    const noise_law_t law = judge_law(survey, session, i);
    evidence_release(&at->evidence, &law, at->news.size, at->news.sum, at->news.terms);
  }
}

int judge_hear(judge_t *judge, const survey_t *survey, const session_t *session) {
  const int k = survey->k;
  int heard = 0, tossed = 0;
  noise_law_t law = {0};
  if (!session->spec->policy->report) return 0;
  for (int i = 0; i < k; i++) {
    judged_t *at = &judge->at[i];
    judge->tossed[i].chance = 0;
    at->news = (news_t){0};
    at->proves = 0;
    if (!session_news(session, i, &at->known, &at->news)) continue;
    heard = 1;
    at->proves = survey->concludes && at->news.whole;
    if (!at->proves || !by_tosses(survey)) continue;
    law = judge_law(survey, session, i);
    if (!judge->laws) bet_kappas(&law, survey->least, judge->kappa);
    judge->laws = tossed = 1;
    judge->tossed[i].chance = at->news.chance;
    judge->tossed[i].n = at->news.size, judge->tossed[i].sum = at->news.sum;
  }
  if (tossed) bets_add(judge->bets, k, &law, judge->kappa, judge->tossed, survey->permuted);
  else if (heard) hear_batches(judge, survey, session);
  return heard;
}

/* Is a proved to be better than b, or less than the survey's margin worse? */
int judge_proves(const judge_t *judge, const survey_t *survey, int a, int b, double line) {
  if (by_tosses(survey)) {
    const bet_t *bet = &judge->bets[a * survey->k + b];
    return bet_log(bet, judge->kappa, -survey->margin) >= line;
  }
  const evidence_t *x = &judge->at[a].evidence, *y = &judge->at[b].evidence;
  const double gap = x->mean - y->mean + survey->margin;
  return x->n > 0 && y->n > 0 && gap > 0 &&
         gap * gap >= line * (x->variance + y->variance) &&
         evidence_pair(x, y, survey->margin) >= line;
}

double judge_lower(const judge_t *judge, const survey_t *survey, int a, int b,
                   double line) {
  if (by_tosses(survey)) {
    if (survey->permuted) return NAN;
    return bet_lower(&judge->bets[a * survey->k + b], judge->kappa, line);
  }
  const evidence_t *x = &judge->at[a].evidence, *y = &judge->at[b].evidence;
  return x->n > 0 && y->n > 0 ? evidence_lower(x, y, line) : -1;
}
