/* What a policy has released: for each sum in turn the arm, the round after which it was released, the
   rewards in it, the noisy sum, and the chance of the arm in its block if the policy tosses. Read from its
   reports, so of every policy whose releases are sums of batches. */

#include "play_session.h"

enum { ARM, ROUND, SIZE, SUM, CHANCE, NUMBERS };
enum { MOST = 10000 }; /* releases that are kept */

typedef struct {
  double rewards, sum, terms;
} known_t;

static size_t rows(const survey_t *survey) {
  const int64_t horizon = survey->horizon * survey->k;
  return NUMBERS * (size_t)(horizon < MOST ? horizon : MOST) + 1;
}

static size_t room(const survey_t *survey) { return sizeof(known_t) * (size_t)survey->k; }

static void begin(observer_t *observer) {
  known_t *known = observer->space;
  for (int i = 0; i < observer->survey->k; i++) known[i] = (known_t){0};
}

static int released(observer_t *observer, const session_t *session) {
  known_t *known = observer->space;
  double *out = observer->out[0];
  if (!session->spec->policy->report) return 0;
  for (int i = 0; i < observer->survey->k; i++) {
    const report_t report = session_report(session, i);
    if (report.rewards == known[i].rewards && report.terms == known[i].terms) continue;
    const size_t at = 1 + NUMBERS * (size_t)observer->kept++;
    if (at + NUMBERS <= rows(observer->survey)) {
      out[at + ARM] = i + 1;
      out[at + ROUND] = (double)session->t;
      out[at + SIZE] = report.rewards - known[i].rewards;
      out[at + SUM] = report.sum - known[i].sum;
      out[at + CHANCE] = report.chance;
    }
    known[i] = (known_t){report.rewards, report.sum, report.terms};
  }
  return 0;
}

/* How many there were comes first. */
static void finish(observer_t *observer, const environment_t *env,
                   const reports_t *reports) {
  (void)env, (void)reports;
  double *out = observer->out[0];
  out[0] = (double)observer->kept;
  for (size_t i = 1 + NUMBERS * (size_t)observer->kept; i < rows(observer->survey); i++) {
    out[i] = 0;
  }
}

const observer_kind_t observer_releases = {.name = "releases",
                                           .output = {{"releases", 0, rows}},
                                           .room = room,
                                           .begin = begin,
                                           .released = released,
                                           .finish = finish};
