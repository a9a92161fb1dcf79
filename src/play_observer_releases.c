/* The number of a policy's releases, then the rows of the release table (R/releases.R). They are
   computed from reports, so this works for every policy that releases batch sums. */

#include "play_session.h"

enum { ARM, ROUND, SIZE, SUM, CHANCE, TERMS, WHOLE, SQUARES, NUMBERS };
enum { MOST = 10000 }; /* the most rows that are kept */

static size_t rows(const survey_t *survey) {
  const int64_t most = survey->horizon * survey->k;
  return survey->concludes ? NUMBERS * (size_t)(most < MOST ? most : MOST) + 1 : 0;
}

static size_t size(const survey_t *survey) { return sizeof(release_mark_t) * (size_t)survey->k; }

static void begin(observer_t *observer) {
  release_mark_t *known = observer->space;
  for (int i = 0; i < observer->survey->k; i++) known[i] = (release_mark_t){0};
}

static int released(observer_t *observer, const session_t *session) {
  release_mark_t *known = observer->space;
  double *out = observer->out[0];
  release_row_t released;
  for (int i = 0; i < observer->survey->k && observer->survey->concludes; i++) {
    if (!session_new_release(session, i, &known[i], &released)) continue;
    const size_t at = 1 + NUMBERS * (size_t)observer->kept++;
    if (at + NUMBERS > rows(observer->survey)) continue;
    const double row[NUMBERS] = {i + 1,           (double)session->t, released.size,  released.sum,
                                 released.chance, released.terms,     released.whole, released.squares};
    for (int j = 0; j < NUMBERS; j++) out[at + (size_t)j] = row[j];
  }
  return 0;
}

/* Writes their number. */
static void finish(observer_t *observer, const environment_t *env, const reports_t *reports) {
  (void)env, (void)reports;
  if (observer->survey->concludes) *(double *)observer->out[0] = (double)observer->kept;
}

OBSERVER(releases, .output = {{"releases", 0, rows}}, .size = size, .begin = begin, .released = released,
         .finish = finish);
