/* What a policy has released: the rows of the release table (R/evidence.R), after their number. Read from its
   reports, so of every policy whose releases are sums of batches. */

#include "play_session.h"

enum { ARM, ROUND, SIZE, SUM, CHANCE, TERMS, WHOLE, NUMBERS };
enum { MOST = 10000 }; /* rows that are kept */

static size_t rows(const survey_t *survey) {
  const int64_t most = survey->horizon * survey->k;
  return survey->concludes ? NUMBERS * (size_t)(most < MOST ? most : MOST) + 1 : 0;
}

static size_t room(const survey_t *survey) { return sizeof(noted_t) * (size_t)survey->k; }

static void begin(observer_t *observer) {
  noted_t *known = observer->space;
  for (int i = 0; i < observer->survey->k; i++) known[i] = (noted_t){0};
}

static int released(observer_t *observer, const session_t *session) {
  noted_t *known = observer->space;
  double *out = observer->out[0];
  news_t news;
  for (int i = 0; i < observer->survey->k && observer->survey->concludes; i++) {
    if (!session_news(session, i, &known[i], &news)) continue;
    const size_t at = 1 + NUMBERS * (size_t)observer->kept++;
    if (at + NUMBERS > rows(observer->survey)) continue;
    const double row[NUMBERS] = {i + 1,       (double)session->t, news.size, news.sum,
                                 news.chance, news.terms,         news.whole};
    for (int j = 0; j < NUMBERS; j++) out[at + (size_t)j] = row[j];
  }
  return 0;
}

/* How many there were comes first. */
static void finish(observer_t *observer, const environment_t *env,
                   const reports_t *reports) {
  (void)env, (void)reports;
  if (observer->survey->concludes) *(double *)observer->out[0] = (double)observer->kept;
}

OBSERVER(releases, .output = {{"releases", 0, rows}}, .room = room, .begin = begin,
         .released = released, .finish = finish);
