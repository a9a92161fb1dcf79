/* The end of a run at a verdict: how many people it took, and which arm. Evidence is by tosses where the
   policy tosses, else by means, from what the policy's reports say that it has released. */

#include "play_session.h"
#include "policy_evidence_tosses.h"

enum { PEOPLE, ARM, NUMBERS };

typedef struct {
  double rewards, sum, terms;
  evidence_t evidence;
} known_t;

typedef struct {
  double people, arm, kappa[BETS];
  int laws; /* is the noise known? */
  known_t *at;
  tossed_t *tossed;
  bet_t *bets; /* k by k */
} judge_t;

static size_t rows(const survey_t *survey) {
  (void)survey;
  return NUMBERS;
}

static size_t room(const survey_t *survey) {
  const size_t k = (size_t)survey->k;
  return sizeof(judge_t) + k * (sizeof(known_t) + sizeof(tossed_t)) + k * k * sizeof(bet_t);
}

static void begin(observer_t *observer) {
  judge_t *judge = observer->space;
  const int k = observer->survey->k;
  *judge = (judge_t){.people = NAN};
  judge->at = (known_t *)(judge + 1);
  judge->tossed = (tossed_t *)(judge->at + k);
  judge->bets = (bet_t *)(judge->tossed + k);
  for (int i = 0; i < k; i++) {
    judge->at[i] = (known_t){0};
    evidence_begin(&judge->at[i].evidence);
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

static int released(observer_t *observer, const session_t *session) {
  judge_t *judge = observer->space;
  const survey_t *survey = observer->survey;
  const int k = survey->k, tosses = survey->least > 0;
  int news = 0;
  if (!session->spec->policy->report || judge->people > 0) return 0;
  for (int i = 0; i < k; i++) {
    known_t *known = &judge->at[i];
    const report_t report = session_report(session, i);
    judge->tossed[i].chance = 0;
    if (report.rewards == known->rewards && report.terms == known->terms) continue;
    const noise_law_t law = {report.kind, report.scale, 0};
    if (tosses && !judge->laws) bet_kappas(&law, survey->least, judge->kappa);
    judge->laws = 1;
    const double size = report.rewards - known->rewards, sum = report.sum - known->sum;
    known->rewards = report.rewards, known->sum = report.sum, known->terms = report.terms;
    news = 1;
    if (tosses) {
      tossed_t *tossed = &judge->tossed[i];
      tossed->chance = report.chance, tossed->n = size, tossed->sum = sum;
    } else {
      evidence_release(&known->evidence, &law, size, sum);
      evidence_aim(&known->evidence, &judge->at->evidence, sizeof(known_t), k,
                   survey->margin);
    }
  }
  if (!news) return 0;
  const double line = log((k > 1 ? k - 1 : 1) / survey->delta);
  for (int i = 0; i < k && tosses; i++) {
    for (int j = 0; j < k; j++) {
      const tossed_t *a = &judge->tossed[i], *b = &judge->tossed[j];
      if (i == j || !(a->chance > 0 && b->chance > 0)) continue;
      const report_t report = session_report(session, i);
      const noise_law_t law = {report.kind, report.scale, 0};
      (survey->permuted ? bet_add_permuted : bet_add)(&judge->bets[i * k + j], &law,
                                                      judge->kappa, a, b);
    }
  }
  for (int i = 0; i < k && tosses; i++) {
    tossed_t *tossed = &judge->tossed[i];
    if (!(tossed->chance > 0)) continue;
    tossed->n_before += tossed->n, tossed->sum_before += tossed->sum;
  }
  const int arm = (tosses ? by_tosses : by_means)(judge, survey, line);
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
