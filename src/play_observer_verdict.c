/* Ends a run at a verdict, and records the number of people and the arm. If the policy gives verdicts of
   its own, these are used; otherwise evidence is computed. */

#include "play_judge.h"

enum { PEOPLE, ARM, NUMBERS };

typedef struct {
  judge_t judge;
  double people, arm;
} watch_t;

static size_t rows(const survey_t *survey) {
  (void)survey;
  return NUMBERS;
}

static size_t size(const survey_t *survey) { return sizeof(watch_t) + judge_size(survey); }

static void begin(observer_t *observer) {
  watch_t *watch = observer->space;
  watch->people = watch->arm = NAN;
  judge_begin(&watch->judge, observer->survey, watch + 1);
}

static int released(observer_t *observer, const session_t *session) {
  watch_t *watch = observer->space;
  const survey_t *survey = observer->survey;
  const int k = survey->design.k;
  if (watch->people > 0) return 0;
  if (session->spec->policy->verdict) {
    verdict_t own;
    if (session_verdict(session, &own) != SESSION_OK || !own.stop) return 0;
    watch->people = (double)session->t;
    watch->arm = own.arm + 1;
    return 1;
  }
  /* With a margin several may be proved at once: the one that leads is named. */
  int arm = -1;
  judge_hear(&watch->judge, survey, session);
  for (enum judge_look look; arm < 0 && (look = judge_look(&watch->judge, survey));) {
    for (int i = 0; i < k && look == LOOK; i++) {
      int proved = arm < 0 || judge_estimate(&watch->judge, survey, i, arm) > 0;
      for (int j = 0; j < k && proved; j++) {
        proved = i == j || judge_proves(&watch->judge, survey, i, j);
      }
      if (proved) arm = i;
    }
  }
  if (arm < 0) return 0;
  watch->people = (double)session->t;
  watch->arm = arm + 1;
  return 1;
}

static void finish(observer_t *observer, const environment_t *env, const reports_t *reports) {
  (void)env, (void)reports;
  const watch_t *watch = observer->space;
  double *out = observer->out[0];
  out[PEOPLE] = watch->people;
  out[ARM] = watch->arm;
}

OBSERVER(verdict, .output = {{"verdict", 0, rows}}, .size = size, .begin = begin, .released = released,
         .finish = finish);
