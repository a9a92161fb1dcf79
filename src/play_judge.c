#include "play_judge.h"

size_t judge_size(const survey_t *survey) {
  const int k = survey->design.k;
  return survey->rule->size(&survey->design) + (size_t)k * (sizeof(release_mark_t) + sizeof(release_t));
}

void judge_begin(judge_t *judge, const survey_t *survey, void *memory) {
  const int k = survey->design.k;
  release_mark_t *known = (release_mark_t *)((char *)memory + survey->rule->size(&survey->design));
  *judge = (judge_t){.state = memory, .known = known, .rows = (release_t *)(known + k)};
  for (int i = 0; i < k; i++) known[i] = (release_mark_t){0};
  survey->rule->begin(memory, &survey->design);
}

int judge_hear(judge_t *judge, const survey_t *survey, const session_t *session) {
  release_row_t released;
  int any = 0;
  judge->n = judge->heard = 0;
  if (!session->spec->policy->report) return 0;
  for (int i = 0; i < survey->design.k; i++) {
    if (!session_new_release(session, i, &judge->known[i], &released)) continue;
    any = 1;
    if (!survey->concludes || !released.whole) continue;
    const report_t report = session_report(session, i);
    judge->rows[judge->n++] = (release_t){.arm = i,
                                          .size = released.size,
                                          .sum = released.sum,
                                          .terms = released.terms,
                                          .chance = released.chance,
                                          .noise = {report.kind, report.scale, 0, survey->correlation},
                                          .squares = released.squares,
                                          .weight = report.weight};
  }
  return any;
}

int judge_look(judge_t *judge, const survey_t *survey) {
  if (judge->heard == judge->n) return 0;
  const release_t *next = judge->rows + judge->heard;
  const int n = next->chance > 0 ? judge->n - judge->heard : 1;
  martingale_hear(survey->rule, judge->state, next, n);
  judge->heard += n;
  return 1;
}

int judge_proves(const judge_t *judge, const survey_t *survey, int a, int b) {
  const design_t *design = &survey->design;
  return survey->rule->pair(judge->state, a, b, design->margin, design->threshold) >= design->threshold;
}

double judge_estimate(const judge_t *judge, const survey_t *survey, int a, int b) {
  return survey->rule->estimate(judge->state, a, b);
}

double judge_lower(const judge_t *judge, const survey_t *survey, int a, int b) {
  return survey->rule->lower(judge->state, a, b, survey->interval);
}
