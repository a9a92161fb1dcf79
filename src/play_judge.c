#include "play_judge.h"

#include <string.h>

static size_t states_size(const survey_t *survey) {
  return (size_t)survey->parts * survey->rule->size(&survey->design);
}

static void *state_of(const judge_t *judge, const survey_t *survey, int part) {
  return (char *)judge->state + (size_t)part * survey->rule->size(&survey->design);
}

static size_t counted_size(const survey_t *survey) {
  return survey->design.strata > 1 ? survey->rule->size(&survey->design) : 0;
}

size_t judge_size(const survey_t *survey) {
  const size_t flags = ((size_t)survey->design.strata + 7) / 8 * 8; /* whole numbers of doubles */
  return states_size(survey) + counted_size(survey) +
         (size_t)survey->k * (sizeof(release_mark_t) + sizeof(release_t)) + flags;
}

void judge_begin(judge_t *judge, const survey_t *survey, void *memory) {
  const int k = survey->k;
  char *counted = (char *)memory + states_size(survey);
  release_mark_t *known = (release_mark_t *)(counted + counted_size(survey));
  *judge = (judge_t){.state = memory, .known = known, .rows = (release_t *)(known + k)};
  looks_begin(&judge->looks, survey->design.strata, (char *)(judge->rows + k));
  if (survey->design.strata > 1) {
    judge->counted = counted;
    survey->rule->begin(counted, &survey->design);
  }
  for (int i = 0; i < k; i++) known[i] = (release_mark_t){0};
  for (int i = 0; i < survey->parts; i++) survey->rule->begin(state_of(judge, survey, i), &survey->design);
}

int judge_hear(judge_t *judge, const survey_t *survey, const session_t *session) {
  release_row_t released;
  int any = 0;
  judge->n = judge->heard = judge->latest = 0;
  judge->t = (double)session->t;
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

enum judge_look judge_look(judge_t *judge, const survey_t *survey) {
  if (judge->heard == judge->n) return NO_BLOCK;
  release_t *next = judge->rows + judge->heard;
  const int stratum = next->stratum, left = judge->n - judge->heard;
  int n = 1;
  while (next->chance > 0 && n < left && next[n].stratum == stratum) n++;
  judge->part = survey->parts > 1 ? stratum : 0;
  double people = 0;
  for (int i = 0; i < n; i++) {
    people += next[i].size;
    if (survey->parts > 1) next[i].stratum = 0; /* by itself it is the only one */
  }
  martingale_hear(survey->rule, state_of(judge, survey, judge->part), next, n);
  judge->heard += n;
  judge->latest = n;
  if (!looks_hear(&judge->looks, next->stratum, people, judge->t, 0)) return BLOCK;
  if (judge->counted) memcpy(judge->counted, judge->state, counted_size(survey));
  return LOOK;
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
  const void *state = judge->counted ? judge->counted : state_of(judge, survey, part);
  return survey->rule->lower(state, a, b, survey->interval, -1);
}
