#include "play_judge.h"

static size_t states_size(const survey_t *survey) {
  return (size_t)survey->parts * survey->rule->size(&survey->design);
}

static void *state_of(const judge_t *judge, const survey_t *survey, int part) {
  return (char *)judge->state + (size_t)part * survey->rule->size(&survey->design);
}

size_t judge_size(const survey_t *survey) {
  return states_size(survey) + (size_t)survey->k * (sizeof(release_mark_t) + sizeof(release_t));
}

void judge_begin(judge_t *judge, const survey_t *survey, void *memory) {
  const int k = survey->k;
  release_mark_t *known = (release_mark_t *)((char *)memory + states_size(survey));
  *judge = (judge_t){.state = memory, .known = known, .rows = (release_t *)(known + k)};
  for (int i = 0; i < k; i++) known[i] = (release_mark_t){0};
  for (int i = 0; i < survey->parts; i++) survey->rule->begin(state_of(judge, survey, i), &survey->design);
}

int judge_hear(judge_t *judge, const survey_t *survey, const session_t *session) {
  release_row_t released;
  int any = 0;
  judge->n = judge->heard = judge->latest = 0;
  if (!session->spec->policy->report) return 0;
  for (int i = 0; i < survey->k; i++) {
    if (!session_new_release(session, i, &judge->known[i], &released)) continue;
    any = 1;
    if (!survey->concludes || !released.whole) continue;
    const report_t report = session_report(session, i);
    judge->rows[judge->n++] = (release_t){.arm = i % survey->design.k,
                                          .stratum = i / survey->design.k,
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
  release_t *next = judge->rows + judge->heard;
  const int stratum = next->stratum, left = judge->n - judge->heard;
  int n = 1;
  while (next->chance > 0 && n < left && next[n].stratum == stratum) n++;
  judge->part = survey->parts > 1 ? stratum : 0;
  for (int i = 0; i < n && survey->parts > 1; i++) next[i].stratum = 0; /* by itself it is the only one */
  martingale_hear(survey->rule, state_of(judge, survey, judge->part), next, n);
  judge->heard += n;
  judge->latest = n;
  return 1;
}

int judge_proves(const judge_t *judge, const survey_t *survey, int a, int b) {
  const design_t *design = &survey->design;
  const void *state = state_of(judge, survey, judge->part);
  return survey->rule->pair(state, a, b, design->margin, design->threshold) >= design->threshold;
}

double judge_estimate(const judge_t *judge, const survey_t *survey, int a, int b) {
  return survey->rule->estimate(state_of(judge, survey, judge->part), a, b);
}

double judge_lower(const judge_t *judge, const survey_t *survey, int part, int a, int b) {
  return survey->rule->lower(state_of(judge, survey, part), a, b, survey->interval, -1);
}
