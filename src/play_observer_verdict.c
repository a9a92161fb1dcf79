/* The end of a run at a verdict: how many people it took, and which arm. Evidence is by tosses where the
   policy tosses, else by means, from what the policy's reports say that it has released. */

#include "play_session.h"
#include "policy_evidence_tosses.h"

enum { PEOPLE, ARM, NUMBERS };

typedef struct {
  noted_t known;
  evidence_t evidence;
} seen_t;

typedef struct {
  double people, arm, kappa[BETS];
  int laws; /* is the noise known? */
  seen_t *at;
  tossed_t *tossed;
  bet_t *bets; /* k by k */
} judge_t;

static size_t rows(const survey_t *survey) {
  (void)survey;
  return NUMBERS;
}

static size_t room(const survey_t *survey) {
  const size_t k = (size_t)survey->k;
  return sizeof(judge_t) + k * (sizeof(seen_t) + sizeof(tossed_t)) + k * k * sizeof(bet_t);
}

static void begin(observer_t *observer) {
  judge_t *judge = observer->space;
  const int k = observer->survey->k;
  *judge = (judge_t){.people = NAN};
  judge->at = (seen_t *)(judge + 1);
  judge->tossed = (tossed_t *)(judge->at + k);
  judge->bets = (bet_t *)(judge->tossed + k);
  for (int i = 0; i < k; i++) {
    judge->at[i] = (seen_t){0};
    evidence_begin(&judge->at[i].evidence, observer->survey->risk);
    judge->tossed[i] = (tossed_t){0};
    for (int j = 0; j < k; j++) judge->bets[i * k + j] = (bet_t){0};
  }
}

/* The arm that is proved by means, or -1 */
static int by_means(judge_t *judge, const survey_t *survey, double line) {
  const int k = survey->k;
  int leader = 0;
  for (int i = 0; i < k; i++) {
    if (!(judge->at[i].evidence.n > 0)) return -1;
    if (judge->at[i].evidence.mean > judge->at[leader].evidence.mean) leader = i;
  }
  const evidence_t *a = &judge->at[leader].evidence;
  for (int i = 0; i < k; i++) {
    const evidence_t *b = &judge->at[i].evidence;
    const double gap = a->mean - b->mean + survey->margin;
    if (i != leader && gap * gap < line * (a->variance + b->variance))
      return -1; /* far from it */
  }
  for (int i = 0; i < k; i++) {
    if (i == leader) continue;
    if (!(evidence_pair(a, &judge->at[i].evidence, survey->margin) >= line)) return -1;
  }
  return leader;
}

/* And by tosses */
static int by_tosses(judge_t *judge, const survey_t *survey, double line) {
  const int k = survey->k;
  for (int i = 0; i < k; i++) {
    int proved = 1;
    for (int j = 0; j < k && proved; j++) {
      proved =
          i == j || bet_log(&judge->bets[i * k + j], judge->kappa, -survey->margin) >= line;
    }
    if (proved) return i;
  }
  return -1;
}

static noise_law_t law_of(const survey_t *survey, const session_t *session, int arm) {
  const report_t report = session_report(session, arm);
  return (noise_law_t){report.kind, report.scale, 0, survey->carry};
}

static int released(observer_t *observer, const session_t *session) {
  judge_t *judge = observer->space;
  const survey_t *survey = observer->survey;
  const int k = survey->k, tosses = survey->least > 0;
  int news = 0;
  if (!session->spec->policy->report || judge->people > 0) return 0;
  for (int i = 0; i < k; i++) {
    seen_t *seen = &judge->at[i];
    news_t row;
    judge->tossed[i].chance = 0;
    if (!session_news(session, i, &seen->known, &row)) continue;
    const noise_law_t law = law_of(survey, session, i);
    if (tosses && !judge->laws) bet_kappas(&law, survey->least, judge->kappa);
    judge->laws = 1;
    news = 1;
    if (tosses) {
      tossed_t *tossed = &judge->tossed[i];
      tossed->chance = row.chance, tossed->n = row.size, tossed->sum = row.sum;
    } else {
      evidence_announce(&seen->evidence, &judge->at->evidence, sizeof(seen_t), k, row.size,
                        survey->line, survey->margin);
      evidence_release(&seen->evidence, &law, row.size, row.sum, row.terms);
      evidence_aim(&seen->evidence, &judge->at->evidence, sizeof(seen_t), k,
                   survey->margin);
    }
  }
  if (!news) return 0;
  for (int i = 0; i < k && tosses; i++) {
    for (int j = 0; j < k; j++) {
      const tossed_t *a = &judge->tossed[i], *b = &judge->tossed[j];
      if (i == j || !(a->chance > 0 && b->chance > 0)) continue;
      const noise_law_t law = law_of(survey, session, i);
      (survey->permuted ? bet_add_permuted : bet_add)(&judge->bets[i * k + j], &law,
                                                      judge->kappa, a, b);
    }
  }
  for (int i = 0; i < k && tosses; i++) {
    tossed_t *tossed = &judge->tossed[i];
    if (!(tossed->chance > 0)) continue;
    tossed->n_before += tossed->n, tossed->sum_before += tossed->sum;
  }
  const int arm = (tosses ? by_tosses : by_means)(judge, survey, survey->line);
  if (arm < 0) return 0;
  judge->people = (double)session->t;
  judge->arm = arm + 1;
  return 1;
}

static void finish(observer_t *observer, const environment_t *env,
                   const reports_t *reports) {
  (void)env, (void)reports;
  const judge_t *judge = observer->space;
  double *out = observer->out[0];
  out[PEOPLE] = judge->people;
  out[ARM] = judge->people > 0 ? judge->arm : NAN;
}

const observer_kind_t observer_verdict = {.name = "verdict",
                                          .output = {{"verdict", 0, rows}},
                                          .room = room,
                                          .begin = begin,
                                          .released = released,
                                          .finish = finish};
